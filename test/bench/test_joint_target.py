# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of joints as a stream, as from a leader arm."""

import math

import numpy as np
import pytest
from bench import CYCLE, HOME, running
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from world import MILLISECOND, SECOND

ELBOW, WRIST = 2, 5


@pytest.fixture(scope="module")
def robot():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        yield robot


@pytest.fixture(autouse=True)
def _at_home_with_nothing_unsafe_behind(robot):
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    yield
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []
    assert robot.arm.refused == []


def lead(robot, positions, *, stamp="now", **fields):
    """Publish positions, by name or of all joints."""
    if not isinstance(positions, dict):
        positions = dict(zip(robot.chain.joint_names, map(float, positions), strict=True))
    given = {"name": list(positions), "position": list(positions.values())}
    message = JointState(**(given | fields))
    message.header.stamp = robot.stamp() if stamp == "now" else stamp
    robot.topic("joint_target").publish(message)


def stream(robot, seconds, rate, send):
    """Call `send` with the elapsed time [s] for a while; return times and outputs meanwhile.

    A drive is at an output at the end of its cycle.
    """
    begin, seen = robot.world.now, len(robot.arm.outputs)
    for k in range(round(seconds * rate)):
        at = begin + k * SECOND // rate
        robot.world.at(at, lambda: send(1e-9 * (robot.world.now - begin)))
    robot.run(seconds)
    outputs = robot.arm.outputs[seen:]
    times = np.array([1e-9 * (time + CYCLE - begin) for time, _ in outputs])
    return times, np.array([positions for _, positions in outputs])


def sine(t):
    """0.5 rad at 0.25 Hz, from rest."""
    return HOME + 0.25 * (1.0 - np.cos(0.5 * math.pi * np.asarray(t)))[..., None]


def lag_and_error(times, outputs, way):
    """Return the lag [s] with the least distance from a way, and what is left then [rad]."""
    lags = np.linspace(-0.05, 0.3, 3501)
    off = [np.abs(outputs - way(times - lag)).max() for lag in lags]
    return float(lags[np.argmin(off)]), float(np.min(off))


def refused(robot, reason, send):
    """Let something be refused; return the detail."""
    before, count = int(robot.statuses[-1].get(f"refused.{reason}", 0)), len(robot.commands)
    send()
    robot.wait_status(**{f"refused.{reason}": str(before + 1)})
    robot.run(0.5)
    assert len(robot.commands) == count
    return robot.statuses[-1]["last_refusal.joint_target"]


@pytest.mark.parametrize("delay", [(0, 0), (5 * MILLISECOND, 15 * MILLISECOND)])
def test_a_stream_is_followed_without_lag(robot, delay):
    robot.topic("joint_target").link.delay = delay
    times, outputs = stream(robot, 4.0, 50, lambda t: lead(robot, sine(t)))
    late = times > 1.0  # from rest it has to catch up
    lag, error = lag_and_error(times[late], outputs[late], sine)
    assert abs(lag) < 1e-3
    assert error < 3e-4
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, sine(3.98), rtol=0.0, atol=1e-9), "it rests at the last"


def test_a_smoothed_stream_lags_by_what_was_asked_for_and_outliers_are_not_followed(robot):
    for name, value in (("lag", 0.05), ("outliers", True)):
        assert robot.set_parameter(f"filter.joint_target.{name}", value).successful

    def send(t):
        lead(robot, sine(t) + (0.3 if round(50 * t) % 7 == 3 else 0.0))

    times, outputs = stream(robot, 4.0, 50, send)
    for name, value in (("lag", 0.0), ("outliers", False)):
        assert robot.set_parameter(f"filter.joint_target.{name}", value).successful
    late = times > 1.0
    lag, error = lag_and_error(times[late], outputs[late], sine)
    assert lag == pytest.approx(0.07, abs=3e-3), "one interval, and the lag"
    assert error < 8e-3, "what an outlier costs is one interval"


def test_a_step_ends_exactly_there_and_no_limit_is_exceeded(robot):
    lead(robot, HOME + 0.3, stamp=Time())
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, HOME + 0.3, rtol=0.0, atol=1e-9)


def test_names_may_come_in_any_order_and_with_joints_of_others(robot):
    names = [*robot.chain.joint_names[::-1], "gripper", "other_arm_joint"]
    positions = [*(HOME - 0.1)[::-1], math.nan, 7.0]
    lead(robot, dict(zip(names, positions, strict=True)))
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, HOME - 0.1, rtol=0.0, atol=1e-9)


def test_joints_that_are_not_named_stay_where_they_are(robot):
    lead(robot, {"elbow_joint": 0.2})
    robot.run(0.1)
    lead(robot, {"wrist_3_joint": 0.4})
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    expected = HOME.copy()
    expected[[ELBOW, WRIST]] = 0.2, 0.4
    assert np.allclose(robot.positions, expected, rtol=0.0, atol=1e-9), "also the one before"


def test_joints_of_another_motion_that_are_not_named_come_to_rest(robot):
    robot.send("base_link", robot.chain.forward(HOME + np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])))
    robot.wait(lambda: robot.positions[0] > 0.3, "the arm moves")
    seen = len(robot.arm.outputs)
    lead(robot, {"wrist_3_joint": 0.4})
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    pan = np.array([output[0] for _, output in robot.arm.outputs[seen:]])
    assert (np.diff(pan) >= -1e-9).all(), "it does not come back"
    assert 0.3 < pan[-1] < 1.5


def test_the_override_is_that_of_all_motions(robot):
    assert robot.set_parameter("speed_override", 0.0).successful
    lead(robot, HOME + 0.3)
    robot.run(1.0)
    assert np.array_equal(robot.positions, HOME)
    assert robot.set_parameter("speed_override", 1.0).successful
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, HOME + 0.3, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("reason", "detail", "positions", "fields"),
    [
        ("NON_FINITE", "elbow_joint", {"elbow_joint": math.nan}, {}),
        ("OUT_OF_RANGE", "elbow_joint must lie in", {"elbow_joint": 3.2}, {}),
        ("UNKNOWN_JOINT", "'elbow_join'; they are shoulder_pan", {"elbow_join": 0.1}, {}),
        ("UNKNOWN_JOINT", "none is named", {}, {}),
        ("DUPLICATE_JOINT", "'elbow_joint'", {}, {"name": 2 * ["elbow_joint"], "position": [1, 1]}),
        ("SIZE_MISMATCH", "1 names, 2 positions", {"elbow_joint": 1.0}, {"position": [1.0, 1.0]}),
        ("STALE", "s old", {"elbow_joint": 1.0}, {"stamp": Time(sec=1)}),
    ],
)  # fmt: skip
def test_bad_positions_are_refused_and_move_nothing(robot, reason, detail, positions, fields):
    told = refused(robot, reason, lambda: lead(robot, positions, **fields))
    assert told.startswith(reason)
    assert detail in told
