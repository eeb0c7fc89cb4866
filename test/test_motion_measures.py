# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the benchmark of motions measures, on motions whose answers are known."""

import sys
from pathlib import Path

import numpy as np
import pytest

from basis_ik.robot.robot import RobotModel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmark"))

import motion_measures as measures  # noqa: E402

URDF = (ROOT / "urdf" / "ur5e.urdf").read_text()
TIMES = np.arange(0.0, 4.0, 0.002)
ORIGIN = np.zeros(3)
X = np.array([1.0, 0.0, 0.0])


def on_x(way):
    """A motion of the tip along x, with one joint whose position [rad] is the way [m]."""
    return measures.Motion(TIMES, way[:, None], np.outer(way, X))


def circle(times, radius=0.05, speed=0.3):
    angle = speed / radius * times
    return radius * np.stack([np.zeros_like(angle), np.sin(angle), np.cos(angle)], axis=1)


def follower(lag, radius=0.05):
    """A tip on a circle of another radius, at the angle of a time ago."""
    tips = circle(TIMES - lag, radius, speed=0.3 * radius / 0.05)
    return measures.Motion(TIMES, np.zeros((len(TIMES), 1)), tips)


def braking(speed, deceleration, event):
    """The way of a tip that goes at a speed until an event and then brakes evenly."""
    late = np.clip(TIMES - event, 0.0, speed / deceleration)
    return speed * np.minimum(TIMES, event) + speed * late - 0.5 * deceleration * late**2


def test_the_kinematics_are_those_of_the_package():
    chain = RobotModel.from_urdf(URDF).chain()
    kinematics = measures.Kinematics(URDF, chain.root, chain.tip)
    assert kinematics.joints == list(chain.joint_names)
    np.testing.assert_array_equal(kinematics.lower, chain.lower)
    np.testing.assert_array_equal(kinematics.upper, chain.upper)
    np.testing.assert_array_equal(kinematics.speed, chain.velocity)
    q = np.random.default_rng(1).uniform(chain.lower, chain.upper, (20, 6))
    positions, rotations = kinematics.forward(q)
    for each, position, rotation in zip(q, positions, rotations, strict=True):
        expected = chain.forward(each)
        np.testing.assert_allclose(position, expected.translation, atol=1e-12)
        np.testing.assert_allclose(rotation, expected.rotation, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.3, 2.0, np.pi])
def test_quaternions(angle):
    axis = np.array([0.6, 0.0, -0.8])
    (rotation,) = measures.rotation_about(axis, np.array([angle]))
    found = measures.quaternion_xyzw(rotation)
    expected = np.array([*(np.sin(0.5 * angle) * axis), np.cos(0.5 * angle)])
    np.testing.assert_allclose(found * np.sign(found @ expected), expected, atol=1e-12)


def test_a_late_circle_has_a_lag_and_no_error_of_shape():
    found = measures.following(follower(0.057), circle)
    assert found["lag"] == pytest.approx(0.057, abs=1e-9)
    assert found["shape"] == pytest.approx(0.0, abs=1e-9)
    chord = 2.0 * 0.05 * np.sin(0.5 * 6.0 * 0.057)
    assert found["error_median"] == pytest.approx(chord, rel=1e-9)
    assert found["error_max"] == pytest.approx(chord, rel=1e-9)


def test_a_smaller_circle_has_an_error_of_shape_and_no_lag():
    found = measures.following(follower(0.0, radius=0.047), circle)
    assert found["lag"] == 0.0
    assert found["shape"] == pytest.approx(0.003, rel=1e-9)


def test_the_error_is_instantaneous():
    way = np.where(TIMES < 3.0, 0.001, 0.004)
    found = measures.following(on_x(way), lambda times: np.zeros((len(times), 3)))
    assert found["error_median"] == pytest.approx(0.001)
    assert found["error_max"] == pytest.approx(0.004)


def test_the_delay_ends_with_the_first_motion_of_any_joint():
    way = np.where(TIMES > 1.0405, TIMES - 1.0405, 0.0)
    still = measures.Motion(TIMES, np.stack([0.0 * way, way], axis=1), np.outer(way, X))
    assert measures.delay_to_motion(still, 1.0) == pytest.approx(0.042, abs=1e-9)
    assert np.isnan(measures.delay_to_motion(on_x(0.0 * way), 1.0))


def test_braking_has_its_distance_and_its_time():
    motion = on_x(braking(0.2, 1.0, event=2.0))
    assert measures.length_of_path(motion, 2.0) == pytest.approx(0.02, abs=1e-6)
    assert measures.length_of_path(motion, 1.9993) == pytest.approx(0.02 + 0.0007 * 0.2, abs=1e-6)
    # The last 0.01 mm take sqrt(2 · 1e-5 / 1) s.
    assert measures.time_to_rest(motion, 2.0) == pytest.approx(0.2 - np.sqrt(2e-5), abs=0.002)


def test_a_path_to_and_fro_is_as_long_as_both():
    way = np.interp(TIMES, [0.0, 1.0, 2.0], [0.0, 0.03, 0.01])
    assert measures.length_of_path(on_x(way), 0.0) == pytest.approx(0.05, abs=1e-9)


def test_the_settling_time_is_after_the_overshoot():
    way = np.interp(TIMES, [0.0, 1.0, 1.2, 1.4], [0.0, 0.052, 0.052, 0.0495])
    motion, end = on_x(way), 0.05 * X
    assert measures.overshoot(motion, 0.0, end, X) == pytest.approx(0.002, abs=1e-9)
    # It comes down from 2 mm to 1 mm at 12.5 mm/s.
    assert measures.time_within(motion, 0.0, end, 1e-3) == pytest.approx(1.28, abs=0.003)
    assert np.isnan(measures.time_within(motion, 0.0, end, 1e-4))
    assert measures.time_within(motion, 2.0, end, 1e-3) == 0.0


def test_a_motion_that_stays_short_has_no_overshoot():
    motion = on_x(np.minimum(TIMES, 0.04))
    assert measures.overshoot(motion, 0.0, 0.05 * X, X) == 0.0


def test_the_departure_is_from_the_line_and_not_along_it():
    tips = np.array([[0.0, 0.0, 0.0], [0.3, 0.003, 0.004], [1.2, 0.0, 0.0]])
    assert measures.departure_from_line(tips, ORIGIN, X) == pytest.approx(0.005)


@pytest.mark.parametrize("grid", [0.01, None])
def test_the_acceleration_of_a_parabola(grid):
    found = measures.accelerations(on_x(-1.5 * TIMES**2), grid=grid)
    np.testing.assert_allclose(found, 3.0, rtol=0.03 if grid else 1e-6)


def test_the_grid_spreads_a_step_of_the_speed():
    way = np.maximum(TIMES - 2.0, 0.0)
    assert measures.accelerations(on_x(way), grid=None).max() == pytest.approx(500.0)
    assert measures.accelerations(on_x(way)).max() == pytest.approx(100.0)


def test_a_part_begins_with_the_last_sample_before_it():
    motion = on_x(TIMES)
    assert motion.since(1.001).times[0] == pytest.approx(1.0)
    assert motion.until(1.001).times[-1] == pytest.approx(1.0)
    assert len(motion.since(-1.0).times) == len(TIMES)
