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

"""ros2 param."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

import yaml
from rcl_interfaces.msg import Parameter, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import get_parameter_value, parameter_value_to_python

from ros2cli.cli import Command
from ros2cli.graph import call, find_node, node_names, open_node, settle

# In the order of the numbers in rcl_interfaces/msg/ParameterType.
SCALARS = ("boolean", "integer", "double", "string")
ARRAYS = ("byte", "boolean", "integer", "double", "string")
TYPES = ("not set", *SCALARS, *(f"{name} array" for name in ARRAYS))


def add_to(command: Command) -> None:
    """Add the verbs."""

    def verb(name: str, main: Any, summary: str) -> Any:
        add = command.verb(name, main, summary).add_argument
        add("--include-hidden-nodes", action="store_true", help="also nodes with a leading _")
        return add

    add = verb("list", list_parameters, "List the parameters of a node, or of all nodes")
    add("node_name", nargs="?")
    add("--param-prefixes", nargs="+", default=[], help="only those below these prefixes")
    add("--param-type", action="store_true", help="with their types")
    add("--filter", metavar="REGEX", default="", help="only those that match")

    add = verb("get", get, "Print a parameter's value")
    add("node_name")
    add("parameter_name")
    add("--hide-type", action="store_true", help="the value alone")

    add = verb("set", set_value, "Set a parameter")
    add("node_name")
    add("parameter_name")
    add("value", help="in YAML")

    add = verb("describe", describe, "Print what a parameter is and may be")
    add("node_name")
    add("parameter_names", nargs="+")

    add = verb("dump", dump, "Print all parameters of a node as a parameter file")
    add("node_name")


def _ask(node: Node, name: str, service_type: type, service: str, **fields: Any) -> Any:
    return call(node, service_type, f"{name}/{service}", service_type.Request(**fields))


def _names(node: Node, name: str, prefixes: list[str]) -> list[str]:
    response = _ask(node, name, ListParameters, "list_parameters", prefixes=prefixes)
    return sorted(response.result.names)


def _values(node: Node, name: str, names: list[str]) -> list[Any]:
    return _ask(node, name, GetParameters, "get_parameters", names=names).values


def list_parameters(args: argparse.Namespace) -> None:
    """List the parameters below each node's name, or of one node without its name."""
    with open_node(args) as node:
        if args.node_name:
            nodes = [find_node(node, args)]
        else:
            settle(node, args)
            services = dict(node.get_service_names_and_types())
            known = sorted(set(node_names(node, args.include_hidden_nodes)))
            nodes = [name for name in known if f"{name}/list_parameters" in services]
        for name in nodes:
            if not args.node_name:
                print(f"{name}:")
            names = [
                n for n in _names(node, name, args.param_prefixes) if re.search(args.filter, n)
            ]
            if args.param_type and names:
                for n, value in zip(names, _values(node, name, names), strict=True):
                    print(f"  {n} (type: {TYPES[value.type]})")
            else:
                print(*(f"  {n}" for n in names), sep="\n", end="\n" if names else "")


def get(args: argparse.Namespace) -> str | None:
    """Print the value, after its type."""
    with open_node(args) as node:
        name = find_node(node, args)
        values = _values(node, name, [args.parameter_name])
        if not values or values[0].type == ParameterType.PARAMETER_NOT_SET:
            return "Parameter not set"
        value = parameter_value_to_python(values[0])
        if args.hide_type:
            print(value)
        else:
            kind, _, array = TYPES[values[0].type].capitalize().partition(" ")
            print(f"{kind} {'values are' if array else 'value is'}: {value}")
        return None


def set_value(args: argparse.Namespace) -> None:
    """Set it, and print what the node says to that."""
    with open_node(args) as node:
        name = find_node(node, args)
        parameter = Parameter(name=args.parameter_name, value=get_parameter_value(args.value))
        (result,) = _ask(
            node, name, SetParameters, "set_parameters", parameters=[parameter]
        ).results
        reason = f": {result.reason}" if result.reason else ""
        if result.successful:
            print(f"Set parameter successful{reason}")
        else:
            # The status is 0 all the same, as it is upstream.
            print(f"Setting parameter failed{reason}", file=sys.stderr)


def describe(args: argparse.Namespace) -> None:
    """Print each parameter's descriptor."""
    with open_node(args) as node:
        name = find_node(node, args)
        response = _ask(
            node, name, DescribeParameters, "describe_parameters", names=args.parameter_names
        )
        for found in response.descriptors:
            print(f"Parameter name: {found.name}\n  Type: {TYPES[found.type]}")
            if found.description:
                print(f"  Description: {found.description}")
            print("  Constraints:")
            if found.read_only:
                print("    Read only: true")
            for limit in (*found.integer_range, *found.floating_point_range):
                print(f"    Min value: {limit.from_value}\n    Max value: {limit.to_value}")
                if limit.step:
                    print(f"    Step: {limit.step}")
            if found.additional_constraints:
                print(f"    Additional constraints: {found.additional_constraints}")


def dump(args: argparse.Namespace) -> None:
    """Print the parameters as YAML, nested where their names have dots."""
    with open_node(args) as node:
        name = find_node(node, args)
        names = _names(node, name, [])
        tree: dict[str, Any] = {}
        for full, value in zip(names, _values(node, name, names), strict=True):
            *groups, last = full.split(".")
            branch = tree
            for group in groups:
                branch = branch.setdefault(group, {})
            branch[last] = parameter_value_to_python(value)
        print(yaml.dump({name: {"ros__parameters": tree}}, default_flow_style=False), end="")
