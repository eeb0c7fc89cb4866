# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A gripper's controller of the test's own: a real action server."""

import threading

import rclpy
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import MultiThreadedExecutor

PATIENCE = 300.0  # s: only ends what hangs


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
