# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bad joint states: dropped with their reason, and the commands stay what they would have been."""

import math
from collections import deque

import numpy as np
import pytest
from control_msgs.msg import JointJog
from pure_arm import HOME, PERIOD, Arm, down
from sensor_msgs.msg import JointState

from basis_ik.arm.chain_state import State
from basis_ik.arm.goals import JointGoal
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Pipeline

SLOW = {"max_velocity_scaling_factor": 0.2}
FAR = (0.45, 0.30)


def on_its_way(**given):
    arm = Arm(**{**SLOW, **given})
    arm.go(down(*FAR))
    arm.cycles(20)
    assert arm.state.state is State.MOVING
    return arm


@pytest.fixture
def arm():
    """The arm in mid-motion."""
    return on_its_way()


def whole_way(driver=None):
    """Return all commands of a motion; `driver(arm)` publishes other joint states."""
    arm = Arm()
    if driver is not None:
        arm.driver = lambda: driver(arm)
    arm.go(down(*FAR))
    arm.until_rest()
    assert len(arm.commands) > 50
    return arm.commands


@pytest.fixture(scope="module")
def usual():
    return whole_way()


SEEDED = {
    "NaN": lambda q: np.where(np.arange(6) == 3, math.nan, q),
    "infinite": lambda q: q + math.inf,
    "beyond the limit": lambda q: np.where(np.arange(6) == 2, math.pi + 1e-6, q),
    "too fast": lambda q: q + np.eye(6)[5] * (math.pi * PERIOD + 1e-6),
    "a joint less": lambda q: q[:5],
}


@pytest.mark.parametrize("damage", SEEDED.values(), ids=SEEDED)
def test_the_recorder_detects_a_bad_command(arm, damage):
    names = list(arm.chain.joint_names)
    near = HOME.copy()
    near[2] = math.pi - 1e-9
    arm.move_by_hand(near if damage is SEEDED["beyond the limit"] else HOME)
    bad = damage(arm.place)
    with pytest.raises(AssertionError):
        arm.execute(JointState(name=names[: len(bad)], position=bad.tolist()))
    with pytest.raises(AssertionError):
        arm.execute(JointState(name=names[::-1], position=arm.place.tolist()))
    arm.execute(JointState(name=names, position=arm.place.tolist()))


def test_row_29_a_joint_is_missing(arm, observed):
    lost = arm.chain.joint_names[5]
    arm.driver = lambda: arm.publish_state(arm.chain.joint_names[:5], arm.place[:5])
    arm.cycles(49)
    assert arm.state.state is State.MOVING, "it may come in the next state"
    arm.cycles(2)
    assert arm.state.state is State.BRAKING
    arm.until_rest()
    assert arm.state.state is State.WAITING
    assert arm.status()["message"].startswith(f"no joint state of {lost}")
    arm.driver = lambda: [
        arm.publish_state(arm.chain.joint_names[k::2], arm.place[k::2]) for k in (0, 1)
    ]  # in two parts
    arm.cycles(5)
    arm.follows_again()
    observed(f"HOLD after 0.50 s: no joint state of {lost}")


def test_row_30_joints_in_another_order(usual, observed):
    order = [3, 0, 5, 1, 4, 2]

    def driver(arm):
        order.append(order.pop(0))
        arm.publish_state([arm.chain.joint_names[k] for k in order], arm.place[order])

    np.testing.assert_array_equal(whole_way(driver), usual)
    observed(f"{len(usual)} commands, all bits alike")


def test_row_31_joints_of_others(usual, observed):
    def driver(arm):
        names = ["wheel", *arm.chain.joint_names[:3], "", *arm.chain.joint_names[3:], "wheel"]
        arm.publish_state(names, [9.0, *arm.place[:3], -9.0, *arm.place[3:], 8.0])

    np.testing.assert_array_equal(whole_way(driver), usual)
    observed(f"{len(usual)} commands, all bits alike")


def beside(arm, names, positions):
    """Tell a state beside the usual one of the period."""
    return lambda: arm.publish_state(names, positions)


def test_row_32_a_joint_named_twice(arm, observed):
    names, place = list(arm.chain.joint_names), list(arm.place)
    for name in names:
        logged = arm.refuses("DUPLICATE_JOINT", beside(arm, [*names, name], [*place, 0.0]))
        assert name in logged
    arm.follows_again()
    observed("REJECT(DUPLICATE_JOINT), naming it")


def test_row_33_more_names_than_positions(arm, observed):
    names, place = list(arm.chain.joint_names), list(arm.place)
    for n, p in ((6, 5), (5, 6), (1, 6), (6, 1), (0, 6)):
        logged = arm.refuses("SIZE_MISMATCH", beside(arm, names[:n], place[:p]))
        assert logged == f"{n} names, {p} positions"
    arm.follows_again()
    observed(f"REJECT(SIZE_MISMATCH): {logged}")


def test_row_34_numbers_that_are_none(arm, usual, observed):
    names, place = list(arm.chain.joint_names), list(arm.place)
    for k, name in enumerate(names):
        for value in (math.nan, math.inf, -math.inf):
            logged = arm.refuses("NON_FINITE", beside(arm, [name], [value]))
            assert logged.startswith(f"joint {name}: ")
        for value in (1e200, -1.1e5):
            arm.refuses("OUT_OF_RANGE", beside(arm, names, [*place[:k], value, *place[k + 1 :]]))
    arm.follows_again()

    def driver(arm):
        arm.publish_state(
            [*arm.chain.joint_names, "wheel", "fan"], [*arm.place, math.nan, -math.inf]
        )

    np.testing.assert_array_equal(whole_way(driver), usual)
    observed("REJECT(NON_FINITE) of each joint; of other joints ignored, all bits alike")


def test_row_35_joint_states_cease(arm, observed):
    arm.talks = False
    for k in range(51):
        arm.go(down(FAR[0], FAR[1] - 1e-4 * k))
        arm.cycles()
        assert arm.state.state is State.MOVING or k > 48
    assert arm.state.state is State.BRAKING
    for k in range(200):  # after a second they are refused
        arm.go(down(FAR[0], FAR[1] - 1e-4 * k))
        arm.cycles()
    assert arm.state.state is State.WAITING
    assert arm.status()["message"].startswith("no joint state of shoulder_pan_joint, ")
    assert arm.control.arm.refusals.counts["NOT_READY"] > 50, "targets meanwhile"
    sent = len(arm.oracle.commands)
    arm.cycles(100)
    arm.talks = True
    arm.cycles(100)
    assert len(arm.oracle.commands) == sent, "silence, and nothing is taken up again"
    arm.follows_again()
    observed("HOLD after 0.50 s, then silence; NOT_READY meanwhile")


@pytest.mark.parametrize("side", [-1.0, 1.0], ids=["below", "above"])
def test_row_36_a_joint_outside_its_limits(observed, side):
    """The elbow, which has pi either way, is 0.05 rad beyond; wherever the target is."""
    start = HOME.copy()
    start[2] = side * (math.pi + 0.05)
    arm = Arm(start=start)
    target = arm.chain.forward(HOME * [1, 1, side, 1, 1, 1])
    arm.go(target)
    arm.until_rest()
    elbow = side * np.concatenate([[start[2]], arm.commands[:, 2]])
    outside = elbow > math.pi
    assert outside[0]
    assert not outside[-1]
    assert (np.diff(elbow)[outside[:-1]] < 0.0).all(), "inward, always"
    arm.follows_again()
    observed(f"inward in {outside.sum()} commands, and never out again")


class Beside(Arm):
    """An arm that is always 0.03 rad off its command, with joint states 150 ms late."""

    AWAY, LATE = 0.03, 15

    def __init__(self, **given):
        self.reported = deque([HOME + self.AWAY] * (self.LATE + 1), self.LATE + 1)
        super().__init__(start=HOME + self.AWAY, **given)

    def execute(self, message):
        super().execute(message)
        self.place = self.place + self.AWAY

    def driver(self):
        self.reported.append(self.place)
        self.publish_state(self.chain.joint_names, self.reported[0])


def pause(arm):
    """Let joint states cease for a while."""
    arm.talks = False
    arm.cycles(60)
    arm.talks = True


def leave_alone(arm):
    """Deactivate, and activate again."""
    arm.control.arm.deactivate()
    arm.cycles(40)
    arm.control.arm.activate()


def stop(arm):
    """Stop, and enable again."""
    arm.control.arm.stop()
    arm.cycles(40)
    arm.control.arm.enable()


def take_away(arm):
    """Let the controller publish another reference."""
    arm.control.arm.execution.keeps = lambda _: False


def test_row_98_late_states_and_an_arm_beside_its_command(observed):
    arm = Beside()
    ends = [HOME + 0.2 * np.eye(6)[k % 3] for k in range(6)]
    for end in ends:
        assert arm.control.arm.go_to(end.tolist()) is None
        arm.until_rest()
        np.testing.assert_array_equal(arm.commands[-1], end)
        assert arm.state.state is State.HOLDING, "it is not there, and that is told"
        arm.cycles(100)
        np.testing.assert_array_equal(arm.commands[-1], end)
    jog = JointJog(joint_names=[arm.chain.joint_names[0]], velocities=[0.0])
    for _ in range(20):  # a joystick in its middle moves nothing
        arm.receive("joint_jog", jog)
        arm.until_rest()
    np.testing.assert_array_equal(arm.commands[-1], ends[-1])
    # From the first command on there is no step, at no start of a motion: the limits say so.
    limits = MotionLimits.of_chain(arm.chain)
    for order, most in ((1, limits.velocity), (2, limits.acceleration), (3, limits.jerk)):
        steps = np.abs(np.diff(arm.commands, order, axis=0))
        assert (steps <= most * PERIOD**order * (1.0 + 1e-6)).all()
    # If another commander may have moved it, motion begins at the measured positions.
    for k, leave in enumerate((pause, leave_alone, stop, take_away)):
        leave(arm)
        arm.cycles(150)
        arm.oracle.before, place, sent = arm.place, arm.place, len(arm.commands)
        arm.control.arm.go_to(ends[k % 2].tolist())
        arm.cycles(1)
        assert np.abs(arm.commands[sent] - place).max() < 1e-3
        arm.until_rest()
    pipe, measured = Pipeline(arm.chain, period=PERIOD), HOME + Beside.AWAY
    before, longest = HOME + Beside.AWAY, 0.0
    for k in range(1000):
        goal = HOME + 0.02 * (-1) ** k
        pipe.set_goal(JointGoal(tuple(goal)), measured)
        while (command := pipe.step(measured)) is not None:
            longest = max(longest, np.abs(command - before).max() if k else 0.0)
            before, measured = command, command + Beside.AWAY
        np.testing.assert_array_equal(before, goal)
    assert longest < 0.01
    observed(f"1,000 motions and 20 jogs end where they should; longest step {longest:.4f} rad")
