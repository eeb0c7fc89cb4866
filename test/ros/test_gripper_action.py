# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The gripper's actions with a server of their own, and the client, each over DDS."""

import threading

import pytest
import rclpy
from control_msgs.action import GripperCommand, ParallelGripperCommand
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import MultiThreadedExecutor
from robot_bench import PATIENCE, running

from basis_ik.client import Arm, StoppedError


class Controller:
    """A server that ends a goal when the test says so, or when the goal is canceled."""

    def __init__(self, domain, kind):
        self.context, self.kind = rclpy.Context(), kind
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("hand", context=self.context)
        self.asked, self.done, self.commands = threading.Event(), threading.Event(), []
        self.server = ActionServer(
            self.node, kind, "gripper_controller/gripper_cmd", self.execute,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )  # fmt: skip
        self.executor = MultiThreadedExecutor(3, context=self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def execute(self, goal):
        self.commands.append(goal.request.command)
        self.asked.set()
        while not self.done.wait(0.01):
            if goal.is_cancel_requested:
                goal.canceled()
                return self.kind.Result()
        goal.succeed()
        return self.kind.Result(stalled=True)

    def close(self):
        self.done.set()
        self.executor.shutdown()
        self.thread.join(PATIENCE)
        self.server.destroy()
        self.node.destroy_node()
        self.context.shutdown()


@pytest.mark.parametrize(
    ("interface", "kind"),
    [
        ("gripper_command", GripperCommand),
        ("parallel_gripper_command", ParallelGripperCommand),
    ],
)
def test_the_client_closes_it_on_something_and_a_stop_ends_its_way(domain, interface, kind):
    words = [f"gripper.interface:={interface}", "gripper.closed:=0.01"]
    controller = Controller(domain, kind)
    try:
        with (
            running(domain, *(word for each in words for word in ("-p", each))) as robot,
            Arm(domain_id=domain) as arm,
        ):
            controller.done.set()
            robot.wait(
                lambda: arm.status.values.get("gripper") == "", "a gripper without a command"
            )
            assert arm.grip(0.0, timeout=PATIENCE) == "STALLED"
            position = controller.commands[0].position
            assert (position if isinstance(position, float) else position[0]) == 0.01
            controller.done.clear()
            controller.asked.clear()
            stopper = threading.Thread(target=lambda: controller.asked.wait() and arm.stop())
            stopper.start()
            with pytest.raises(StoppedError, match="stopped before it was open"):
                arm.grip(1.0, timeout=PATIENCE)
            stopper.join(PATIENCE)
    finally:
        controller.close()
