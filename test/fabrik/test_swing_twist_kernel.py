# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Swing, twist, hinges and the nearest rotation that a joint allows."""

import math

import numpy as np
import pytest
from from_python import from_python
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.fabrik.swing_twist_kernel import (
    BALL_JOINT,
    FREE_JOINT,
    HINGE_JOINT,
    about,
    between,
    clamp_angle,
    clamp_joint,
    clamp_tilt,
    conjugate,
    from_swing_twist,
    hinge_angle,
    multiply,
    nearest_on_ellipse,
    rotate,
    swing_twist,
)

(
    about,
    between,
    clamp_joint,
    clamp_tilt,
    from_swing_twist,
    hinge_angle,
    conjugate,
    clamp_angle,
    nearest_on_ellipse,
    multiply,
    rotate,
    swing_twist,
) = map(
    from_python,
    (
        about,
        between,
        clamp_joint,
        clamp_tilt,
        from_swing_twist,
        hinge_angle,
        conjugate,
        clamp_angle,
        nearest_on_ellipse,
        multiply,
        rotate,
        swing_twist,
    ),
)

SEEDS = st.integers(0, 10**6)
NO_AXIS = np.array([0.0, 0.0, 1.0])
AT_REST = (1.0, 0.0, 0.0, 0.0)


def quaternion(seed):
    v = np.random.default_rng(seed).normal(size=4)
    return tuple((v / np.linalg.norm(v)).tolist())


def unit(seed):
    v = np.random.default_rng(seed).normal(size=3)
    return tuple((v / np.linalg.norm(v)).tolist())


def matrix(q):
    return np.array([rotate(q, *row) for row in np.eye(3).tolist()]).T


def same_rotation(a, b):
    return abs(abs(np.dot(a, b)) - 1.0) < 1e-13


@given(SEEDS, SEEDS)
def test_products_and_inverses_are_those_of_matrices(a, b):
    p, q = quaternion(a), quaternion(b)
    np.testing.assert_allclose(matrix(multiply(p, q)), matrix(p) @ matrix(q), atol=1e-14)
    np.testing.assert_allclose(matrix(conjugate(p)), matrix(p).T, atol=1e-15)
    assert np.linalg.det(matrix(p)) == pytest.approx(1.0)


@given(SEEDS, SEEDS)
def test_between_is_the_smallest_rotation(a, b):
    u, v = unit(a), unit(b)
    q = between(u, v)
    np.testing.assert_allclose(rotate(q, *u), v, atol=1e-12)
    assert np.dot(q[1:], u) == pytest.approx(0.0, abs=1e-12)
    assert q[0] >= 0.0


@pytest.mark.parametrize("u", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, -0.8)])
def test_between_opposite_directions_is_a_half_turn(u):
    opposite = tuple(-x for x in u)
    np.testing.assert_allclose(rotate(between(u, opposite), *u), opposite, atol=1e-15)


@given(SEEDS, SEEDS)
@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-9, 1e-11])
def test_between_nearly_opposite_directions_keeps_half_the_digits(off, a, b):
    u, side = np.array(unit(a)), np.array(unit(b))
    v = off * side - u
    v /= np.linalg.norm(v)
    q = between(tuple(u.tolist()), tuple(v.tolist()))
    np.testing.assert_allclose(rotate(q, *u.tolist()), v, atol=3e-8)


@given(SEEDS)
def test_swing_and_twist_split_a_rotation(seed):
    q = quaternion(seed)
    x, y, twist = swing_twist(q)
    assert same_rotation(from_swing_twist(x, y, twist), q)
    angle = math.hypot(x, y)
    assert angle <= math.pi + 1e-15
    assert abs(twist) <= math.pi + 1e-15
    # The tilt says where the bone leans.
    bone = rotate(q, 0.0, 0.0, 1.0)
    expected = [math.sin(angle) * x / angle, math.sin(angle) * y / angle, math.cos(angle)]
    np.testing.assert_allclose(bone, expected, atol=1e-12)


def test_swing_and_twist_at_the_corners():
    assert swing_twist(AT_REST) == (0.0, 0.0, 0.0)
    assert swing_twist((0.0, 1.0, 0.0, 0.0)) == pytest.approx((0.0, -math.pi, 0.0))
    assert swing_twist((0.0, 0.0, 0.0, 1.0))[2] == pytest.approx(math.pi)
    assert swing_twist((-1.0, 0.0, 0.0, 0.0)) == pytest.approx((0.0, 0.0, 0.0))


@given(st.floats(-30.0, 30.0), st.floats(-4.0, 4.0), st.floats(0.0, 6.0))
def test_nearest_angle_is_nearest_on_the_circle(angle, lower, width):
    upper = lower + width
    found = clamp_angle(angle, lower, upper)
    assert lower <= found <= upper

    def apart(other):
        return abs(math.remainder(angle - other, 2.0 * math.pi))

    for other in np.linspace(lower, upper, 50):
        assert apart(found) <= apart(float(other)) + 1e-9


@given(st.floats(0.0, 4.0), st.floats(0.0, 4.0), st.floats(0.01, 3.0), st.floats(0.01, 3.0))
def test_nearest_on_ellipse_is_nearest(x, y, a, b):
    u, v = nearest_on_ellipse(x, y, a, b)
    assert (u / a) ** 2 + (v / b) ** 2 <= 1.0 + 1e-12
    if (x / a) ** 2 + (y / b) ** 2 <= 1.0:
        assert (u, v) == (x, y)
    angles = np.linspace(0.0, math.pi / 2, 200)
    nearest = np.hypot(a * np.cos(angles) - x, b * np.sin(angles) - y).min()
    assert math.hypot(u - x, v - y) <= nearest + 1e-9


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_an_ellipse_may_be_flat(a, b):
    assert nearest_on_ellipse(2.0, 3.0, a, b) == (a, b)


@pytest.mark.parametrize(("sx", "sy", "a", "b"), [(1, 1, 1, 2), (-1, 1, 3, 2), (-1, -1, 3, 0.5)])
def test_every_quadrant_has_its_own_ellipse(sx, sy, a, b):
    bounds = np.array([1.0, 2.0, 3.0, 0.5, 0.0, 0.0])  # left, up, right, down
    assert clamp_tilt(9.0 * sx, 0.0, bounds) == (a * sx, 0.0)
    assert clamp_tilt(0.0, 9.0 * sy, bounds) == (0.0, b * sy)
    x, y = clamp_tilt(9.0 * sx, 9.0 * sy, bounds)
    assert (x / a) ** 2 + (y / b) ** 2 == pytest.approx(1.0)
    assert (math.copysign(1.0, x), math.copysign(1.0, y)) == (sx, sy)


@given(SEEDS, SEEDS)
def test_a_ball_allows_the_nearest_swing_and_twist(seed, frame_seed):
    bounds = np.array([0.4, 0.9, 0.2, 0.6, -0.3, 0.5])
    frame, turn = quaternion(frame_seed), quaternion(seed)
    allowed = clamp_joint(turn, BALL_JOINT, bounds, NO_AXIS, frame)
    x, y, twist = swing_twist(multiply(conjugate(frame), multiply(allowed, frame)))
    assert bounds[4] - 1e-12 <= twist <= bounds[5] + 1e-12
    a = bounds[0] if x >= 0 else bounds[2]
    b = bounds[1] if y >= 0 else bounds[3]
    assert (x / a) ** 2 + (y / b) ** 2 <= 1.0 + 1e-9
    again = clamp_joint(allowed, BALL_JOINT, bounds, NO_AXIS, frame)
    assert same_rotation(again, allowed)


@given(SEEDS, SEEDS)
def test_a_hinge_allows_its_axis_only(seed, axis_seed):
    axis, turn = np.array(unit(axis_seed)), quaternion(seed)
    bounds = np.array([0.0, 0.0, 0.0, 0.0, -0.5, 1.2])
    allowed = clamp_joint(turn, HINGE_JOINT, bounds, axis, AT_REST)
    np.testing.assert_allclose(rotate(allowed, *axis), axis, atol=1e-14)
    assert -0.5 - 1e-12 <= hinge_angle(allowed, axis) <= 1.2 + 1e-12
    best = max(abs(np.dot(about(*axis, t), turn)) for t in np.linspace(-0.5, 1.2, 100))
    assert abs(np.dot(allowed, turn)) >= best - 1e-9


def test_a_free_joint_allows_all():
    turn = quaternion(5)
    assert clamp_joint(turn, FREE_JOINT, np.zeros(6), NO_AXIS, AT_REST) == turn
