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

"""ros2 lifecycle."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.node import Node

from ros2cli.cli import Command
from ros2cli.graph import call, find, node_names, open_node, settle


def add_to(command: Command) -> None:
    """Add the verbs."""
    add = command.verb("nodes", list_nodes, "List the managed nodes").add_argument
    add("-a", "--all", action="store_true", help="also those with a leading _")
    add("-c", "--count-nodes", action="store_true", help="only how many there are")

    parsers = {
        "get": command.verb("get", get, "Print a managed node's state, or that of all"),
        "set": command.verb("set", set_state, "Make a managed node change its state"),
        "list": command.verb("list", list_transitions, "List a node's transitions"),
    }
    for verb, parser in parsers.items():
        parser.add_argument("--include-hidden-nodes", action="store_true", help="with a leading _")
        parser.add_argument("node_name", nargs="?" if verb == "get" else None)
    parsers["set"].add_argument("transition", help="its name or its number")
    parsers["list"].add_argument("-a", "--all", action="store_true", help="from every state")


def _managed(node: Node, hidden: bool) -> list[str]:
    services = dict(node.get_service_names_and_types())
    kind = ["lifecycle_msgs/srv/GetState"]
    names = sorted(set(node_names(node, hidden)))
    return [name for name in names if services.get(f"{name}/get_state") == kind]


def _find(node: Node, args: argparse.Namespace) -> str:
    name = "/" + args.node_name.lstrip("/")
    if not find(lambda: name in _managed(node, args.include_hidden_nodes), args.patience):
        raise RuntimeError("Node not found")
    return name


def _ask(node: Node, service_type: type, service: str, **fields: Any) -> Any:
    return call(node, service_type, service, service_type.Request(**fields))


def list_nodes(args: argparse.Namespace) -> None:
    """List them."""
    with open_node(args) as node:
        settle(node, args)
        names = _managed(node, args.all)
        print(*([len(names)] if args.count_nodes else names), sep="\n", end="\n" if names else "")


def get(args: argparse.Namespace) -> None:
    """Print the state, after the node's name when there may be several."""
    with open_node(args) as node:
        if args.node_name:
            names = [_find(node, args)]
        else:
            settle(node, args)
            names = _managed(node, args.include_hidden_nodes)
        for name in names:
            state = _ask(node, GetState, f"{name}/get_state").current_state
            label = "" if args.node_name else f"{name}: "
            print(f"{label}{state.label} [{state.id}]")


def set_state(args: argparse.Namespace) -> str | None:
    """Ask for the transition."""
    with open_node(args) as node:
        name = _find(node, args)
        found = _ask(node, GetAvailableTransitions, f"{name}/get_available_transitions")
        transitions = [d.transition for d in found.available_transitions]
        chosen = [t for t in transitions if args.transition in (t.label, str(t.id))]
        if not chosen:
            known = "".join(f"\n- {t.label} [{t.id}]" for t in transitions)
            return f"Unknown transition requested, available ones are:{known}"
        if not _ask(node, ChangeState, f"{name}/change_state", transition=chosen[0]).success:
            # The status is 0 all the same, as it is upstream.
            print("Transitioning failed", file=sys.stderr)
        else:
            print("Transitioning successful")
        return None


def list_transitions(args: argparse.Namespace) -> None:
    """Print each transition with the states it leads from and to."""
    with open_node(args) as node:
        name = _find(node, args)
        which = "get_transition_graph" if args.all else "get_available_transitions"
        found = _ask(node, GetAvailableTransitions, f"{name}/{which}")
        for it in found.available_transitions:
            print(f"- {it.transition.label} [{it.transition.id}]")
            print(f"\tStart: {it.start_state.label}\n\tGoal: {it.goal_state.label}")
