# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Two hands on one object: they keep their poses to each other, however the motion ends."""

import re

import numpy as np
import pytest
from bench import HOME, Robot, running
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import MoveItErrorCodes, RobotTrajectory
from scene_client import Client, at, thing
from shipped_arms import Kinematics, chain_of, urdf_of
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from virtual_client import beside

from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import time_path
from basis_ik.client import TargetRefusedError
from basis_ik.ros.convert import pose_message
from basis_ik.solvers.path.cartesian_path import follow, line
from basis_ik.solvers.pose.solve import solve
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


def carried(robot, side):
    """Return where the object was at each cycle, as one of the hands carries it (k, 4, 4)."""
    outputs = np.array([each for _, each in robot.arm.outputs])
    names = list(robot.chain.joint_names)
    columns = [names.index(f"{side}_{name}") for name in chain_of("ur5e").joint_names]
    place = base(side).matrix @ Kinematics(urdf_of("ur5e"), "tool0")(outputs[:, columns])
    return place @ np.linalg.inv(GRIPS[side].matrix)


def apart(robot):
    """Return by how much the hands were off each other at most, at each cycle [m, rad]."""
    hands = [carried(robot, side) for side in GRIPS]
    off = np.linalg.inv(hands[0]) @ hands[1]
    turn = np.linalg.norm(off[:, :3, :3] - np.eye(3), axis=(1, 2)) / np.sqrt(2.0)
    return np.linalg.norm(off[:, :3, 3], axis=1).max(), turn.max()


@pytest.fixture
def robot(request):
    """Two arms as one chain, and the motion that they are to make; with parameters of the test."""
    motion, ends = planned(), ("left_tool0", "right_tool0")
    given = [f"root_link:={ends[0]}", f"tip_link:={ends[1]}"]
    given += [f"max_{each}_scaling_factor:=0.2" for each in ("velocity", "acceleration")]
    given += getattr(request, "param", [])
    words = [word for each in given for word in ("-p", each)]
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


WAYS = ("joint_trajectory", "follow_joint_trajectory")
BY = [[f"command_interface:={way}"] for way in WAYS]


def carry(robot, hall_T_object, frame="hall", stamp="now", **quaternion):
    """Send a pose for the object, which the tool of the right hand holds; return its stamp."""
    message = PoseStamped(pose=pose_message(hall_T_object @ GRIPS["right"]))
    message.header.frame_id = frame
    message.header.stamp = robot.stamp() if stamp == "now" else stamp
    for name, value in quaternion.items():
        setattr(message.pose.orientation, name, value)
    robot.topic("target_object").publish(message)
    return f"{message.header.stamp.sec}.{message.header.stamp.nanosec:09}"


def object_of(robot):
    return carried(robot, "left")[-1]


def test_a_pose_of_the_object_moves_both_hands_on_its_line(robot):
    sent = carry(robot, GOAL)
    robot.wait_status(state="ARRIVED", target_stamp=sent)
    assert np.allclose(object_of(robot), GOAL.matrix, atol=1e-5)
    hand = carried(robot, "right") @ GRIPS["right"].matrix
    begin, end = ((each @ GRIPS["right"]).translation for each in (OBJECT, GOAL))
    along = (end - begin) / np.linalg.norm(end - begin)
    way = hand[:, :3, 3] - begin
    assert np.linalg.norm(way - np.outer(way @ along, along), axis=1).max() < 1e-4


def test_hands_keep_the_object_where_joints_turn_far_from_pose_to_pose(robot):
    """Poses 1 cm apart would leave the hands 0.8 mm off each other."""
    there = RigidTransform.from_rpy(-0.13, -0.14, 0.49, [0.34, 0.11, 0.31])
    sent = carry(robot, there)
    robot.wait_status(state="ARRIVED", target_stamp=sent)
    assert np.allclose(object_of(robot), there.matrix, atol=1e-5)


def test_a_pose_of_the_object_may_refer_to_any_frame(robot):
    table = RigidTransform.from_rpy(0.0, 0.0, 1.0, [1.0, 2.0, 0.0])
    robot.place("hall", "table", table)
    robot.run(0.1)
    sent = carry(robot, table.inverse() @ GOAL, "table")
    robot.wait_status(state="ARRIVED", target_stamp=sent)
    assert np.allclose(object_of(robot), GOAL.matrix, atol=1e-5)


def test_the_tool_frame_is_what_gets_to_the_pose(robot):
    robot.place("right_tool0", "object", GRIPS["right"].inverse())
    robot.run(0.1)
    assert robot.set_parameter("tool_frame", "object").successful
    robot.wait_status(tool_frame="object")
    sent = carry(robot, GOAL @ GRIPS["right"].inverse())
    robot.wait_status(state="ARRIVED", target_stamp=sent)
    assert np.allclose(object_of(robot), GOAL.matrix, atol=1e-5)


def test_a_newer_pose_of_the_object_comes_after_a_brake_on_the_line(robot):
    carry(robot, GOAL)
    robot.run(0.5)
    assert robot.statuses[-1]["state"] == "MOVING"
    sent = carry(robot, OBJECT)
    robot.wait_status(state="ARRIVED", target_stamp=sent)
    assert np.allclose(object_of(robot), OBJECT.matrix, atol=1e-5)


@pytest.mark.parametrize("robot", BY, ids=WAYS, indirect=True)
def test_two_hands_keep_the_object_when_they_are_stopped(robot):
    carry(robot, GOAL)
    robot.run(0.5)
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    robot.wait(robot.rests, "rest")
    assert not np.allclose(object_of(robot), GOAL.matrix, atol=0.02)


def test_two_hands_keep_the_object_when_they_are_stopped_while_they_brake(robot):
    carry(robot, GOAL)
    robot.run(0.5)
    robot.topic("trajectory_execution_event").publish(String(data="stop"))
    robot.run(0.05)
    assert robot.statuses[-1]["state"] == "BRAKING"
    assert robot.call(Trigger, "stop").success
    robot.wait(robot.rests, "rest")
    assert not np.allclose(object_of(robot), GOAL.matrix, atol=0.02)


@pytest.mark.parametrize("robot", BY, ids=WAYS, indirect=True)
def test_two_hands_keep_the_object_when_joint_states_are_missing(robot):
    carry(robot, GOAL)
    robot.run(0.2)
    robot.publishing = False
    robot.wait_status(state="WAITING")
    robot.wait(robot.rests, "rest")
    assert not np.allclose(object_of(robot), GOAL.matrix, atol=0.02)


def refusal(robot, **how):
    """Send what is refused; return the reason. Nothing moves."""
    robot.place("map", "hall", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.0]))
    robot.run(0.1)
    before, count = robot.positions, len(robot.commands)
    stamp = carry(robot, how.pop("object", GOAL), **how)
    robot.wait_status(**{"last_refusal_stamp.target_object": stamp})
    robot.wait(robot.rests, "rest")
    assert np.array_equal(robot.positions, before)
    assert len(robot.commands) == count
    return robot.statuses[-1]["last_refusal.target_object"]


def test_a_pose_that_one_hand_cannot_reach_is_refused_with_its_name(robot):
    there = RigidTransform.from_rpy(0.0, 0.0, 0.0, [1.2, 0.2, 0.4])
    reason = refusal(robot, object=there)
    assert re.search(r"NO_MOTION: .*line of left_tool0 ends after \d+%", reason), reason


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"frame": "nowhere"}, "NO_MOTION.*NO_TRANSFORM.*nowhere"),
        ({"frame": ""}, "NO_FRAME"),
        ({"w": 5.0}, "BAD_QUATERNION"),
        ({"w": float("nan")}, "NON_FINITE"),
        ({"object": RigidTransform.from_rpy(0.0, 0.0, 0.0, [400.0, 0.0, 0.0])}, "OUT_OF_RANGE"),
    ],
)
def test_a_bad_pose_of_the_object_is_refused(robot, how, reason):
    assert re.search(reason, refusal(robot, **how))


def test_poses_of_the_object_are_refused_where_targets_wait_for_a_go(robot):
    assert robot.set_parameter("follow_drag", "confirm").successful
    assert "set it to live" in refusal(robot)


@pytest.mark.parametrize("how", ["stop", "event", "target"])
def test_what_comes_meanwhile_ends_a_motion_that_is_being_planned(robot, how):
    carry(robot, GOAL)
    robot.run(0.5)
    sent = carry(robot, OBJECT)  # waits until the arm has braked
    robot.run(0.02)
    if how == "stop":
        assert robot.call(Trigger, "stop").success
    elif how == "event":
        robot.topic("trajectory_execution_event").publish(String(data="stop"))
    else:
        newest = carry(robot, GOAL)
        robot.wait_status(state="ARRIVED", target_stamp=newest)
    robot.wait(robot.rests, "rest")
    values = robot.statuses[-1]
    assert values.get("target_stamp") != sent
    assert not np.allclose(object_of(robot), OBJECT.matrix, atol=0.02)
    told = values.get("last_refusal_stamp.target_object") == sent
    assert told == (how == "event"), values


def test_other_arms_have_no_topic_for_an_object():
    with running() as robot:
        robot.topic("target_object").publish(PoseStamped())
        robot.run(0.1)
        assert "refused.target_object" not in robot.statuses[-1]


def test_the_client_moves_the_object(robot):
    with beside(robot) as (arm, _):
        arm.move_object(GOAL @ GRIPS["right"], "hall")
        assert np.allclose(object_of(robot), GOAL.matrix, atol=1e-5)
        hand = (OBJECT @ GRIPS["right"]).translation
        arm.move_object(hand, "hall")  # the orientation stays
        assert np.allclose(object_of(robot)[:3, :3], GOAL.rotation, atol=1e-5)
        with pytest.raises(TargetRefusedError, match="line of left_tool0 ends after"):
            arm.move_object(np.add(hand, [0.8, 0.0, 0.0]), "hall")


@pytest.mark.parametrize("robot", [["check_collisions:=true"]], indirect=True)
def test_an_object_that_would_strike_something_is_refused(robot):
    shelf = at(0.3, 0.35, 0.4)
    robot.place("map", "hall", at(0.0))
    robot.run(0.1)
    Client(robot).put(thing("shelf", frame="hall", pose=shelf))
    robot.run(0.5)
    assert "and shelf" in refusal(robot)
