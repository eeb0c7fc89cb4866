# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""All faults of all kinds of targets, while the arm follows a good one: it must not notice."""

import math

import numpy as np
import pytest
from bench import HOME, PERIOD, down, running
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from world import MILLISECOND, SECOND

from basis_ik.ros.convert import pose_message, time_message
from basis_ik.transforms.rigid import RigidTransform

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
ON_SWING = down(0.1, 0.1, 0.2)
AT_ONCE, LATE = PERIOD + 1e-9, 0.5  # s until a refusal; LATE: the default of transform_timeout
OLDEST, NEWEST = 2 * SECOND, 100 * MILLISECOND  # ns: the defaults of target_max_age and _future
REFRESH = 0.05  # s until the status has a new target
HANDLED = 10 * MILLISECOND  # ns: a period, after which a message is handled
FIELDS = {
    PoseStamped: [f"pose.{c}" for c in ("position.x", "position.y", "position.z", "orientation.x",
                                        "orientation.y", "orientation.z", "orientation.w")],
    PointStamped: [f"point.{c}" for c in "xyz"],
    TwistStamped: [f"twist.{part}.{c}" for part in ("linear", "angular") for c in "xyz"],
}  # fmt: skip
VALUES = {
    "nan": (math.nan, "NON_FINITE"),
    "inf": (math.inf, "NON_FINITE"),
    "-inf": (-math.inf, "NON_FINITE"),
    "1e200": (1e200, "OUT_OF_RANGE"),
    "-1e200": (-1e200, "OUT_OF_RANGE"),
}
FRAMES = {
    "empty": ("", "NO_FRAME"),
    "slash": ("/base_link", "BAD_FRAME"),
    "control": ("base\x1b[31m\n\x07link", "BAD_FRAME"),
    "bidi": ("base_\u202eknil", "BAD_FRAME"),
    "256 long": ("x" * 256, "BAD_FRAME"),
    "1 MB": ("x" * 1_000_000, "BAD_FRAME"),
    "255 long": ("x" * 255, "NO_TRANSFORM"),
    "NUL": ("no\x00where", "BAD_FRAME"),
    "unknown": ("größe*: {", "NO_TRANSFORM"),
}
STAMPS = {
    "negative": (lambda now: Time(sec=-1), "BAD_STAMP"),
    "most negative": (lambda now: Time(sec=-(2**31)), "BAD_STAMP"),
    "nanoseconds": (lambda now: Time(nanosec=10**9), "BAD_STAMP"),
    "most nanoseconds": (lambda now: Time(sec=now // SECOND, nanosec=2**32 - 1), "BAD_STAMP"),
    "first": (lambda now: Time(nanosec=1), "STALE"),
    "old": (lambda now: time_message(now - OLDEST - 1), "STALE"),
    "ahead": (lambda now: time_message(now + NEWEST + HANDLED + MILLISECOND), "FUTURE"),
    "last": (lambda now: Time(sec=2**31 - 1), "FUTURE"),
}
QUATERNIONS = {
    "zero": (0.0, 0.0, 0.0, 0.0),
    "long": (0.0, 0.0, 0.0, 1.00101),
    "short": (0.0, 0.0, 0.0, 0.99899),
    "denormal": (5e-324, 0.0, 0.0, 0.0),
    "all ones": (1.0, 1.0, 1.0, 1.0),
}


@pytest.fixture(scope="module")
def robot():
    """A robot that follows a swinging frame."""
    with running() as robot:
        robot.frames["base_link", "swing"] = lambda: RigidTransform.from_rpy(
            0.0, 0.0, 0.2 * math.sin(robot.time), [0.35, 0.0, 0.2]
        )
        # Any name can stand in tf; none of these may keep others from being looked up.
        for name in ("*odd", "{", "a: b", "'"):
            robot.place("base_link", name, RigidTransform.identity())
        robot.publishers = {
            PoseStamped: robot.targets,
            PointStamped: robot.points,
            TwistStamped: robot.twists,
        }
        follow(robot)
        yield robot


def follow(robot):
    robot.run(2 * PERIOD)
    robot.send("swing", ON_SWING, stamp=None)
    robot.run(0.1)  # a target before may yet lead it away
    robot.wait(lambda: follows(robot), "the arm is with the frame")
    robot.run(0.5)
    assert follows(robot)


def follows(robot):
    return robot.at(robot.frames["base_link", "swing"]() @ ON_SWING, 1e-5)


def good(kind):
    """Return a valid target in the root frame, here and now."""
    message = kind()
    message.header.frame_id = "base_link"
    if kind is PoseStamped:
        message.pose = pose_message(FAR)
    elif kind is PointStamped:
        message.point.x, message.point.y = -0.9, -0.5
    else:
        message.twist.linear.z = 0.1
    return message


def counts(robot):
    """Return the number of refused targets by reason in the newest status."""
    status = robot.statuses[-1]
    return {
        key: int(value)
        for key, value in status.items()
        if key.startswith("refused.") and key[8:].isupper()
    }


def refused(robot, message, reason):
    """Send a bad target: it is counted once, in time, by its reason, and the arm follows on."""
    before, first, sent = counts(robot), len(robot.commands), robot.time
    robot.publishers[type(message)].publish(message)
    robot.wait(lambda: counts(robot) != before, f"a refusal for {reason}")
    status, took = robot.statuses[-1], robot.statuses[-1]["heard"] - sent
    assert took <= AT_ONCE if reason != "NO_TRANSFORM" else LATE < took <= LATE + 2 * AT_ONCE
    name = robot.publishers[type(message)].name.removeprefix("/basis_ik/")
    told = status[f"last_refusal.{name}"]
    assert told.startswith(f"{reason}: ")
    assert told.isprintable()
    assert len(told) < 330
    assert (status["level"], status["state"]) == (DiagnosticStatus.WARN, "MOVING"), "it goes on"
    robot.run(0.1)
    assert counts(robot) == {**before, f"refused.{reason}": before.get(f"refused.{reason}", 0) + 1}
    assert follows(robot)
    assert len(robot.commands) - first == round((robot.time - sent) / PERIOD)


def in_force(robot, message):
    """Wait until the status is about this target."""
    stamp = message.header.stamp
    robot.wait_status(target_stamp=f"{stamp.sec}.{stamp.nanosec:09}")


def put(message, path, value):
    *parts, last = path.split(".")
    owner = message
    for part in parts:
        owner = getattr(owner, part)
    setattr(owner, last, value)


KINDS = pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)


@KINDS
@pytest.mark.parametrize("name", VALUES)
def test_a_non_finite_number_in_any_field_is_refused(robot, kind, name):
    value, reason = VALUES[name]
    for path in FIELDS[kind]:
        message = good(kind)
        put(message, path, value)
        refused(robot, message, reason)


@KINDS
@pytest.mark.parametrize("name", FRAMES)
def test_an_invalid_frame_is_refused(robot, kind, name):
    message = good(kind)
    message.header.frame_id, reason = FRAMES[name]
    refused(robot, message, reason)


@KINDS
@pytest.mark.parametrize("name", STAMPS)
def test_an_invalid_stamp_is_refused(robot, kind, name):
    make, reason = STAMPS[name]
    message = good(kind)
    message.header.stamp = make(robot.boundary.system())
    refused(robot, message, reason)


@KINDS
def test_a_target_older_than_the_last_is_refused(robot, kind):
    last = robot.send("swing", ON_SWING)
    in_force(robot, last)
    follow(robot)
    message, stamp = good(kind), last.header.stamp
    message.header.stamp = time_message(stamp.sec * SECOND + stamp.nanosec - 1)
    refused(robot, message, "OUT_OF_ORDER")


@pytest.mark.parametrize("age", [OLDEST - HANDLED - MILLISECOND, -NEWEST], ids=["oldest", "newest"])
def test_a_stamp_just_within_its_bounds_is_accepted(robot, age):
    robot.run(2.0)  # no stamp before is newer
    before, sent = counts(robot), robot.time
    in_force(robot, robot.send("base_link", NEAR, time_message(robot.boundary.system() - age)))
    assert robot.time - sent <= REFRESH + AT_ONCE
    assert counts(robot) == before
    follow(robot)


@pytest.mark.parametrize("name", QUATERNIONS)
def test_an_invalid_quaternion_is_refused(robot, name):
    message = good(PoseStamped)
    q = message.pose.orientation
    q.x, q.y, q.z, q.w = QUATERNIONS[name]
    refused(robot, message, "BAD_QUATERNION")


@pytest.mark.parametrize("kind", [PoseStamped, PointStamped], ids=lambda kind: kind.__name__)
def test_a_position_too_far_for_the_solver_is_refused(robot, kind):
    message = good(kind)
    put(message, FIELDS[kind][0], 5e7)
    refused(robot, message, "OUT_OF_RANGE")


@pytest.mark.parametrize("factor", [1.0 + 1e-9, 40.0])
def test_a_pose_in_millimetres_is_refused_with_the_question_of_units(robot, factor):
    message = good(PoseStamped)
    message.pose.position.y = message.pose.position.z = 0.0
    message.pose.position.x = factor * 10.0 * robot.chain.reach
    refused(robot, message, "OUT_OF_RANGE")
    assert any(": are the units metres?" in str(value) for value in robot.statuses[-1].values())


def test_a_point_to_look_at_may_be_as_far_as_one_likes(robot):
    message = good(PointStamped)
    message.point.x, message.point.y, message.point.z = 4e4, 1e4, 5e3
    before = counts(robot)
    robot.publishers[PointStamped].publish(message)
    robot.wait(lambda: robot.statuses[-1]["input"] == "point", "it is pursued")
    assert counts(robot) == before
    follow(robot)


@KINDS
def test_a_good_target_is_in_force_at_once_after_a_refusal(robot, kind):
    message = good(kind)
    put(message, FIELDS[kind][0], math.nan)
    robot.publishers[kind].publish(message)
    sent = robot.time
    in_force(robot, robot.send("base_link", FAR))
    assert robot.time - sent <= REFRESH + AT_ONCE
    follow(robot)


def test_the_arm_reaches_a_good_target_after_refusals(robot):
    robot.reach(NEAR, 1e-9)
    follow(robot)


def ways(robot, message):
    """Send the arm from home to a pose, with nothing in the node's memory; return its commands."""
    assert robot.transit("deactivate")
    robot.wait(robot.rests, "silence")
    robot.positions = HOME
    robot.run(1.0)
    assert robot.transit("activate")
    robot.wait_status(state="READY")
    first = len(robot.commands)
    robot.targets.publish(message)
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    return [[p.positions for p in each.message.points] for each in robot.commands[first:]]


def test_q_and_minus_q_give_identical_commands(robot):
    message = good(PoseStamped)
    message.pose = pose_message(NEAR)
    one = ways(robot, message)
    q = message.pose.orientation
    q.x, q.y, q.z, q.w = -q.x, -q.y, -q.z, -q.w
    assert ways(robot, message) == one
    assert robot.at(NEAR, 1e-9)
    q.x, q.y, q.z, q.w = (0.99901 * each for each in (q.x, q.y, q.z, q.w))
    for window, same in zip(ways(robot, message), one, strict=True):
        np.testing.assert_allclose(window, same, rtol=0.0, atol=1e-9)
