# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bad targets, joint states and parameters: refused at once, nothing unsafe sent, recovered."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest
from bench import HOME, PERIOD, down, running
from builtin_interfaces.msg import Time
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParametersAtomically

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
ELBOW = 2
TIMEOUT = 0.5  # s: the default of joint_state_timeout
HANDLED = 2 * PERIOD + 1e-9  # s until the node has handled a message, and told it


@pytest.fixture(scope="module")
def bench():
    with running() as robot:
        robot.home = robot.tip()
        yield robot
    assert max(map(len, robot.log.lines())) < 400, "the log is not flooded"
    assert "".join(robot.log.lines()).isprintable()


@pytest.fixture
def robot(bench):
    """The robot at rest at its home; what a test commands must be safe."""
    states = bench.states
    assert bench.set_parameter("speed_override", 1.0).successful
    if not bench.at(bench.home, 1e-9):
        bench.reach(bench.home)
    bench.wait(bench.rests, "silence")
    yield bench
    bench.states = states
    complaints, bench.arm.complaints = bench.arm.complaints, []
    assert complaints == []


class Bent:
    """Publishes malformed joint states."""

    def __init__(self, publisher, bend):
        self._publisher, self._bend = publisher, bend

    def publish(self, state):
        self._bend(state)
        self._publisher.publish(state)


def refusals(robot, reason):
    return int(robot.statuses[-1].get(f"refused.{reason}", 0))


def refused_at_once(robot, reason, frame="base_link", stamp="now"):
    """Send a pose that is refused in the next period."""
    before = refusals(robot, reason)
    robot.send(frame, FAR, stamp)
    robot.run(2 * PERIOD)
    assert refusals(robot, reason) == before + 1


# Targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    ["x" * 1_000_000, "base\x07\n\x1b[31mlink", "/base_link", "a\tb"],
    ids=["long", "control", "slash", "tab"],
)
def test_an_invalid_frame_is_refused_before_tf_in_a_short_line(robot, frame):
    for _ in range(10):
        refused_at_once(robot, "BAD_FRAME", frame)
    logged = robot.statuses[-1]["last_refusal.target_pose"]
    assert len(logged) < 200
    assert logged.isprintable()
    assert robot.rests()
    robot.reach(NEAR, 1e-9)


def memory():
    """Return the memory of this process [kB]."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_long_frames_are_not_kept(robot):
    for count in (10, 50):
        before = memory()
        for k in range(count):
            refused_at_once(robot, "BAD_FRAME", str(k) * 1_000_000)
    assert memory() - before < 20_000


@pytest.mark.parametrize(
    "stamp", [Time(sec=-1), Time(nanosec=10**9), Time(sec=1, nanosec=2**32 - 1)]
)
def test_a_malformed_stamp_is_refused(robot, stamp):
    refused_at_once(robot, "BAD_STAMP", stamp=stamp)
    assert robot.rests()
    robot.reach(NEAR, 1e-9)


def test_a_target_older_than_the_last_is_refused_and_the_last_kept(robot):
    now = robot.send("base_link", NEAR).header.stamp
    robot.run(2 * PERIOD)
    refused_at_once(robot, "OUT_OF_ORDER", stamp=Time(sec=now.sec - 1, nanosec=now.nanosec))
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    assert robot.at(NEAR, 1e-9)


# Joint states --------------------------------------------------------------------------------


def reverse(state):
    state.name, state.position = state.name[::-1], state.position[::-1]


def add_foreign_joints(state):
    state.name = ["finger", *state.name, "wheel"]
    state.position = [math.nan, *state.position, math.inf]


def ways(robot):
    """Send the arm from home to a pose, with nothing in the node's memory; return its commands."""
    assert robot.transit("deactivate")
    robot.wait(robot.rests, "silence")
    robot.positions = HOME
    robot.run(1.0)
    assert robot.transit("activate")
    robot.wait_status(state="READY")
    first = len(robot.commands)
    robot.reach(NEAR, 1e-9)
    robot.wait(robot.rests, "silence")
    return [[p.positions for p in each.message.points] for each in robot.commands[first:]]


def test_joint_states_in_another_order_or_with_more_joints_lead_to_identical_commands(robot):
    good, plain = robot.states, ways(robot)
    for how in (reverse, add_foreign_joints):
        robot.states = Bent(good, how)
        assert ways(robot) == plain


def repeat_a_joint(state):
    state.name = [*state.name, state.name[0]]
    state.position = [*state.position, 1.0]


def drop_a_position(state):
    state.position = state.position[:-1]


def damage(value):
    def how(state):
        state.position[ELBOW] = value

    return how


def drop_all_names(state):
    state.name = []


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (repeat_a_joint, "DUPLICATE_JOINT"),
        (drop_a_position, "SIZE_MISMATCH"),
        (drop_all_names, "SIZE_MISMATCH"),
        (damage(math.nan), "NON_FINITE"),
        (damage(-math.inf), "NON_FINITE"),
        (damage(1e200), "OUT_OF_RANGE"),
    ],
    ids=["duplicate", "sizes", "no names", "nan", "-inf", "1e200"],
)
def test_malformed_joint_states_hold_a_moving_arm(robot, how, reason):
    good = robot.states
    assert robot.set_parameter("speed_override", 0.2).successful  # the way lasts long enough
    robot.set_off(FAR, 0.1)
    before, begin, robot.states = refusals(robot, reason), robot.time, Bent(good, how)
    robot.run(TIMEOUT - 2 * PERIOD)
    assert robot.statuses[-1]["state"] == "MOVING"
    if reason is not None:
        assert refusals(robot, reason) - before == pytest.approx(
            (robot.time - begin) / 0.008, abs=2
        )
        assert robot.statuses[-1]["last_refusal.joint_states"].startswith(f"{reason}: ")
    robot.wait_status(state="BRAKING")
    assert robot.time - begin <= TIMEOUT + HANDLED
    assert "no joint state of" in robot.statuses[-1]["since"]
    robot.wait_status(state="WAITING")
    rested = max(now for now, output in robot.arm.outputs if (output != robot.positions).any())
    assert 1e-9 * rested - begin <= TIMEOUT + HANDLED + 0.15, "it brakes as quickly as it can"
    assert robot.rests()
    assert not robot.at(FAR, 1e-2)
    here, begin, robot.states = robot.positions, robot.time, good
    robot.wait_status(state="READY")
    assert robot.time - begin <= HANDLED
    assert robot.rests(), "nothing starts by itself"
    assert np.array_equal(robot.positions, here)
    assert robot.set_parameter("speed_override", 1.0).successful
    robot.reach(FAR, 1e-9)


def test_malformed_joint_states_between_good_ones_change_no_command(robot):
    good, before, plain = robot.states, refusals(robot, "NON_FINITE"), ways(robot)
    broken = Bent(good, damage(math.nan))

    class Both:
        def publish(self, state):
            good.publish(state)
            broken.publish(copy.deepcopy(state))

    robot.states = Both()
    assert ways(robot) == plain
    assert refusals(robot, "NON_FINITE") > before + 100, "the broken ones are counted"


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_outside_its_limits_is_only_moved_inward(robot, side):
    limit, positions = robot.chain.upper[ELBOW], robot.positions
    positions[ELBOW] = side * (limit + 0.2)
    robot.positions = positions
    robot.run(1.0)
    first = len(robot.arm.outputs)
    robot.reach(NEAR, 1e-9)
    elbow = side * np.array([output[ELBOW] for _, output in robot.arm.outputs[first:]])
    assert elbow[0] == limit + 0.2
    assert elbow[-1] < limit
    assert np.diff(elbow)[elbow[:-1] > limit].max() <= 1e-12


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("way", [0.51, 20.0 * math.pi], ids=["just too far", "ten turns"])
def test_a_joint_far_outside_its_limits_needs_a_person(robot, side, way):
    limit, positions = robot.chain.upper[ELBOW], robot.positions
    home = positions.copy()
    positions[ELBOW] = side * (limit + way)
    robot.positions = positions
    robot.wait_status(state="WAITING")
    robot.run(1.0)
    message = robot.statuses[-1]["message"]
    assert f"elbow_joint is at {positions[ELBOW]:.4g}, {way:.4g} outside its limits [-3.142," in (
        message
    )
    assert "move it back by the robot's own means" in message
    before = refusals(robot, "NOT_READY")
    robot.send("base_link", NEAR)
    assert robot.rests()
    assert refusals(robot, "NOT_READY") == before + 1
    assert np.array_equal(robot.positions, positions)
    robot.positions = home
    robot.wait_status(state="READY")
    robot.reach(NEAR, 1e-9)


@pytest.mark.parametrize("way", [0.002, 0.49])
def test_a_joint_somewhat_outside_its_limits_is_moved_back(robot, way):
    positions = robot.positions
    positions[ELBOW] = robot.chain.upper[ELBOW] + way
    robot.positions = positions
    robot.run(1.0)
    robot.reach(NEAR, 1e-9)


# Parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, -1.0, math.inf])
def test_an_atomic_set_with_one_bad_value_changes_nothing(robot, bad):
    def number(name, value):
        return Parameter(name=name, value=ParameterValue(type=3, double_value=value))

    values = [
        number("transform_timeout", 0.25),
        number("max_velocity_scaling_factor", bad),
        number("joint_state_timeout", 0.75),
    ]
    names = [each.name for each in values]
    before = robot.call(GetParameters, "get_parameters", names=names).values
    answer = robot.call(SetParametersAtomically, "set_parameters_atomically", parameters=values)
    assert not answer.result.successful
    assert "max_velocity_scaling_factor" in answer.result.reason
    assert robot.call(GetParameters, "get_parameters", names=names).values == before
