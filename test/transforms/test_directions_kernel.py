# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The smallest rotation between two directions."""

import math

import numpy as np
import pytest

from basis_ik.transforms.directions_kernel import (
    perpendicular,
    roll_towards,
    rotation_about,
    rotation_between,
    twist_angle,
)

ANGLES = [0.0, 1e-300, 1e-16, 1e-9, 1e-3, 1.0, math.pi / 2, 2.0, 3.0]
ANGLES += [math.pi - a for a in (1e-3, 1e-9, 1e-12, 2e-14)]


def unit(v: object) -> np.ndarray:
    return np.asarray(v, float) / np.linalg.norm(v)


def between(a: np.ndarray, b: np.ndarray) -> tuple[float, np.ndarray]:
    fallback, out = np.empty(3), np.full((3, 3), math.nan)
    perpendicular(a, fallback)
    return rotation_between(a, b, fallback, out), out


def test_perpendicular_is_unit_and_perpendicular() -> None:
    rng = np.random.default_rng(0)
    out = np.empty(3)
    for a in [*np.eye(3), *-np.eye(3), unit([1, 1, 1]), *map(unit, rng.normal(size=(50, 3)))]:
        perpendicular(a, out)
        assert abs(out @ a) < 1e-16 * 3
        assert abs(out @ out - 1.0) < 1e-15
    perpendicular(np.array([0.0, 0.0, 1.0]), out)
    assert out.tolist() == [0.0, 1.0, 0.0] or abs(out[2]) == 0.0


@pytest.mark.parametrize("angle", ANGLES)
def test_it_is_a_rotation_and_takes_one_to_the_other(angle: float) -> None:
    rng = np.random.default_rng(1)
    for a in [*np.eye(3), *map(unit, rng.normal(size=(50, 3)))]:
        side = unit(np.cross(a, rng.normal(size=3)))
        b = unit(math.cos(angle) * a + math.sin(angle) * side)
        found, R = between(a, b)
        np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=3e-15)
        assert np.linalg.det(R) > 0.0
        np.testing.assert_allclose(R @ a, b, rtol=0, atol=1e-14 * 3)
        assert abs(found - angle) < 1e-15 * 3


@pytest.mark.parametrize("angle", ANGLES[:-4])
def test_nothing_turns_less(angle: float) -> None:
    """The rotation's angle is that between the directions; perpendicular vectors stay."""
    rng = np.random.default_rng(2)
    a = unit(rng.normal(size=3))
    side = unit(np.cross(a, rng.normal(size=3)))
    _, R = between(a, unit(math.cos(angle) * a + math.sin(angle) * side))
    across = np.cross(a, side)
    np.testing.assert_allclose(R @ across, across, rtol=0, atol=1e-15 * 3)


@pytest.mark.parametrize("short", [1e-3, 1e-5, 1e-6, 1e-8])
def test_nothing_turns_less_near_opposite(short: float) -> None:
    """The fallback is for opposite directions; near them, the directions define the plane."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        a = unit(rng.normal(size=3))
        side = unit(np.cross(a, rng.normal(size=3)))
        _, R = between(a, unit(math.cos(math.pi - short) * a + math.sin(short) * side))
        across = np.cross(a, side)
        np.testing.assert_allclose(R @ across, across, rtol=0, atol=1e-14 + 1e-15 / short)


def test_opposite_directions_turn_about_the_fallback() -> None:
    rng = np.random.default_rng(3)
    for a in [*np.eye(3), *map(unit, rng.normal(size=(50, 3)))]:
        fallback, out = np.empty(3), np.empty((3, 3))
        perpendicular(a, fallback)
        assert rotation_between(a, -a, fallback, out) == math.pi
        np.testing.assert_allclose(out @ a, -a, rtol=0, atol=1e-15)
        np.testing.assert_allclose(out @ fallback, fallback, rtol=0, atol=1e-15)
        again = np.empty((3, 3))
        rotation_between(a, -a, fallback, again)
        assert (out == again).all()


def test_equal_directions_turn_nothing() -> None:
    _, R = between(unit([1, 2, 3]), unit([1, 2, 3]))
    np.testing.assert_allclose(R, np.eye(3), rtol=0, atol=1e-16 * 4)


def test_rotation_about_an_axis_of_any_angle() -> None:
    out = np.empty((3, 3))
    for angle in np.linspace(-7, 7, 29):
        x, y, z = n = unit([1, -2, 0.5])
        rotation_about(x, y, z, math.cos(angle), math.sin(angle), out)
        W = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        expected = np.eye(3) + math.sin(angle) * W + (1 - math.cos(angle)) * W @ W
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-15)
        np.testing.assert_allclose(out @ n, n, rtol=0, atol=1e-15)


def rotation(axis: object, angle: float) -> np.ndarray:
    out = np.empty((3, 3))
    x, y, z = unit(axis)
    rotation_about(x, y, z, math.cos(angle), math.sin(angle), out)
    return out


def test_twist_is_what_remains_when_the_swing_is_taken_away() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        axis = unit(rng.normal(size=3))
        swing_axis = unit(np.cross(axis, rng.normal(size=3)))
        swing, twist = rng.uniform(-3.0, 3.0, 2)
        R = rotation(swing_axis, swing) @ rotation(axis, twist)
        assert abs(twist_angle(R, axis) - twist) < 1e-12


def test_twist_of_pure_turns_and_of_nothing() -> None:
    z = np.array([0.0, 0.0, 1.0])
    assert twist_angle(np.eye(3), z) == 0.0
    for angle in (1e-9, 0.5, -3.0, math.pi - 1e-9):
        assert abs(twist_angle(rotation(z, angle), z) - angle) < 1e-12
    assert abs(twist_angle(rotation(z, math.pi), z)) == pytest.approx(math.pi)
    assert abs(twist_angle(rotation((1, 0, 0), math.pi), z)) < 1e-12


def test_roll_leans_an_axis_and_keeps_the_direction() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        direction, axis, up = map(unit, rng.normal(size=(3, 3)))
        R = rotation(rng.normal(size=3), rng.uniform(-3, 3))
        bone = R.T @ direction  # what R turns to `direction`
        assert roll_towards(direction, axis, up, R)
        np.testing.assert_allclose(R @ bone, direction, rtol=0, atol=1e-14)
        leaning, wanted = (v - (v @ direction) * direction for v in (R @ axis, up))
        np.testing.assert_allclose(unit(leaning), unit(wanted), rtol=0, atol=1e-12)


def test_no_roll_where_axis_or_up_lie_along_the_bone() -> None:
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    for axis, up in ((z, x), (x, z), (-z, x), (x, -z)):
        R = np.eye(3)
        assert not roll_towards(z, axis, up, R)
        assert (np.eye(3) == R).all()
