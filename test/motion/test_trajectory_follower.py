import numpy as np
import pytest

from basis_ik.motion.simulated_joints import SimulatedJoints
from basis_ik.motion.tolerances import Tolerances
from basis_ik.motion.trajectory_command import TrajectoryCommand, Waypoint
from basis_ik.motion.trajectory_follower import Progress, TrajectoryFollower

DT = 0.01
EMPTY = np.zeros(0)


def tolerances(path=0.0, goal=0.0, goal_time=0.0, stopped=0.01):
    return Tolerances(np.array([[path], [0.0]]), np.array([[goal], [stopped]]), goal_time)


def to(*targets, delay=None):
    points = (Waypoint(time, np.array([x]), EMPTY, EMPTY, EMPTY) for time, x in targets)
    return TrajectoryCommand(("a",), tuple(points), delay)


class Rig:
    """A joint of 1 rad/s between -1 and 1, its follower, and a record of what came of each step."""

    def __init__(self):
        bounds = (np.array([-1.0]), np.array([1.0]), np.array([1.0]))
        self.joint = SimulatedJoints(*bounds, np.zeros(1))
        self.follower = TrajectoryFollower(("a",), np.array([False]), np.zeros(1))
        self.desired = []

    def step(self):
        sample = self.follower.advance(DT, self.joint.positions, self.joint.velocities)
        self.joint.step(sample.positions, DT)
        self.desired.append(sample.positions[0])
        return self.follower.judge(self.joint.positions, self.joint.velocities)

    def run(self, seconds):
        return [self.step() for _ in range(round(seconds / DT))]

    def until(self, *progress):
        for count in range(1000):
            judgement = self.step()
            if judgement.progress in progress:
                return judgement, (count + 1) * DT
        pytest.fail(f"no {progress} in 1000 steps")

    @property
    def at(self):
        return self.joint.positions[0]


def test_without_a_command_the_position_is_held():
    rig = Rig()
    assert {j.progress for j in rig.run(0.1)} == {Progress.HOLDING}
    assert rig.at == 0.0


def test_the_end_is_reached_in_time_told_once_and_held():
    rig = Rig()
    rig.follower.accept(to((0.5, 0.4)), tolerances())
    _, time = rig.until(Progress.REACHED)
    assert time == pytest.approx(0.5, abs=2 * DT)
    assert {j.progress for j in rig.run(0.2)} == {Progress.HOLDING}
    assert rig.at == pytest.approx(0.4)


def test_a_joint_that_still_moves_has_not_reached_the_goal():
    rig = Rig()
    rig.follower.accept(to((0.1, 0.5)), tolerances())  # five times too fast
    _, time = rig.until(Progress.REACHED)
    assert time == pytest.approx(0.5, abs=2 * DT)
    assert rig.at == pytest.approx(0.5)


def test_leaving_the_path_ends_the_motion_on_the_spot():
    rig = Rig()
    rig.follower.accept(to((0.1, 0.5)), tolerances(path=0.05))
    judgement, _ = rig.until(Progress.PATH_VIOLATED, Progress.REACHED)
    assert judgement.progress is Progress.PATH_VIOLATED
    assert judgement.reason.startswith("joint 'a' misses its position by 0.0")
    stopped = rig.at
    rig.run(0.1)
    assert rig.at == stopped < 0.1


def test_a_jump_in_a_single_step_violates_the_path_too():
    rig = Rig()
    rig.follower.accept(to((0.0, 0.5)), tolerances(path=0.1))
    assert rig.step().progress is Progress.PATH_VIOLATED


def test_the_path_is_over_when_the_time_of_the_last_waypoint_has_come():
    rig = Rig()
    rig.follower.accept(to((2 * DT, 0.5)), tolerances(path=0.3))
    assert rig.step().progress is Progress.FOLLOWING  # 0.24 off
    assert rig.step().progress is Progress.FOLLOWING  # 0.48 off
    rig.until(Progress.REACHED)


def test_a_goal_beyond_a_limit_is_missed_when_its_time_is_over():
    rig = Rig()
    rig.follower.accept(to((1.5, 1.5)), tolerances(goal=0.01, goal_time=0.5))
    judgement, time = rig.until(Progress.GOAL_VIOLATED, Progress.REACHED)
    assert judgement.progress is Progress.GOAL_VIOLATED
    assert "misses its position by 0.5, 0.01 allowed" in judgement.reason
    assert time == pytest.approx(2.0, abs=3 * DT)
    assert rig.at == 1.0
    assert rig.desired[-1] == 1.5
    rig.step()
    assert rig.desired[-1] == 1.0


def test_without_a_goal_tolerance_the_end_is_reached_and_desired_even_beyond_a_limit():
    rig = Rig()
    rig.follower.accept(to((1.5, 1.5)), tolerances())
    rig.until(Progress.REACHED)
    rig.run(0.1)
    assert (rig.at, rig.desired[-1]) == (1.0, 1.5)


def test_without_a_goal_time_the_goal_is_waited_for():
    rig = Rig()
    rig.follower.accept(to((1.5, 1.5)), tolerances(goal=0.01))
    assert {j.progress for j in rig.run(5.0)} == {Progress.FOLLOWING}


def test_a_new_command_replaces_the_present_one_from_where_the_joint_is():
    rig = Rig()
    rig.follower.accept(to((1.0, 0.8)), tolerances())
    rig.run(0.5)
    here = rig.at
    rig.follower.accept(to((1.0, 0.0)), tolerances())
    rig.step()
    assert rig.at == pytest.approx(here * (1 - DT), abs=1e-3)
    rig.until(Progress.REACHED)
    assert rig.at == 0.0


def test_a_command_for_later_waits_while_the_present_one_goes_on():
    rig = Rig()
    rig.follower.accept(to((0.5, 0.3)), tolerances())
    rig.step()
    later = to((1.0, -0.5), delay=1.0)
    rig.follower.accept(later, tolerances())
    assert rig.follower.waiting is later
    _, time = rig.until(Progress.REACHED)
    assert time == pytest.approx(0.5, abs=2 * DT)
    assert rig.at == pytest.approx(0.3)
    _, time = rig.until(Progress.FOLLOWING)
    assert time == pytest.approx(0.5, abs=3 * DT)
    assert rig.follower.waiting is None
    rig.until(Progress.REACHED)
    assert rig.at == pytest.approx(-0.5)


def test_a_command_for_now_makes_the_waiting_one_void():
    rig = Rig()
    rig.follower.accept(to((1.0, -0.5), delay=0.5), tolerances())
    rig.follower.accept(to((0.2, 0.1)), tolerances())
    rig.run(3.0)
    assert rig.at == pytest.approx(0.1)


def test_holding_makes_all_commands_void():
    rig = Rig()
    rig.follower.accept(to((1.0, 0.8)), tolerances())
    rig.run(0.5)
    rig.follower.accept(to((1.0, -0.5), delay=0.5), tolerances())
    rig.follower.hold(rig.joint.positions)
    here = rig.at
    assert {j.progress for j in rig.run(3.0)} == {Progress.HOLDING}
    assert rig.at == here


def test_errors_are_desired_minus_actual():
    rig = Rig()
    rig.follower.accept(to((0.0, 0.5)), tolerances())
    judgement = rig.step()
    np.testing.assert_allclose(judgement.errors, [[0.5 - DT], [-1.0]])
