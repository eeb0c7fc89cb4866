# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`frame_prefix`: robots that share one URDF and one tf."""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from bench import HOME, Robot, down, running
from builtin_interfaces.msg import Time
from moveit_client import pose_stamped, state
from moveit_msgs.msg import MoveItErrorCodes, RobotState
from moveit_msgs.srv import GetCartesianPath, GetPositionFK, GetPositionIK
from tf2_ros import TransformException
from visualization_msgs.srv import GetInteractiveMarkers

from basis_ik.ros.convert import pose_message
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.transforms.rigid import RigidTransform

BASES = {"arm1/": (0.0, 0.0, 0.0), "arm2/": (0.0, 0.4, 0.0)}
UPRIGHT = np.zeros(3)


def share_tf(robot):
    """Let tf have both robots: the other one's tip is where it was put."""
    for prefix, place in BASES.items():
        robot.place("cell", f"{prefix}base_link", RigidTransform.from_rpy(*UPRIGHT, place))
        if prefix != robot.prefix:
            robot.frames[f"{prefix}base_link", f"{prefix}tool0"] = lambda: down(0.4, 0.1, 0.3)
    robot.run(0.1)


@pytest.mark.parametrize(
    ("frame", "hint"),
    [
        ("base", "'arm1/base'"),
        ("arm2_odom", "'odom'"),
        ("arm1/base", None),
        ("bas", None),
        ("tool", None),
    ],
)
def test_a_refusal_names_what_tf_has_with_another_prefix(frame, hint):
    buffer = FrameBuffer()
    buffer.parents = {"arm1/base": "odom", "database": "odom"}
    found = buffer.refused(TransformException("why"), frame)
    said = "" if hint is None else f"; tf has {hint}: see the parameter frame_prefix"
    assert str(found).partition("why")[2].strip("()") == said


def test_without_the_parameter_a_refusal_names_the_frames_that_tf_has():
    robot = Robot(prefix="arm1/")
    try:
        share_tf(robot)
        robot.send("cell", down(0.4, 0.3, 0.3))
        robot.wait(
            lambda: robot.statuses and robot.statuses[-1].get("last_refusal.target_pose"),
            "a refusal",
        )
        assert (
            "tf has 'arm1/base_link', 'arm2/base_link'"
            in robot.statuses[-1]["last_refusal.target_pose"]
        )
    finally:
        robot.end()


@pytest.fixture(scope="module", params=BASES)
def robot(request):
    given = (
        f"frame_prefix:={request.param}",
        "tip_link:=tool0",
        f"root_link:={request.param}base_link",
        "pointing_frame:=flange",
        "capped_links:=['forearm_link']",
    )
    with running(*(word for each in given for word in ("-p", each)), prefix=request.param) as robot:
        share_tf(robot)
        yield robot


def arrive(robot, frame, frame_T_target):
    """Send a target, and wait for the arrival at it."""
    sent = robot.send(frame, frame_T_target).header.stamp
    robot.wait_status(state="ARRIVED", target_stamp=f"{sent.sec}.{sent.nanosec:09}")
    robot.run(0.2)


def test_targets_in_frames_of_both_robots_are_reached(robot):
    here = BASES[robot.prefix]
    in_cell = down(0.4, 0.3, 0.3)
    arrive(robot, "cell", in_cell)
    x, y, z = in_cell.translation - here
    assert robot.at(down(x, y, z))
    arrive(robot, f"{robot.prefix}base_link", in_cell)
    assert robot.at(in_cell)
    other = next(prefix for prefix in BASES if prefix != robot.prefix)
    above = RigidTransform.from_rpy(*UPRIGHT, (0.0, 0.0, -0.1))  # its tool points down
    arrive(robot, f"{other}tool0", above)
    assert robot.at(down(*(np.add(BASES[other], (0.4, 0.1, 0.4)) - here)))


def test_a_frame_without_prefix_is_not_taken_for_the_own_robots(robot):
    robot.send("base_link", down(0.4, 0.3, 0.3))
    robot.wait(
        lambda: "base_link" in robot.statuses[-1].get("last_refusal.target_pose", ""), "a refusal"
    )
    refusal = robot.statuses[-1]["last_refusal.target_pose"]
    assert "NO_TRANSFORM" in refusal
    assert "tf has 'arm1/base_link', 'arm2/base_link': see the parameter frame_prefix" in refusal


def test_the_own_tip_needs_no_tf_and_is_not_chased(robot):
    arrive(robot, f"{robot.prefix}base_link", down(0.4, 0.1, 0.3))
    before = robot.tip()
    robot.send(f"{robot.prefix}tool0", RigidTransform.from_rpy(*UPRIGHT, (0, 0, 0.05)), Time())
    robot.run(2.0)
    assert np.linalg.norm(robot.tip().translation - before.translation) == pytest.approx(0.05, 0.01)


def test_markers_and_handle_are_in_frames_that_tf_has(robot):
    robot.wait(lambda: robot.heard["markers"].markers, "markers")
    shown = {each.header.frame_id for each in robot.heard["markers"].markers if each.action == 0}
    assert shown == {f"{robot.prefix}base_link"}
    answer = robot.call(GetInteractiveMarkers, "target/get_interactive_markers")
    assert [each.header.frame_id for each in answer.markers] == [f"{robot.prefix}base_link"]


def ask(robot, kind, request):
    """Call a kinematics service."""
    plug_ins = robot.node._robot._plug_ins
    (served,) = (each for each in plug_ins if isinstance(each, KinematicsServices))
    (service,) = (each for each in served._side.node.services if each.srv_type is kind)
    return service.callback(request, kind.Response())


@pytest.mark.parametrize("named", ["", "prefixed"])
def test_services_take_links_with_and_without_prefix(robot, named):
    tip = robot.prefix * bool(named) + "tool0"
    home = dict(zip(robot.chain.joint_names, HOME, strict=True))
    positions = RobotState(joint_state=state(home))
    request = GetPositionFK.Request(fk_link_names=[tip], robot_state=positions)
    answer = ask(robot, GetPositionFK, request)
    assert answer.error_code.val == MoveItErrorCodes.SUCCESS
    assert answer.fk_link_names == [tip]
    assert answer.pose_stamped[0].header.frame_id == robot.prefix + robot.model.root
    goal = GetPositionIK.Request()
    goal.ik_request.group_name = goal.ik_request.ik_link_name = tip
    goal.ik_request.robot_state = positions
    goal.ik_request.pose_stamped = answer.pose_stamped[0]
    found = ask(robot, GetPositionIK, goal)
    assert found.error_code.val == MoveItErrorCodes.SUCCESS
    assert found.solution.joint_state.position == pytest.approx(HOME, abs=1e-3)
    assert found.solution.joint_state.header.frame_id == answer.pose_stamped[0].header.frame_id
    goal.ik_request.pose_stamped = pose_stamped("base_link", (0.4, 0.1, 0.3), (1.0, 0.0, 0.0, 0.0))
    path = GetCartesianPath.Request(group_name=tip, link_name=tip, start_state=positions)
    path.header.frame_id = robot.prefix + "base_link"
    path.max_step, path.waypoints = 0.01, [pose_message(robot.chain.forward(HOME))]
    followed = ask(robot, GetCartesianPath, path)
    assert (followed.error_code.val, followed.fraction) == (MoveItErrorCodes.SUCCESS, 1.0)
    assert followed.solution.joint_trajectory.points[0].positions.tolist() == list(HOME)
    refused = ask(robot, GetPositionIK, goal).error_code
    assert refused.val == MoveItErrorCodes.FRAME_TRANSFORM_FAILURE
    assert "see the parameter frame_prefix" in refused.message


@pytest.mark.parametrize("named", ["", "prefixed"])
def test_several_links_are_named_with_and_without_prefix(robot, named):
    links = [robot.prefix * bool(named) + link for link in ("forearm_link", "tool0")]
    home = dict(zip(robot.chain.joint_names, HOME, strict=True))
    positions = RobotState(joint_state=state(home))
    request = GetPositionFK.Request(fk_link_names=links, robot_state=positions)
    goal = GetPositionIK.Request()
    goal.ik_request.robot_state, goal.ik_request.ik_link_names = positions, links
    goal.ik_request.pose_stamped_vector = ask(robot, GetPositionFK, request).pose_stamped
    found = ask(robot, GetPositionIK, goal)
    assert found.error_code.val == MoveItErrorCodes.SUCCESS
    assert found.solution.joint_state.position == pytest.approx(HOME, abs=1e-3)


def test_a_head_goal_without_a_frame_has_that_of_the_parameter(robot):
    goal = robot.point(f"{robot.prefix}base_link", (0.6, 0.2, 0.1), axis=(0.0, 0.0, 1.0))
    assert goal.accepted
    assert robot.end_of(goal) == GoalStatus.STATUS_SUCCEEDED


@pytest.mark.parametrize("named", ["", "prefixed"])
def test_the_tool_may_be_named_with_and_without_prefix(robot, named):
    name = robot.prefix * bool(named) + "flange"
    assert robot.set_parameter("tool_frame", name).successful
    robot.wait(lambda: robot.statuses[-1].get("tool_frame"), "the tool")
    assert robot.statuses[-1]["tool_frame"] == f"{robot.prefix}flange"
    assert robot.set_parameter("tool_frame", "").successful
    robot.wait(lambda: not robot.statuses[-1].get("tool_frame"), "no tool")
