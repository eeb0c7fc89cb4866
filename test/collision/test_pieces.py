# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import sys

import mujoco_coal
import numpy as np
import pytest
from bodies import write_stl
from hypothesis import given
from hypothesis import strategies as st

from basis_ik import RigidTransform, RobotModel, Scene, Shape
from basis_ik.collision.hull import convex_hull, hull_volume
from basis_ik.collision.pieces import PIECES, convex_pieces

# A U of three boxes: sizes and centres [m].
BOXES = [((0.4, 0.1, 0.1), (0.0, 0.0, 0.0)), ((0.1, 0.1, 0.3), (-0.15, 0.0, 0.2)),
         ((0.1, 0.1, 0.3), (0.15, 0.0, 0.2))]  # fmt: skip
VOLUME = 0.1 * 0.1 * 1.0


def union_of_boxes():
    """Return the surface of the U, closed and without inner faces."""
    import trimesh

    profile = np.array([(-0.2, -0.05), (0.2, -0.05), (0.2, 0.35), (0.1, 0.35), (0.1, 0.05),
                        (-0.1, 0.05), (-0.1, 0.35), (-0.2, 0.35)])  # fmt: skip
    faces = np.array([(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)])
    flat = [np.column_stack([profile[:, 0], np.full(8, y), profile[:, 1]]) for y in (-0.05, 0.05)]
    sides = [(k, (k + 1) % 8) for k in range(8)]
    walls = [[(a, b, 8 + b), (a, 8 + b, 8 + a)] for a, b in sides]
    all_faces = [*faces, *(8 + faces[:, ::-1]), *np.array(walls).reshape(-1, 3)]
    mesh = trimesh.Trimesh(np.concatenate(flat), all_faces, process=False)
    assert mesh.is_watertight
    assert abs(mesh.volume) == pytest.approx(VOLUME)
    return np.array(mesh.triangles)


def inside(hulls, points):
    """Return which points (n, 3) a hull contains, but for rounding."""
    found = np.zeros(len(points), bool)
    for hull in hulls:
        found |= (points @ hull.normals.T <= hull.offsets + hull.slack + 1e-9).all(axis=1)
    return found


def on(triangles, count, rng):
    """Return points (count, 3) on triangles, evenly."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(triangles), count, p=area / area.sum())
    weights = rng.dirichlet(np.ones(3), count)
    return np.einsum("ij,ijk->ik", weights, triangles[chosen])


def turned_tori(seed):
    """Return a bent, bumpy tube in any direction, as triangles."""
    import trimesh

    rng = np.random.default_rng(seed)
    mesh = trimesh.creation.torus(0.2, 0.05, major_sections=24, minor_sections=12)
    mesh.apply_transform(trimesh.transformations.random_rotation_matrix(rng.uniform(size=3)))
    return np.array(mesh.triangles) * rng.uniform(0.8, 1.2, 3)


@pytest.mark.parametrize("seed", range(5))
def test_pieces_contain_the_mesh_and_are_closer_to_it_than_its_hull(seed):
    triangles, rng = turned_tori(seed), np.random.default_rng(seed)
    hulls = [convex_hull(each.reshape(-1, 3)) for each in convex_pieces(triangles)]
    assert 1 < len(hulls) <= PIECES.most
    assert inside(hulls, on(triangles, 20_000, rng)).all()
    whole = convex_hull(triangles.reshape(-1, 3))
    assert sum(each.volume for each in hulls) < 0.85 * whole.volume
    assert inside([whole], np.concatenate([each.vertices for each in hulls])).all()


def test_the_solid_between_the_surfaces_is_contained_too():
    triangles = union_of_boxes()
    hulls = [convex_hull(each.reshape(-1, 3)) for each in convex_pieces(triangles)]
    rng = np.random.default_rng(0)
    for size, centre in BOXES:
        solid = (rng.uniform(size=(5000, 3)) - 0.5) * size + centre
        assert inside(hulls, solid).all()
    gap = (rng.uniform(size=(5000, 3)) - 0.5) * (0.18, 0.1, 0.28) + (0.0, 0.0, 0.21)
    assert inside(hulls, gap).mean() < 0.2


def test_a_convex_mesh_is_one_piece(tmp_path):
    file = write_stl(tmp_path / "box.stl", Shape.box(0.2, 0.4, 0.6).hull.triangles)
    (piece,) = Shape.pieces_of_mesh(file)
    assert piece.size == Shape.mesh(file).size
    assert piece.hull.volume == pytest.approx(0.2 * 0.4 * 0.6)


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_coarse_is_as_much_thicker(tmp_path, monkeypatch, exact):
    """A ball is cut off by the faces of its piece, and what touches it there still collides."""
    monkeypatch.setitem(sys.modules, "coal", mujoco_coal)
    monkeypatch.setattr("basis_ik.collision.exact.check_extra", lambda option, package: None)
    points = np.random.default_rng(0).normal(size=(8000, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1, keepdims=True)
    file = write_stl(tmp_path / "ball.stl", convex_hull(points).triangles)
    (piece,) = Shape.pieces_of_mesh(file)
    assert len(piece.hull.vertices) < 0.5 * len(points)
    normals = piece.hull.normals
    assert (normals @ (0.1 * normals).T).max(axis=0).max() > piece.hull.offsets.min() + 5e-5
    assert all(map(piece.contains, 0.0999 * normals))
    assert piece.support(normals).min() > 0.0999
    model = RobotModel.from_urdf(
        "<robot name='r'><link name='base'/><link name='ball'><collision><geometry>"
        f"<mesh filename='{file}'/></geometry></collision></link><joint name='j' type='continuous'>"
        "<parent link='base'/><child link='ball'/></joint></robot>"
    )
    scene = Scene(model, model.chain("base", "ball"), exact=exact)
    scene.add("peg", Shape.sphere(0.01), RigidTransform.identity())
    for away, touches in ((0.1095, True), (0.1099, True), (0.1105, False)):
        for face in np.argsort(piece.hull.offsets)[:50]:
            place = RigidTransform.from_rpy(0.0, 0.0, 0.0, away * normals[face])
            scene.move("peg", place)
            found = scene.collisions(np.zeros(1))
            assert bool(found) == touches
            if exact and away < 0.1099:
                depth = piece.hull.offsets[face] + piece.hull.slack + 0.01 - away
                assert found[0].distance == pytest.approx(-depth, abs=4e-5)


@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([0.0, 1e-4, 1.0]))
def test_volumes_while_cuts_are_compared_are_those_of_hulls(seed, count, thickness):
    points = np.random.default_rng(seed).normal(size=(count, 3)) * (1.0, 1.0, thickness)
    hull = convex_hull(points)
    assert hull_volume(points) == pytest.approx(hull.volume if hull else 0.0, rel=1e-3)


def test_many_triangles_are_cut_as_few_are(monkeypatch):
    triangles = turned_tori(0)
    pieces = len(convex_pieces(triangles))
    monkeypatch.setattr("basis_ik.collision.pieces.PIECES",
                        PIECES._replace(compared_triangles=len(triangles) // 4))  # fmt: skip
    hulls = [convex_hull(each.reshape(-1, 3)) for each in convex_pieces(triangles)]
    assert len(hulls) >= pieces - 1
    assert inside(hulls, on(triangles, 20_000, np.random.default_rng(0))).all()


def test_a_peg_may_be_between_the_legs_of_a_link(tmp_path):
    file = write_stl(tmp_path / "u.stl", union_of_boxes())
    boxes = "".join(
        f"<collision><origin xyz='{' '.join(map(str, at))}'/>"
        f"<geometry><box size='{' '.join(map(str, size))}'/></geometry></collision>"
        for size, at in BOXES
    )
    mesh = f"<collision><geometry><mesh filename='{file}'/></geometry></collision>"
    scenes = []
    for shape in (boxes, mesh):
        model = RobotModel.from_urdf(
            f"<robot name='r'><link name='base'/><link name='u'>{shape}</link>"
            "<joint name='j' type='continuous'><parent link='base'/><child link='u'/>"
            "<axis xyz='0 0 1'/></joint></robot>"
        )
        scenes.append(Scene(model, model.chain("base", "u"), exact=False))
        scenes[-1].add("peg", Shape.sphere(0.02), RigidTransform.identity())
    rng, held, free = np.random.default_rng(0), 0, 0
    for _ in range(300):
        pose = RigidTransform.from_rpy(
            0.0, 0.0, 0.0, rng.uniform((-0.3, -0.2, -0.1), (0.3, 0.2, 0.5))
        )
        q = rng.uniform(-np.pi, np.pi, 1)
        for scene in scenes:
            scene.move("peg", pose)
        wanted, got = (scene.distance(q).distance for scene in scenes)
        if wanted > 0.0:
            assert got <= wanted + 1e-6
            free, held = free + 1, held + bool(scenes[1].collisions(q))
    assert free > 100
    assert held < 0.03 * free
