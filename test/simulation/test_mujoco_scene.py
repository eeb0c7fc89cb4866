# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversion of robot descriptions: shapes, meshes, efforts, and various robots."""

import struct
from pathlib import Path

import numpy as np
import pytest
from heavy_robots import joint, robot, rod, run, simulate

from basis_ik.robot.elements import listed
from basis_ik.robot.mesh_uri import find_mesh
from basis_ik.simulation.mujoco_scene import PhysicsError

URDFS = Path(__file__).parents[2] / "urdf"
LIMIT = 'lower="-1" upper="0.6" velocity="1" effort="50"'


def shaped(shape):
    """Return a slide that lowers a shape towards the ground."""
    body = rod(shape=f"<collision><geometry>{shape}</geometry></collision>")
    return robot(joint("down", body, "0 0 -1", "prismatic", xyz="0 0 0.7", limit=LIMIT))


def write_tetrahedron(path, corner=0.3):
    """Write a binary STL whose lowest point is that far below its origin [m]."""
    points = np.array([[0.2, 0, 0], [-0.2, 0.2, 0], [-0.2, -0.2, 0], [0, 0, -corner]])
    faces = [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)]
    with open(path, "wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(faces)))
        for face in faces:
            file.write(struct.pack("<12fH", 0, 0, 0, *points[list(face)].ravel(), 0))


@pytest.mark.parametrize(
    "shape",
    [
        '<sphere radius="0.3"/>',
        '<box size="0.2 0.2 0.6"/>',
        '<cylinder radius="0.1" length="0.6"/>',
        '<capsule radius="0.1" length="0.4"/>',
    ],
)
def test_shapes_have_their_size(shape):
    drives, notes = simulate(shaped(shape))
    assert run(drives, [0.6], 1.5)[-1] == pytest.approx(0.4, abs=0.01)
    assert notes == ()


@pytest.mark.parametrize("shape", ['<sphere radius="0"/>', '<box size="0.1 0 0.6"/>', "<torus/>"])
def test_invalid_shapes_have_no_contacts(shape):
    assert run(simulate(shaped(shape))[0], [0.6], 1.5)[-1] == pytest.approx(0.6, abs=1e-3)


def test_unreadable_shapes_are_noted():
    _, notes = simulate(shaped('<capsule radius="0.1"/>'))
    (note,) = [each for each in notes if "<capsule>" in each]
    assert note.startswith("a <collision> is omitted: line ")
    assert note.endswith("<capsule> needs a radius and a length above zero")


@pytest.mark.parametrize(("scale", "stop"), [("1 1 1", 0.4), ("1 1 0.5", 0.55)])
def test_meshes_are_found_and_scaled(tmp_path, monkeypatch, scale, stop):
    folder = tmp_path / "share" / "some_arm" / "meshes"
    folder.mkdir(parents=True)
    write_tetrahedron(folder / "link.stl")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    mesh = f'<mesh filename="package://some_arm/meshes/link.stl" scale="{scale}"/>'
    drives, notes = simulate(shaped(mesh))
    assert notes == ()
    assert run(drives, [0.6], 1.5)[-1] == pytest.approx(stop, abs=0.01)


def test_meshes_that_are_missing_or_of_another_kind_are_named_and_left_out(tmp_path):
    collada = tmp_path / "link.dae"
    collada.write_text("<COLLADA/>")
    absent = "package://absent_arm/a.stl"
    body = "".join(
        f'<collision><geometry><mesh filename="{name}"/></geometry></collision>'
        for name in (absent, collada, absent)
    )
    drives, notes = simulate(
        robot(joint("down", rod(shape=body), "0 0 -1", "prismatic", xyz="0 0 0.7", limit=LIMIT))
    )
    found = listed((absent, str(collada)))
    assert notes == (f"no contact, because the mesh was not found or read: {found}",)
    assert run(drives, [0.6], 1.5)[-1] == pytest.approx(0.6, abs=1e-3)


def test_meshes_are_found_in_ros_packages(tmp_path, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    file = tmp_path / "share" / "arm" / "a b.stl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    assert find_mesh("package://arm/a%20b.stl") == file
    assert find_mesh(f"file://{tmp_path}/share/arm/a%20b.stl") == file
    assert find_mesh(str(file)) == file
    for name in ("package://arm/b.stl", "package://arm", "https://arm/a.stl", "", "file:///"):
        assert find_mesh(name) is None
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    assert find_mesh("package://arm/a%20b.stl") is None


def test_an_effort_of_zero_means_unlimited():
    text = robot(joint("lift", rod(along="1 0 0"), limit=LIMIT.replace('"50"', '"0"')))
    drives, notes = simulate(text)
    assert notes == ("an effort of 0 is stated for 'lift': taken as unlimited",)
    assert run(drives, [0.0], 1.0)[-1] == pytest.approx(0.0, abs=1e-6)


def test_the_engines_error_is_reported():
    light = rod().replace('mass value="1.0"', 'mass value="1e-20"')
    with pytest.raises(PhysicsError, match=r"MuJoCo refuses the robot: .*mass and inertia"):
        simulate(robot(joint("lift", light)))


def test_impossible_inertias_are_accepted():
    rounded = rod().replace('izz="', 'izz="9')
    drives, _ = simulate(robot(joint("lift", rounded)))
    assert run(drives, [0.5], 1.0)[-1] == pytest.approx(0.5, abs=1e-3)


def test_a_joint_with_equal_limits_is_held_there():
    limit = 'lower="0.2" upper="0.2" velocity="1" effort="50"'
    drives, _ = simulate(robot(joint("lift", rod(along="1 0 0"), limit=limit)))
    assert run(drives, [0.5], 1.0)[-1] == pytest.approx(0.2, abs=1e-6)


def test_joints_with_a_fault_or_several_freedoms_are_rigid():
    text = robot(
        joint("lift", rod(along="1 0 0")),
        joint("free", rod(), kind="floating", parent="lift_link"),
        joint("flat", rod(), kind="planar", parent="lift_link"),
        joint("bad", rod(), parent="lift_link", limit=""),
    )
    drives, _ = simulate(text)
    assert run(drives, [0.5], 1.0)[-1] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("name", ["ur5e", "panda", "two_arms", "pan_tilt", "legs"])
def test_shipped_robots_stand_still(name):
    drives, notes = simulate((URDFS / f"{name}.urdf").read_text())
    start = drives.positions
    np.testing.assert_allclose(run(drives, start, 0.5)[-1], start, atol=1e-6)
    assert notes == ()
