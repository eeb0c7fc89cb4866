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

"""All faults of all kinds of targets, while the arm follows a good one."""

import math
import time

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from robot_bench import HOME, down, running

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
ON_SWING = down(0.1, 0.1, 0.2)
RECOVERY = 50  # periods in half a second
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
    "NUL": ("no\x00where", "NO_TRANSFORM"),
    "unknown": ("größe*: {", "NO_TRANSFORM"),
}
STAMPS = {
    "negative": (lambda now: Time(sec=-1), "BAD_STAMP"),
    "most negative": (lambda now: Time(sec=-(2**31)), "BAD_STAMP"),
    "nanoseconds": (lambda now: Time(nanosec=10**9), "BAD_STAMP"),
    "most nanoseconds": (lambda now: Time(sec=now.sec, nanosec=2**32 - 1), "BAD_STAMP"),
    "first": (lambda now: Time(nanosec=1), "STALE"),
    "old": (lambda now: Time(sec=now.sec - 3, nanosec=now.nanosec), "STALE"),
    "ahead": (lambda now: Time(sec=now.sec + 2, nanosec=now.nanosec), "FUTURE"),
    "last": (lambda now: Time(sec=2**31 - 1), "FUTURE"),
    "older than the last": (lambda now: Time(sec=now.sec - 1, nanosec=now.nanosec), "OUT_OF_ORDER"),
}
QUATERNIONS = {
    "zero": (0.0, 0.0, 0.0, 0.0),
    "long": (0.0, 0.0, 0.0, 1.002),
    "short": (0.0, 0.0, 0.0, 0.998),
    "denormal": (5e-324, 0.0, 0.0, 0.0),
    "all ones": (1.0, 1.0, 1.0, 1.0),
}


@pytest.fixture(scope="module")
def robot(domain):
    """A robot that follows a swinging frame."""
    start = time.monotonic()
    with running(domain) as robot:
        robot.frames["swing"] = lambda: RigidTransform.from_rpy(
            0.0, 0.0, 0.2 * math.sin(time.monotonic() - start), [0.35, 0.0, 0.2]
        )
        # Any name can stand in tf; none of these may keep others from being looked up.
        for name in ("*odd", "{", "a: b", "'"):
            robot.place("base_link", name, RigidTransform.identity())
        time.sleep(0.2)
        robot.send("swing", ON_SWING, stamp=None)
        robot.wait(lambda: follows(robot), "the arm is with the frame")
        robot.publishers = {
            PoseStamped: robot.targets,
            PointStamped: robot.points,
            TwistStamped: robot.twists,
        }
        yield robot


def follows(robot):
    return robot.at(robot.frames["swing"]() @ ON_SWING, 1e-2)


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


def refused(robot, make, reason):
    """Send a bad target: it is counted once, by its reason, and the arm follows as before.

    It is sent again, after a good one, where joint states that ceased have dropped the one before.
    """
    for _ in range(5):
        if robot.joint_states_ceased():
            robot.send("swing", ON_SWING, stamp=None)
            robot.wait_for(lambda: follows(robot), "the arm follows again")
        if refused_once(robot, make(), reason):
            return
    raise AssertionError("joint states cease in every attempt")


def refused_once(robot, message, reason):
    """Send a bad target; return False if joint states ceased meanwhile."""
    before = counts(robot)
    robot.publishers[type(message)].publish(message)
    ceased = robot.joint_states_ceased
    robot.wait(lambda: counts(robot) != before or ceased(), f"a refusal for {reason}")
    robot.wait(lambda: f"refused.{reason}" in robot.statuses[-1] or ceased(), "its reason")
    if ceased():
        return False
    status = robot.statuses[-1]
    assert counts(robot) == {**before, f"refused.{reason}": before.get(f"refused.{reason}", 0) + 1}
    assert status["last_refusal"].startswith(f"{reason}: ")
    assert status["last_refusal"].isprintable()
    assert len(status["last_refusal"]) < 330
    assert status["target_frame"] == "swing", "the one before is kept"
    sent = len(robot.commands)

    def as_before():
        return len(robot.commands) > sent and follows(robot)

    robot.wait(lambda: as_before() or ceased(), "the arm follows as before")
    return not ceased()


def in_force(robot, message):
    """Wait until the status is about this target."""
    wanted = f"{message.header.stamp.sec}.{message.header.stamp.nanosec:09}"
    robot.wait(lambda: robot.statuses[-1].get("target_stamp") == wanted, "it is in force")


def counts(robot):
    """Return the number of refused targets by reason in the newest status.

    Joint states of a simulation that gets no processor for a moment are refused as a JUMP.
    """
    status = robot.statuses[-1]
    reasons = {key: value for key, value in status.items() if key.startswith("refused.")}
    return {key: int(value) for key, value in reasons.items() if key != "refused.JUMP"}


def put(message, path, value):
    *parts, last = path.split(".")
    owner = message
    for part in parts:
        owner = getattr(owner, part)
    setattr(owner, last, value)


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", VALUES)
def test_a_non_finite_number_in_any_field_is_refused(robot, kind, name):
    value, reason = VALUES[name]
    for path in FIELDS[kind]:
        message = good(kind)
        put(message, path, value)
        refused(robot, lambda message=message: message, reason)


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", FRAMES)
def test_an_invalid_frame_is_refused(robot, kind, name):
    message = good(kind)
    message.header.frame_id, reason = FRAMES[name]
    refused(robot, lambda: message, reason)


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", STAMPS)
def test_an_invalid_stamp_is_refused(robot, kind, name):
    make, reason = STAMPS[name]
    if reason == "OUT_OF_ORDER":  # the last in order is this one
        in_force(robot, robot.send("swing", ON_SWING))
        robot.send("swing", ON_SWING, stamp=None)
        robot.wait(lambda: robot.statuses[-1].get("target_stamp") == "0.000000000", "the newest")

    def stamped():
        message = good(kind)
        message.header.stamp = make(robot.node.get_clock().now().to_msg())
        return message

    refused(robot, stamped, reason)


@pytest.mark.parametrize("name", QUATERNIONS)
def test_an_invalid_quaternion_is_refused(robot, name):
    message = good(PoseStamped)
    q = message.pose.orientation
    q.x, q.y, q.z, q.w = QUATERNIONS[name]
    refused(robot, lambda: message, "BAD_QUATERNION")


@pytest.mark.parametrize("kind", [PoseStamped, PointStamped], ids=lambda kind: kind.__name__)
def test_a_position_too_far_for_the_solver_is_refused(robot, kind):
    message = good(kind)
    put(message, FIELDS[kind][0], 5e7)
    refused(robot, lambda: message, "OUT_OF_RANGE")


def test_a_good_target_is_accepted_after_refusals(robot):
    """Counted in the node's commands, one per period."""
    for kind in FIELDS:
        message = good(kind)
        put(message, FIELDS[kind][0], math.nan)
        refused(robot, lambda message=message: message, "NON_FINITE")
        first = len(robot.commands)
        in_force(robot, robot.send("base_link", FAR))
        assert len(robot.commands) - first <= RECOVERY
        robot.send("swing", ON_SWING, stamp=None)
        robot.wait(lambda: follows(robot), "the arm is with the frame again")


def test_the_arm_reaches_a_good_target_after_refusals(robot):
    robot.go(NEAR)


def last_command_to(robot, message):
    """Send the arm from home to a pose, with nothing in the node's memory."""
    assert robot.transit("deactivate")
    robot.wait(robot.no_commands, "silence")
    robot.positions = HOME.copy()
    assert robot.transit("activate")
    robot.settle()
    first = len(robot.commands)
    robot.targets.publish(message)
    robot.wait(lambda: len(robot.commands) > first, "a command")
    robot.wait(robot.no_commands, "silence")
    assert robot.at(NEAR, 2e-3)
    return np.array(robot.commands[-1])


def test_q_and_minus_q_give_identical_commands(robot):
    """Only the last commands are compared: late periods shift the others in time."""
    message = good(PoseStamped)
    message.pose = pose_message(NEAR)
    one = last_command_to(robot, message)
    q = message.pose.orientation
    q.x, q.y, q.z, q.w = -q.x, -q.y, -q.z, -q.w
    assert np.array_equal(one, last_command_to(robot, message))
    q.x, q.y, q.z, q.w = (0.9995 * each for each in (q.x, q.y, q.z, q.w))
    np.testing.assert_allclose(last_command_to(robot, message), one, atol=1e-9)
