# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What reaching a pose means, above all for arms of five joints."""

import numpy as np
import pytest
from bench import HOME, URDF, running
from small_arms import piper, so101

from basis_ik.arm.settings import is_spatial
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

READY = np.array([0.3, -0.4, 0.5, 0.6, 0.2])
ENDS = ("base_link", "gripper_frame_link")
ROOT = RobotModel.from_urdf(so101()).chain(*ENDS)
PLACE = ROOT.forward(READY + 0.2)
TURNED = PLACE @ RigidTransform.from_rpy(0.2, 0.3, -0.4)


@pytest.mark.parametrize(
    ("urdf", "ends", "spatial"),
    [(so101(), ENDS, False), (piper(), (), True), (URDF, (), True)],
    ids=["so101", "piper", "ur5e"],
)
def test_the_default_is_found_from_the_mobility(urdf, ends, spatial):
    assert is_spatial(RobotModel.from_urdf(urdf).chain(*ends)) is spatial


def planar():
    """Seven joints about parallel axes."""
    joints = "".join(
        f'<link name="l{k + 1}"/><joint name="j{k}" type="revolute"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>'
        for k in range(7)
    )
    return f'<robot name="planar"><link name="l0"/>{joints}</robot>'


def test_many_joints_need_not_move_in_all_directions():
    assert not is_spatial(RobotModel.from_urdf(planar()).chain())


def test_an_axis_alone_counts_of_a_pose_of_six_joints():
    with running("-p", f"home:={HOME.tolist()}", "-p", "orientation:=axis") as robot:
        goal = robot.chain.forward(HOME + 0.2)
        about_z = goal @ RigidTransform.from_rpy(0.0, 0.0, 1.5)
        _, tip = sent(robot, about_z, state="ARRIVED", verdict="REACHED")
        assert np.allclose(tip.rotation[:, 2], goal.rotation[:, 2], atol=1e-4)
        assert angle(tip, about_z) > 0.1, "it turns about it no more than it must"


@pytest.fixture(scope="module")
def robot():
    words = ("-p", "root_link:=base_link", "-p", f"tip_link:={ENDS[1]}")
    with running(*words, urdf=so101(), home=READY, ends=ENDS) as robot:
        robot.wait_status(state="READY")
        yield robot


def sent(robot, pose, **wanted):
    """Send a pose and wait for the status; return it once the arm rests, and its tip."""
    stamp = robot.send("base_link", pose).header.stamp
    robot.wait_status(target_stamp=f"{stamp.sec}.{stamp.nanosec:09}", **wanted)
    robot.wait(robot.rests, "silence")
    robot.run(0.6)
    return robot.statuses[-1], robot.tip()


def angle(one, other):
    return (one.inverse() @ other).as_axis_angle()[1]


def test_by_default_the_position_is_reached_and_the_orientation_is_near(robot):
    status, tip = sent(robot, TURNED, state="ARRIVED", verdict="REACHED")
    assert np.linalg.norm(tip.translation - TURNED.translation) < 2e-5
    left = float(status["orientation_error"])
    assert left == pytest.approx(angle(TURNED, tip), abs=1e-4)
    assert 0.1 < left < angle(TURNED, PLACE), "as near as it gets, and nearer than this one"
    assert status["message"] == f"reached, orientation off by {np.degrees(left):.1f}°"
    status, tip = sent(robot, PLACE, state="ARRIVED", verdict="REACHED")
    assert angle(PLACE, tip) < 1e-4, "what can be reached is reached as a whole"
    assert status["message"] == "reached"


def test_the_whole_pose_is_not_reached(robot):
    assert robot.set_parameter("orientation", "full").successful
    sent(robot, TURNED, state="ARRIVED", verdict="ORIENTATION_UNREACHABLE")


def test_without_orientation_the_position_is_reached(robot):
    assert robot.set_parameter("position_only_ik", True).successful
    _, tip = sent(robot, TURNED, state="ARRIVED", verdict="REACHED")
    assert np.linalg.norm(tip.translation - TURNED.translation) < 2e-5


def test_a_position_out_of_reach_is_not_near(robot):
    assert robot.set_parameter("position_only_ik", False).successful
    assert robot.set_parameter("orientation", "auto").successful
    far = RigidTransform.from_rotation_translation(PLACE.rotation, [0.9, 0.0, 0.2])
    sent(robot, far, state="ARRIVED", verdict="TOO_FAR")


def test_a_stream_of_poses_is_followed(robot):
    assert robot.set_parameter("orientation", "auto").successful
    sent(robot, TURNED, state="ARRIVED", verdict="REACHED")
    for k in range(100):
        way = [0.0, 0.0004 * k, 0.0]
        place = RigidTransform.from_rotation_translation(TURNED.rotation, TURNED.translation + way)
        robot.send("base_link", place)
        robot.run(0.02)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "silence")
    assert np.linalg.norm(robot.tip().translation - place.translation) < 2e-5
