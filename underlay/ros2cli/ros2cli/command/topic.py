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

"""ros2 topic."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections import deque
from itertools import count, pairwise
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from ros2cli import qos
from ros2cli.cli import Command
from ros2cli.graph import absolute, find, is_hidden, open_node, settle, spin
from ros2cli.values import Style, fill, get_type, now, parse, to_yaml


def add_to(command: Command) -> None:
    """Add the verbs."""
    add = command.verb("list", list_topics, "List the topics").add_argument
    add("-t", "--show-types", action="store_true", help="with their types")
    add("-c", "--count-topics", action="store_true", help="only how many there are")
    add("-v", "--verbose", action="store_true", help="with how many publish and subscribe")
    add("--include-hidden-topics", action="store_true", help="also those with a leading _")

    add = command.verb("type", print_type, "Print a topic's type").add_argument
    add("topic_name")

    add = command.verb("info", print_info, "Who publishes and who subscribes").add_argument
    add("topic_name")
    add("-v", "--verbose", action="store_true", help="nodes, hashes and QoS of each endpoint")

    parser = command.verb("echo", echo, "Print the messages of a topic")
    add = parser.add_argument
    add("topic_name")
    add("message_type", nargs="?", help="found from the graph when it is not given")
    add("--once", action="store_true", help="leave after the first message")
    add("--timeout", type=_positive, metavar="S", help="leave after so many seconds")
    add("--field", action="append", metavar="PATH", help="only this field, such as pose.position")
    add("--no-arr", action="store_true", help="arrays by their type and length only")
    add("--no-str", action="store_true", help="strings by their length only")
    add("--flow-style", action="store_true", help="one line for each message")
    add("-f", "--full-length", action="store_true", help="cut nothing")
    add("-l", "--truncate-length", type=int, default=128, metavar="N", help="cut what is longer")
    qos.add_options(parser, "sensor_data")

    parser = command.verb("pub", publish, "Publish on a topic")
    add = parser.add_argument
    add("topic_name")
    add("message_type")
    add("values", nargs="?", default="{}", help="fields in YAML; `now` and `auto` fill in stamps")
    add("-r", "--rate", type=_positive, default=1.0, metavar="HZ", help="(default: 1)")
    add("-p", "--print", type=int, default=1, metavar="N", help="every Nth message only, 0: none")
    times = parser.add_mutually_exclusive_group()
    times.add_argument(
        "-1", "--once", action="store_const", const=1, dest="times", help="one message"
    )
    times.add_argument("-t", "--times", type=_whole, default=0, metavar="N", help="N, 0: endless")
    wait = "--wait-matching-subscriptions"
    add("-w", wait, type=_whole, metavar="N", help="first wait for N (default: 1 with -1 or -t)")
    add("--max-wait-time-secs", type=_positive, metavar="S", help="give up waiting after this")
    add(
        "--keep-alive", type=_positive, default=0.1, metavar="S", help="stay after the last message"
    )
    add("-n", "--node-name", help="name of the publishing node")
    qos.add_options(parser, "default")

    add = command.verb("hz", measure_rate, "Measure how often messages come").add_argument
    add("topic_name")
    add("-w", "--window", type=_count, default=10000, metavar="N", help="over the last N messages")
    add("--wall-time", action="store_true", help="accepted; it is wall time without --use-sim-time")


def list_topics(args: argparse.Namespace) -> None:
    """List them."""
    with open_node(args) as node:
        settle(node, args)
        topics = sorted(node.get_topic_names_and_types())
        topics = [t for t in topics if args.include_hidden_topics or not is_hidden(t[0])]
        sides = (
            ("Published topics:", "publisher", node.count_publishers),
            ("Subscribed topics:", "subscriber", node.count_subscribers),
        )
        if args.count_topics:
            print(len(topics))
        elif args.verbose:
            for title, who, number in sides:
                print(title)
                for name, types in topics:
                    if n := number(name):
                        print(f" * {name} [{', '.join(types)}] {n} {who}{'s' if n > 1 else ''}")
                print()
        else:
            for name, types in topics:
                print(f"{name} [{', '.join(types)}]" if args.show_types else name)


def _types(node: Node, topic: str) -> list[str]:
    return dict(node.get_topic_names_and_types()).get(topic, [])


def print_type(args: argparse.Namespace) -> int:
    """Print it; 1 when there is no such topic."""
    with open_node(args) as node:
        topic = absolute(node, args.topic_name)
        find(lambda: _types(node, topic), args.patience)
        types = [] if is_hidden(topic) else _types(node, topic)
        for name in types:
            print(name)
        return int(not types)


def print_info(args: argparse.Namespace) -> str | None:
    """Print the counts, or every endpoint."""
    with open_node(args) as node:
        topic = absolute(node, args.topic_name)
        if not find(lambda: _types(node, topic), args.patience):
            return f"Unknown topic '{topic}'"
        settle(node, args)
        types = _types(node, topic)
        gap = "\n" if args.verbose else ""
        print(f"Type: {types[0] if len(types) == 1 else types}{gap}")
        for who, endpoints in (
            ("Publisher", node.get_publishers_info_by_topic(topic)),
            ("Subscription", node.get_subscriptions_info_by_topic(topic)),
        ):
            print(f"{who} count: {len(endpoints)}{gap}")
            for endpoint in endpoints if args.verbose else []:
                print(f"{endpoint}\n")
        return None


def _one_type(node: Node, topic: str, args: argparse.Namespace) -> Any:
    if not find(lambda: _types(node, topic), args.patience):
        print(f"WARNING: topic [{topic}] does not appear to be published yet", file=sys.stderr)
        raise RuntimeError("Could not determine the type for the passed topic")
    settle(node, args)
    types = _types(node, topic)
    if len(types) > 1:
        raise RuntimeError(f"Topic '{topic}' contains more than one type: {', '.join(types)}")
    return get_type(types[0], "msg")


def echo(args: argparse.Namespace) -> str | None:
    """Print messages until there were enough of them or the time is over."""
    with open_node(args) as node:
        topic = absolute(node, args.topic_name)
        if args.message_type is None:
            message_type = _one_type(node, topic, args)
        else:
            message_type = get_type(args.message_type, "msg")
            settle(node, args)
        length = None if args.full_length else args.truncate_length
        style = Style(length, not args.no_arr, not args.no_str, args.flow_style)
        heard = []

        def print_message(message: Any) -> None:
            for part in [_field(message, path) for path in args.field or [""]]:
                is_message = hasattr(part, "get_fields_and_field_types")
                print(to_yaml(part, style) if is_message else f"{part}\n", end="")
            print("---")
            heard[:] = [True]

        node.create_subscription(
            message_type, topic, print_message, qos.matching(node, topic, args)
        )
        spin(node, lambda: args.once and heard, args.timeout)
        return None if heard else f"No message on topic '{topic}' in {args.timeout} s"


def _field(message: Any, path: str) -> Any:
    tokens = re.findall(r"\[\d+\]|[^.]+?(?=\[|\.|$)", path)
    if path and not tokens:
        raise RuntimeError(f"Invalid field value '{path}'")
    value = message
    try:
        for token in tokens:
            is_index = re.fullmatch(r"\[\d+\]", token)
            value = value[int(token[1:-1])] if is_index else getattr(value, token)
    except (AttributeError, IndexError, TypeError) as error:
        raise RuntimeError(f"Invalid field '{path}': {error}") from error
    return value


def publish(args: argparse.Namespace) -> None:
    """Publish until there were enough messages."""
    message = get_type(args.message_type, "msg")()
    stamps = fill(message, parse(args.values))
    with open_node(args, args.node_name) as node:
        topic = absolute(node, args.topic_name)
        publisher = node.create_publisher(type(message), topic, qos.profile(args))
        _wait_for_subscriptions(node, publisher, args)
        print("publisher: beginning loop")
        due = time.monotonic()
        for number in count(1):
            now(node, stamps)
            publisher.publish(message)
            if args.print and number % args.print == 0:
                print(f"publishing #{number}: {message!r}\n")
            if number == args.times:
                break
            due += 1 / args.rate
            spin(node, lambda: False, due - time.monotonic())
        publisher.wait_for_all_acked(Duration(seconds=1))
        spin(node, lambda: False, args.keep_alive)


def _wait_for_subscriptions(node: Node, publisher: Any, args: argparse.Namespace) -> None:
    wanted = args.wait_matching_subscriptions
    if wanted is None:
        wanted = 1 if args.times else 0
    if not wanted:
        if args.max_wait_time_secs is not None:
            raise RuntimeError(
                "--max-wait-time-secs option is only effective with "
                "--wait-matching-subscriptions, --once or --times"
            )
        return
    start = time.monotonic()
    while (found := publisher.get_subscription_count()) < wanted:
        if args.max_wait_time_secs and time.monotonic() - start > args.max_wait_time_secs:
            raise RuntimeError(
                f"Timed out waiting for subscribers: expected {wanted}, and there are {found}"
            )
        print(f"Waiting for at least {wanted} matching subscription(s)...")
        spin(node, lambda: publisher.get_subscription_count() >= wanted, 1.0)
    # The others that are there shall hear it, too, not only those that happened to be found first.
    known = 0
    while (found := publisher.get_subscription_count()) != known:
        known = found
        spin(node, lambda: False, args.spin_time)


def measure_rate(args: argparse.Namespace) -> None:
    """Print the rate once a second, as long as messages come."""
    with open_node(args) as node:
        topic = absolute(node, args.topic_name)
        warned = False
        while not find(lambda: _types(node, topic), 1.0):
            if not warned:
                print(f"WARNING: topic [{topic}] does not appear to be published yet")
            warned = True
        arrivals: deque[float] = deque(maxlen=args.window)
        clock = node.get_clock() if args.use_sim_time else None

        def note(_: bytes) -> None:
            arrivals.append(clock.now().nanoseconds * 1e-9 if clock else time.monotonic())

        message_type = _one_type(node, topic, args)
        node.create_subscription(message_type, topic, note, qos_profile_sensor_data, raw=True)
        last = None
        while True:
            spin(node, lambda: False, 1.0)
            if len(arrivals) > 1 and arrivals[-1] != last:
                _print_rate([b - a for a, b in pairwise(arrivals)])
                last = arrivals[-1]


def _print_rate(gaps: list[float]) -> None:
    mean = statistics.fmean(gaps)
    rate = 1 / mean if mean > 0 else 0.0
    print(
        f"average rate: {rate:.3f}\n\tmin: {min(gaps):.3f}s max: {max(gaps):.3f}s "
        f"std dev: {statistics.pstdev(gaps):.5f}s window: {len(gaps) + 1}"
    )


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _whole(text: str) -> int:
    if int(text) < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return int(text)


def _count(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return int(text)
