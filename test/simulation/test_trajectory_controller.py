# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.simulated_joints import SimulatedJoints
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint
from basis_ik.simulation.trajectory_controller import (
    GOAL_CANCELED,
    GOAL_DEACTIVATED,
    GOAL_PATH_VIOLATED,
    GOAL_PREEMPTED,
    GOAL_REACHED,
    TrajectoryController,
)

DT = 0.01


def tolerances(path=0.0, goal=0.0, goal_time=0.0):
    return Tolerances(np.array([path]), np.array([goal]), goal_time)


def to(*targets, start=None):
    """A command from (time, position[, velocity[, acceleration]])."""
    points = []
    for time, *values in targets:
        fields = [np.array([x]) for x in values] + [np.zeros(0)] * (4 - len(values))
        points.append(Waypoint(time, *fields))
    return TrajectoryCommand(("a",), tuple(points), start)


class Rig:
    """A joint of 1 rad/s between -1 and 1 behind its controller, and all that it commanded."""

    def __init__(self, *, in_force=None, speed=1.0, time_constant=0.0, **rules):
        self.joint = SimulatedJoints(
            np.array([-1.0]),
            np.array([1.0]),
            np.array([speed]),
            np.zeros(1),
            time_constant=time_constant,
        )
        self.controller = TrajectoryController(
            ("a",),
            np.array([False]),
            np.zeros(1),
            in_force or tolerances(),
            period=DT,
            **rules,
        )
        self.loop = ControlLoop(self.joint, np.array([0]), self.controller, DT)
        self.now = 0.0
        self.out = []
        self.cycle()

    def cycle(self):
        self.now += DT
        update = self.loop.cycle(self.now)
        self.out.append(self.controller.output.positions[0])
        return update

    def run(self, seconds):
        return [self.cycle() for _ in range(round(seconds / DT))]

    def until_end(self):
        for count in range(1000):
            update = self.cycle()
            if update.goal_end is not None:
                return update.goal_end, (count + 1) * DT
        pytest.fail("the goal did not end in 1000 cycles")

    def until_violation(self):
        for _ in range(1000):
            update = self.cycle()
            if update.violation:
                return update
        pytest.fail("nothing was violated in 1000 cycles")

    @property
    def at(self):
        return self.joint.positions[0]


def test_without_a_command_the_position_is_held():
    rig = Rig()
    assert all(not update.errors.any() for update in rig.run(0.1))
    assert rig.at == 0.0


def test_a_command_is_desired_and_measured_a_cycle_later():
    rig = Rig()
    rig.controller.follow(to((0.5, 0.4)))
    before = rig.cycle()
    after = rig.cycle()
    assert before.output.positions[0] == pytest.approx(0.4 * DT / 0.5)
    assert after.reference.positions[0] == pytest.approx(before.output.positions[0])
    np.testing.assert_allclose(after.errors, 0.0, atol=1e-12)


def test_the_end_is_reached_in_time_reported_once_and_held():
    rig = Rig()
    rig.controller.start_goal(to((0.5, 0.4)), tolerances())
    end, time = rig.until_end()
    assert end == GOAL_REACHED
    assert time == pytest.approx(0.5, abs=2 * DT)
    assert {update.goal_end for update in rig.run(0.2)} == {None}
    assert rig.at == pytest.approx(0.4)


def test_without_a_goal_tolerance_the_goal_is_reached_in_motion_too():
    rig = Rig()
    rig.controller.start_goal(to((0.1, 0.5)), tolerances())  # five times too fast
    end, time = rig.until_end()
    assert (end, time) == (GOAL_REACHED, pytest.approx(0.1, abs=2 * DT))
    assert rig.at < 0.2
    rig.run(0.5)
    assert rig.at == pytest.approx(0.5)


def test_with_a_goal_tolerance_the_joint_is_waited_for():
    rig = Rig()
    rig.controller.start_goal(to((0.1, 0.5)), tolerances(goal=0.01))
    end, time = rig.until_end()
    assert (end, time) == (GOAL_REACHED, pytest.approx(0.5, abs=3 * DT))


def test_a_first_point_ahead_is_approached_from_the_measured_state():
    rig = Rig(time_constant=0.1, speed=9.0)
    rig.controller.follow(to((1.0, 0.8)))
    rig.run(0.5)
    lag = rig.out[-1] - rig.at
    assert lag > 0.05
    rig.controller.follow(to((1.0, 0.8)))
    rig.cycle()
    assert rig.out[-1] - rig.out[-2] == pytest.approx(-lag, abs=0.02)


def test_from_the_desired_state_the_command_advances_two_cycles_at_once():
    rig = Rig(time_constant=0.1, speed=9.0, interpolate_from_desired_state=True)
    rig.controller.follow(to((1.0, 0.8)))
    rig.run(0.5)
    step = rig.out[-1] - rig.out[-2]
    # The same line: from the last command, which is due a cycle after `now - DT`.
    rest = rig.out[-1] + 0.5 * step / DT
    rig.controller.follow(to((0.5 - DT, rest)))
    rig.cycle()
    assert rig.out[-1] - rig.out[-2] == pytest.approx(2 * step, rel=1e-6)


def test_from_the_desired_state_a_trajectory_right_after_the_activation_begins_then():
    rig = Rig(interpolate_from_desired_state=True)
    rig.run(1.0)
    rig.controller.deactivate()
    rig.run(1.0)
    rig.controller.activate()
    rig.controller.follow(to((1.0, 0.5)))
    assert rig.cycle().output.positions[0] == pytest.approx(0.5 * DT)


def test_an_unmeasured_acceleration_counts_as_zero():
    rig = Rig()
    rig.controller.follow(to((1.0, 0.1, 0.0, 0.0)))
    assert rig.cycle().reference.accelerations[0] == 0.0
    s = 0.5
    rig.run(s - DT)
    assert rig.cycle().reference.positions[0] == pytest.approx(
        0.1 * s**3 * (10 - 15 * s + 6 * s * s)
    )


@pytest.mark.parametrize("from_desired", [False, True])
def test_a_first_point_at_the_present_is_entered_at_once(from_desired):
    rig = Rig(time_constant=0.1, interpolate_from_desired_state=from_desired)
    window = to((0.0, 0.0), (1.0, 0.5), start=rig.now)
    rig.controller.follow(window)
    rig.run(0.3)
    rig.controller.follow(to((0.0, 0.15), (0.7, 0.5), start=rig.now))
    rig.run(0.3)
    np.testing.assert_allclose(np.diff(rig.out[2:]), 0.5 * DT, atol=1e-12)


def test_a_first_point_ahead_is_approached_at_once():
    rig = Rig()
    rig.controller.start_goal(to((0.2, 0.6), start=rig.now + 0.4), tolerances())
    rig.run(0.1)
    assert rig.at == pytest.approx(0.1, abs=0.6 * 3 * DT)
    end, time = rig.until_end()
    assert (end, time) == (GOAL_REACHED, pytest.approx(0.5, abs=3 * DT))


def test_leaving_the_path_ends_the_goal_on_the_spot():
    rig = Rig()
    rig.controller.start_goal(to((0.1, 0.5)), tolerances(path=0.05))
    update = rig.until_violation()
    assert update.goal_end == GOAL_PATH_VIOLATED
    assert update.violation.startswith("on the path, joint 'a' misses its position by 0.0")
    stood = rig.at
    commanded = rig.out[-1]
    assert commanded == rig.out[-2]  # nothing new in the cycle of the violation
    rig.run(0.1)
    assert rig.out[-1] == stood != commanded
    assert rig.at == pytest.approx(stood)


def test_a_jump_in_a_single_cycle_violates_the_path_too():
    rig = Rig()
    rig.controller.start_goal(to((0.0, 0.5)), tolerances(path=0.1))
    assert rig.cycle().goal_end == GOAL_PATH_VIOLATED


def test_a_goal_beyond_a_limit_is_missed_when_its_time_is_over():
    rig = Rig()
    rig.controller.start_goal(to((1.5, 1.5)), tolerances(goal=0.01, goal_time=0.495))
    end, time = rig.until_end()
    assert end.code == -5
    assert end.text == "Aborted due to goal_time_tolerance exceeding by 0.500000 seconds"
    assert time == pytest.approx(2.0, abs=3 * DT)
    rig.run(2 * DT)
    assert (rig.at, rig.out[-1]) == (1.0, 1.0)


def test_without_a_goal_time_the_goal_is_waited_for():
    rig = Rig()
    rig.controller.start_goal(to((1.5, 1.5)), tolerances(goal=0.01))
    assert {update.goal_end for update in rig.run(5.0)} == {None}
    assert rig.out[-1] == 1.5


def test_tolerances_are_not_checked_while_a_position_is_held():
    rig = Rig()
    rig.controller.start_goal(to((1.0, 0.8)), tolerances(path=0.004))
    assert not any(update.violation for update in rig.run(0.5))
    rig.controller.cancel_goal()
    held = rig.cycle()
    assert abs(held.errors[0, 0]) > 0.004  # the last command is still being executed
    assert not any(update.violation for update in [held, *rig.run(0.5)])


@pytest.mark.parametrize("as_goal", [True, False])
def test_the_end_is_checked_again_for_messages_but_not_for_goals(as_goal):
    limits = tolerances(path=0.1, goal=0.1, goal_time=0.05)
    controller = TrajectoryController(("a",), np.array([False]), np.zeros(1), limits, period=DT)
    if as_goal:
        controller.start_goal(to((0.0, 0.3)), limits)
    else:
        controller.follow(to((0.0, 0.3)))
    there = controller.update(0.0, np.array([0.3]), np.zeros(1))
    assert there.goal_end == (GOAL_REACHED if as_goal else None)
    pushed = [controller.update(DT * i, np.zeros(1), np.zeros(1)) for i in range(1, 20)]
    assert any(update.violation for update in pushed) != as_goal


def test_joints_that_are_left_out_end_where_they_were_commanded():
    controller = TrajectoryController(
        ("a", "b"),
        np.zeros(2, dtype=bool),
        np.zeros(2),
        Tolerances(np.zeros(2), np.zeros(2), 0.0),
        period=DT,
    )
    both = Waypoint(0.0, np.array([0.3, 0.4]), *[np.zeros(0)] * 3)
    controller.follow(TrajectoryCommand(("a", "b"), (both,)))
    controller.update(0.0, np.zeros(2), np.zeros(2))
    controller.follow(TrajectoryCommand(("a",), to((1.0, 0.0)).waypoints))
    behind = np.array([0.2, 0.3])
    for cycle in range(1, 120):
        controller.update(cycle * DT, behind, np.zeros(2))
    np.testing.assert_allclose(controller.output.positions, [0.0, 0.4], atol=1e-12)


def test_the_tolerances_of_a_goal_stay_valid():
    rig = Rig()
    fast = to((0.1, 0.5))
    rig.controller.follow(fast)
    assert not any(update.violation for update in rig.run(1.0))
    rig.controller.start_goal(to((1.0, 0.0)), tolerances(path=0.05))
    assert rig.until_end()[0] == GOAL_REACHED
    for command in (fast, to((0.1, -0.5))):
        rig.controller.follow(command)
        assert rig.until_violation().goal_end is None
        rig.controller.deactivate()
        rig.controller.activate()


def test_goal_tolerances_that_are_not_met_in_time_hold_the_position_without_a_goal_too():
    rig = Rig(in_force=tolerances(goal=0.01, goal_time=0.195))
    rig.controller.follow(to((1.0, 1.5)))
    update = rig.until_violation()
    assert update.violation.startswith("0.200 s after the end, ")
    rig.run(0.5)
    assert rig.out[-1] == 1.0


def test_a_new_goal_preempts_the_active_one():
    rig = Rig()
    assert rig.controller.start_goal(to((1.0, 0.8)), tolerances()) is None
    rig.run(0.5)
    assert rig.controller.start_goal(to((1.0, 0.0)), tolerances()) == GOAL_PREEMPTED
    assert rig.until_end()[0] == GOAL_REACHED
    rig.run(2 * DT)
    assert rig.at == pytest.approx(0.0)


def test_a_goal_whose_trajectory_was_replaced_ends_with_the_new_one():
    rig = Rig()
    rig.controller.start_goal(to((30.0, 0.8)), tolerances())
    rig.run(0.5)
    rig.controller.follow(to((0.5, 0.2)))
    end, time = rig.until_end()
    assert (end, time) == (GOAL_REACHED, pytest.approx(0.5, abs=2 * DT))
    assert rig.at == pytest.approx(0.2, abs=0.01)


def test_a_canceled_goal_leaves_the_joint_at_the_measured_position():
    rig = Rig(time_constant=0.1)
    rig.controller.start_goal(to((1.0, 0.8)), tolerances())
    rig.run(0.5)
    measured = rig.at
    assert rig.controller.cancel_goal() == GOAL_CANCELED
    assert rig.controller.cancel_goal() is None
    rig.run(1.0)
    assert rig.out[-1] == measured


def test_canceling_without_a_goal_changes_nothing():
    rig = Rig()
    rig.controller.follow(to((0.5, 0.4)))
    rig.run(0.1)
    assert rig.controller.cancel_goal() is None
    rig.run(0.5)
    assert rig.at == pytest.approx(0.4)


def test_a_deactivated_controller_keeps_its_command_and_accepts_nothing():
    rig = Rig(time_constant=0.1)
    rig.controller.start_goal(to((1.0, 0.8)), tolerances())
    rig.run(0.5)
    command = rig.out[-1]
    assert rig.controller.deactivate() == GOAL_DEACTIVATED
    rig.controller.follow(to((0.1, -0.5)))
    assert rig.run(1.0) == [None] * 100
    assert rig.at == pytest.approx(command, abs=1e-4)
    rig.controller.activate()
    rig.run(0.5)
    assert set(rig.out[-100:]) == {command}
    assert rig.controller.deactivate() is None


def test_what_comes_right_after_an_activation_is_not_blended_with_what_was_before():
    rig = Rig(allow_trajectory_replacement=True)
    rig.controller.follow(to((0.5, 0.4), (1.0, 0.8)))
    rig.run(0.3)
    rig.controller.deactivate()
    rig.run(0.1)
    rig.controller.activate()
    rig.controller.follow(to((0.0, 0.0), (0.1, 0.0), start=rig.now + DT + 0.4))
    begin, way = rig.at, [update.output.positions[0] for update in rig.run(0.4)]
    np.testing.assert_allclose(way, begin * (1.0 - 0.025 * np.arange(1, 41)), atol=1e-9)


def test_an_activated_controller_begins_at_rest():
    rig = Rig(interpolate_from_desired_state=True, speed=9.0)
    rig.controller.follow(to((1.0, 0.8, 0.0)))
    rig.run(0.5)
    rig.controller.deactivate()
    rig.run(0.1)
    rig.controller.activate()
    rig.controller.follow(to((0.5, 0.0, 0.0)))
    way = [rig.at, *(update.output.positions[0] for update in rig.run(0.5))]
    assert np.diff(way).max() <= 0.0


def test_scaling_slows_a_trajectory_down():
    rig = Rig()
    rig.controller.speed_scaling = 0.5
    rig.controller.start_goal(to((0.5, 0.4)), tolerances())
    _, time = rig.until_end()
    assert time == pytest.approx(1.0, abs=3 * DT)


def test_a_point_that_the_command_has_passed_is_not_desired_before_its_time():
    """Upstream compares the time with the first point before it looks where it was last."""
    rig = Rig()
    rig.controller.speed_scaling = 0.125
    rig.controller.follow(to((2.0 * DT, 0.4)))
    desired = [update.reference.positions[0] for update in rig.run(0.3)]
    passed = np.minimum(0.125 * np.arange(30), 2.0)
    np.testing.assert_allclose(desired, 0.2 * passed, atol=1e-6)


def test_stopped_trajectory_time_still_commands_one_cycle_ahead():
    rig = Rig()
    rig.controller.speed_scaling = 0.0
    rig.controller.follow(to((0.5, 0.4)))
    rig.run(1.0)
    assert rig.at == pytest.approx(0.4 * DT / 0.5)


def test_a_jump_of_the_clock_does_not_disturb_a_motion():
    rig = Rig()
    rig.controller.follow(to((0.0, 0.0), (1.0, 0.5), start=rig.now + DT))
    rig.run(0.3)
    rig.now += 3600.0
    rig.run(0.3)
    rig.now -= 7200.0
    rig.run(0.5)
    assert np.diff(rig.out).max() <= 0.5 * DT + 1e-9
    assert rig.at == pytest.approx(0.5)


def test_errors_are_desired_minus_measured():
    rig = Rig()
    rig.controller.follow(to((0.0, 0.5)))
    rig.cycle()
    update = rig.cycle()
    np.testing.assert_allclose(update.errors, [[0.5 - DT], [-1.0]])
