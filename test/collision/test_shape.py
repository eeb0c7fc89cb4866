# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import struct

import numpy as np
import pytest
from bodies import SHAPES, points_in, write_stl
from hypothesis import given

import basis_ik.dependencies
from basis_ik import ExtraError, RobotModel
from basis_ik.collision import shape as shapes
from basis_ik.collision.shape import SceneError, Shape

BOX = Shape.box(0.2, 0.4, 0.6).hull.triangles


@given(SHAPES)
def test_the_support_is_that_of_points(shape):
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(20, 3))
    reached = (directions @ points_in(shape, 20_000).T).max(axis=1)
    support = shape.support(directions)
    assert (reached <= support + 1e-12).all()
    assert (reached > support - 0.1 * np.abs(support).max()).all()


@pytest.mark.parametrize("form", ["binary", "text"])
def test_stl_files_are_read(tmp_path, form):
    file = write_stl(tmp_path / "box.stl", BOX)
    if form == "text":
        corners = "".join(
            "facet normal 0 0 0\n outer loop\n"
            + "".join(f"  vertex {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in each)
            + " endloop\nendfacet\n"
            for each in BOX
        )
        file.write_text(f"solid box\n{corners}endsolid box\n")
    shape = Shape.mesh(file, (1.0, 1.0, -2.0))
    assert shape.size == pytest.approx((0.2, 0.4, 1.2))
    assert shape.hull.volume == pytest.approx(0.2 * 0.4 * 1.2)
    assert shape.hull_ratio == pytest.approx(1.0)
    assert shape.note == ""


def test_other_formats_are_read_by_trimesh_in_their_unit(tmp_path):
    import trimesh

    file = tmp_path / "box.obj"
    trimesh.creation.box((0.2, 0.4, 0.6)).export(file)
    assert Shape.mesh(file).size == pytest.approx((0.2, 0.4, 0.6))


def test_without_trimesh_the_message_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "box.obj").write_text("")
    monkeypatch.setattr(basis_ik.dependencies, "is_installed", lambda package: False)
    with pytest.raises(ExtraError, match="pip install trimesh"):
        Shape.mesh(tmp_path / "box.obj")


def test_a_mesh_far_from_its_hull_is_told_of(tmp_path):
    apart = np.concatenate([BOX, BOX + np.array([1.0, 0.0, 0.0])])
    shape = Shape.mesh(write_stl(tmp_path / "two.stl", apart))
    assert shape.hull_ratio == pytest.approx(3.0)
    assert "3.0 times the volume" in shape.note
    assert Shape.mesh(write_stl(tmp_path / "open.stl", apart[:-1])).hull_ratio == 1.0


def test_meshes_are_found_as_the_description_names_them(tmp_path, monkeypatch):
    folder = tmp_path / "share" / "arm"
    folder.mkdir(parents=True)
    file = write_stl(folder / "a.stl", BOX)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    for name in (str(file), f"file://{file}", "package://arm/a.stl"):
        assert Shape.mesh(name).size == pytest.approx((0.2, 0.4, 0.6))


NAN = np.array(BOX)
NAN[3, 1, 2] = np.nan
CUT = b"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop"
BAD = {
    "missing": (None, "there is no such mesh file"),
    "empty": (b"", "no STL file, or it is cut off"),
    "not text": (b"\xff" * 300, "no STL file, or it is cut off"),
    "cut off": (b"\0" * 80 + struct.pack("<I", 3) + b"\0" * 120, "no STL file, or it is cut off"),
    "text cut off": (CUT, "a triangle lacks corners"),
    "text no number": (b"solid\n" + b"vertex 0 0 x\n" * 3, "cannot be read"),
    "no triangles": (b"\0" * 84, "no triangles"),
    "nan": (NAN, "not finite"),
    "flat": (BOX * [1.0, 1.0, 0.0], "no volume"),
    "far": (BOX * 1e5, "beyond 10000 m"),
    "too many": (b"\0" * 80 + struct.pack("<I", 1_000_001) + bytes(50 * 1_000_001), "coarser mesh"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_mesh_is_refused_by_name(tmp_path, name):
    content, reason = BAD[name]
    file = tmp_path / "link.stl"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content is not None:
        write_stl(file, content)
    with pytest.raises(SceneError, match=reason) as refused:
        Shape.mesh(file)
    assert refused.value.name == str(file)
    assert "link.stl" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_text_mesh_may_have_no_more_triangles(tmp_path, monkeypatch):
    monkeypatch.setattr(shapes, "MOST_TRIANGLES", 11)
    file = tmp_path / "link.stl"
    file.write_bytes(b"solid\n" + b"vertex 0 0 0\n" * 36)
    with pytest.raises(SceneError, match="12 triangles are more than 11"):
        Shape.mesh(file)
    import trimesh

    trimesh.creation.box((0.2, 0.4, 0.6)).export(tmp_path / "box.obj")
    with pytest.raises(SceneError, match="12 triangles are more than 11"):
        Shape.mesh(tmp_path / "box.obj")


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    file = write_stl(tmp_path / "box.stl", BOX)
    monkeypatch.setattr(shapes, "MOST_MESH_BYTES", file.stat().st_size - 1)
    with pytest.raises(SceneError, match=r"larger than 0 MB; use a coarser mesh"):
        Shape.mesh(file)


def test_a_broken_mesh_of_another_format_is_refused(tmp_path):
    (tmp_path / "link.dae").write_text("<COLLADA")
    with pytest.raises(SceneError, match="cannot be read"):
        Shape.mesh(tmp_path / "link.dae")


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf, 1e-7, 1e5, "a", None])
def test_sizes_are_positive_and_finite(size):
    for make in (
        lambda: Shape.box(0.1, size, 0.1),
        lambda: Shape.sphere(size),
        lambda: Shape.cylinder(size, 0.1),
        lambda: Shape.cylinder(0.1, size),
        lambda: Shape.capsule(0.1, size),
    ):
        with pytest.raises(SceneError, match="sizes are from 1e-06 to 10000 m"):
            make()


@pytest.mark.parametrize("scale", [np.nan, (1.0, 2.0), "a", (1e5, 1.0, 1.0)])
def test_a_scale_is_three_numbers(tmp_path, scale):
    with pytest.raises(SceneError, match="three numbers"):
        Shape.mesh(write_stl(tmp_path / "box.stl", BOX), scale)


@pytest.mark.parametrize("points", [[[0.0, 0.0]], 1.0, None, "a"])
def test_points_of_a_hull_have_three_coordinates(points):
    with pytest.raises(SceneError, match=r"shape \(n, 3\)"):
        Shape.hull_of(points)


def test_a_bad_shape_of_a_link_names_the_link():
    text = "<robot name='r'><link name='a'><collision><geometry>{}</geometry></collision></link>"
    text += "<link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
    text += "<child link='b'/></joint></robot>"
    for geometry in ("<sphere radius='0'/>", "<mesh filename='/no/such.stl'/>"):
        model = RobotModel.from_urdf(text.format(geometry))
        with pytest.raises(SceneError, match="'a': its <collision>"):
            Shape.of_link(model.collisions[0])


def test_unreadable_collision_shapes_are_told_of_once():
    text = "<robot name='r'><link name='a'><collision><geometry><box size='1 x 1'/></geometry>"
    model = RobotModel.from_urdf(f"{text}</collision></link></robot>")
    assert model.collisions == ()
    (note,) = model.notes
    assert note.startswith("a <collision> is omitted: ")


def test_the_supports_of_a_hull_are_the_same_whatever_fits_into_memory(monkeypatch):
    rng = np.random.default_rng(0)
    hull, directions = Shape.hull_of(rng.normal(size=(200, 3))), rng.normal(size=(1000, 3))
    whole = hull.support(directions)
    monkeypatch.setattr("basis_ik.collision.shape._PRODUCTS", 999)
    assert hull.support(directions) == pytest.approx(whole, abs=1e-12)
    sizes = []
    concatenate = np.concatenate
    monkeypatch.setattr(
        np, "concatenate", lambda parts: sizes.extend(map(len, parts)) or concatenate(parts)
    )
    hull.support(directions)
    assert max(sizes) * len(hull.hull.vertices) <= 999


def test_triangles_are_a_mesh_of_at_most_a_million(monkeypatch):
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    triangles = corners[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    assert Shape.of_triangles(triangles).hull.volume == pytest.approx(1.0 / 6.0)
    assert Shape.of_triangles(triangles).note == ""
    with pytest.raises(SceneError, match="'mesh': the mesh has no triangles"):
        Shape.of_triangles(np.empty((0, 3, 3)))
    monkeypatch.setattr("basis_ik.collision.shape.MOST_TRIANGLES", 3)
    with pytest.raises(SceneError, match="'roof': 4 triangles are more than 3"):
        Shape.of_triangles(triangles, "roof")
