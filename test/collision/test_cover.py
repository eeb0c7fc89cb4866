# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from bodies import ROUND, SHAPES, hulls, points_in
from hypothesis import given, settings
from hypothesis import strategies as st

from basis_ik import RobotModel
from basis_ik.collision.cover import COVERING, _Cutter, cover_of, distances_to_axis
from basis_ik.collision.hull import convex_hull
from basis_ik.collision.shape import Shape


def outside(cover, points):
    """Return how far points (n, 3) are outside all capsules of a cover."""
    each = [distances_to_axis(row, points) - row[6] for row in cover.capsules]
    return np.min(each, axis=0)


def distances_to(hull, points):
    """Return the distances (n,) of points from a polytope, by its faces alone: a lower bound."""
    return (points @ hull.normals.T - hull.offsets).max(axis=1)


@given(SHAPES)
@settings(max_examples=40)
def test_a_cover_contains_its_shape(shape):
    cover = cover_of(shape)
    assert len(cover.capsules) <= COVERING.most_pieces + 2
    assert outside(cover, points_in(shape, 5000)).max() <= 1e-15
    if not shape.is_round:
        assert outside(cover, shape.hull.vertices).max() <= 0.0


def test_a_cover_contains_what_its_hull_leaves_outside():
    corners = np.array(np.meshgrid([0.0, 1.0], [0.0, 0.1], [0.0, 0.1])).reshape(3, -1).T
    points = np.concatenate([corners, [[0.5, 0.05, 0.1 + 0.9e-7]]])
    shape = Shape.hull_of(points)
    assert shape.hull.slack > 0.0
    assert outside(cover_of(shape), points).max() <= 0.0
    bare = cover_of(Shape.hull_of(corners))
    assert (cover_of(shape).capsules[:, 6] > bare.capsules[:, 6] + 0.8e-7).all()


@given(hulls(), st.integers(0, 1000))
def test_the_corners_of_a_piece_span_it(shape, seed):
    """Whatever is in the shape and in the box of the piece is in the hull of the corners."""
    rng = np.random.default_rng(seed)
    vertices = shape.hull.vertices
    points = rng.dirichlet(np.full(len(vertices), 0.3), 4000) @ vertices
    ends = np.sort(rng.uniform(vertices.min(axis=0), vertices.max(axis=0), (2, 3)), axis=0)
    for axis in range(3):  # some sides are open
        ends[0, axis] = -np.inf if rng.uniform() < 0.4 else ends[0, axis]
        ends[1, axis] = np.inf if rng.uniform() < 0.4 else ends[1, axis]
    inside = points[((ends[0] <= points) & (points <= ends[1])).all(axis=1)]
    cutter = _Cutter(shape, np.eye(3), np.eye(3), np.zeros(3))
    corners = cutter._corners(*ends)
    if len(inside) > 3:
        piece = convex_hull(corners)
        if piece is not None:
            off = inside @ piece.normals.T - piece.offsets
            assert off.max() <= piece.slack + 1e-6


def test_a_box_in_the_middle_has_its_own_corners():
    cutter = _Cutter(Shape.box(1.0, 1.0, 1.0), np.eye(3), np.eye(3), np.zeros(3))
    corners = cutter._corners(np.full(3, -0.1), np.full(3, 0.2))
    assert sorted(set(corners.ravel().tolist())) == [-0.1, 0.2]
    assert len(corners) == 8


@given(SHAPES)
@settings(max_examples=20)
def test_nothing_of_a_cover_is_farther_from_its_shape_than_the_surplus(shape):
    cover = cover_of(shape)
    rng = np.random.default_rng(0)
    way = rng.normal(size=(3000, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    tops = np.concatenate([end + row[6] * way for row in cover.capsules
                           for end in (row[:3], row[3:6])])  # fmt: skip
    if shape.kind == "mesh":
        off = distances_to(shape.hull, tops)
    elif shape.kind == "box":
        off = np.linalg.norm(np.maximum(np.abs(tops) - 0.5 * np.array(shape.size), 0.0), axis=1)
    else:
        out = np.hypot(tops[:, 0], tops[:, 1]) - 0.5 * shape.size[0]
        up = np.abs(tops[:, 2]) - 0.5 * shape.size[2]
        off = np.hypot(np.maximum(out, 0.0), np.maximum(up, 0.0))
        if shape.is_round:
            off = np.zeros(1)
    assert off.max() <= 1.02 * cover.surplus + 1e-9
    if shape.kind in ("box", "cylinder"):
        assert off.max() >= 0.9 * cover.surplus


@given(ROUND)
def test_spheres_and_capsules_are_taken_as_they_are(shape):
    (row,), surplus = cover_of(shape)
    half = 0.5 * shape.size[2] if shape.kind == "capsule" else 0.0
    assert row.tolist() == [0.0, 0.0, -half, 0.0, 0.0, half, 0.5 * shape.size[0]]
    assert surplus == 0.0


def test_equal_shapes_have_equal_covers():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3))
    for make in (lambda: Shape.cylinder(0.05, 0.3), lambda: Shape.hull_of(points)):
        one, other = cover_of(make()), cover_of(make())
        assert one.capsules.tobytes() == other.capsules.tobytes()
        assert one.surplus == other.surplus
        assert not one.capsules.flags.writeable
    shape = make()
    assert cover_of(shape) is cover_of(shape)  # made once


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_covers_of_arms_are_close(name):
    """The largest surplus is that of flat ends: 0.41 of the radius of a long cylinder."""
    for visual in RobotModel.example(name).collisions:
        (shape,) = Shape.of_link(visual)
        cover = cover_of(shape)
        assert cover.surplus <= 0.4 * max(sorted(shape.size)[:2])
        assert cover.surplus <= 0.045


def test_a_long_box_takes_several_capsules():
    thin = cover_of(Shape.box(0.3, 0.2, 0.02))
    assert len(thin.capsules) > 1
    assert thin.surplus < 0.05


def test_equal_shapes_share_one_cover():
    mesh = Shape.hull_of(np.random.default_rng(0).normal(size=(30, 3)))
    again = Shape.hull_of(np.random.default_rng(0).normal(size=(30, 3)))
    other = Shape.hull_of(np.random.default_rng(1).normal(size=(30, 3)))
    assert cover_of(mesh) is cover_of(again)
    assert cover_of(mesh) is not cover_of(other)
    assert cover_of(Shape.box(0.1, 0.2, 0.3)) is cover_of(Shape.box(0.1, 0.2, 0.3))
    assert cover_of(Shape.box(0.1, 0.2, 0.3)) is not cover_of(Shape.box(0.1, 0.2, 0.31))
    assert Shape.cylinder(0.1, 0.2) != Shape.capsule(0.1, 0.2)
