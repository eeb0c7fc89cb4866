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

"""The node that a command looks at the graph with; without a daemon, each waits for discovery."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden as is_hidden
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_topic_name import validate_topic_name

ANSWER = 5.0  # seconds in which a service that is there must have answered


@contextmanager
def open_node(args: argparse.Namespace, name: str | None = None) -> Iterator[Node]:
    """A node, with an executor of its own, that is gone from the graph when the block is left.

    It also settles how long a name is looked for: `args.patience` [s], eight times the spin time.
    """
    args.patience = 8 * args.spin_time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even where a script says `&`
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node(
            name or f"_ros2cli_{os.getpid()}",
            start_parameter_services=False,
            parameter_overrides=[Parameter("use_sim_time", value=args.use_sim_time)],
        )
        executor = SingleThreadedExecutor()  # the node itself only holds a weak reference
        executor.add_node(node)
        yield node
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        rclpy.try_shutdown()


def spin(node: Node, done: Callable[[], object], timeout: float | None = None) -> bool:
    """Handle what comes in until `done` or the time [s] is over; return whether it was done."""
    end = None if timeout is None else time.monotonic() + timeout
    while not done():
        rest = 0.1 if end is None else min(0.1, end - time.monotonic())
        if rest <= 0:
            return False
        node.executor.spin_once(timeout_sec=rest)  # briefly: Python sees a Ctrl-C only in between
    return True


def settle(node: Node, args: argparse.Namespace) -> None:
    """Wait until nothing new has been discovered for the spin time, at most ten times that.

    That there is nobody else is not believed so soon: four times the spin time.
    """
    start = changed = time.monotonic()
    quiet, known = 4 * args.spin_time, None
    while time.monotonic() < min(changed + quiet, start + 10 * args.spin_time):
        nodes = sorted(node.get_node_names_and_namespaces())
        seen = (nodes, node.get_topic_names_and_types(no_demangle=True))
        if seen != known:
            known, changed = seen, time.monotonic()
            quiet = (1 if len(nodes) > 1 else 4) * args.spin_time
        time.sleep(0.02)


def find(present: Callable[[], object], timeout: float) -> bool:
    """Wait until it is there, at most so long [s]; return whether it is."""
    end = time.monotonic() + timeout
    while not present():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def absolute(node: Node, name: str, service: bool = False) -> str:
    """Return the full name of a topic or service.

    Raises:
        ValueError: no topic or service can be called so.
    """
    try:
        validate_topic_name(name, is_service=service)
        full = expand_topic_name(name, node.get_name(), node.get_namespace())
        validate_full_topic_name(full, is_service=service)
    except NameValidationException as error:
        raise ValueError(f"{str(error).splitlines()[0].rstrip(':')}: '{name}'") from error
    return full


def node_names(node: Node, hidden: bool = False) -> list[str]:
    """Return the full names of the nodes, sorted; a name that two nodes have comes twice."""
    names = node.get_node_names_and_namespaces()
    full = sorted(f"{namespace.rstrip('/')}/{name}" for name, namespace in names)
    return [name for name in full if hidden or not is_hidden(name)]


def find_node(node: Node, args: argparse.Namespace) -> str:
    """Return the full name of the node that was asked for, once it is in the graph.

    Raises:
        RuntimeError: it is not there in time.
    """
    name = "/" + args.node_name.lstrip("/")
    if not find(lambda: name in node_names(node, args.include_hidden_nodes), args.patience):
        raise RuntimeError("Node not found")
    return name


def split_name(full: str) -> tuple[str, str]:
    """Split '/ns/name' into the name and the namespace."""
    namespace, _, name = full.rpartition("/")
    return name, namespace or "/"


def call(node: Node, service_type: type, name: str, request: object) -> object:
    """Call a service and return its response.

    Raises:
        RuntimeError: the service is not there, or does not answer in time.
    """
    client = node.create_client(service_type, name)
    if not find(client.service_is_ready, ANSWER):
        raise RuntimeError(f"Service '{name}' is not available")
    future = client.call_async(request)
    if not spin(node, future.done, ANSWER):
        raise RuntimeError(f"Service '{name}' did not answer")
    node.destroy_client(client)
    return future.result()
