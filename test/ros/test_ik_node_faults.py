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

"""Bad targets, joint states and parameters over DDS: refused, nothing unsafe sent, recovered."""

import math
import time
from pathlib import Path

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from robot_bench import HOME, down, running

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
ELBOW = 2


@pytest.fixture(scope="module")
def bench(domain):
    with running(domain) as robot:
        yield robot
    assert max(map(len, robot.output.splitlines())) < 400, "the log is not flooded"
    assert robot.output.replace("\n", "").isprintable()


@pytest.fixture
def robot(bench):
    """The robot at rest at its home; each test's commands must have been safe."""
    publisher = bench.states
    assert bench.set_parameter("speed_override", 1.0).successful
    bench.go_home()
    yield bench
    bench.states = publisher
    complaints, bench.complaints = bench.complaints, []
    assert complaints == []


class Bent:
    """Publishes malformed joint states."""

    def __init__(self, publisher, bend):
        self._publisher, self._bend = publisher, bend

    def publish(self, state):
        self._bend(state)
        self._publisher.publish(state)


def bend(robot, how):
    robot.states = Bent(robot.states, how)


def refusals(robot, reason):
    return int(robot.statuses[-1].get(f"refused.{reason}", 0))


def memory(process):
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def follows_again(robot):
    robot.reach(NEAR, "a good target is followed")


# Targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    ["x" * 1_000_000, "base\x07\n\x1b[31mlink", "/base_link", "a\tb"],
    ids=["long", "control", "slash", "tab"],
)
def test_an_invalid_frame_is_refused_before_tf_in_a_short_line(robot, frame):
    before, size = refusals(robot, "BAD_FRAME"), memory(robot.process)
    for i in range(10):
        robot.send(frame, NEAR)
        robot.wait(lambda i=i: refusals(robot, "BAD_FRAME") == before + i + 1, "its refusal")
    logged = robot.statuses[-1]["last_refusal"]
    assert len(logged) < 200
    assert logged.isprintable()
    assert memory(robot.process) - size < 20_000
    assert robot.no_commands()
    follows_again(robot)


@pytest.mark.parametrize(
    "stamp", [Time(sec=-1), Time(nanosec=10**9), Time(sec=1, nanosec=2**32 - 1)]
)
def test_a_malformed_stamp_is_refused(robot, stamp):
    before = refusals(robot, "BAD_STAMP")
    robot.send("base_link", FAR, stamp=stamp)
    robot.wait(lambda: refusals(robot, "BAD_STAMP") == before + 1, "its refusal")
    assert robot.no_commands()
    follows_again(robot)


def test_a_target_older_than_the_last_is_refused_and_the_last_kept(robot):
    before = refusals(robot, "OUT_OF_ORDER")
    now = robot.send("base_link", NEAR).header.stamp
    # Of two that lie in the queue only the newer to arrive is looked at.
    wanted = f"{now.sec}.{now.nanosec:09}"
    robot.wait(lambda: robot.statuses[-1].get("target_stamp") == wanted, "it is in force")
    robot.send("base_link", FAR, stamp=Time(sec=now.sec - 1, nanosec=now.nanosec))
    robot.wait(lambda: refusals(robot, "OUT_OF_ORDER") == before + 1, "its refusal")
    robot.wait(lambda: robot.at(NEAR), "the arm goes on")
    robot.wait(robot.no_commands, "silence")
    assert robot.at(NEAR)


# Joint states --------------------------------------------------------------------------------


def reverse(state):
    state.name, state.position = state.name[::-1], state.position[::-1]


def add_foreign_joints(state):
    state.name = ["finger", *state.name, "wheel"]
    state.position = [math.nan, *state.position, math.inf]


def commands_to(robot, target):
    """Send the arm from home to a pose, with nothing in the node's memory.

    Returns:
        The first and the last command: a loop that was late goes another way between them.
    """
    assert robot.transit("deactivate")
    robot.wait(robot.no_commands, "silence")
    robot.positions = HOME.copy()
    assert robot.transit("activate")
    time.sleep(0.4)
    robot.settle()
    first = len(robot.commands)
    robot.reach(target, "the arm is there")
    robot.wait(robot.no_commands, "silence")
    return robot.commands[first], robot.commands[-1]


def test_order_and_foreign_joints_of_a_joint_state_do_not_matter(robot):
    """The commands are the same to the last bit."""
    good = robot.states
    plain = commands_to(robot, NEAR)
    for how in (reverse, add_foreign_joints):
        robot.states = Bent(good, how)
        assert np.array_equal(commands_to(robot, NEAR), plain)


def repeat_a_joint(state):
    state.name = [*state.name, state.name[0]]
    state.position = [*state.position, 1.0]


def drop_a_position(state):
    state.position = state.position[:-1]


def drop_a_joint(state):
    state.name, state.position = state.name[:-1], state.position[:-1]


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
        (drop_a_joint, None),
        (damage(math.nan), "NON_FINITE"),
        (damage(-math.inf), "NON_FINITE"),
        (damage(1e200), "OUT_OF_RANGE"),
    ],
    ids=["duplicate", "sizes", "no names", "missing", "nan", "-inf", "1e200"],
)
def test_malformed_joint_states_hold_a_moving_arm(robot, how, reason):
    good = robot.states
    # The arm is on its way for long enough.
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    bend(robot, how)
    if reason is not None:
        before = refusals(robot, reason)
        robot.wait(lambda: refusals(robot, reason) > before, "it is counted")
        assert robot.statuses[-1]["last_refusal"].startswith(f"{reason}: ")
    robot.wait_status(state="WAITING")
    robot.wait(robot.no_commands, "silence")
    assert not robot.at(FAR, 1e-2)
    here, robot.states = robot.positions, good
    robot.wait_status(state="READY")
    time.sleep(0.3)
    assert np.array_equal(robot.positions, here), "nothing starts by itself"
    assert robot.set_parameter("speed_override", 1.0).successful
    robot.reach(FAR, "the arm goes where it is told again")


def test_good_joint_states_between_malformed_ones_are_enough(robot):
    good, before = robot.states, refusals(robot, "NON_FINITE")
    broken = Bent(good, damage(math.nan))

    class Both:
        def publish(self, state):
            good.publish(state)
            broken.publish(state)

    robot.states = Both()
    robot.send("base_link", FAR)
    robot.wait(lambda: robot.at(FAR), "the arm is there")
    robot.wait(lambda: refusals(robot, "NON_FINITE") > before, "the broken ones are counted")
    robot.states = good


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_outside_its_limits_is_only_moved_inward(robot, side):
    limit = robot.chain.upper[ELBOW]
    robot.positions = HOME.copy()
    robot.positions[ELBOW] = side * (limit + 0.2)
    robot.settle()
    first = len(robot.commands)
    robot.reach(NEAR, "the arm is there")
    elbow = side * np.array(
        [limit * side + 0.2 * side, *(c[ELBOW] for c in robot.commands[first:])]
    )
    outside = elbow[:-1] > limit
    assert outside.any()
    assert (np.diff(elbow)[outside] <= 0.0).all()
    # The bench reports each command outside the limits; only their speed remains to be checked.
    for before, command in robot.complaints:
        assert (np.abs(command - before) <= robot.chain.velocity * 0.01 + 1e-9).all()
    robot.complaints = [c for _, c in robot.complaints if abs(c[ELBOW]) <= limit]


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
