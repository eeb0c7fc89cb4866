# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A managed node with topics of every QoS, a service, an action and parameters."""

import contextlib
import time

import rclpy
from control_msgs.action import PointHead
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool


class Zoo(LifecycleNode):
    def on_configure(self, state):
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        return TransitionCallbackReturn.FAILURE


def execute(goal):
    for _ in range(200 if goal.request.pointing_frame == "slow" else 0):
        if goal.is_cancel_requested:
            print("cancelled")
            goal.canceled()
            return PointHead.Result()
        time.sleep(0.05)
    if goal.request.pointing_frame == "bad":
        goal.abort()
    else:
        goal.succeed()
    return PointHead.Result()


def switch(request, response):
    response.success, response.message = request.data, "as you like"
    return response


def main():
    rclpy.init()
    node = Zoo("zoo", namespace="ns")
    Node.create_publisher(node, String, "_hidden", 1)
    states = Node.create_publisher(node, JointState, "joint_states", 10)
    gain = FloatingPointRange(from_value=0.0, to_value=2.0)
    node.declare_parameter("gain", 1.5, ParameterDescriptor(floating_point_range=[gain]))
    node.declare_parameter("deep.down", [1, 2])

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    Node.create_publisher(node, String, "latched", latched).publish(String(data="long ago"))
    fast = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    best_effort = Node.create_publisher(node, String, "mixed", fast)
    Node.create_publisher(node, String, "mixed", 1)

    def tick():
        states.publish(JointState(name=["a", "b"], position=[1.0, 2.5]))
        best_effort.publish(String(data="unsure"))

    node.create_timer(0.05, tick)
    node.create_subscription(String, "ear", lambda m: print(f"heard <{m.data}>"), 100)
    node.create_service(SetBool, "switch", switch)
    ActionServer(
        node,
        PointHead,
        "look",
        execute,
        goal_callback=lambda goal: GoalResponse(2 - (goal.pointing_frame == "never")),
        cancel_callback=lambda _: CancelResponse.ACCEPT,
    )
    executor = MultiThreadedExecutor()
    executor.add_node(node)
    print("ready")
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == "__main__":
    main()
