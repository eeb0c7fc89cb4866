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

"""ros2 service."""

from __future__ import annotations

import argparse
import time

from ros2cli.cli import Command
from ros2cli.graph import absolute, find, is_hidden, open_node, settle, spin
from ros2cli.values import fill_at_once, get_type, parse


def add_to(command: Command) -> None:
    """Add the verbs."""
    add = command.verb("list", list_services, "List the services").add_argument
    add("-t", "--show-types", action="store_true", help="with their types")
    add("-c", "--count-services", action="store_true", help="only how many there are")
    add("--include-hidden-services", action="store_true", help="also those with a leading _")

    add = command.verb("type", print_type, "Print a service's type").add_argument
    add("service_name")

    add = command.verb("call", call, "Call a service").add_argument
    add("service_name")
    add("service_type")
    add("values", nargs="?", default="{}", help="fields of the request in YAML")
    add("-r", "--rate", type=float, metavar="HZ", help="call again and again")


def list_services(args: argparse.Namespace) -> None:
    """List them."""
    with open_node(args) as node:
        settle(node, args)
        services = sorted(node.get_service_names_and_types())
        services = [s for s in services if args.include_hidden_services or not is_hidden(s[0])]
        if args.count_services:
            print(len(services))
            return
        for name, types in services:
            print(f"{name} [{', '.join(types)}]" if args.show_types else name)


def print_type(args: argparse.Namespace) -> int:
    """Print it; 1 when there is no such service."""
    with open_node(args) as node:
        name = absolute(node, args.service_name, service=True)
        found = find(lambda: name in dict(node.get_service_names_and_types()), args.patience)
        for kind in dict(node.get_service_names_and_types()).get(name, []):
            print(kind)
        return int(not found)


def call(args: argparse.Namespace) -> None:
    """Call it, once or at a rate, however long it takes to answer."""
    service_type = get_type(args.service_type, "srv")
    request = service_type.Request()
    fill_at_once(request, parse(args.values))
    if args.rate is not None and not args.rate > 0:
        raise ValueError("the rate must be positive")
    with open_node(args) as node:
        client = node.create_client(service_type, absolute(node, args.service_name, service=True))
        if not client.service_is_ready():
            print("waiting for service to become available...")
            find(client.service_is_ready, float("inf"))
        while True:
            print(f"requester: making request: {request!r}\n")
            future = client.call_async(request)
            spin(node, future.done)
            print(f"response:\n{future.result()!r}\n")
            if args.rate is None:
                return
            time.sleep(1 / args.rate)
