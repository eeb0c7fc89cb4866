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

"""ros2 node."""

from __future__ import annotations

import argparse

from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)

from ros2cli.cli import Command
from ros2cli.graph import find, is_hidden, node_names, open_node, settle, split_name


def add_to(command: Command) -> None:
    """Add the verbs."""
    add = command.verb("list", list_nodes, "List the nodes").add_argument
    add("-a", "--all", action="store_true", help="also those with a leading _")
    add("-c", "--count-nodes", action="store_true", help="only how many there are")

    add = command.verb("info", print_info, "What a node offers and uses").add_argument
    add("node_name")
    add("--include-hidden", action="store_true", help="also what has a leading _")


def list_nodes(args: argparse.Namespace) -> None:
    """List them."""
    with open_node(args) as node:
        settle(node, args)
        names = node_names(node, args.all)
        if args.count_nodes:
            print(len(names))
            return
        if len(set(names)) < len(names):
            print("WARNING: two nodes share a name, which can have unintended side effects.")
        for name in names:
            print(name)


def print_info(args: argparse.Namespace) -> str | None:
    """Print the node's topics, services and actions."""
    with open_node(args) as node:
        full = "/" + args.node_name.lstrip("/")
        if not find(lambda: full in node_names(node, hidden=True), args.patience):
            return f"Unable to find node '{args.node_name}'"
        settle(node, args)
        name = split_name(full)
        print(full)
        for title, entries in (
            ("Subscribers", node.get_subscriber_names_and_types_by_node(*name)),
            ("Publishers", node.get_publisher_names_and_types_by_node(*name)),
            ("Service Servers", node.get_service_names_and_types_by_node(*name)),
            ("Service Clients", node.get_client_names_and_types_by_node(*name)),
            ("Action Servers", get_action_server_names_and_types_by_node(node, *name)),
            ("Action Clients", get_action_client_names_and_types_by_node(node, *name)),
        ):
            print(f"  {title}:")
            for entry, types in sorted(entries):
                if args.include_hidden or not is_hidden(entry):
                    print(f"    {entry}: {', '.join(types)}")
            print(end="" if title == "Action Clients" else "\n")
        return None
