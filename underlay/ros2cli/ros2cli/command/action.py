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

"""ros2 action."""

from __future__ import annotations

import argparse
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import (
    ActionClient,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import Node

from ros2cli.cli import Command
from ros2cli.graph import ANSWER, absolute, find, node_names, open_node, settle, spin, split_name
from ros2cli.values import fill_at_once, get_type, parse, to_yaml

STATUS = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}


def add_to(command: Command) -> None:
    """Add the verbs."""
    add = command.verb("list", list_actions, "List the actions").add_argument
    add("-t", "--show-types", action="store_true", help="with their types")
    add("-c", "--count-actions", action="store_true", help="only how many there are")

    add = command.verb("info", print_info, "Who offers an action and who uses it").add_argument
    add("action_name")
    add("-t", "--show-types", action="store_true", help="with their types")
    add("-c", "--count", action="store_true", help="only how many there are")

    add = command.verb("send_goal", send_goal, "Send a goal and wait for its result").add_argument
    add("action_name")
    add("action_type")
    add("goal", help="fields of the goal in YAML")
    add("-f", "--feedback", action="store_true", help="print the feedback")


def list_actions(args: argparse.Namespace) -> None:
    """List them."""
    with open_node(args) as node:
        settle(node, args)
        actions = sorted(get_action_names_and_types(node))
        if args.count_actions:
            print(len(actions))
            return
        for name, types in actions:
            print(f"{name} [{', '.join(types)}]" if args.show_types else name)


def print_info(args: argparse.Namespace) -> None:
    """Print the nodes at both ends of the action."""
    with open_node(args) as node:
        name = absolute(node, args.action_name)
        find(lambda: name in dict(get_action_names_and_types(node)), args.patience)
        settle(node, args)
        print(f"Action: {name}")
        for who, ends in (
            ("clients", get_action_client_names_and_types_by_node),
            ("servers", get_action_server_names_and_types_by_node),
        ):
            actions = {n: dict(ends(node, *split_name(n))) for n in node_names(node, hidden=True)}
            found = {n: types[name] for n, types in actions.items() if name in types}
            print(f"Action {who}: {len(found)}")
            if not args.count:
                for full, types in found.items():
                    print(f"    {full} [{', '.join(types)}]" if args.show_types else f"    {full}")


def send_goal(args: argparse.Namespace) -> None:
    """Send the goal; Ctrl-C cancels it."""
    action_type = get_type(args.action_type, "action")
    goal = action_type.Goal()
    fill_at_once(goal, parse(args.goal))
    with open_node(args) as node:
        client = ActionClient(node, action_type, absolute(node, args.action_name))
        print("Waiting for an action server to become available...")
        find(client.server_is_ready, float("inf"))
        print(f"Sending goal:\n     {to_yaml(goal)}")
        sent = client.send_goal_async(
            goal, feedback_callback=_print_feedback if args.feedback else None
        )
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


def _print_feedback(message: Any) -> None:
    print(f"Feedback:\n    {to_yaml(message.feedback)}")


def _cancel(node: Node, handle: Any) -> None:
    print("Canceling goal...")
    cancelled = handle.cancel_goal_async()
    if not spin(node, cancelled.done, ANSWER) or not cancelled.result().goals_canceling:
        raise RuntimeError("Failed to cancel goal")
    print("Goal canceled.")
