# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Two hands on one object: a chain from hand to hand keeps to a motion of both, also in a pause."""

import re

import numpy as np
import pytest
from bench import HOME, Robot
from builtin_interfaces.msg import Duration
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import MoveItErrorCodes, RobotTrajectory
from shipped_arms import Kinematics, chain_of, urdf_of
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import time_path
from basis_ik.path.cartesian_path import follow, line
from basis_ik.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform

BASES = {"left": (0.0, 0.0), "right": (0.8, 3.141592653589793)}  # x [m], and yaw [rad]
OBJECT = RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.4, 0.2, 0.4])
GOAL = RigidTransform.from_rpy(0.0, 0.0, 0.35, [0.42, 0.35, 0.5])
GRIPS = {
    "left": RigidTransform.from_rpy(0.0, np.pi / 2, 0.0, [-0.1, 0.0, 0.0]),
    "right": RigidTransform.from_rpy(0.0, -np.pi / 2, 0.0, [0.1, 0.0, 0.0]),
}
LARGEST = 1e-4, np.radians(0.1)  # m and rad, by which the hands may be off each other


def base(side):
    x, yaw = BASES[side]
    return RigidTransform.from_rpy(0.0, 0.0, yaw, [x, 0.0, 0.0])


def urdf_of_two():
    """Return the description of two arms that face each other."""
    body = re.search(r"<robot[^>]*>(.*)</robot>", urdf_of("ur5e"), re.DOTALL)[1]
    text = "<robot name='two'><link name='hall'/>"
    for side, (x, yaw) in BASES.items():
        text += re.sub(r'\b(name|link|joint)="', rf"\g<0>{side}_", body)
        text += f"<joint name='{side}_stand' type='fixed'><parent link='hall'/>"
        text += f"<child link='{side}_world'/><origin xyz='{x} 0 0' rpy='0 0 {yaw}'/></joint>"
    return text + "</robot>"


def planned():
    """Return a motion of both arms along a line of the object: times, and rows (k, 12) by side."""
    rows, chain = {}, chain_of("ur5e")
    for side, grip in GRIPS.items():
        poses = [base(side).inverse() @ each @ grip for each in line(OBJECT, GOAL)]
        start = solve(chain, poses[0], HOME)
        exact = {"position_tolerance": 1e-8, "orientation_tolerance": 1e-8}
        path = follow(chain, poses, start.positions, max_move=0.2, from_seed=True, **exact)
        assert path.success
        rows[side] = path.positions
    own = MotionLimits.of_chain(chain)
    names = ("lower", "upper", "velocity", "acceleration", "jerk")
    both = MotionLimits(*(np.tile(getattr(own, name), 2) for name in names))
    way = np.hstack([rows["left"], rows["right"]])
    return time_path(way, both.scaled(0.2, 0.2, 0.2))


def message(motion):
    names = [f"{side}_{name}" for side in GRIPS for name in chain_of("ur5e").joint_names]
    given = JointTrajectory(joint_names=names)
    for time, *state in zip(*motion, strict=True):
        position, velocity, acceleration = (each.tolist() for each in state)
        point = JointTrajectoryPoint(
            positions=position, velocities=velocity, accelerations=acceleration
        )
        point.time_from_start = Duration(sec=int(time), nanosec=round(time % 1.0 * 1e9) % 10**9)
        given.points.append(point)
    return ExecuteTrajectory.Goal(trajectory=RobotTrajectory(joint_trajectory=given))


def ordered(robot, positions):
    """Return positions (..., 12) in the order of the chain, from the left arm's and the right's."""
    names = [f"{side}_{name}" for side in GRIPS for name in chain_of("ur5e").joint_names]
    return positions[..., [names.index(name) for name in robot.chain.joint_names]]


def apart(robot):
    """Return by how much the hands were off each other at most, at each cycle [m, rad]."""
    outputs = np.array([each for _, each in robot.arm.outputs])
    names = list(robot.chain.joint_names)
    hands = []
    for side in GRIPS:
        columns = [names.index(f"{side}_{name}") for name in chain_of("ur5e").joint_names]
        place = base(side).matrix @ Kinematics(urdf_of("ur5e"), "tool0")(outputs[:, columns])
        hands.append(place @ np.linalg.inv(GRIPS[side].matrix))  # the object, by this hand
    off = np.linalg.inv(hands[0]) @ hands[1]
    turn = np.linalg.norm(off[:, :3, :3] - np.eye(3), axis=(1, 2)) / np.sqrt(2.0)
    return np.linalg.norm(off[:, :3, 3], axis=1).max(), turn.max()


@pytest.fixture
def robot():
    """Two arms as one chain, and the motion that they are to make."""
    motion, ends = planned(), ("left_tool0", "right_tool0")
    words = ("-p", f"root_link:={ends[0]}", "-p", f"tip_link:={ends[1]}")
    robot = Robot(*words, urdf=urdf_of_two(), home=np.zeros(12), ends=ends)
    try:
        robot.positions = ordered(robot, motion.positions[0])
        robot.arm.outputs.clear()
        robot.wait_status(state="READY")
        yield robot
        distance, angle = apart(robot)
        assert distance < LARGEST[0]
        assert angle < LARGEST[1]
    finally:
        robot.end()


@pytest.mark.parametrize("pauses", [False, True], ids=["at once", "with a pause"])
def test_two_hands_keep_an_object_between_them(robot, pauses):
    motion = planned()
    sent = robot.act("execute_trajectory", message(motion))
    if pauses:
        robot.run(0.8)
        assert robot.set_parameter("speed_override", 0.0).successful
        robot.run(1.0)
        assert sent.status is None
        assert robot.set_parameter("speed_override", 1.0).successful
    robot.end_of(sent)
    assert sent.result.error_code.val == MoveItErrorCodes.SUCCESS, sent.result.error_code
    assert np.allclose(robot.positions, ordered(robot, motion.positions[-1]), atol=1e-6)


@pytest.mark.parametrize("how", ["cancel", "event"])
def test_two_hands_keep_the_object_while_they_brake(robot, how):
    motion = planned()
    sent = robot.act("execute_trajectory", message(motion))
    robot.run(0.6)
    if how == "cancel":
        sent.is_cancel_requested = True
    else:
        robot.topic("trajectory_execution_event").publish(String(data="stop"))
    robot.end_of(sent)
    assert sent.result.error_code.val == MoveItErrorCodes.PREEMPTED
    robot.wait(robot.rests, "rest")
    off = np.abs(robot.positions - ordered(robot, motion.positions[-1])).max()
    assert off > 0.05, "it has braked on its way"
