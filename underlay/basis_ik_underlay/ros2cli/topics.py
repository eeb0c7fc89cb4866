# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""ros2 topic."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import deque
from itertools import count, pairwise
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)

from ros2cli import Command
from ros2cli.graph import QUIET, absolute, find, is_hidden, open_node, settle, spin
from ros2cli.values import filled, get_type, to_yaml


def topic(command: Command) -> None:
    """Add the verbs of `ros2 topic`."""
    command.verb("list", list_topics, "List the topics")

    add = command.verb("info", print_info, "Who publishes and who subscribes")
    add("topic_name")
    add("-v", "--verbose", action="store_true", help="nodes, hashes and QoS of each endpoint")

    add = command.verb("echo", echo, "Print the messages of a topic")
    add("topic_name")
    add("--once", action="store_true", help="leave after the first message")

    add = command.verb("pub", publish, "Publish on a topic")
    add("topic_name")
    add("message_type")
    add("values", nargs="?", default="{}", help="fields in YAML")
    add("-r", "--rate", type=_positive, default=1.0, metavar="HZ", help="(default: 1)")
    add("-1", "--once", action="store_const", const=1, dest="times", help="one message")
    add("-t", "--times", type=int, default=0, metavar="N", help="N messages, 0: endless")

    add = command.verb("hz", measure_rate, "Measure how often messages come")
    add("topic_name")


def list_topics(_: argparse.Namespace) -> None:
    """List them."""
    with open_node() as node:
        settle(node)
        for name, _types in sorted(node.get_topic_names_and_types()):
            if not is_hidden(name):
                print(name)


def _types_of(node: Node, name: str) -> list[str]:
    return dict(node.get_topic_names_and_types()).get(name, [])


def print_info(args: argparse.Namespace) -> str | None:
    """Print the counts, or every endpoint."""
    with open_node() as node:
        name = absolute(node, args.topic_name)
        if not find(lambda: _types_of(node, name)):
            return f"Unknown topic '{name}'"
        settle(node)
        gap = "\n" if args.verbose else ""
        print(f"Type: {', '.join(_types_of(node, name))}{gap}")
        for who, endpoints in (
            ("Publisher", node.get_publishers_info_by_topic(name)),
            ("Subscription", node.get_subscriptions_info_by_topic(name)),
        ):
            print(f"{who} count: {len(endpoints)}{gap}")
            for endpoint in endpoints if args.verbose else []:
                print(f"{endpoint}\n")
        return None


def _one_type(node: Node, name: str) -> Any:
    if not find(lambda: _types_of(node, name)):
        print(f"WARNING: topic [{name}] does not appear to be published yet", file=sys.stderr)
        raise RuntimeError("Could not determine the type for the passed topic")
    settle(node)
    types = _types_of(node, name)
    if len(types) > 1:
        raise RuntimeError(f"Topic '{name}' contains more than one type: {', '.join(types)}")
    return get_type(types[0], "msg")


def _matching(node: Node, name: str) -> QoSProfile:
    """Return the strictest profile that every publisher of the topic meets."""
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(name)]
    profile = QoSProfile(
        depth=5, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE
    )
    if offered and all(each.reliability == ReliabilityPolicy.RELIABLE for each in offered):
        profile.reliability = ReliabilityPolicy.RELIABLE
    if offered and all(each.durability == DurabilityPolicy.TRANSIENT_LOCAL for each in offered):
        profile.durability = DurabilityPolicy.TRANSIENT_LOCAL
    return profile


def echo(args: argparse.Namespace) -> None:
    """Print messages."""
    with open_node() as node:
        name = absolute(node, args.topic_name)
        message_type = _one_type(node, name)
        heard = []

        def print_message(message: Any) -> None:
            if not (heard and args.once):
                print(f"{to_yaml(message)}---")
            heard[:] = [True]

        node.create_subscription(message_type, name, print_message, _matching(node, name))
        spin(node, lambda: args.once and heard)


def publish(args: argparse.Namespace) -> None:
    """Publish as many messages as were asked for."""
    message = filled(get_type(args.message_type, "msg")(), args.values)
    with open_node() as node:
        publisher = node.create_publisher(type(message), absolute(node, args.topic_name), 10)
        if args.times:
            _wait_for_subscriptions(node, publisher)
        print("publisher: beginning loop")
        due = time.monotonic()
        for number in count(1):
            publisher.publish(message)
            print(f"publishing #{number}: {message!r}\n")
            if number == args.times:
                break
            due += 1 / args.rate
            spin(node, lambda: False, due - time.monotonic())
        publisher.wait_for_all_acked(Duration(seconds=1))
        spin(node, lambda: False, 0.1)


def _wait_for_subscriptions(node: Node, publisher: Any) -> None:
    while not publisher.get_subscription_count():
        print("Waiting for at least 1 matching subscription(s)...")
        spin(node, publisher.get_subscription_count, 1.0)
    # Subscriptions that are matched a little later must hear it, too.
    known = 0
    while (found := publisher.get_subscription_count()) != known:
        known = found
        spin(node, lambda: False, QUIET)


def measure_rate(args: argparse.Namespace) -> None:
    """Print the rate once a second, as long as messages come."""
    with open_node() as node:
        name = absolute(node, args.topic_name)
        arrivals: deque[float] = deque(maxlen=10000)

        def note(_: bytes) -> None:
            arrivals.append(time.monotonic())

        message_type = _one_type(node, name)
        node.create_subscription(message_type, name, note, qos_profile_sensor_data, raw=True)
        last = None
        while True:
            spin(node, lambda: False, 1.0)
            if len(arrivals) > 1 and arrivals[-1] != last:
                _print_rate([b - a for a, b in pairwise(arrivals)])
                last = arrivals[-1]


def _print_rate(gaps: list[float]) -> None:
    print(
        f"average rate: {1 / statistics.fmean(gaps):.3f}\n\tmin: {min(gaps):.3f}s "
        f"max: {max(gaps):.3f}s std dev: {statistics.pstdev(gaps):.5f}s window: {len(gaps) + 1}"
    )


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value
