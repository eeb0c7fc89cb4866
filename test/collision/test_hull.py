# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik import RigidTransform
from basis_ik.collision.hull import coarse_hull, convex_hull, volume


def is_closed(hull):
    """Whether each edge belongs to two faces that turn the same way round."""
    edges = {(int(a), int(b)) for f in hull.faces for a, b in zip(f, np.roll(f, -1), strict=True)}
    return len(edges) == 3 * len(hull.faces) and {edge[::-1] for edge in edges} == edges


@given(st.integers(0, 10**6), st.integers(4, 300), st.sampled_from(["ball", "sphere", "grid"]))
def test_a_hull_contains_all_points_and_has_corners_among_them(seed, count, kind):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    if kind == "sphere":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    if kind == "grid":
        points = np.round(2.0 * points) / 4.0
    hull = convex_hull(points)
    if hull is None:
        assert np.linalg.matrix_rank(points - points[0], tol=1e-5) < 3
        return
    assert is_closed(hull)
    assert (points @ hull.normals.T <= hull.offsets + hull.slack + 1e-15).all()
    assert hull.slack < 1e-5
    off = np.linalg.norm(hull.vertices[:, None] - points[None], axis=2).min(axis=1)
    assert off.max() < 1e-3


def test_the_volume_is_that_of_a_box_and_of_a_sphere():
    corners = np.array(np.meshgrid([0.0, 1.0], [0.0, 2.0], [0.0, 3.0])).reshape(3, -1).T
    assert convex_hull(corners).volume == pytest.approx(6.0)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3000, 3))
    hull = convex_hull(points / np.linalg.norm(points, axis=1, keepdims=True))
    assert hull.volume == pytest.approx(4.0 / 3.0 * np.pi, rel=0.01)
    assert volume(hull.vertices, hull.faces) == hull.volume


def blade(points):
    """Squeeze points to a blade with a sharp edge."""
    return np.column_stack([points[:, 0], 0.02 * points[:, 1] * (1.0 - points[:, 0]), points[:, 2]])


@pytest.mark.parametrize("squeezed", [np.asarray, blade])
@pytest.mark.parametrize("tolerance", [0.001, 0.02])
def test_a_coarse_hull_has_few_corners_and_says_how_far_points_are_outside(squeezed, tolerance):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 3))
    points = squeezed(points / np.linalg.norm(points, axis=1, keepdims=True))
    whole, coarse = convex_hull(points), coarse_hull(points, tolerance)
    assert len(coarse.vertices) < 0.8 * len(whole.vertices)
    assert 0.0 < coarse.slack <= tolerance * 2.0
    directions = rng.normal(size=(5000, 3))
    directions = np.concatenate([directions, whole.normals, coarse.normals])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    beyond = (points @ directions.T).max(axis=0) - (coarse.vertices @ directions.T).max(axis=0)
    assert 0.3 * coarse.slack < beyond.max() <= coarse.slack + 1e-12


def test_a_coarse_hull_of_few_points_is_their_hull():
    corners = np.array(np.meshgrid([0.0, 1.0], [0.0, 2.0], [0.0, 3.0])).reshape(3, -1).T
    rng = np.random.default_rng(0)
    sides = rng.uniform(size=(3000, 3)) * (1.0, 2.0, 3.0)
    sides[:, 0] = np.round(sides[:, 0])
    turn = RigidTransform.from_rpy(0.3, 0.5, 0.7).rotation
    hull = coarse_hull(np.concatenate([sides, corners]) @ turn.T, 0.001)
    assert (len(hull.vertices), hull.volume) == (8, pytest.approx(6.0))
    assert hull.slack < 1e-12
    assert coarse_hull(corners * (1.0, 1.0, 0.0), 0.001) is None


@pytest.mark.parametrize("flat", [0, 1, 2, 3])
def test_what_is_flat_has_no_hull(flat):
    points = np.random.default_rng(0).normal(size=(50, 3))
    points[:, 3 - flat :] = 0.0
    with np.errstate(all="raise"):
        assert (convex_hull(points) is None) == (flat > 0)
        assert convex_hull(points[:0]) is None


def rings(count, noise, seed):
    """Return the points of a tube in single precision, as from a CAD program."""
    rng = np.random.default_rng(seed)
    around = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    ring = np.column_stack([np.cos(around), np.sin(around), np.zeros(count)])
    points = np.concatenate([ring + np.array([0.0, 0.0, z]) for z in np.linspace(0.0, 1.0, 9)])
    return (points + noise * rng.normal(size=points.shape)).astype(np.float32).astype(float)


@pytest.mark.parametrize(("noise", "seed"), [(1e-7, 0), (1e-6, 1)])
def test_points_whose_faces_fold_are_moved_a_little(noise, seed):
    points = rings(60, noise, seed)
    hull = convex_hull(points)
    assert is_closed(hull)
    assert 0.0 < hull.slack < 1e-5
    height = (points @ hull.normals.T - hull.offsets).max()
    assert height <= hull.slack + 1e-15
    assert hull.slack < 1.5 * height


def test_what_is_left_outside_is_measured():
    corners = np.array(np.meshgrid([0.0, 1.0], [0.0, 0.5], [0.0, 0.5])).reshape(3, -1).T
    points = np.concatenate([corners, [[0.5, 0.2, 0.5 + 0.9e-7]]])
    assert convex_hull(points).slack == pytest.approx(0.9e-7, rel=1e-6)
