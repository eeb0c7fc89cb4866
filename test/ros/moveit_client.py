# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A stranger's client of MoveIt's services and a joint_trajectory_controller.

It knows moveit_msgs, control_msgs and sensor_msgs from their documentation, and nothing of this
package. Its node must be spun by somebody else.
"""

import time

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import (
    Constraints,
    JointConstraint,
    OrientationConstraint,
    PositionConstraint,
)
from moveit_msgs.srv import GetPositionFK, GetPositionIK
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from trajectory_msgs.msg import JointTrajectoryPoint

PATIENCE = 60.0


def duration(seconds):
    return Duration(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))


def pose_stamped(frame, position, quaternion):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position = Point(**dict(zip("xyz", map(float, position), strict=True)))
    message.pose.orientation = Quaternion(**dict(zip("xyzw", map(float, quaternion), strict=True)))
    return message


class MoveItClient:
    """Calls MoveIt's services and actions and a controller, and waits for the responses."""

    def __init__(self, node, controller="/joint_trajectory_controller"):
        self.node = node
        self.ik = node.create_client(GetPositionIK, "/compute_ik")
        self.fk = node.create_client(GetPositionFK, "/compute_fk")
        self.follow = ActionClient(
            node, FollowJointTrajectory, f"{controller}/follow_joint_trajectory"
        )
        self.move = ActionClient(node, MoveGroup, "/move_action")
        self.execute = ActionClient(node, ExecuteTrajectory, "/execute_trajectory")

    def wait(self, seconds=PATIENCE):
        assert self.ik.wait_for_service(seconds)
        assert self.fk.wait_for_service(seconds)

    def ask(self, client, request):
        return self.result(client.call_async(request))

    def result(self, future):
        end = time.monotonic() + PATIENCE
        while not future.done():
            assert time.monotonic() < end, "no answer"
            time.sleep(0.001)
        return future.result()

    def ik_request(self, pose, group="", *, joints=None, timeout=0.5, link=""):
        request = GetPositionIK.Request()
        ask = request.ik_request
        ask.group_name, ask.ik_link_name = group, link
        ask.pose_stamped = pose
        ask.timeout = duration(timeout)
        if joints:
            ask.robot_state.joint_state = state(joints)
        return request

    def solve(self, pose, group="", **options):
        """Return MoveIt's error code and the joints of the solution."""
        response = self.ask(self.ik, self.ik_request(pose, group, **options))
        found = response.solution.joint_state
        return response.error_code.val, dict(zip(found.name, found.position, strict=True))

    def place(self, links, joints=None, frame=""):
        """Return MoveIt's error code and the links' poses."""
        request = GetPositionFK.Request(fk_link_names=list(links))
        request.header.frame_id = frame
        if joints:
            request.robot_state.joint_state = state(joints)
        response = self.ask(self.fk, request)
        poses = dict(zip(response.fk_link_names, response.pose_stamped, strict=True))
        return response.error_code.val, poses

    def act(self, client, goal):
        """Send a goal; return the future of its result."""
        assert client.wait_for_server(PATIENCE)
        handle = self.result(client.send_goal_async(goal))
        assert handle.accepted
        return handle.get_result_async()

    def drive(self, joints, seconds):
        """Send the arm somewhere and return the controller's error code."""
        assert self.follow.wait_for_server(PATIENCE)
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(joints)
        point = JointTrajectoryPoint(positions=list(joints.values()))
        point.time_from_start = duration(seconds)
        goal.trajectory.points = [point]
        handle = self.result(self.follow.send_goal_async(goal))
        assert handle.accepted
        return self.result(handle.get_result_async()).result.error_code


def state(joints):
    return JointState(name=list(joints), position=[float(value) for value in joints.values()])


def joints_at(joints, tolerance=1e-3):
    """Return constraints of joints, by name."""
    return Constraints(
        joint_constraints=[
            JointConstraint(
                joint_name=name, position=float(value), weight=1.0,
                tolerance_above=tolerance, tolerance_below=tolerance,
            )
            for name, value in joints.items()
        ]
    )  # fmt: skip


def tip_at(frame, link, *, position=None, quaternion=None, sphere=1e-3, box=None, turn=1e-3):
    """Return constraints of a link: its position, its orientation, or both."""
    found = Constraints()
    if position is not None:
        place = PositionConstraint(link_name=link, weight=1.0)
        place.header.frame_id = frame
        kind, sizes = (
            (SolidPrimitive.SPHERE, [sphere]) if box is None else (SolidPrimitive.BOX, box)
        )
        place.constraint_region.primitives = [SolidPrimitive(type=kind, dimensions=sizes)]
        point = Point(**dict(zip("xyz", map(float, position), strict=True)))
        place.constraint_region.primitive_poses = [Pose(position=point)]
        found.position_constraints = [place]
    if quaternion is not None:
        turned = OrientationConstraint(link_name=link, weight=1.0)
        turned.header.frame_id = frame
        turned.orientation = Quaternion(**dict(zip("xyzw", map(float, quaternion), strict=True)))
        angles = (turn, turn, turn) if isinstance(turn, float) else turn
        for axis, angle in zip("xyz", angles, strict=True):
            setattr(turned, f"absolute_{axis}_axis_tolerance", angle)
        found.orientation_constraints = [turned]
    return found


def motion_goal(*goals, plan_only=False, **fields):
    """Return a goal of move_action for some constraints, any of which will do."""
    goal = MoveGroup.Goal()
    goal.request.goal_constraints = list(goals)
    goal.planning_options.plan_only = plan_only
    for name, value in fields.items():
        setattr(goal.request, name, value)
    return goal
