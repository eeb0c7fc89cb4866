# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node with which a command looks at the graph; without a daemon, each waits for discovery."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden as is_hidden

# Seconds: without news until the graph counts as known; for a name to appear; for an answer.
QUIET, PATIENCE, ANSWER = 0.5, 4.0, 5.0


@contextmanager
def open_node() -> Iterator[Node]:
    """A node, with an executor of its own, that is gone from the graph when the block is left."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script ignores it for `&`
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node(f"_ros2cli_{os.getpid()}", start_parameter_services=False)
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


def settle(node: Node) -> None:
    """Wait until nothing new is discovered for QUIET, at most ten times as long.

    While no other node is known, the wait is four times QUIET.
    """
    start = changed = time.monotonic()
    quiet, known = 4 * QUIET, None
    while time.monotonic() < min(changed + quiet, start + 10 * QUIET):
        nodes = sorted(node.get_node_names_and_namespaces())
        seen = (nodes, node.get_topic_names_and_types(no_demangle=True))
        if seen != known:
            known, changed = seen, time.monotonic()
            quiet = (1 if len(nodes) > 1 else 4) * QUIET
        time.sleep(0.02)


def find(present: Callable[[], object], timeout: float = PATIENCE) -> bool:
    """Wait until `present` holds, at most `timeout` [s]; return whether it does."""
    end = time.monotonic() + timeout
    while not present():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def absolute(node: Node, name: str) -> str:
    """Return the full name of a topic, service or action.

    Raises:
        ValueError: the name is invalid.
    """
    return expand_topic_name(name, node.get_name(), node.get_namespace())


def node_names(node: Node) -> list[str]:
    """Return the full names of the nodes but the hidden ones, sorted."""
    names = node.get_node_names_and_namespaces()
    full = sorted(f"{namespace.rstrip('/')}/{name}" for name, namespace in names)
    return [name for name in full if not is_hidden(name)]


def call(node: Node, service_type: type, name: str, **fields: object) -> object:
    """Call a service and return its response.

    Raises:
        RuntimeError: the service is not there, or does not answer in time.
    """
    client = node.create_client(service_type, name)
    if not find(client.service_is_ready):
        raise RuntimeError(f"Service '{name}' is not available")
    future = client.call_async(service_type.Request(**fields))
    if not spin(node, future.done, ANSWER):
        raise RuntimeError(f"Service '{name}' did not answer")
    return future.result()
