# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Chunks of positions or poses with times, as learned policies send them."""

import math

import numpy as np
import pytest
from bench import HOME, running
from builtin_interfaces.msg import Time
from moveit_msgs.msg import CartesianPoint, CartesianTrajectory, CartesianTrajectoryPoint
from std_srvs.srv import Trigger
from test_joint_target import lag_and_error, sine, stream
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from world import MILLISECOND

from basis_ik.ros.convert import duration_message, pose_message
from basis_ik.transforms.rigid import RigidTransform

ACTIONS, STEP = 16, 0.1  # of a chunk; s between two
SHIFT = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])


@pytest.fixture(scope="module")
def robot():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        robot.place("base_link", "table", SHIFT)
        yield robot


@pytest.fixture(autouse=True)
def _at_home_with_nothing_unsafe_behind(robot):
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    robot.ready = robot.tip()
    yield
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []


def joints(robot, times, rows, *, stamp="now", names=None):
    """Publish positions at times [s] from now, or without a stamp."""
    message = JointTrajectory(joint_names=list(names or robot.chain.joint_names))
    message.header.stamp = robot.stamp() if stamp == "now" else stamp
    for time, row in zip(times, rows, strict=True):
        positions = list(map(float, row))
        point = JointTrajectoryPoint(positions=positions, time_from_start=duration_message(time))
        message.points.append(point)
    robot.topic("joint_chunk").publish(message)


def poses(robot, times, places, *, frame="base_link", stamp="now", moves=""):
    message = CartesianTrajectory(tracked_frame=moves)
    message.header.frame_id = frame
    message.header.stamp = robot.stamp() if stamp == "now" else stamp
    for time, place in zip(times, places, strict=True):
        point = CartesianTrajectoryPoint(time_from_start=duration_message(time))
        point.point = CartesianPoint(pose=pose_message(place))
        message.points.append(point)
    robot.topic("pose_chunk").publish(message)


def at_rest(robot):
    robot.wait_status(state="ARRIVED", input="chunk")
    robot.wait(robot.rests, "silence")
    return robot.positions


def ahead(t):
    """Return the times of a chunk's actions since a time."""
    return np.arange(1, ACTIONS + 1) * STEP, t + np.arange(1, ACTIONS + 1) * STEP


@pytest.mark.parametrize(
    ("rate", "delay"), [(5, 0), (10, 0), (10, 40 * MILLISECOND), (30, 40 * MILLISECOND)]
)
def test_overlapping_chunks_are_followed_without_lag(robot, rate, delay):
    robot.topic("joint_chunk").link.delay = (delay, delay)

    def send(t):
        later, then = ahead(t)
        joints(robot, later, sine(then))

    times, outputs = stream(robot, 4.0, rate, send)
    robot.topic("joint_chunk").link.delay = (0, 0)
    steady = times > 1.0
    lag, error = lag_and_error(times[steady], outputs[steady], sine)
    assert abs(lag) < 1e-3
    assert error < 1e-3, "the sine between its samples"
    end = (4.0 * rate - 1.0) / rate + ACTIONS * STEP
    assert np.allclose(at_rest(robot), sine(end), rtol=0.0, atol=1e-9), "it rests at the last point"


@pytest.mark.parametrize("stamp", ["now", Time()], ids=["stamped", "without a stamp"])
def test_single_points_that_are_due_when_they_come_are_a_stream_of_positions(robot, stamp):
    times, outputs = stream(robot, 3.0, 50, lambda t: joints(robot, [0.0], [sine(t)], stamp=stamp))
    steady = times > 1.0
    lag, error = lag_and_error(times[steady], outputs[steady], sine)
    assert abs(lag) < 1e-3
    assert error < 3e-4
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, sine(2.98), rtol=0.0, atol=1e-9), "it rests at the last"


def test_the_arm_is_at_each_point_at_its_time_and_stays_between_them(robot):
    rng = np.random.default_rng(3)
    later = np.cumsum(rng.uniform(0.2, 0.4, 10))
    rows = HOME + rng.uniform(-0.02, 0.02, (10, 6))
    times, outputs = stream(robot, float(later[-1]) + 0.3, 1, lambda t: joints(
        robot, later, rows) if t == 0.0 else None)  # fmt: skip
    for time, row in zip(later, rows, strict=True):
        there = outputs[np.abs(times - time).argmin()]
        assert np.abs(there - row).max() < 4e-3
    low, high = np.minimum(rows.min(axis=0), HOME), np.maximum(rows.max(axis=0), HOME)
    assert (outputs >= low - 1e-3).all()
    assert (outputs <= high + 1e-3).all()
    assert np.allclose(at_rest(robot), rows[-1], rtol=0.0, atol=1e-9)


def test_actions_that_tremble_are_followed_without_swinging(robot):
    rng, count = np.random.default_rng(5), 120  # 30 a second, as of a person who leads
    then = np.arange(count) / 30.0
    rows = sine(then) + np.where(then[:, np.newaxis] > 0.1, rng.normal(0.0, 0.003, (count, 6)), 0.0)
    times, outputs = stream(robot, 3.9, 10, lambda t: joints(robot, *part(then, rows, t)))
    wanted = np.array([np.interp(times, then, column) for column in rows.T]).T
    assert np.sqrt(np.mean((outputs - wanted) ** 2)) < 8e-3, "25e-3 if they swing"
    at_rest(robot)


def part(then, rows, t):
    """Return the chunk of 16 actions at a time, and when they are due since then."""
    chosen = slice(np.searchsorted(then, t - 1e-6), None)
    return then[chosen][:ACTIONS] - t, rows[chosen][:ACTIONS]


def test_what_is_past_is_skipped(robot):
    later = np.arange(-9, 7) * STEP  # without a stamp: its first points are past
    rows = HOME + 0.02 * np.arange(-9, 7)[:, np.newaxis]
    seen = len(robot.arm.outputs)
    joints(robot, later, rows, stamp=Time())
    assert np.allclose(at_rest(robot), rows[-1], rtol=0.0, atol=1e-9)
    outputs = np.array([positions for _, positions in robot.arm.outputs[seen:]])
    assert (outputs >= HOME - 1e-9).all(), "it does not go back to them"


def test_a_contradicting_chunk_wins_at_once_and_the_motion_stays_one(robot):
    later, _ = ahead(0.0)
    joints(robot, later, HOME + 0.05 * np.arange(1, 17)[:, np.newaxis])
    robot.run(0.6)
    before = robot.positions
    joints(robot, later, HOME - 0.05 * np.arange(1, 17)[:, np.newaxis])
    robot.run(0.4)
    assert (robot.positions < before).all()
    assert np.allclose(at_rest(robot), HOME - 0.8, rtol=0.0, atol=1e-9)


def test_a_chunk_that_begins_ahead_is_led_over_to(robot):
    times, outputs = stream(robot, 1.2, 1, lambda t: joints(robot, [0.5, 1.0], [HOME + 0.2,
        HOME + 0.3]) if t == 0.0 else None)  # fmt: skip
    middle = outputs[np.abs(times - 0.25).argmin()]
    assert (middle > HOME + 0.05).all()
    assert (middle < HOME + 0.15).all()
    assert np.allclose(at_rest(robot), HOME + 0.3, rtol=0.0, atol=1e-9)


def test_joints_that_are_not_named_stay_where_they_are(robot):
    joints(robot, [0.3, 0.6], [[1.3], [1.2]], names=["elbow_joint"])
    expected = HOME.copy()
    expected[2] = 1.2
    assert np.allclose(at_rest(robot), expected, rtol=0.0, atol=1e-9)


def shifted(pose, way, turn):
    rotation = RigidTransform.exp([0.0, 0.0, 0.0, 0.0, 0.0, turn]).rotation @ pose.rotation
    return RigidTransform.from_rotation_translation(rotation, pose.translation + way)


@pytest.mark.parametrize("frame", ["base_link", "table"])
def test_poses_are_followed_without_lag(robot, frame):
    def way(t):
        size = 0.5 - 0.5 * np.cos(0.5 * math.pi * np.asarray(t))
        return size[..., np.newaxis] * np.array([-0.1, 0.1, 0.05])

    def send(t):
        later, then = ahead(t)
        places = [shifted(robot.ready, each, 5.0 * each[2]) for each in way(then)]
        if frame == "table":
            places = [SHIFT.inverse() @ each for each in places]
        poses(robot, later, places, frame=frame)

    times, outputs = stream(robot, 4.0, 10, send)
    tips = np.array([robot.chain.forward(q).translation for q in outputs])
    steady = times > 1.0
    lag, error = lag_and_error(
        times[steady], tips[steady], lambda t: robot.ready.translation + way(t)
    )
    assert abs(lag) < 5e-3
    assert error < 1e-3
    at_rest(robot)
    last = way(3.9 + ACTIONS * STEP)
    assert robot.at(shifted(robot.ready, last, 5.0 * last[2]), 1e-4)
    assert robot.statuses[-1]["verdict"] == "REACHED"


def test_a_newer_target_of_another_kind_ends_a_chunk_and_a_stop_does(robot):
    later, then = ahead(0.0)
    joints(robot, later, sine(then))
    robot.run(0.5)
    robot.reach(robot.ready, 1e-9)
    joints(robot, later, sine(then))
    robot.run(0.5)
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")


@pytest.mark.parametrize(
    ("reason", "detail", "times", "rows", "how"),
    [
        ("STALE", "its last point was due 0.5", [-1.0, -0.5], [HOME, HOME], {}),
        ("OUT_OF_RANGE", "0 points", [], [], {}),
        ("OUT_OF_RANGE", "points[1] is 0.1 s; they must increase", [0.1, 0.1], [HOME, HOME], {}),
        ("OUT_OF_RANGE", "points[0] is 601 s", [601.0], [HOME], {}),
        ("OUT_OF_RANGE", "points[1]: elbow_joint must lie", [0.1, 0.2],
         [HOME, HOME + 3.0 * (np.arange(6) == 2)], {}),
        ("NON_FINITE", "points[0]: position nan of elbow_joint", [0.1],
         [HOME * [1, 1, math.nan, 1, 1, 1]], {}),
        ("SIZE_MISMATCH", "points[0]: 6 names, 2 positions", [0.1], [[0.0, 0.0]], {}),
        ("UNKNOWN_JOINT", "'elbow_join'", [0.1], [[0.0]], {"names": ["elbow_join"]}),
        ("DUPLICATE_JOINT", "'elbow_joint'", [0.1], [[0.0, 0.0]],
         {"names": 2 * ["elbow_joint"]}),
        ("STALE", "s old", [0.1], [HOME], {"stamp": Time(sec=1)}),
    ],
)  # fmt: skip
def test_bad_chunks_are_refused_and_move_nothing(robot, reason, detail, times, rows, how):
    assert_refused(robot, "joint_chunk", reason, detail, lambda: joints(robot, times, rows, **how))


def assert_refused(robot, name, reason, detail, send):
    before, count = int(robot.statuses[-1].get(f"refused.{reason}", 0)), len(robot.commands)
    send()
    robot.wait_status(**{f"refused.{reason}": str(before + 1)})
    robot.run(0.5)
    assert len(robot.commands) == count
    told = robot.statuses[-1][f"last_refusal.{name}"]
    assert told.startswith(reason)
    assert detail in told


@pytest.mark.parametrize(
    ("reason", "detail", "how"),
    [
        ("NO_TRANSFORM", "nowhere", {"frame": "nowhere"}),
        ("NO_FRAME", "", {"frame": ""}),
        ("UNSUPPORTED", "tracked_frame 'elbow'", {"moves": "elbow"}),
    ],
)
def test_bad_chunks_of_poses_are_refused(robot, reason, detail, how):
    send = lambda: poses(robot, [0.2], [robot.ready], **how)  # noqa: E731
    assert_refused(robot, "pose_chunk", reason, detail, send)


def test_one_bad_pose_refuses_a_chunk(robot):
    far = shifted(robot.ready, np.array([0.0, 0.0, 50.0]), 0.0)
    places = [robot.ready, far, robot.ready]

    def send():
        poses(robot, [0.1, 0.2, 0.3], places)

    assert_refused(robot, "pose_chunk", "OUT_OF_RANGE", "times its reach", send)


def test_a_pose_out_of_reach_ends_a_chunk_unless_approximate(robot):
    far = shifted(robot.ready, np.array([1.5, 0.0, 0.0]), 0.0)
    poses(robot, [2.0, 2.5], [far, far])
    robot.wait_status(verdict="TOO_FAR")
    robot.run(1.5)
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    assert robot.set_parameter("approximate", value=False).successful
    poses(robot, [2.0, 2.5], [far, far])
    robot.wait_status(state="READY")
    assert robot.statuses[-1]["last_refusal.pose_chunk"].startswith("UNREACHABLE")
    assert robot.set_parameter("approximate", value=True).successful


def test_a_chunk_faster_than_the_joints_is_followed_late_within_limits(robot):
    joints(robot, [0.1, 0.2], [HOME + 1.0, HOME + 1.2])
    assert np.allclose(at_rest(robot), HOME + 1.2, rtol=0.0, atol=1e-9)
