# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""ros2 node, param, lifecycle, service and action."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from action_msgs.msg import GoalStatus
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rcl_interfaces.msg import Parameter, ParameterType
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import get_parameter_value, parameter_value_to_python

from ros2cli import Command
from ros2cli.graph import ANSWER, absolute, call, find, node_names, open_node, settle, spin
from ros2cli.values import filled, get_type, to_yaml

# In the order of the numbers in rcl_interfaces/msg/ParameterType.
SCALARS = ("Boolean", "Integer", "Double", "String")
ARRAYS = ("Byte", *SCALARS)
TYPES = ("", *(f"{name} value is" for name in SCALARS), *(f"{name} values are" for name in ARRAYS))
STATUS = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}


def node(command: Command) -> None:
    """Add the verb of `ros2 node`."""
    command.verb("list", list_nodes, "List the nodes")


def param(command: Command) -> None:
    """Add the verbs of `ros2 param`."""
    add = command.verb("get", get_value, "Print a parameter's value")
    add("node_name")
    add("parameter_name")
    add = command.verb("set", set_value, "Set a parameter")
    add("node_name")
    add("parameter_name")
    add("value", help="in YAML")


def lifecycle(command: Command) -> None:
    """Add the verbs of `ros2 lifecycle`."""
    add = command.verb("get", get_state, "Print a managed node's state")
    add("node_name")
    add = command.verb("set", set_state, "Make a managed node change its state")
    add("node_name")
    add("transition")


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


def list_nodes(_: argparse.Namespace) -> None:
    """List them."""
    with open_node() as own:
        settle(own)
        for name in node_names(own):
            print(name)


def _full_name(own: Node, args: argparse.Namespace) -> str:
    name = "/" + args.node_name.lstrip("/")
    if not find(lambda: name in node_names(own)):
        raise RuntimeError("Node not found")
    return name


def get_value(args: argparse.Namespace) -> str | None:
    """Print the value, after its type."""
    with open_node() as own:
        name = _full_name(own, args)
        service, names = f"{name}/get_parameters", [args.parameter_name]
        values = call(own, GetParameters, service, names=names).values
        if not values or values[0].type == ParameterType.PARAMETER_NOT_SET:
            return "Parameter not set"
        print(f"{TYPES[values[0].type]}: {parameter_value_to_python(values[0])}")
        return None


def set_value(args: argparse.Namespace) -> None:
    """Set it and print the node's answer."""
    with open_node() as own:
        name = _full_name(own, args)
        parameter = Parameter(name=args.parameter_name, value=get_parameter_value(args.value))
        service = f"{name}/set_parameters"
        (result,) = call(own, SetParameters, service, parameters=[parameter]).results
        reason = f": {result.reason}" if result.reason else ""
        if result.successful:
            print(f"Set parameter successful{reason}")
        else:
            # The status is 0 all the same, as it is upstream.
            print(f"Setting parameter failed{reason}", file=sys.stderr)


def get_state(args: argparse.Namespace) -> None:
    """Print the state."""
    with open_node() as own:
        state = call(own, GetState, f"{_full_name(own, args)}/get_state").current_state
        print(f"{state.label} [{state.id}]")


def set_state(args: argparse.Namespace) -> str | None:
    """Ask for the transition."""
    with open_node() as own:
        name = _full_name(own, args)
        found = call(own, GetAvailableTransitions, f"{name}/get_available_transitions")
        transitions = [d.transition for d in found.available_transitions]
        chosen = [t for t in transitions if t.label == args.transition]
        if not chosen:
            known = "".join(f"\n- {t.label} [{t.id}]" for t in transitions)
            return f"Unknown transition requested, available ones are:{known}"
        if not call(own, ChangeState, f"{name}/change_state", transition=chosen[0]).success:
            # The status is 0 all the same, as it is upstream.
            print("Transitioning failed", file=sys.stderr)
        else:
            print("Transitioning successful")
        return None


def call_service(args: argparse.Namespace) -> None:
    """Call it and wait for the answer without a limit."""
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
