# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A client of the head action."""

import math

from action_msgs.msg import GoalStatus
from control_msgs.action import PointHead
from rclpy.action import ActionClient
from robot_bench import PATIENCE

SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)


class Client:
    """Sends goals and waits for their results."""

    def __init__(self, robot):
        self.robot = robot
        self.action = ActionClient(robot.node, PointHead, "basis_ik/point_head_action")
        assert self.action.wait_for_server(PATIENCE)
        self.feedback = []

    def wait(self, future):
        self.robot.wait(future.done, "an answer")
        return future.result()

    def send(self, point, frame="base_link", stamp=None, **fields):
        goal = PointHead.Goal()
        goal.target.header.frame_id = frame
        if stamp is not None:
            goal.target.header.stamp = stamp
        goal.target.point.x, goal.target.point.y, goal.target.point.z = map(float, point)
        axis = fields.pop("pointing_axis", (0.0, 0.0, 0.0))
        goal.pointing_axis.x, goal.pointing_axis.y, goal.pointing_axis.z = axis
        goal.min_duration.nanosec = 0
        seconds = fields.pop("min_duration", 0.0)
        goal.min_duration.sec = math.floor(seconds)
        goal.min_duration.nanosec = round((seconds - math.floor(seconds)) * 1e9)
        for name, value in fields.items():
            setattr(goal, name, value)
        self.feedback = []
        receive = self.feedback
        return self.wait(
            self.action.send_goal_async(
                goal, lambda message: receive.append(message.feedback.pointing_angle_error)
            )
        )

    def run(self, point, **fields):
        """Send a goal that must be accepted; return its final status."""
        handle = self.send(point, **fields)
        assert handle.accepted
        return self.end(handle)

    def end(self, handle):
        return self.wait(handle.get_result_async()).status

    def cancel(self, handle):
        self.wait(handle.cancel_goal_async())
