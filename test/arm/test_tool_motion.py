# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A tool moves by poses, lines and twists; rays stay fixed to the tip."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.goals import PointGoal, PoseGoal, Ray, TwistGoal
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[2] / "urdf"
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
TIP_T_TOOL = RigidTransform.from_rpy(0.3, -0.2, 0.9, [0.1, 0.02, 0.2])
POINT = PointGoal((0.9, 0.2, 0.1), Ray((0.0, 0.0, 1.0), (0.0, 0.01, 0.0)))


@pytest.fixture(scope="module")
def bare():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


@pytest.fixture
def arm(bare):
    """A pipeline whose tool has just been taken up."""
    pipe = Pipeline(bare, period=0.01)
    pipe.change_tool(bare.with_tool("tcp", TIP_T_TOOL))
    return pipe


def walk(pipe, goal, periods=2000):
    commands = [HOME]
    for _ in range(periods):
        pipe.set_goal(goal, commands[-1])
        command = pipe.step(commands[-1])
        if command is None:
            break
        commands.append(command)
    return commands


def ways(bare, commands):
    """The tool's poses, and their origins from the first one on."""
    poses = [bare.forward(q) @ TIP_T_TOOL for q in commands]
    return poses, np.array([pose.translation - poses[0].translation for pose in poses])


@pytest.mark.parametrize("path", ["joint", "straight"])
def test_a_pose_is_reached_by_the_tool_and_a_line_is_its_own(arm, bare, path):
    start = bare.forward(HOME) @ TIP_T_TOOL
    turn = RigidTransform.from_rpy(0.0, 0.3, 0.2, [0.0, 0.0, 0.0])
    target = RigidTransform.from_rotation_translation(
        start.rotation @ turn.rotation, start.translation + np.array([0.05, -0.2, -0.1])
    )
    arm.path = path
    poses, origins = ways(bare, walk(arm, PoseGoal(target)))
    assert arm.phase is Phase.ARRIVED
    assert poses[-1].is_close(target, 2e-5)
    assert arm.solution.position_error < 1e-5
    line = target.translation - start.translation
    aside = origins - np.outer(origins @ line, line) / (line @ line)
    if path == "straight":
        assert np.linalg.norm(aside, axis=1).max() < 5e-4


def test_a_twist_turns_about_the_tools_origin(arm, bare):
    goal = TwistGoal((0.0, 0.0, 0.0), (0.0, 0.2, 0.3), in_tip=True)
    poses, origins = ways(bare, walk(arm, goal, 100))
    assert (poses[0].inverse() @ poses[-1]).as_axis_angle()[1] > 0.2
    assert np.linalg.norm(origins, axis=1).max() < 1e-6


def test_a_position_only_goal_moves_the_tool(arm, bare):
    goal = PoseGoal(RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.5, 0.1, 0.3]), position_only=True)
    poses, _ = ways(bare, walk(arm, goal))
    np.testing.assert_allclose(poses[-1].translation, [0.5, 0.1, 0.3], atol=2e-5)


def test_a_ray_stays_fixed_to_the_tip(arm, bare):
    without = Pipeline(bare, period=0.01)
    assert np.array_equal(walk(arm, POINT)[-1], walk(without, POINT)[-1])
