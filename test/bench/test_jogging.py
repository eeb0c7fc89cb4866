# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0


"""Jogging: twists of the tip and velocities of joints, and what the status says about them."""

import itertools
import math

import numpy as np
import pytest
from bench import CYCLE, HOME, running
from builtin_interfaces.msg import Time
from control_msgs.msg import JointJog
from std_srvs.srv import Trigger
from world import MILLISECOND, SECOND

from basis_ik.transforms.rigid import RigidTransform

TILTED = RigidTransform.from_rpy(0.3, 0.0, 1.0, [5.0, 5.0, 5.0])
UP = (0.0, 0.0, 1.0)
INTERVAL = 25 * MILLISECOND


@pytest.fixture(scope="module")
def robot():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        robot.place("base_link", "tilted", TILTED)
        robot.ready = robot.tip()
        yield robot


@pytest.fixture(autouse=True)
def _at_home_with_nothing_unsafe_behind(robot):
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    robot.seen, robot.begin = len(robot.arm.outputs), robot.world.now
    yield
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []
    assert robot.arm.refused == []


def stream(robot, seconds, send):
    """Send at 40 Hz for a while."""
    for elapsed in range(0, round(SECOND * seconds), INTERVAL):
        robot.world.at(robot.world.now + elapsed, send)
    robot.run(seconds)


def to_rest(robot, seconds, send):
    """Send for a while, until rest; return times since the beginning and commanded positions.

    A drive is at an output at the end of its cycle.
    """
    stream(robot, seconds, send)
    robot.wait(robot.rests, "silence when nothing more comes")
    outputs = robot.arm.outputs[robot.seen :]
    times = [1e-9 * (time + CYCLE - robot.begin) for time, _ in outputs]
    return np.array(times), np.array([positions for _, positions in outputs])


def jog(robot, speeds, *, stamp=None, **fields):
    given = {"joint_names": list(speeds), "velocities": list(speeds.values())}
    message = JointJog(**(given | fields))
    message.header.stamp = robot.stamp() if stamp is None else stamp
    robot.jogs.publish(message)


def ago(robot, age):
    """Return the stamp of a moment [ns] ago."""
    seconds, nanoseconds = divmod(robot.boundary.system() - age, SECOND)
    return Time(sec=seconds, nanosec=nanoseconds)


def logged(statuses, key):
    """Return the values of a key one after the other, each only once."""
    values = [each.get(key, "") for each in statuses]
    return [new for old, new in zip([None, *values], values, strict=False) if new != old]


@pytest.mark.parametrize("frame", ["base_link", "tool0", "tilted"])
def test_a_twist_moves_the_tip_along_the_axes_of_its_frame(robot, frame):
    axes = {"base_link": RigidTransform.identity(), "tool0": robot.ready, "tilted": TILTED}[frame]
    times, outputs = to_rest(robot, 0.5, lambda: robot.jog(frame, linear=(0.0, 0.0, 0.1)))
    tips = np.array([robot.chain.forward(positions).matrix for positions in outputs])
    assert np.allclose(tips[:, :3, :3], robot.ready.rotation, rtol=0.0, atol=1e-9)
    along, ways = axes.apply_vector((0.0, 0.0, 1.0)), tips[:, :3, 3] - robot.ready.translation
    distances = ways @ along
    assert np.allclose(ways, np.outer(distances, along), rtol=0.0, atol=1e-8)
    steady = (times > 0.2) & (times < 0.57)
    assert np.allclose(np.diff(distances[steady]) / np.diff(times[steady]), 0.1, atol=1e-8)
    assert 0.055 < distances[-1] < 0.065


def test_a_twist_turns_the_tip_about_its_own_origin(robot):
    times, outputs = to_rest(robot, 0.5, lambda: robot.jog("base_link", angular=(0.0, 0.0, 0.5)))
    turns = [robot.chain.forward(positions) @ robot.ready.inverse() for positions in outputs]
    tips = [robot.chain.forward(positions).translation for positions in outputs]
    assert np.allclose(tips, robot.ready.translation, rtol=0.0, atol=1e-9)
    vectors = np.array([math.prod(turn.as_axis_angle()[::-1]) for turn in turns])
    steady = (times > 0.2) & (times < 0.57)
    rates = np.diff(vectors[steady], axis=0) / np.diff(times[steady])[:, None]
    assert np.allclose(rates, [0.0, 0.0, 0.5], rtol=0.0, atol=1e-7)


def test_joints_move_as_commanded(robot):
    velocities = {"elbow_joint": -0.5, "wrist_3_joint": 0.25}
    times, outputs = to_rest(robot, 0.5, lambda: jog(robot, velocities))
    steady = (times > 0.2) & (times < 0.57)
    speeds = np.diff(outputs[steady], axis=0) / np.diff(times[steady])[:, None]
    assert np.allclose(speeds, [0.0, 0.0, -0.5, 0.0, 0.0, 0.25], rtol=0.0, atol=1e-9)
    moved = outputs[-1] - HOME
    assert np.array_equal(moved[[0, 1, 3, 4]], np.zeros(4))
    assert moved[5] == pytest.approx(-0.5 * moved[2], rel=1e-3)


@pytest.mark.parametrize("timeout", [0.015, 0.095, 0.105])
@pytest.mark.parametrize("kind", ["twist", "joint_jog"])
def test_each_input_begins_at_once_and_ends_in_the_period_after_its_timeout(robot, kind, timeout):
    assert robot.set_parameter("incoming_command_timeout", timeout).successful
    count, begin = len(robot.commands), robot.world.now
    if kind == "twist":
        robot.jog("base_link", linear=(0.0, 0.0, 0.1))
    else:
        jog(robot, {"elbow_joint": -0.5})
    robot.wait_status(state="BRAKING")
    assert robot.commands[count].time == begin
    assert robot.statuses[-1]["heard"] - 1e-9 * begin == pytest.approx(timeout + 0.005, abs=1e-6)
    robot.wait(robot.rests, "silence")
    assert robot.set_parameter("incoming_command_timeout", 0.1).successful


def test_the_newest_kind_of_input_is_followed_and_reported(robot):
    seen = len(robot.statuses)

    def switch():
        robot.jog("base_link", linear=(0.0, 0.0, 0.1))
        robot.world.at(
            robot.world.now + 2 * INTERVAL, lambda: jog(robot, {"shoulder_pan_joint": 0.6})
        )

    for elapsed in range(0, 5 * 4 * INTERVAL, 4 * INTERVAL):
        robot.world.at(robot.world.now + elapsed, switch)
    robot.run(0.5)
    robot.wait_status(state="READY")
    assert logged(robot.statuses[seen:], "input") == [*5 * ["twist", "joint_jog"], ""]
    assert robot.positions[0] - HOME[0] > 0.16
    robot.send("base_link", robot.ready)
    robot.wait_status(input="pose")


def test_a_pose_replaces_joint_velocities_in_motion(robot):
    stream(robot, 0.5, lambda: jog(robot, {"shoulder_pan_joint": 0.6}))
    robot.reach(robot.ready, 1e-9)


def test_a_twist_replaces_joint_velocities_in_motion(robot):
    stream(robot, 0.5, lambda: jog(robot, {"shoulder_pan_joint": 0.6}))
    times, outputs = to_rest(robot, 0.5, lambda: robot.jog("base_link", linear=(0.0, 0.0, 0.2)))
    tips = np.array([robot.chain.forward(positions).translation for positions in outputs])
    steady = (times > 0.8) & (times < 1.07)
    speeds = np.diff(tips[steady], axis=0) / np.diff(times[steady])[:, None]
    assert np.allclose(speeds, [0.0, 0.0, 0.2], rtol=0.0, atol=1e-7)


def turn_wrist_3_by_twist(robot, speed):
    robot.jog("tool0", angular=(0.0, 0.0, speed))


def turn_wrist_3_by_joint_jog(robot, speed):
    jog(robot, {"wrist_3_joint": speed})


@pytest.mark.parametrize("turn", [turn_wrist_3_by_twist, turn_wrist_3_by_joint_jog])
def test_a_limit_stops_the_motion_and_is_reported_until_it_leads_back(robot, turn):
    seen = len(robot.statuses)
    stream(robot, 6.0, lambda: turn(robot, 2.5))
    assert logged(robot.statuses[seen:], "verdict") == ["", "LIMIT"], "without flicker"
    assert robot.statuses[-1]["joint"] == "wrist_3_joint"
    assert robot.chain.upper[5] - 1e-4 < robot.positions[5] <= robot.chain.upper[5]
    seen, begin = len(robot.statuses), robot.time
    stream(robot, 1.0, lambda: turn(robot, -1.0))
    assert robot.positions[5] < robot.chain.upper[5] - 0.9
    assert logged(robot.statuses[seen:], "verdict") == ["LIMIT", ""]
    free = next(each["heard"] for each in robot.statuses[seen:] if "verdict" not in each)
    assert 0.23 < free - begin < 0.36
    robot.wait(robot.rests, "silence")
    assert "verdict" not in robot.statuses[-1]


def test_a_singularity_is_reported_before_it_is_passed(robot):
    beside = HOME.copy()
    beside[4] = -0.5
    robot.reach(robot.chain.forward(beside), 1e-9)
    robot.wait(robot.rests, "silence")
    axes, seen = robot.chain.jacobian(beside)[3:], len(robot.statuses)
    turn = axes[:, 4] + 0.03 * np.cross(axes[:, 4], axes[:, 5])
    stream(robot, 7.0, lambda: robot.jog("base_link", angular=tuple(0.3 * turn)))
    assert robot.positions[3] - beside[3] > 2.9, "the wrist flips"
    texts = [each["message"].split(":")[0] for each in robot.statuses[seen:]]
    nearing, passing = "nearing a singularity", "passing a singularity"
    free = "jogging"
    assert [text for text, _ in itertools.groupby(texts)] == [free, nearing, passing, free]
    warned, passed = (texts.index(text) for text in (nearing, passing))
    times = [each["heard"] for each in robot.statuses[seen:]]
    assert times[passed] - times[warned] > 0.9


def bad_twist(linear=0.0, angular=0.0):
    return lambda robot: robot.jog("base_link", (0.0, linear, 0.0), (0.0, 0.0, angular))


def bad_jog(speeds, **fields):
    return lambda robot: jog(robot, speeds, **fields)


@pytest.mark.parametrize(
    ("reason", "send"),
    [
        ("NON_FINITE", bad_twist(linear=math.nan)),
        ("NON_FINITE", bad_twist(angular=math.nan)),
        ("NON_FINITE", bad_twist(linear=math.inf)),
        ("NON_FINITE", bad_twist(angular=math.inf)),
        ("OUT_OF_RANGE", bad_twist(linear=1e200)),
        ("OUT_OF_RANGE", bad_twist(angular=1e200)),
        ("UNKNOWN_JOINT", bad_jog({"elbow_join": 0.1})),
        ("NON_FINITE", bad_jog({"elbow_joint": math.nan})),
        ("OUT_OF_RANGE", bad_jog({"elbow_joint": 1e9})),
        ("UNSUPPORTED", bad_jog({"elbow_joint": 0.1}, displacements=[0.1])),
        ("DUPLICATE_JOINT", bad_jog({}, joint_names=2 * ["elbow_joint"], velocities=[0.1, 0.1])),
        ("SIZE_MISMATCH", bad_jog({}, velocities=[0.1, 0.1])),
    ],
)
def test_bad_input_is_refused_with_its_reason_and_moves_nothing(robot, reason, send):
    assert_refused(robot, reason, lambda: send(robot))


def told(robot):
    """Return the newest refusal of jogging."""
    status = robot.statuses[-1]
    kinds = [name for name in ("twist", "joint_jog") if f"last_refusal.{name}" in status]
    kinds.sort(key=lambda name: float(status[f"last_refusal_age.{name}"]))
    return status[f"last_refusal.{kinds[0]}"]


def assert_refused(robot, reason, send):
    before, count = int(robot.statuses[-1].get(f"refused.{reason}", 0)), len(robot.commands)
    send()
    robot.wait_status(**{f"refused.{reason}": str(before + 1)})
    assert told(robot).startswith(reason)
    robot.run(1.0)
    assert len(robot.commands) == count


def test_stamp_zero_means_now(robot):
    stream(robot, 0.5, lambda: jog(robot, {"wrist_3_joint": 0.5}, stamp=Time()))
    assert robot.positions[5] - HOME[5] > 0.2
    robot.wait(robot.rests, "silence")


def test_a_stamp_may_be_two_seconds_old_but_no_older(robot):
    robot.run(3.0)  # stamps must not be older than the last one
    stream(robot, 0.5, lambda: jog(robot, {"wrist_3_joint": 0.5}, stamp=ago(robot, 2 * SECOND)))
    assert robot.positions[5] - HOME[5] > 0.2
    robot.run(3.0)
    assert_refused(
        robot, "STALE", lambda: jog(robot, {"wrist_3_joint": 0.5}, stamp=ago(robot, 2 * SECOND + 1))
    )


@pytest.fixture
def unitless(robot):
    assert robot.set_parameter("command_in_type", "unitless").successful
    yield robot
    assert robot.set_parameter("command_in_type", "speed_units").successful


@pytest.mark.parametrize("scale", [0.1, 0.05])
@pytest.mark.parametrize("name", ["linear", "rotational", "joint"])
def test_a_value_of_one_moves_with_the_scale_which_may_change(unitless, name, scale):
    robot = unitless
    assert robot.set_parameter(f"scale.{name}", scale).successful

    def send():
        if name == "joint":
            jog(robot, {"shoulder_pan_joint": 1.0})
        else:
            robot.jog("base_link", **{{"linear": "linear", "rotational": "angular"}[name]: UP})

    robot.seen, robot.begin = len(robot.arm.outputs), robot.world.now
    times, outputs = to_rest(robot, 0.5, send)
    steady = (times > 0.2) & (times < 0.57)
    tips = [robot.chain.forward(positions) for positions in outputs[steady]]
    height = [tip.translation[2] for tip in tips]
    turn = [math.atan2(tip.rotation[1, 0], tip.rotation[0, 0]) for tip in tips]
    way = {"linear": height, "rotational": turn, "joint": outputs[steady, 0]}[name]
    assert np.allclose(np.diff(way) / np.diff(times[steady]), scale, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("value", [1.001, -1.001])
@pytest.mark.parametrize("kind", ["linear", "angular", "joint"])
def test_values_beyond_one_are_refused(unitless, kind, value):
    robot = unitless

    def send():
        if kind == "joint":
            jog(robot, {"elbow_joint": value})
        else:
            robot.jog("base_link", **{kind: (0.0, value, 0.0)})

    assert_refused(robot, "OUT_OF_RANGE", send)
    assert "at most 1" in told(robot)
