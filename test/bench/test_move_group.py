# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's actions move_action and execute_trajectory: verdicts are true of the measured arm."""

import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from bench import HOME, down, running
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point32, Polygon, Pose, Quaternion, Transform
from moveit_client import joints_at, motion_goal, tip_at
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import (
    AttachedCollisionObject,
    CollisionObject,
    Constraints,
    GenericTrajectory,
    JointConstraint,
    LinkPadding,
    MoveItErrorCodes,
    ObjectColor,
    OrientationConstraint,
    PositionConstraint,
    RobotTrajectory,
    VisibilityConstraint,
)
from moveit_msgs.srv import GetMotionPlan
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from shape_msgs.msg import Mesh, SolidPrimitive
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectoryPoint, MultiDOFJointTrajectoryPoint

from basis_ik.ros.convert import pose_message
from basis_ik.ros.kinematics.ik_request import Start
from basis_ik.ros.kinematics.motion_request import PoseTarget, euler_xyz
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.move_group import MOTION_GOALS
from basis_ik.transforms.rigid import RigidTransform

CODE = MoveItErrorCodes
SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)
NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
AWAY = HOME + np.array([0.9, 0.2, -0.4, 0.5, -0.3, 0.8])
INSIDE = np.array([0.0, -1.57, 2.9, -1.57, -1.57, 0.0])  # the hand strikes the upper arm
FAST = {"max_velocity_scaling_factor": 1.0, "max_acceleration_scaling_factor": 1.0}


GROUP = "manipulator"


@pytest.fixture(scope="module")
def started():
    with running("-p", f"home:={HOME.tolist()}", "-p", f"moveit_group:={GROUP}") as robot:
        yield robot


@pytest.fixture
def robot(started):
    """An arm that rests at home."""
    started.call(SetBool, "enable", data=True)
    started.set_parameter("speed_override", 1.0)
    assert started.call(Trigger, "home").success
    started.wait(lambda: np.allclose(started.positions, HOME, atol=1e-9), "home")
    started.wait(started.rests, "silence")
    yield started
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []
    started.wait(lambda: started.node.inputs.awaiting == 0, "no goal is left")


def named(robot, positions):
    return dict(zip(robot.chain.joint_names, np.asarray(positions).tolist(), strict=True))


def to_joints(robot, positions, **fields):
    return motion_goal(joints_at(named(robot, positions)), **fields)


def to_pose(pose, **how):
    q = pose_message(pose).orientation
    return tip_at(
        "base_link", "tool0", position=pose.translation, quaternion=(q.x, q.y, q.z, q.w), **how
    )


def move(robot, goal, action="move_action"):
    """Send a goal, and wait for its end; return status and result."""
    sent = robot.act(action, goal)
    return robot.end_of(sent), sent.result


def planned(robot, goal):
    """Return the trajectory of a goal that is only planned."""
    goal.planning_options.plan_only = True
    status, result = move(robot, goal)
    assert (status, result.error_code.val) == (SUCCEEDED, CODE.SUCCESS)
    return result.planned_trajectory


def points(trajectory):
    """Return times and positions of a trajectory."""
    found = trajectory.joint_trajectory.points
    times = [each.time_from_start.sec + 1e-9 * each.time_from_start.nanosec for each in found]
    return np.array(times), np.array([each.positions for each in found])


def set_off(robot, goal, action="move_action", way=0.2):
    """Send a goal, and wait until the arm has moved."""
    start, sent = robot.positions, robot.act(action, goal)
    robot.wait(lambda: np.abs(robot.positions - start).max() > way, "the arm moves")
    return sent


# Motions -------------------------------------------------------------------------------------


def test_a_goal_of_joints_is_reached_on_a_straight_line_of_theirs(robot):
    sent = robot.act("move_action", to_joints(robot, AWAY, **FAST))
    assert robot.end_of(sent) == SUCCEEDED
    result = sent.result
    assert result.error_code.val == CODE.SUCCESS
    assert result.error_code.message == ""
    assert [each.state for each in sent.feedback] == ["PLANNING", "MONITOR", "IDLE"]
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=1e-9)
    times, way = points(result.planned_trajectory)
    assert np.array_equal(way[0], HOME)
    assert np.array_equal(way[-1], AWAY)
    along = (way - HOME) / (AWAY - HOME)
    assert np.abs(along - along[:, :1]).max() < 1e-9, "all start and end together"
    ends, executed = points(result.executed_trajectory)
    assert ends[-1] == pytest.approx(times[-1], abs=0.1)
    assert np.allclose(executed[0], HOME, rtol=0.0, atol=1e-3)
    assert np.allclose(executed[-1], AWAY, rtol=0.0, atol=1e-2)
    assert (np.diff(ends) > 0.0).all()
    assert result.planning_time > 0.0
    assert list(result.trajectory_start.joint_state.position) == pytest.approx(HOME.tolist())


def test_the_scaling_factors_are_kept(robot):
    slow = to_joints(robot, AWAY, max_velocity_scaling_factor=0.2)
    times, way = points(planned(robot, slow))
    speed = np.abs(np.diff(way, axis=0) / np.diff(times)[:, np.newaxis]).max(axis=0)
    assert (speed / robot.chain.velocity).max() == pytest.approx(0.2, rel=0.01)
    assert move(robot, slow)[0] == SUCCEEDED


def test_without_factors_those_of_the_node_count(robot):
    assert robot.set_parameter("max_velocity_scaling_factor", 0.1).successful
    times, way = points(planned(robot, to_joints(robot, AWAY)))
    speed = np.abs(np.diff(way, axis=0) / np.diff(times)[:, np.newaxis]).max(axis=0)
    assert (speed / robot.chain.velocity).max() == pytest.approx(0.1, rel=0.01)
    assert robot.set_parameter("max_velocity_scaling_factor", 1.0).successful


def test_unnamed_joints_stay_and_tolerances_reach_into_the_limits(robot):
    wanted = {"shoulder_pan_joint": 6.4, "wrist_1_joint": -1.0}  # the first has a limit at 6.2832
    assert move(robot, motion_goal(joints_at(wanted, 0.3), **FAST))[0] == SUCCEEDED
    expected = HOME.copy()
    expected[0], expected[3] = robot.chain.upper[0], -1.0
    assert np.allclose(robot.positions, expected, rtol=0.0, atol=1e-8)


def robot_state(joints):
    state = motion_goal().request.start_state
    state.joint_state = JointState(name=list(joints), position=list(joints.values()))
    return state


@pytest.mark.parametrize("group", ["", GROUP, "tool0"])
def test_the_group_is_that_of_the_client_or_the_tip(robot, group):
    goal = to_joints(robot, AWAY, plan_only=True, group_name=group)
    assert move(robot, goal)[1].error_code.val == CODE.SUCCESS


def test_a_pose_is_reached(robot):
    assert move(robot, motion_goal(to_pose(NEAR), **FAST))[0] == SUCCEEDED
    assert robot.at(NEAR)


def test_a_position_leaves_the_orientation_free(robot):
    """At its full reach the tip cannot point down."""
    far = [0.0, 0.85, 0.35]
    place = tip_at("base_link", "tool0", position=far)
    assert move(robot, motion_goal(place, **FAST))[0] == SUCCEEDED
    assert np.allclose(robot.tip().translation, far, rtol=0.0, atol=1e-4)


def test_an_orientation_leaves_the_position_free(robot):
    q = pose_message(RigidTransform.from_rpy(0.5, 0.3, -0.4, [0.0, 0.0, 0.0])).orientation
    turned = tip_at("base_link", "tool0", quaternion=(q.x, q.y, q.z, q.w))
    assert move(robot, motion_goal(turned, **FAST))[0] == SUCCEEDED
    found = pose_message(robot.tip()).orientation
    assert abs(np.dot([found.x, found.y, found.z, found.w], [q.x, q.y, q.z, q.w])) > 1.0 - 1e-8


def test_a_point_beside_the_link_is_brought_to_the_place(robot):
    goal = to_pose(NEAR)
    offset = goal.position_constraints[0].target_point_offset
    offset.x, offset.y, offset.z = 0.05, -0.02, 0.1
    assert move(robot, motion_goal(goal, **FAST))[0] == SUCCEEDED
    assert np.allclose(robot.tip().apply([0.05, -0.02, 0.1]), NEAR.translation, atol=1e-4)
    assert np.allclose(robot.tip().rotation, NEAR.rotation, atol=1e-4)


def beyond_reach(robot, by):
    """Return a pose beyond the reach of an arm that points there, by a distance [m]."""
    stretched = np.array([0.3, -0.8, 0.0, -0.7, 0.2, 0.0])
    pose = robot.chain.forward(stretched)
    out = pose.translation - [0.0, 0.0, 0.1625]
    return RigidTransform.from_rotation_translation(
        pose.rotation, pose.translation + by * out / np.linalg.norm(out)
    )


@pytest.mark.parametrize("how", [{"sphere": 0.1}, {"box": [0.12, 0.12, 0.12]}])
def test_a_place_out_of_reach_is_replaced_by_one_within_the_region(robot, how):
    pose = beyond_reach(robot, 0.05)
    assert move(robot, motion_goal(to_pose(pose)))[1].error_code.val == CODE.NO_IK_SOLUTION
    assert move(robot, motion_goal(to_pose(pose, turn=0.1, **how), **FAST))[0] == SUCCEEDED
    off = robot.tip().translation - pose.translation
    assert np.linalg.norm(off) > 1e-3
    assert np.linalg.norm(off) <= 0.1 if "sphere" in how else (np.abs(off) <= 0.06).all()


def test_a_free_axis_is_free_and_the_others_are_kept(robot):
    """The last joint alone cannot turn the tool so far: its limit is in the way."""
    goal = to_pose(NEAR, turn=(1e-3, 1e-3, 2.0 * math.pi))
    assert move(robot, motion_goal(goal, **FAST))[0] == SUCCEEDED
    assert np.allclose(robot.tip().translation, NEAR.translation, atol=1e-4)
    assert np.allclose(robot.tip().rotation[:, 2], NEAR.rotation[:, 2], atol=1e-3)


@pytest.mark.parametrize("kind", [0, 1])
def test_tolerances_of_rotation_are_kept_in_their_parameterization(robot, kind):
    pose = beyond_reach(robot, 0.0)
    turned = pose @ RigidTransform.from_rpy(0.0, 0.5, 0.0, [0.0, 0.0, 0.0])
    goal = to_pose(turned, turn=(0.6, 0.6, 0.6), sphere=0.02)
    goal.orientation_constraints[0].parameterization = kind
    status, result = move(robot, motion_goal(goal, **FAST))
    assert status == SUCCEEDED, result.error_code.message
    left = turned.inverse() @ robot.tip()
    angles = left.log()[3:] if kind else euler_xyz(left.rotation)
    assert (np.abs(angles) <= 0.6 + 1e-4).all()


def test_euler_angles_are_those_of_axes_turned_one_after_the_other():
    for angles in np.random.default_rng(0).uniform(-1.5, 1.5, (50, 3)):
        x, y, z = (
            RigidTransform.from_rpy(*row, [0.0, 0.0, 0.0]) for row in np.diag(angles).tolist()
        )
        assert euler_xyz((x @ y @ z).rotation) == pytest.approx(angles)


def test_joint_constraints_of_a_pose_are_kept_or_named(robot):
    goal = to_pose(NEAR)
    move(robot, motion_goal(goal, **FAST))
    other = -robot.positions[4]  # the wrist turned over
    goal.joint_constraints = joints_at({"wrist_2_joint": other}, 0.3).joint_constraints
    status, result = move(robot, motion_goal(goal, **FAST))
    assert status == SUCCEEDED, result.error_code.message
    assert robot.at(NEAR)
    assert abs(robot.positions[4] - other) <= 0.3
    goal.joint_constraints = joints_at({"wrist_2_joint": 0.0}, 0.3).joint_constraints
    status, result = move(robot, motion_goal(goal, **FAST))
    assert (status, result.error_code.val) == (ABORTED, CODE.NO_IK_SOLUTION)
    assert "joint_constraints: wrist_2_joint " in result.error_code.message


@pytest.mark.parametrize("planner", ["LIN", "lin"])
def test_the_tip_moves_straight_for_lin(robot, planner):
    assert move(robot, motion_goal(to_pose(NEAR), **FAST))[0] == SUCCEEDED
    robot.wait(robot.rests, "silence")
    there = down(0.45, -0.15, 0.30)
    first, begin = len(robot.arm.outputs), robot.tip().translation
    goal = motion_goal(to_pose(there), planner_id=planner, **FAST)
    assert move(robot, goal)[0] == SUCCEEDED
    assert robot.at(there)
    way = there.translation - begin
    for _, output in robot.arm.outputs[first::10]:
        off = robot.chain.forward(output).translation - begin
        assert np.linalg.norm(off - way * (off @ way) / (way @ way)) < 1e-4


def test_lin_to_joints_ends_with_these_joints_or_is_refused(robot):
    assert move(robot, motion_goal(to_pose(NEAR), **FAST))[0] == SUCCEEDED
    there = robot.positions + np.array([0.1, 0.05, -0.05, 0.0, 0.0, 0.1])
    assert move(robot, to_joints(robot, there, planner_id="LIN", **FAST))[0] == SUCCEEDED
    assert np.allclose(robot.positions, there, rtol=0.0, atol=1e-4)
    turned = there.copy()  # the same place of the tip, a turn away
    turned[5] -= math.copysign(2.0 * math.pi, there[5])
    _, result = move(robot, to_joints(robot, turned, planner_id="LIN"))
    assert result.error_code.val == CODE.PLANNING_FAILED
    assert "PTP" in result.error_code.message


def test_a_line_keeps_joint_constraints_at_its_end_or_is_refused(robot):
    assert move(robot, motion_goal(to_pose(NEAR), **FAST))[0] == SUCCEEDED
    goal, wrist = to_pose(down(0.42, 0.18, 0.40)), robot.positions[5]
    for position, code in ((wrist + 2.0, CODE.PLANNING_FAILED), (wrist, CODE.SUCCESS)):
        goal.joint_constraints = joints_at({"wrist_3_joint": position}, 0.5).joint_constraints
        _, result = move(robot, motion_goal(goal, planner_id="LIN", **FAST))
        assert result.error_code.val == code, result.error_code.message
        assert code == CODE.SUCCESS or "wrist_3_joint" in result.error_code.message


def test_a_line_that_ends_before_is_refused_with_the_reason(robot):
    assert move(robot, motion_goal(to_pose(NEAR), **FAST))[0] == SUCCEEDED
    opposite = down(-0.40, -0.20, 0.40)
    status, result = move(robot, motion_goal(to_pose(opposite), planner_id="LIN"))
    assert (status, result.error_code.val) == (ABORTED, CODE.NO_IK_SOLUTION)
    assert result.error_code.message.startswith("goal_constraints") or (
        "the straight line of tool0 ends after" in result.error_code.message
    )


def test_of_several_goals_the_first_that_can_be_reached_counts(robot):
    goal = motion_goal(to_pose(down(2.0, 0.0, 0.0)), to_pose(NEAR), to_pose(FAR), **FAST)
    assert move(robot, goal)[0] == SUCCEEDED
    assert robot.at(NEAR)


def test_a_goal_where_the_arm_is_is_reached_at_once(robot):
    assert move(robot, to_joints(robot, HOME))[0] == SUCCEEDED
    assert np.allclose(robot.positions, HOME, atol=1e-9)


def test_planning_moves_nothing_and_may_begin_anywhere(robot):
    count = len(robot.commands)
    goal = to_joints(robot, HOME, start_state=robot_state(named(robot, AWAY)))
    way = points(planned(robot, goal))[1]
    assert np.array_equal(way[0], AWAY)
    assert np.array_equal(way[-1], HOME)
    assert len(robot.commands) == count


def test_the_service_plans_the_same(robot):
    (served,) = (
        each for each in robot.node._robot._plug_ins if isinstance(each, KinematicsServices)
    )
    (service,) = (
        each for each in served._side.node.services
        if each.srv_name == "/basis_ik/plan_kinematic_path"
    )  # fmt: skip
    goal = to_joints(robot, AWAY)
    request = GetMotionPlan.Request(motion_plan_request=goal.request)
    response = service.callback(request, GetMotionPlan.Response()).motion_plan_response
    assert response.error_code.val == CODE.SUCCESS
    assert response.trajectory == planned(robot, goal)
    request.motion_plan_request.group_name = "nobody"
    response = service.callback(request, GetMotionPlan.Response()).motion_plan_response
    assert response.error_code.val == CODE.INVALID_GROUP_NAME


# What is refused -----------------------------------------------------------------------------


def region(**fields):
    """Return a position constraint whose region has other fields."""
    place = tip_at("base_link", "tool0", position=(0.4, 0.2, 0.4)).position_constraints[0]
    for name, value in fields.items():
        setattr(place.constraint_region, name, value)
    return Constraints(position_constraints=[place])


def turned(**fields):
    found = OrientationConstraint(link_name="tool0")
    found.header.frame_id = "base_link"
    for name, value in fields.items():
        setattr(found, name, value)
    return Constraints(orientation_constraints=[found])


BOTH = [PositionConstraint(), PositionConstraint()]
TWO_LINKS = Constraints(
    position_constraints=to_pose(NEAR).position_constraints,
    orientation_constraints=[OrientationConstraint(link_name="forearm_link")],
)
SPHERE = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.1])
PRISM = SolidPrimitive(
    type=SolidPrimitive.SPHERE, dimensions=[0.1], polygon=Polygon(points=[Point32()])
)
CONE = SolidPrimitive(type=SolidPrimitive.CONE, dimensions=[0.1, 0.1])
GOALS = {
    "none": ([], "there are none"),
    "empty": ([Constraints()], "it has no constraints"),
    "visibility": ([Constraints(visibility_constraints=[VisibilityConstraint()])], "visibility"),
    "two positions": ([Constraints(position_constraints=BOTH)], "position_constraints: 2 at once"),
    "two links": ([TWO_LINKS], "are of two links"),
    "mesh": ([region(meshes=[Mesh()])], "one sphere or one box"),
    "two regions": ([region(primitives=[SPHERE, SPHERE])], "one sphere or one box"),
    "cone": ([region(primitives=[CONE])], "no other shape"),
    "prism": ([region(primitives=[PRISM])], "no other shape"),
    "mesh without a shape": ([region(primitives=[SPHERE], mesh_poses=[Pose()])], "one sphere"),
    "sphere": ([region(primitives=[SolidPrimitive(type=2, dimensions=[-0.1])])], "dimensions"),
    "box": ([region(primitives=[SolidPrimitive(type=1, dimensions=[0.1])])], "dimensions"),
    "quaternion": ([turned(orientation=Quaternion(w=2.0))], "BAD_QUATERNION"),
    "tolerance": ([turned(absolute_x_axis_tolerance=-0.1)], "tolerances are"),
    "kind of tolerance": ([turned(parameterization=7)], "parameterization: 7 is unknown"),
    "unknown joint": ([joints_at({"thumb": 0.0})], "thumb"),
    "joint nan": ([joints_at({"elbow_joint": math.nan})], "not finite"),
    "joint beyond": ([joints_at({"elbow_joint": 3.2})], "no position within its limits"),
}


@pytest.mark.parametrize("case", GOALS)
def test_goals_that_are_not_supported_are_refused_by_name(robot, case):
    goals, words = GOALS[case]
    status, result = move(robot, motion_goal(*goals))
    assert (status, result.error_code.val) == (ABORTED, CODE.INVALID_GOAL_CONSTRAINTS)
    assert words in result.error_code.message
    assert result.error_code.message.startswith("goal_constraints")


def constrained(kind, message):
    return {"path_constraints": Constraints(**{f"{kind}_constraints": [message]})}


ATTACHED = AttachedCollisionObject()
FIELDS = {
    "path joint": (constrained("joint", JointConstraint()), CODE.INVALID_GOAL_CONSTRAINTS),
    "path position": (constrained("position", PositionConstraint()), CODE.INVALID_GOAL_CONSTRAINTS),
    "path orientation": (
        constrained("orientation", OrientationConstraint()), CODE.INVALID_GOAL_CONSTRAINTS,
    ),
    "path visibility": (
        constrained("visibility", VisibilityConstraint()), CODE.INVALID_GOAL_CONSTRAINTS,
    ),
    "trajectory_constraints": ({"trajectory_constraints": [Constraints()]},
                               CODE.INVALID_GOAL_CONSTRAINTS),
    "reference_trajectories": ({"reference_trajectories": [GenericTrajectory()]},
                               CODE.INVALID_MOTION_PLAN),
    "max_cartesian_speed": ({"max_cartesian_speed": 0.1}, CODE.FAILURE),
    "max_cartesian_speed nan": ({"max_cartesian_speed": math.nan}, CODE.FAILURE),
    "max_velocity_scaling_factor": ({"max_velocity_scaling_factor": 1.1}, CODE.FAILURE),
    "max_acceleration_scaling_factor": ({"max_acceleration_scaling_factor": -0.1}, CODE.FAILURE),
    "planner_id": ({"planner_id": "CIRC"}, CODE.PLANNING_FAILED),
    "group_name": ({"group_name": "legs"}, CODE.INVALID_GROUP_NAME),
    "start_state attached": ({"attached": ATTACHED}, CODE.INVALID_ROBOT_STATE),
    "start_state moved": ({"start": {"elbow_joint": 1.6}}, CODE.START_STATE_INVALID),
    "start_state nan": ({"start": {"elbow_joint": math.nan}}, CODE.INVALID_ROBOT_STATE),
}  # fmt: skip


@pytest.mark.parametrize("case", FIELDS)
def test_fields_that_are_not_supported_are_refused_by_name(robot, case):
    fields, code = FIELDS[case]
    goal = to_joints(robot, AWAY)
    for name, value in fields.items():
        if name == "attached":
            goal.request.start_state.attached_collision_objects = [value]
        elif name == "start":
            goal.request.start_state = robot_state(value)
        elif name == "trajectory_constraints":
            goal.request.trajectory_constraints.constraints = value
        else:
            setattr(goal.request, name, value)
    status, result = move(robot, goal)
    assert (status, result.error_code.val) == (ABORTED, code)
    word = case.split()[0]
    word = {"path": "path_constraints"}.get(word, word)
    assert word in result.error_code.message
    assert np.allclose(robot.positions, HOME, atol=1e-9)


OPTIONS = {
    "look_around": True,
    "replan": True,
    "planning_scene_diff.link_padding": [LinkPadding()],
    "planning_scene_diff.world.collision_objects": [CollisionObject()],
    "planning_scene_diff.robot_state.attached_collision_objects": [ATTACHED],
    "planning_scene_diff.robot_state.joint_state.name": ["elbow_joint"],
    "planning_scene_diff.allowed_collision_matrix.entry_names": ["tool0"],
    "planning_scene_diff.world.octomap.octomap.data": [1],
    "planning_scene_diff.world.octomap.origin.position.x": 0.1,
    "planning_scene_diff.allowed_collision_matrix.default_entry_values": [True],
    "planning_scene_diff.robot_state.joint_state.position": [0.1],
    "planning_scene_diff.robot_state.multi_dof_joint_state.transforms": [Transform()],
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_that_are_not_supported_are_refused_by_name(robot, option):
    goal = to_joints(robot, AWAY)
    *parents, name = option.split(".")
    part = goal.planning_options
    for each in parents:
        part = getattr(part, each)
    setattr(part, name, OPTIONS[option])
    _, result = move(robot, goal)
    assert result.error_code.val == CODE.FAILURE
    assert result.error_code.message.startswith("planning_options.")
    assert option.split(".", 1)[-1] in result.error_code.message


def test_an_offset_that_is_not_finite_is_refused(robot):
    goal = to_pose(NEAR)
    goal.position_constraints[0].target_point_offset.y = math.inf
    _, result = move(robot, motion_goal(goal))
    assert result.error_code.val == CODE.INVALID_GOAL_CONSTRAINTS
    assert "target_point_offset is not finite" in result.error_code.message


def test_a_fault_of_our_own_ends_the_goal_alone(robot, monkeypatch):
    def fail(_):
        raise ZeroDivisionError

    monkeypatch.setattr(KinematicsServices, "read_motion", lambda _, request: fail(request))
    status, result = move(robot, to_joints(robot, AWAY))
    assert (status, result.error_code.val) == (ABORTED, CODE.FAILURE)
    assert result.error_code.message == "internal error"
    monkeypatch.undo()
    assert move(robot, to_joints(robot, AWAY, **FAST))[0] == SUCCEEDED


@pytest.mark.parametrize(
    ("box", "radius", "met"),
    [
        (0.01, math.inf, False),
        (0.03, math.inf, True),
        (math.inf, 0.01, False),
        (math.inf, 0.03, True),
    ],
)
def test_a_solution_is_compared_with_the_whole_region(robot, box, radius, met):
    chain, own = robot.chain, list(range(6))
    there = chain.forward(HOME)
    beside = RigidTransform.from_rotation_translation(
        there.rotation, there.translation + 0.02 * np.eye(3)[1]
    )
    target = PoseTarget(
        chain, own, beside, True, False, beside, np.full(3, box), radius, np.full(3, math.inf),
        False, Start(HOME, None),
    )  # fmt: skip
    assert target.is_met(HOME, 1e-6) == met


def test_what_other_clients_fill_in_is_accepted(robot):
    goal = to_joints(robot, AWAY, **FAST)
    request, options = goal.request, goal.planning_options
    request.workspace_parameters.min_corner.x = -1.0
    request.num_planning_attempts, request.allowed_planning_time = 5, 0.5
    request.planner_id, request.pipeline_id = "RRTConnectkConfigDefault", "ompl"
    request.cartesian_speed_limited_link = "tool0"
    request.start_state.is_diff = True
    scene = options.planning_scene_diff
    scene.is_diff = scene.robot_state.is_diff = True
    scene.name, scene.robot_model_name, scene.object_colors = "a", "b", [ObjectColor(id="box")]
    scene.robot_state.joint_state.header.stamp.sec = 1
    options.replan_attempts, options.replan_delay, options.look_around_attempts = 1, 2.0, 1
    assert move(robot, goal)[0] == SUCCEEDED


def test_a_goal_in_collision_is_refused_with_the_names(robot):
    _, result = move(robot, to_joints(robot, INSIDE))
    assert result.error_code.val == CODE.GOAL_IN_COLLISION
    assert "overlap by" in result.error_code.message


def test_a_way_through_a_collision_is_refused_with_the_names(robot, monkeypatch):
    class Narrow:
        """A scene in which the arm strikes itself midway."""

        def __init__(self, *_, **__):
            self.chain = robot.chain

        def is_free(self, q):
            return not 0.4 < q[0] < 0.5

        def collisions(self, q):
            return () if self.is_free(q) else ("left and right overlap by 3.0 mm",)

    (served,) = (
        each for each in robot.node._robot._plug_ins if isinstance(each, KinematicsServices)
    )
    monkeypatch.setattr(served._scenes, "of", lambda *_: Narrow())
    _, result = move(robot, to_joints(robot, AWAY))
    assert result.error_code.val == CODE.INVALID_MOTION_PLAN
    assert "left and right overlap" in result.error_code.message
    assert "nothing is planned around it" in result.error_code.message
    start = robot_state(named(robot, HOME + np.array([0.45, 0.0, 0.0, 0.0, 0.0, 0.0])))
    _, result = move(robot, to_joints(robot, AWAY, plan_only=True, start_state=start))
    assert result.error_code.val == CODE.START_STATE_IN_COLLISION


@pytest.mark.parametrize(("how", "code"), [("refuse", CODE.COLLISION_CHECKING_UNAVAILABLE),
                                           ("ignore", CODE.SUCCESS)])  # fmt: skip
def test_collisions_are_refused_or_ignored_by_the_parameter(robot, how, code):
    assert robot.set_parameter("avoid_collisions", how).successful
    _, result = move(robot, to_joints(robot, AWAY, plan_only=True))
    assert robot.set_parameter("avoid_collisions", "check").successful
    assert result.error_code.val == code


# Given trajectories --------------------------------------------------------------------------


def run_it(robot, trajectory, **fields):
    """Execute a trajectory; return status, code and text."""
    goal = ExecuteTrajectory.Goal(trajectory=trajectory, **fields)
    status, result = move(robot, goal, "execute_trajectory")
    return status, result.error_code.val, result.error_code.message


def test_a_trajectory_is_executed_as_it_is(robot):
    trajectory = planned(robot, to_joints(robot, AWAY, **FAST))
    first, begun = len(robot.arm.outputs), robot.time
    assert run_it(robot, trajectory)[:2] == (SUCCEEDED, CODE.SUCCESS)
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=1e-9)
    assert robot.time - begun < points(trajectory)[0][-1] + 0.2
    outputs = np.array([output for _, output in robot.arm.outputs[first:]])
    along = (outputs - HOME) / (AWAY - HOME)
    assert np.abs(along - along[:, :1]).max() < 1e-6


def test_the_order_of_its_joints_is_free(robot):
    trajectory = planned(robot, to_joints(robot, AWAY, **FAST))
    message = trajectory.joint_trajectory
    message.joint_names = message.joint_names[::-1]
    for each in message.points:
        for name in ("positions", "velocities", "accelerations"):
            setattr(each, name, getattr(each, name)[::-1])
    assert run_it(robot, trajectory)[:2] == (SUCCEEDED, CODE.SUCCESS)
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=1e-9)


def spoiled(trajectory, case):
    """Return a trajectory with a fault, and further fields of the goal."""
    trajectory = deserialize_message(serialize_message(trajectory), type(trajectory))
    message = trajectory.joint_trajectory
    point, more = message.points[5], {}
    if case == "multi_dof":
        trajectory.multi_dof_joint_trajectory.points = [MultiDOFJointTrajectoryPoint()]
    elif case == "joint_names":
        message.joint_names = ["thumb", *message.joint_names[1:]]
    elif case == "joint missing":
        message.joint_names = message.joint_names[1:]
    elif case == "no points":
        message.points = []
    elif case == "positions":
        point.positions = point.positions[1:]
    elif case == "velocities":
        point.velocities = []
    elif case == "no velocities":
        for each in message.points:
            each.velocities, each.accelerations = [], []
    elif case == "accelerations":
        point.accelerations = []
    elif case == "effort":
        point.effort = [1.0] * 6
    elif case == "nan":
        point.positions[2] = math.nan
    elif case == "times":
        point.time_from_start = Duration()
    elif case == "in motion":
        message.points[-1].velocities[1] = 0.1
    elif case == "too fast":
        for each in message.points:
            total = each.time_from_start.sec + 1e-9 * each.time_from_start.nanosec
            each.time_from_start = Duration(sec=int(total / 2), nanosec=int(total / 2 % 1 * 1e9))
            each.velocities = [2.0 * value for value in each.velocities]
            each.accelerations = [4.0 * value for value in each.accelerations]
    elif case == "beyond":
        middle = message.points[len(message.points) // 2]
        middle.positions[2] += 3.0
    elif case == "stamp":
        message.header.stamp = Time(sec=2_000_000_000)
    elif case == "controller":
        more["controller_names"] = ["another_controller"]
    return trajectory, more


SPOILED = {
    "multi_dof": "multi_dof_joint_trajectory",
    "joint_names": "thumb",
    "joint missing": "joint_names",
    "no points": "no points",
    "positions": "points[5] has 5 positions",
    "velocities": "points[5] has 0 velocities",
    "no velocities": "no velocities",
    "accelerations": "points[5] has 0 accelerations",
    "effort": "effort",
    "nan": "positions of points[5] is not finite",
    "times": "time_from_start of points[5]",
    "in motion": "ends in motion",
    "too fast": "of speed at",
    "beyond": "at",
    "stamp": "header.stamp is ahead",
    "controller": "controller_names",
}


@pytest.mark.parametrize("case", SPOILED)
def test_a_trajectory_with_a_fault_is_refused_by_name(robot, case):
    trajectory, more = spoiled(planned(robot, to_joints(robot, AWAY, **FAST)), case)
    status, code, text = run_it(robot, trajectory, **more)
    expected = CODE.CONTROL_FAILED if case == "controller" else CODE.INVALID_MOTION_PLAN
    assert (status, code) == (ABORTED, expected)
    assert SPOILED[case] in text
    assert np.allclose(robot.positions, HOME, atol=1e-9)


def test_a_trajectory_that_begins_elsewhere_is_refused(robot):
    trajectory = planned(robot, to_joints(robot, AWAY, **FAST))
    robot.positions = HOME + 1.5 * MOTION_GOALS.start_tolerance
    robot.run(0.3)
    status, code, text = run_it(robot, trajectory)
    assert (status, code) == (ABORTED, CODE.INVALID_MOTION_PLAN)
    assert "the arm has moved since" in text
    assert np.allclose(robot.positions, HOME + 1.5 * MOTION_GOALS.start_tolerance, atol=1e-9)


def test_a_trajectory_that_begins_beside_the_arm_is_led_to(robot):
    trajectory = planned(robot, to_joints(robot, AWAY, **FAST))
    robot.positions = HOME + 0.5 * MOTION_GOALS.start_tolerance
    robot.run(0.3)
    assert run_it(robot, trajectory)[:2] == (SUCCEEDED, CODE.SUCCESS)
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=1e-9)


def test_a_fault_does_not_disturb_what_moves(robot):
    trajectory = planned(robot, to_joints(robot, AWAY, **FAST))
    bad, _ = spoiled(trajectory, "nan")
    start = robot_state(named(robot, AWAY))
    elsewhere = planned(robot, to_joints(robot, HOME, start_state=start))
    first = set_off(robot, to_joints(robot, AWAY, max_velocity_scaling_factor=0.3))
    assert run_it(robot, bad)[0] == ABORTED
    assert run_it(robot, elsewhere)[0] == ABORTED
    assert move(robot, motion_goal())[0] == ABORTED
    assert robot.end_of(first) == SUCCEEDED


# Interruptions -------------------------------------------------------------------------------


ACTIONS = ("move_action", "execute_trajectory")


def begin(robot, action):
    """Let the arm move far, and slowly; return the goal."""
    goal = to_joints(robot, AWAY, max_velocity_scaling_factor=0.2)
    if action == "execute_trajectory":
        goal = ExecuteTrajectory.Goal(trajectory=planned(robot, goal))
    return set_off(robot, goal, action)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_canceled_goal_brakes_and_ends_at_rest(robot, action):
    sent = begin(robot, action)
    sent.is_cancel_requested = True
    assert robot.end_of(sent) == CANCELED
    assert sent.result.error_code.val == CODE.PREEMPTED
    here = robot.positions
    robot.run(0.3)
    assert np.array_equal(robot.positions, here)
    assert np.abs(here - AWAY).max() > 0.1
    assert move(robot, to_joints(robot, HOME, **FAST))[0] == SUCCEEDED


@pytest.mark.parametrize("action", ACTIONS)
def test_a_newer_target_by_topic_replaces_a_goal(robot, action):
    sent = begin(robot, action)
    robot.reach(NEAR)
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.PREEMPTED
    assert "another target" in sent.result.error_code.message


def test_a_target_by_topic_replaces_a_goal_that_is_being_planned(robot):
    robot.boundary.solving = 0.5
    sent = robot.act("move_action", to_joints(robot, AWAY))
    robot.run(0.1)
    robot.send("base_link", NEAR)
    assert robot.end_of(sent) == ABORTED
    robot.boundary.solving = 0.0
    assert sent.result.error_code.val == CODE.PREEMPTED
    robot.wait(lambda: robot.at(NEAR), "the newer target")


@pytest.mark.parametrize("action", ACTIONS)
def test_a_newer_goal_replaces_the_one_before_and_begins_at_rest(robot, action):
    sent, first = begin(robot, action), len(robot.arm.outputs)
    newer = robot.act("move_action", motion_goal(to_pose(NEAR), **FAST))
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.PREEMPTED
    assert "a newer goal" in sent.result.error_code.message
    assert robot.end_of(newer) == SUCCEEDED
    assert robot.at(NEAR)
    outputs = np.array([output for _, output in robot.arm.outputs[first:]])
    assert np.abs(outputs - AWAY).max(axis=1).min() > 0.1, "it does not wait for the other's end"


def test_a_trajectory_for_an_arm_that_moves_is_refused_once_it_rests(robot):
    """It replaces what moves, because it comes later, but cannot begin where the arm stops."""
    trajectory = planned(robot, to_joints(robot, AWAY, max_velocity_scaling_factor=0.2))
    midway = HOME + 0.3 * (AWAY - HOME)
    back = motion_goal(joints_at(named(robot, HOME)), start_state=robot_state(named(robot, midway)))
    there = planned(robot, back)
    sent = robot.act("execute_trajectory", ExecuteTrajectory.Goal(trajectory=trajectory))
    robot.wait(
        lambda: (
            np.abs(robot.positions - HOME - 0.3 * (AWAY - HOME)).max()
            < 0.5 * MOTION_GOALS.start_tolerance
        ),
        "it passes",
    )
    newer = robot.act("execute_trajectory", ExecuteTrajectory.Goal(trajectory=there))
    assert robot.end_of(newer) == ABORTED
    assert newer.result.error_code.val == CODE.INVALID_MOTION_PLAN
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.PREEMPTED


@pytest.mark.parametrize("action", ACTIONS)
def test_a_stop_ends_a_goal(robot, action):
    sent = begin(robot, action)
    assert robot.call(Trigger, "stop").success
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.PREEMPTED
    assert "stopped" in sent.result.error_code.message
    robot.wait_status(state="STOPPED")
    status, result = move(robot, to_joints(robot, HOME))
    assert status == ABORTED
    assert "call ~/enable" in result.error_code.message


def test_a_fast_motion_is_stopped_with_all_of_the_limits(robot):
    """The node's own scaling factors are for motions that it plans without others."""
    for name in ("velocity", "acceleration"):
        assert robot.set_parameter(f"max_{name}_scaling_factor", 0.05).successful
    sent = set_off(robot, to_joints(robot, HOME + np.eye(6)[0] * 2.5, **FAST), way=0.8)
    here = robot.positions
    assert robot.call(Trigger, "stop").success
    assert robot.end_of(sent) == ABORTED
    robot.wait(robot.rests, "the arm rests")
    for name in ("velocity", "acceleration"):
        assert robot.set_parameter(f"max_{name}_scaling_factor", 1.0).successful
    # From 3.14 rad/s with 12.6 rad/s², after 70 ms on the way.
    assert 0.1 < robot.positions[0] - here[0] < 0.9


@pytest.mark.parametrize("action", ACTIONS)
def test_the_event_stop_ends_a_goal_and_no_other_word_does(robot, action):
    sent = begin(robot, action)
    for word in ("", "Stop", "halt", "stop "):
        robot.topic("trajectory_execution_event").publish(String(data=word))
    robot.run(0.1)
    assert sent.status is None
    robot.topic("trajectory_execution_event").publish(String(data="stop"))
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.PREEMPTED
    robot.wait(robot.rests, "silence")
    assert np.abs(robot.positions - AWAY).max() > 0.1
    assert move(robot, to_joints(robot, HOME, **FAST))[0] == SUCCEEDED


def test_who_has_sent_a_target_hears_of_the_event_stop(robot):
    sent = robot.send("base_link", NEAR).header.stamp
    robot.topic("trajectory_execution_event").publish(String(data="stop"))
    robot.run(0.1)
    status = robot.statuses[-1]
    assert status["last_refusal.target_pose"].endswith("(stopped by trajectory_execution_event)")
    assert status["last_refusal_stamp.target_pose"] == f"{sent.sec}.{sent.nanosec:09}"
    assert status["state"] == "READY"


def test_the_event_stop_also_ends_what_has_not_begun(robot):
    robot.boundary.solving = 0.5
    goal = robot.act("move_action", to_joints(robot, AWAY))
    other = robot.act("execute_trajectory", ExecuteTrajectory.Goal(trajectory=still(robot)))
    robot.topic("trajectory_execution_event").publish(String(data="stop"))
    for each in (goal, other):
        assert robot.end_of(each) == ABORTED
        assert each.result.error_code.val == CODE.PREEMPTED
    robot.boundary.solving = 0.0
    robot.run(1.0)
    assert np.allclose(robot.positions, HOME, atol=1e-9)


def still(robot):
    """Return a trajectory of one point, where the arm is."""
    trajectory = RobotTrajectory()
    trajectory.joint_trajectory.joint_names = list(robot.chain.joint_names)
    trajectory.joint_trajectory.points = [JointTrajectoryPoint(positions=HOME.tolist())]
    return trajectory


def test_a_single_point_where_the_arm_is_is_reached(robot):
    assert run_it(robot, still(robot))[:2] == (SUCCEEDED, CODE.SUCCESS)


def test_a_motion_waits_while_the_override_is_zero(robot):
    sent = begin(robot, "move_action")
    robot.overrides.publish(Float64(data=0.0))
    robot.run(MOTION_GOALS.stall_time + 2.0)
    assert sent.status is None
    robot.overrides.publish(Float64(data=1.0))
    assert robot.end_of(sent) == SUCCEEDED
    assert np.allclose(robot.positions, AWAY, rtol=0.0, atol=1e-9)


def test_a_motion_ends_when_joint_states_are_missing_and_is_not_resumed(robot):
    sent = begin(robot, "move_action")
    robot.publishing = False
    robot.wait(lambda: robot.statuses[-1]["state"] != "MOVING", "the arm brakes")
    robot.publishing = True
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.CONTROL_FAILED
    assert "joint state" in sent.result.error_code.message
    robot.wait_status(state="READY")
    robot.run(5.0)
    assert np.abs(robot.positions - AWAY).max() > 0.1


def test_a_goal_ends_with_the_node(robot):
    sent = begin(robot, "move_action")
    assert robot.transit("deactivate")
    assert robot.end_of(sent) == ABORTED
    assert sent.result.error_code.val == CODE.CONTROL_FAILED
    status, result = move(robot, to_joints(robot, HOME))
    assert (status, result.error_code.message) == (ABORTED, "not active")
    assert robot.transit("activate")
    robot.wait_status(state="READY")
