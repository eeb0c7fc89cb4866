# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tip slows down, stops or passes at a singularity, and fast joints are reported ahead."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.goals import PoseGoal, TwistGoal
from basis_ik.arm.jog import Jog
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Pipeline
from basis_ik.arm.singularity import Gains
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

# The numbers themselves: with those of the module no change of them would be seen.
NEAR, VERY_NEAR = 5.0, 10.0
SLOW = 0.2

URDF = Path(__file__).parents[2] / "urdf"
PERIOD = 0.01
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
WRIST = np.array([0.0, -1.57, 1.57, -1.57, -0.35, 0.0])  # at zero wrist_2 the wrist is singular
STILL = (0.0, 0.0, 0.0)
OUT = TwistGoal((0.5, 0.0, 0.3), STILL)
FLIPS = {"wrist_1_joint", "wrist_3_joint"}


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


class Run:
    """A twist for some time, then its opposite, with all commands and notices."""

    def __init__(self, chain, start, goal, mode, periods):
        self.limits = limits = MotionLimits.of_chain(chain)
        limiter = Limiter(limits, PERIOD, start)
        jog = Jog(chain, limiter)
        jog.singularities = mode
        self.commands, self.notices = [start] * 3, []
        for _ in range(periods):
            self.commands.append(jog.step(goal))
            self.notices.append(jog.notice)
        self.held, self.rests = jog.held, limiter.at_rest
        self.end = len(self.commands)
        back = TwistGoal(*(tuple(-np.array(v)) for v in (goal.linear, goal.angular)))
        for _ in range(100):
            self.commands.append(jog.step(back))
        self.returned = np.abs(self.commands[-1] - self.commands[self.end - 1]).max()
        gains = Gains(chain)
        twist = np.array([*goal.linear, *goal.angular])
        self.gains = np.array(
            [gains.of(np.linalg.pinv(chain.jacobian(q)) @ twist, twist) for q in self.commands]
        )

    def parts(self, order=1):
        """Parts of the joints' limits (k, n); of velocity, acceleration, jerk by order."""
        most = (self.limits.velocity, self.limits.acceleration, self.limits.jerk)[order - 1]
        return np.abs(np.diff(self.commands, order, axis=0)) / most / PERIOD**order

    def keeps_limits(self):
        return max(self.parts(order).max() for order in (1, 2, 3)) <= 1.0 + 1e-6


def through_the_wrist(chain, tilt=0.03):
    """A twist of 0.3 rad/s that moves wrist_2 almost through zero."""
    axes = chain.jacobian(WRIST)[3:]
    across = np.cross(axes[:, 4], axes[:, 5])
    turn = axes[:, 4] + tilt * across / np.linalg.norm(across)
    return TwistGoal(STILL, tuple(0.3 * turn / np.linalg.norm(turn)))


def test_in_mode_pass_the_wrist_flips_at_full_speed(chain):
    run = Run(chain, WRIST, through_the_wrist(chain), "pass", 400)
    assert run.parts().max() > 0.8
    assert run.held is None
    assert run.keeps_limits()


@pytest.mark.parametrize("tilt", [0.0, 0.03, 0.1])
def test_in_mode_slow_the_wrist_flips_at_part_of_its_speed(chain, tilt):
    run = Run(chain, WRIST, through_the_wrist(chain, tilt), "slow", 900)
    turned = np.abs(run.commands[run.end - 1] - WRIST)
    assert turned[[3, 5]].min() > 2.0, "it has flipped"
    near = run.gains[1:] >= VERY_NEAR
    assert run.parts()[near].max() < SLOW * 1.05
    assert run.parts().max() < 0.4
    assert run.held is None
    assert run.keeps_limits()


def test_in_mode_stop_the_tip_stops_ahead_and_returns(chain):
    run = Run(chain, WRIST, through_the_wrist(chain), "stop", 400)
    assert run.rests
    assert run.held.verdict is Verdict.SINGULAR
    assert set(run.held.joint.split(", ")) == FLIPS
    assert str(run.held).startswith("near a singularity: wrist_1_joint, wrist_3_joint would")
    assert NEAR < run.gains.max() < VERY_NEAR
    assert run.returned > 0.2
    assert run.keeps_limits()


@pytest.mark.parametrize("mode", ["pass", "slow", "stop"])
def test_joints_that_flip_are_reported_before_and_meanwhile(chain, mode):
    run = Run(chain, WRIST, through_the_wrist(chain), mode, 300)
    kinds = [None if each is None else each.passing for each in run.notices]
    first = kinds.index(False)
    assert None in kinds[:first], "far from it nothing is told"
    assert "will turn fast" in str(run.notices[first])
    fast = np.flatnonzero((run.gains[3 : run.end] >= VERY_NEAR).any(axis=1))
    if mode == "stop":
        assert fast.size == 0
        assert True not in kinds
        return
    assert first + 0.3 / PERIOD < fast[0], "told in time"
    passing = [each for each in run.notices if each is not None and each.passing]
    assert str(passing[0]).startswith("passing a singularity: ")
    assert FLIPS & set(passing[0].joints)
    assert len(passing) == pytest.approx(fast.size, abs=2)


@pytest.mark.parametrize("mode", ["pass", "slow", "stop"])
def test_a_stretched_arm_stops_and_returns(chain, mode):
    run = Run(chain, HOME, OUT, mode, 700)
    assert run.rests
    assert run.held.verdict is Verdict.SINGULAR
    assert (run.held.joint is not None) == (mode == "stop")
    assert (run.gains.max() < VERY_NEAR) == (mode == "stop")
    assert run.returned > 0.2
    assert run.keeps_limits()


def test_a_motion_past_a_singularity_is_not_slowed(chain):
    beside = np.array([0.0, -1.57, 1.57, -1.57, -0.02, 0.0])
    along = chain.jacobian(beside)[:, 5]
    goal = TwistGoal(tuple(0.3 * along[:3]), tuple(0.3 * along[3:]))
    run = Run(chain, beside, goal, "stop", 100)
    assert run.held is None
    assert run.notices == [None] * 100
    assert run.commands[run.end - 1][5] > 0.25


def test_in_mode_stop_a_line_ends_ahead_of_a_singularity(chain):
    goal = through_the_wrist(chain)
    start = chain.forward(WRIST)
    turn = RigidTransform.exp(np.array([0.0, 0.0, 0.0, *goal.angular]) * 2.0).rotation
    target = RigidTransform.from_rotation_translation(turn @ start.rotation, start.translation)
    pipe = Pipeline(chain, period=PERIOD)
    pipe.path, pipe.singularities = "straight", "stop"
    pipe.set_goal(PoseGoal(target), WRIST)
    notices = set()
    for _ in range(1000):
        pipe.step(WRIST)
        notices.add(str(pipe.notice).split(":")[0])
    assert "near a singularity: wrist_1_joint, wrist_3_joint would" in str(pipe.line_held)
    assert "nearing a singularity" in notices
    assert "passing a singularity" not in notices


def test_a_notice_lasts_a_while_and_ends_with_the_motion(chain):
    pipe = Pipeline(chain, period=PERIOD)
    pipe.set_goal(through_the_wrist(chain), WRIST)
    told = []
    for _ in range(500):
        pipe.step(WRIST)
        told.append("" if pipe.notice is None else str(pipe.notice).split(":")[0])
    changes = [b for a, b in zip(["", *told], told, strict=False) if a != b]
    assert changes[:2] == ["nearing a singularity", "passing a singularity"]
    assert len(changes) <= 3
    pipe.brake()
    assert pipe.notice is None
