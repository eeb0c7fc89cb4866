# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Straight to a pose: the tip on a line and about one axis, within every limit."""

from pathlib import Path

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of, worst

from basis_ik.arm.goals import JointGoal, PointGoal, PoseGoal, Ray, TwistGoal
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.simulation.trajectory import Trajectory
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

URDF = Path(__file__).parents[1] / "urdf"
AWAY = np.array([0.9, 0.4, -0.6, 0.2, 0.3, 0.5])
PERIOD = 0.01
WIDE, TURNED = 5e-4, np.radians(0.1)  # m and rad off the line and the axis, at most


@pytest.fixture(scope="module")
def chains():
    return {robot: chain_of(robot) for robot in HOMES}


class Arm:
    """A pipeline, an arm that executes commands exactly, and all commands."""

    def __init__(self, chain, q, path="straight", period=PERIOD):
        self.chain, self.limits, self.period = chain, MotionLimits.of_chain(chain), period
        self.pipe = Pipeline(chain, period=period)
        self.pipe.path = path
        self.commands = [q] * 3

    @property
    def tip(self):
        return self.chain.forward(self.commands[-1])

    def set_goal(self, goal):
        self.pipe.set_goal(goal, self.commands[-1])

    def walk(self, periods=5000):
        """Step until nothing comes any more, at most so often; return whether it came to that."""
        for _ in range(periods):
            command = self.pipe.step(self.commands[-1])
            if command is None:
                return True
            self.commands.append(command)
        return False

    def worst(self):
        """Largest velocity, acceleration or jerk, relative to its limit."""
        return worst(self.commands, self.limits, self.period).max()

    def off(self, start, end, since=0):
        """How far the tip has got off the line [m] and the axis [rad] between two poses."""
        poses = [self.chain.forward(q) for q in self.commands[since:]]
        ways = np.array([pose.translation - start.translation for pose in poses])
        turns = np.array([(pose @ start.inverse()).log()[3:] for pose in poses])
        whole = end.translation - start.translation, (end @ start.inverse()).log()[3:]
        return [aside(part, along) for part, along in zip((ways, turns), whole, strict=True)]


def aside(vectors, along):
    size = np.linalg.norm(along)
    along = along / size if size > 1e-9 else np.zeros(3)
    return np.linalg.norm(vectors - np.outer(vectors @ along, along), axis=1).max()


def close(pose, other, tolerance=2e-5):
    return np.allclose(pose.matrix, other.matrix, rtol=0, atol=tolerance)


@pytest.mark.parametrize("period", [0.01, 0.002])
@pytest.mark.parametrize("robot", HOMES)
def test_the_tip_keeps_the_line_and_the_joints_their_limits(chains, robot, period):
    chain, home, rng = chains[robot], HOMES[robot], np.random.default_rng(3)
    for _ in range(40 if period == PERIOD else 6):
        q, there = (home + rng.uniform(-size, size, len(home)) for size in (0.3, 0.6))
        q, there = (np.clip(each, chain.lower, chain.upper) for each in (q, there))
        arm, target = Arm(chain, q, period=period), chain.forward(there)
        start = arm.tip
        arm.set_goal(PoseGoal(target))
        assert arm.walk()
        assert arm.pipe.solution.success
        assert arm.pipe.phase is Phase.ARRIVED
        assert close(arm.tip, target)
        assert np.array_equal(arm.pipe.solution.positions, arm.commands[-1])
        wide, turned = arm.off(start, target)
        assert wide < WIDE
        assert turned < TURNED
        assert arm.worst() <= 1.0 + 1e-6


@pytest.mark.parametrize("robot", HOMES)
def test_an_arm_that_gets_no_more_commands_comes_to_rest_near_the_line(chains, robot):
    """If each joint stopped as quickly as it can, it would be 20 mm and 6° off."""
    chain, home, rng, wide, turned = chains[robot], HOMES[robot], np.random.default_rng(3), 0.0, 0.0
    for _ in range(8):
        q, there = (home + rng.uniform(-size, size, len(home)) for size in (0.3, 0.6))
        q, there = (np.clip(each, chain.lower, chain.upper) for each in (q, there))
        arm, target = Arm(chain, q), chain.forward(there)
        start = arm.tip
        arm.set_goal(PoseGoal(target))
        while not arm.walk(7):
            tail = Trajectory(*arm.pipe.tail())
            rest = Arm(chain, q)
            times = np.linspace(0.0, tail.end, 20)
            rest.commands = [tail.sample(time).positions for time in times]
            off, turn = rest.off(start, target)
            wide, turned = max(wide, off), max(turned, turn)
    print(f"off by {1e3 * wide:.1f} mm and {np.degrees(turned):.2f}°")
    assert wide < 0.006
    assert turned < np.radians(0.8)


def test_in_joint_space_the_tip_leaves_the_line(chains):
    """What the other tests measure is not so by itself."""
    arm = Arm(chains["ur5e"], HOMES["ur5e"], path="joint")
    start, target = arm.tip, chains["ur5e"].forward(HOMES["ur5e"] + [0.9, 0.4, -0.6, 0.2, 0.3, 0.5])
    arm.set_goal(PoseGoal(target))
    assert arm.walk()
    wide, turned = arm.off(start, target)
    assert wide > 20 * WIDE
    assert turned > 20 * TURNED


def test_a_translation_and_a_rotation_alone(chains):
    for move in (([0.0, 0.25, -0.1], 0.0), ([0.0, 0.0, 0.0], 1.0)):
        arm = Arm(chains["ur5e"], HOMES["ur5e"])
        start = arm.tip
        turn = RigidTransform.from_rpy(0.0, 0.0, move[1], np.zeros(3))
        target = RigidTransform.from_rotation_translation(
            turn.rotation @ start.rotation, start.translation + move[0]
        )
        arm.set_goal(PoseGoal(target))
        assert arm.walk()
        assert close(arm.tip, target)
        wide, turned = arm.off(start, target)
        assert wide < WIDE
        assert turned < TURNED


def test_a_newer_pose_bends_the_path(chains):
    chain, home = chains["ur5e"], HOMES["ur5e"]
    arm, start = Arm(chain, home), chain.forward(home)
    first, second = (
        RigidTransform.from_rotation_translation(start.rotation, start.translation + way)
        for way in ([0.0, 0.30, 0.0], [-0.15, 0.15, 0.10])
    )
    arm.set_goal(PoseGoal(first))
    arm.walk(40)
    speed = np.linalg.norm(arm.tip.translation - chain.forward(arm.commands[-2]).translation)
    assert speed > 0.1 * PERIOD, "it is on its way"
    arm.set_goal(PoseGoal(second))
    arm.walk(20)
    moves = [chain.forward(q).translation for q in arm.commands[-20:]]
    assert np.linalg.norm(np.diff(moves, axis=0), axis=1).min() > 0.02 * PERIOD, "without a stop"
    bent, since = arm.tip, len(arm.commands)
    assert arm.walk()
    assert close(arm.tip, second)
    assert arm.off(bent, second, since)[0] < 0.02
    assert arm.worst() <= 1.0 + 1e-6


@pytest.mark.parametrize("path", ["straight", "straight_or_joint"])
def test_at_a_limit_the_line_ends_and_the_joint_is_reported(chains, path):
    chain, home = chains["panda"], HOMES["panda"].copy()
    start = chain.forward(home)
    # Straight back the elbow folds up to its limit.
    target = RigidTransform.from_rotation_translation(
        start.rotation, start.translation - [0.6, 0.0, 0.0]
    )
    arm = Arm(chain, home, path)
    arm.set_goal(PoseGoal(target))
    reachable = arm.pipe.solution.success
    assert reachable, "or there would be nothing to go on to"
    assert arm.walk()
    held = arm.pipe.line_held
    assert held.verdict is Verdict.LIMIT
    joint = chain.joint_names.index(held.joint)
    assert held.bound in (chain.lower[joint], chain.upper[joint])
    assert held.missing > 0.01
    assert str(held).startswith("the line ends ")
    assert arm.worst() <= 1.0 + 1e-6
    if path == "straight":
        solution = arm.pipe.solution
        assert solution.verdict is Verdict.LIMIT
        assert solution.position_error == pytest.approx(
            np.linalg.norm(arm.tip.translation - target.translation), abs=1e-6
        )
        assert arm.off(start, target)[0] < WIDE
        assert arm.pipe.phase is Phase.ARRIVED
    else:
        assert arm.pipe.solution.success
        assert close(arm.tip, target)


def test_out_of_reach_the_line_ends_at_the_nearest_pose(chains):
    chain, home = chains["ur5e"], HOMES["ur5e"]
    arm = Arm(chain, home)
    start = arm.tip
    arm.set_goal(
        PoseGoal(RigidTransform.from_rotation_translation(start.rotation, [0.5, 1.5, 0.5]))
    )
    best = None
    for _ in range(200):
        arm.set_goal(arm.pipe.goal)
        if arm.pipe.solution is not None:
            best = chain.forward(arm.pipe.solution.positions)
            break
        arm.walk(1)
    assert not arm.pipe.solution.success
    assert arm.walk()
    assert close(arm.tip, best, 1e-3)
    assert arm.off(start, best)[0] < WIDE


def test_a_moving_pose_is_followed_in_joint_space(chains):
    chain, home = chains["ur5e"], HOMES["ur5e"]
    arms = [Arm(chain, home, path) for path in ("straight", "joint")]
    start = chain.forward(home)
    for k in range(1, 60):
        offset = [0.0, 0.15 * np.sin(0.05 * k), 0.15 * (np.cos(0.05 * k) - 1.0)]
        target = RigidTransform.from_rotation_translation(
            start.rotation, start.translation + offset
        )
        for arm in arms:
            arm.set_goal(PoseGoal(target))
            arm.walk(2)
    assert np.allclose(arms[0].commands[-1], arms[1].commands[-1], atol=1e-3)
    for arm in arms:
        assert arm.worst() <= 1.0 + 1e-6


def beside(start, way):
    return RigidTransform.from_rotation_translation(start.rotation, start.translation + way)


def test_a_straight_goal_overrides_the_path(chains):
    chain, home = chains["ur5e"], HOMES["ur5e"]
    start, far = chain.forward(home), chain.forward(home + AWAY)
    arm = Arm(chain, home, path="joint")
    arm.set_goal(PoseGoal(far, straight=True))
    assert arm.walk()
    assert close(arm.tip, far)
    assert arm.off(start, far)[0] < WIDE
    assert arm.worst() <= 1.0 + 1e-6


def test_at_the_end_of_its_line_the_arm_continues_in_joint_space(chains):
    chain, home = chains["panda"], HOMES["panda"]
    arm = Arm(chain, home, path="joint")
    target = beside(chain.forward(home), [-0.6, 0.0, 0.0])
    arm.set_goal(PoseGoal(target, straight=True))
    assert arm.walk()
    assert arm.pipe.line_held.verdict is Verdict.LIMIT
    assert close(arm.tip, target)


def test_only_a_goal_that_is_set_again_leads_on_from_the_end_of_its_line(chains):
    chain, home = chains["panda"], HOMES["panda"]
    arm = Arm(chain, home)
    target = beside(chain.forward(home), [-0.6, 0.0, 0.0])
    arm.set_goal(PoseGoal(target))
    while arm.pipe.phase is not Phase.ARRIVED:
        assert not arm.walk(1)
    assert arm.pipe.stays_at_line_end
    end, arm.pipe.path = arm.commands[-1], "straight_or_joint"
    arm.set_goal(PoseGoal(target))
    assert not arm.walk(5)
    assert np.array_equal(arm.commands[-1], end)
    arm.pipe.set_goal(PoseGoal(target), end, again=True)  # the last command is still repeated
    assert not arm.pipe.stays_at_line_end
    assert arm.walk()
    assert close(arm.tip, target)
    assert arm.worst() <= 1.0 + 1e-6


def test_a_fast_handle_is_followed_on_its_line(chains):
    chain, home = chains["ur5e"], HOMES["ur5e"]
    arm = Arm(chain, home, path="joint")
    arm.pipe.velocity_scaling = 0.1
    start, way = chain.forward(home), np.array([0.0, 0.4, -0.2])
    for k in range(1, 21):
        arm.set_goal(PoseGoal(beside(start, way * k / 20), straight=True))
        arm.walk(2)
    end = beside(start, way)
    assert np.linalg.norm(arm.tip.translation - end.translation) > 0.2, "it is far behind"
    assert arm.walk()
    assert close(arm.tip, end)
    assert arm.off(start, end)[0] < WIDE
    assert arm.worst() <= 1.0 + 1e-6


@pytest.mark.parametrize("robot", HOMES)
def test_after_a_jump_a_moving_pose_is_approached_straight(chains, robot):
    chain, home = chains[robot], HOMES[robot]
    arm, start = Arm(chain, home, path="joint"), chain.forward(home)
    for k in range(60):
        arm.set_goal(PoseGoal(beside(start, [0.0, 0.1 * np.sin(0.06 * k), 0.0]), straight=True))
        arm.walk(2)
    end = beside(start, [-0.05, 0.25, -0.15])
    arm.set_goal(PoseGoal(end, straight=True))
    since = len(arm.commands)
    assert arm.walk()
    assert close(arm.tip, end)
    tips = np.array([chain.forward(q).translation for q in arm.commands[since:]])
    left = np.linalg.norm(tips - end.translation, axis=1)
    begin = since + int(np.argmax(left))  # braked, before the line begins
    assert arm.off(chain.forward(arm.commands[begin]), end, begin)[0] < 2 * WIDE
    assert arm.worst() <= 1.0 + 1e-6


def test_a_joint_motion_continues_before_a_line(chains):
    arm = Arm(chains["ur5e"], HOMES["ur5e"], path="joint")
    arm.set_goal(JointGoal(tuple(HOMES["ur5e"] + 1.0)))
    arm.walk(40)
    arm.pipe.path = "straight"
    target = chains["ur5e"].forward(HOMES["ur5e"])
    arm.set_goal(PoseGoal(target))
    assert arm.walk()
    assert close(arm.tip, target)
    assert arm.worst() <= 1.0 + 1e-6


@pytest.mark.parametrize(
    "goal",
    [
        JointGoal((0.1,) * 6),
        PointGoal((0.9, -0.5, 0.7), Ray((0.0, 0.0, 1.0))),
        TwistGoal((0.1, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ],
    ids=["joints", "point", "twist"],
)
def test_other_goals_move_in_joint_space(chains, goal):
    ways = []
    for path in ("joint", "straight"):
        arm = Arm(chains["ur5e"], HOMES["ur5e"], path)
        arm.set_goal(goal)
        arm.walk(100)
        ways.append(arm.commands)
    assert np.array_equal(*ways)


def test_braking_stays_on_the_line(chains):
    chain, home = chains["ur5e"], HOMES["ur5e"]
    arm, start = Arm(chain, home), chain.forward(home)
    target = RigidTransform.from_rotation_translation(
        start.rotation, start.translation + np.array([0.0, 0.3, -0.2])
    )
    arm.set_goal(PoseGoal(target))
    arm.walk(40)
    arm.pipe.brake()
    assert arm.walk()
    assert not close(arm.tip, target, 0.01)
    assert arm.off(start, target)[0] < WIDE
    assert arm.worst() <= 1.0 + 1e-6


def test_with_fewer_than_six_joints_it_moves_in_joint_space():
    model = RobotModel.from_urdf((URDF / "pan_tilt.urdf").read_text())
    chain = model.chain("base_link", "camera_optical_frame")
    ways = []
    for path in ("joint", "straight"):
        arm = Arm(chain, np.zeros(2), path)
        assert not arm.pipe.leads_lines
        arm.set_goal(PoseGoal(chain.forward(np.array([0.5, 0.2]))))
        assert arm.walk()
        ways.append(arm.commands)
    assert np.array_equal(*ways)
