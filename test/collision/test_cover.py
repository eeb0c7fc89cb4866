# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

import numpy as np
import pytest
from bodies import ROUND, SHAPES, points_in
from hypothesis import given, settings

from basis_ik import RobotModel
from basis_ik.collision.cover import MOST_PIECES, cover_of, distances_to_axis
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
    assert len(cover.capsules) <= MOST_PIECES + 2
    assert outside(cover, points_in(shape, 5000)).max() <= 1e-12


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


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_covers_of_arms_are_close(name):
    """The largest surplus is that of flat ends: 0.41 of the radius of a long cylinder."""
    for visual in RobotModel.example(name).collisions:
        shape = Shape.of_link(visual)
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
