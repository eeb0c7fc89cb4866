# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The files that robots and markers name as their meshes."""

import numpy as np
import pytest
import trimesh

from basis_ik.extras.web_view import mesh_reader
from basis_ik.extras.web_view.mesh_reader import MeshError, MeshReader, read_mesh

COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g" name="g"><mesh>
    <source id="p"><float_array id="pa" count="9">0 0 0 100 0 0 0 200 0</float_array>
      <technique_common><accessor source="#pa" count="3" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb"])
def test_files_are_read(tmp_path, suffix):
    path = tmp_path / f"box.{suffix}"
    trimesh.creation.box((0.2, 0.4, 0.6)).export(path)
    mesh = read_mesh(path)
    assert np.allclose(np.ptp(mesh.vertices, axis=0), [0.2, 0.4, 0.6])
    assert mesh.faces.shape == (12, 3)
    assert bool(mesh.glb) == (suffix == "glb")


def test_collada_is_scaled_by_its_unit_and_not_turned(tmp_path):
    """As in RViz, which does not look at `up_axis`."""
    path = tmp_path / "triangle.dae"
    path.write_text(COLLADA)
    mesh = read_mesh(path)
    assert np.allclose(np.ptp(mesh.vertices, axis=0), [0.1, 0.2, 0.0])
    shown = trimesh.load_scene(trimesh.util.wrap_as_stream(mesh.glb), file_type="glb").to_mesh()
    assert np.allclose(np.ptp(shown.vertices, axis=0), [0.1, 0.2, 0.0])


def test_what_cannot_be_read_is_told_in_a_line_once(tmp_path):
    (tmp_path / "bad.stl").write_bytes(b"\0" * 50)
    (tmp_path / "bad.dae").write_text("<COLLADA>")
    (tmp_path / "bad.xyzzy").write_text("x")
    (tmp_path / "folder.stl").mkdir()
    told = []
    files = MeshReader(told.append)
    names = ["none.stl", "bad.stl", "bad.dae", "bad.xyzzy", "folder.stl"]
    uris = [f"file://{tmp_path}/{name}" for name in names]
    uris += ["package://no_such_package/x.stl", "package://[x", "/" + 5000 * "x", "", "x\ny"]
    for uri in [*uris, *uris]:
        assert files.get(uri) is None
        assert files.holds(uri)
    assert len(told) == len(uris)
    assert all("is not shown: " in line and "\n" not in line for line in told)
    assert told[0].endswith("is not shown: there is no such file")


def test_a_file_is_read_once(tmp_path):
    path = tmp_path / "box.stl"
    trimesh.creation.box((1, 1, 1)).export(path)
    files = MeshReader(pytest.fail)
    assert not files.holds(str(path))
    mesh = files.get(str(path))
    path.unlink()
    assert files.get(str(path)) is mesh


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "box.stl"
    trimesh.creation.box((1, 1, 1)).export(path)
    monkeypatch.setattr(mesh_reader, "LARGEST_MESH_FILE", 10)
    with pytest.raises(MeshError, match="is larger than 0 MB"):
        read_mesh(path)
