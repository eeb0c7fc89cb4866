# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.collision.hull import convex_hull, volume


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
    assert (points @ hull.normals.T - hull.offsets).max() == pytest.approx(hull.slack, abs=1e-15)


def test_what_is_left_outside_is_measured():
    corners = np.array(np.meshgrid([0.0, 1.0], [0.0, 0.5], [0.0, 0.5])).reshape(3, -1).T
    points = np.concatenate([corners, [[0.5, 0.2, 0.5 + 0.9e-7]]])
    assert convex_hull(points).slack == pytest.approx(0.9e-7, rel=1e-6)
