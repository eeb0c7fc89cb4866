# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""ros2 service and action."""

from __future__ import annotations

import argparse
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from ros2cli.cli import Command
from ros2cli.graph import ANSWER, absolute, find, open_node, spin
from ros2cli.values import filled, get_type, to_yaml

STATUS = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}


def service(command: Command) -> None:
    """Add the verb of `ros2 service`."""
    add = command.verb("call", call_service, "Call a service")
    add("service_name")
    add("service_type")
    add("values", nargs="?", default="{}", help="fields of the request in YAML")


def action(command: Command) -> None:
    """Add the verb of `ros2 action`."""
    add = command.verb("send_goal", send_goal, "Send a goal and wait for its result")
    add("action_name")
    add("action_type")
    add("goal", help="fields of the goal in YAML")


def call_service(args: argparse.Namespace) -> None:
    """Call it, however long it takes to answer."""
    service_type = get_type(args.service_type, "srv")
    request = filled(service_type.Request(), args.values)
    with open_node() as node:
        client = node.create_client(service_type, absolute(node, args.service_name))
        if not client.service_is_ready():
            print("waiting for service to become available...")
        find(client.service_is_ready, float("inf"))
        print(f"requester: making request: {request!r}\n")
        future = client.call_async(request)
        spin(node, future.done)
        print(f"response:\n{future.result()!r}\n")


def send_goal(args: argparse.Namespace) -> None:
    """Send the goal; Ctrl-C cancels it."""
    action_type = get_type(args.action_type, "action")
    goal = filled(action_type.Goal(), args.goal)
    with open_node() as node:
        client = ActionClient(node, action_type, absolute(node, args.action_name))
        print("Waiting for an action server to become available...")
        find(client.server_is_ready, float("inf"))
        print(f"Sending goal:\n     {to_yaml(goal)}")
        sent = client.send_goal_async(goal)
        try:
            spin(node, sent.done)
            if not sent.result().accepted:
                print("Goal was rejected.")
                return
            print(f"Goal accepted with ID: {bytes(sent.result().goal_id.uuid).hex()}\n")
            result = sent.result().get_result_async()
            spin(node, result.done)
        except (KeyboardInterrupt, SystemExit):
            if sent.done():
                _cancel(node, sent.result())
            raise
        print(f"Result:\n    {to_yaml(result.result().result)}")
        status = result.result().status
        print(f"Goal finished with status: {STATUS.get(status, f'UNKNOWN ({status})')}")


def _cancel(node: Node, handle: Any) -> None:
    print("Canceling goal...")
    cancelled = handle.cancel_goal_async()
    if not spin(node, cancelled.done, ANSWER) or not cancelled.result().goals_canceling:
        raise RuntimeError("Failed to cancel goal")
    print("Goal canceled.")
