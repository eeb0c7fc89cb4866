# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Replays a recording of `ik_node`: the same node, without peers, receives the same input.

All commands and statuses that it sends must equal the recorded ones, bit for bit.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, TypeVar

import rclpy
import yaml
from rclpy.clock import Clock
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.signals import SignalHandlerOptions

from basis_ik.extras.recording.recorded import Recorded, RecordingError
from basis_ik.extras.recording.recording import Entry, Sent, type_name
from basis_ik.extras.recording.versions import versions
from basis_ik.ros.action_forms import unpack
from basis_ik.ros.boundary import Boundary, Form, named_inputs
from basis_ik.ros.ik_node import IkNode
from basis_ik.ros.parameters import ik_parameters
from basis_ik.ros.parameters.parameters import FOREIGN_PARAMETERS

T = TypeVar("T")
STATUS_TYPE = "diagnostic_msgs/msg/DiagnosticStatus"


class Difference(NamedTuple):
    """The first message that differs from the recorded one.

    Attributes:
        when: Time since the recording began [s].
        during: The handled input.
        recorded: The recorded message, or None.
        replayed: The replayed message, or None.
    """

    when: float
    during: str
    recorded: Sent | None
    replayed: Sent | None

    def __str__(self) -> str:
        return (
            f"differs {self.when:.3f} s after the beginning, in '{self.during}':\n"
            f"  recorded: {_shown(self.recorded)}\n"
            f"  replayed: {_shown(self.replayed)}"
        )


class Outcome(NamedTuple):
    """The result of a replay.

    Attributes:
        commands: Number of equal commands.
        statuses: Number of equal statuses.
        seconds: Length of the recording [s].
        cut_off: Whether it is truncated.
        difference: The first difference, or None.
    """

    commands: int
    statuses: int
    seconds: float
    cut_off: bool
    difference: Difference | None


class ReplayBoundary(Boundary):
    """Gives a node the recorded input, and sends nothing.

    A node that differs from the recorded one may read more often; it then gets the last value.

    Attributes:
        sent: The messages that the node would have sent since the entry began.
        expected: Callbacks of actions, by their names.
    """

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self._readings: dict[str, deque[Any]] = {}
        self._last: dict[str, Any] = {}
        self._slept = 0.0
        self.expected: dict[str, tuple[Callable[[Any], Any], Form]] = {}

    def begin(self, entry: Entry) -> None:
        """Begin an entry."""
        self.sent, self._slept = [], 0.0
        self._readings = {name: deque(values) for name, values in entry.readings.items()}

    def read(self, name: str, live: Callable[[], T]) -> T:
        """Return the recorded value of a source; see `Boundary.read`."""
        values = self._readings.get(name)
        if values:
            self._last[name] = values.popleft()
        elif name not in self._last:
            self._last[name] = live()
        value: T = self._last[name]
        return value

    def take(self, name: str, live: Callable[[], T], form: Form) -> T:
        """Return the recorded value of a source, None for one that there is not."""
        values = self._readings.get(name)
        value: T = form.unpack(values.popleft() if values else None)
        return value

    def is_ready(self, name: str, live: Callable[[], bool], wait: Callable[[], object]) -> bool:
        """Return whether a result was ready; if so, wait for it; see `Boundary.is_ready`."""
        there = self.read(name, live)
        if there:
            wait()
        return there

    def steady(self) -> float:
        """Return the recorded time of a steady clock [s]."""
        # Only a node that differs from the recorded one may sleep longer.
        return super().steady() if self._readings.get("steady") else super().steady() + self._slept

    def clock_aside(self, clock: Clock) -> int:
        """Return when the recorded loop last began a period; see `Boundary.clock_aside`."""
        moment = self._last.get("moment")
        return super().clock_aside(clock) if moment is None else int(moment[1])

    def sleep(self, seconds: float) -> None:
        """Do nothing: the next recorded time is later."""
        self._slept += seconds

    def wrap(self, name: str, callback: Callable[[Any], Any], form: Form) -> Callable[[Any], Any]:
        """Store the callback of an action's client or server; see `Boundary.wrap`."""
        self.expected[name] = callback, form
        return callback

    def call(self, name: str, given: Any) -> None:
        """Call an action's callback with its recorded argument."""
        callback, form = self.expected[name]
        callback(form.unpack(given))

    def publish(self, publisher: Any, message: Any) -> None:
        """Keep a message instead of sending it."""
        self.send(publisher.topic_name, message, lambda: None, publisher.msg_type)

    def send(
        self, name: str, message: Any, send: Callable[[], T], kind: type | None = None
    ) -> T | None:
        """Keep a message instead of sending it."""
        data = message if isinstance(message, bytes) else serialize_message(message)
        self.sent.append(Sent(name, type_name(kind or type(message)), data))
        return None


class Replay:
    """Replays a recording; rclpy must be set up for it, see `set_up`.

    Args:
        recorded: The recording.
    """

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._boundary = recorded, ReplayBoundary()
        self._raised: Exception | None = None
        self._equal = Counter[bool]()  # statuses: True

    def run(self, stop: Event) -> Outcome:
        """Replay to the end, or to the first difference.

        Args:
            stop: Ends the replay early when set.

        Raises:
            RecordingError: The file is damaged, or names something that this node does not have.
        """
        node, begin, end, difference = None, 0, 0, None
        try:
            for entry in self._recorded.entries():
                self._boundary.begin(entry)
                if node is None:
                    node, begin = IkNode(lambda *_: self._boundary), entry.time
                else:
                    self._handle(node, entry)
                end = entry.time
                difference = self._compare(entry, 1e-9 * (end - begin))
                if difference is not None or stop.is_set():
                    break
        finally:
            if node is not None:
                node.destroy_node()
        if self._raised is not None:  # this error also ended the recorded node
            print(f"it ends with an error: {self._raised}", file=sys.stderr)
        commands, statuses = self._equal[False], self._equal[True]
        return Outcome(commands, statuses, 1e-9 * (end - begin), self._recorded.cut_off, difference)

    def _handle(self, node: IkNode, entry: Entry) -> None:
        """Handle an entry; an entry that raises is followed by one of `give_up`."""
        raised, self._raised = self._raised, None
        if raised is not None and entry.name != "give_up":
            text = f"the node raises {raised!r}, which the recorded one did not"
            raise RecordingError(text) from raised
        try:
            self._call(node, entry)
        except RecordingError:
            raise
        except Exception as error:
            self._raised = error
            traceback.print_exception(error)

    def _call(self, node: IkNode, entry: Entry) -> None:
        methods = {
            "kernels": node.check_kernels,
            "start": node.start,
            "period": node.run_period,
            "handle_target": node.handle_target,
            "give_up": node.give_up,
            "end": node.end,
        }
        kind = entry.name.split(" ")[0]
        entry_input = dict(named_inputs(node)).get(entry.name)
        if entry.name in methods:
            methods[entry.name]()
        elif kind == "topic" and entry_input is not None and entry.received is not None:
            entry_input.callback(deserialize_message(entry.received.data, entry_input.msg_type))
        elif kind == "timer" and entry_input is not None:
            entry_input.callback()
        elif entry_input is not None or entry.name in self._boundary.expected:
            try:
                self._call_input(entry_input, entry)
            except Exception as error:  # only concerns the client, as in the executor
                node.log_failure(error)
        else:
            raise RecordingError(f"the recording has '{entry.name}', which this node does not have")

    def _call_input(self, service: Any, entry: Entry) -> None:
        """Call a service; None: the callback of an action."""
        if service is None:
            self._boundary.call(entry.name, entry.given)
        else:
            kind = service.srv_type
            service.callback(unpack(entry.given, kind.Request), kind.Response())

    def _compare(self, entry: Entry, when: float) -> Difference | None:
        """Return the first difference between recorded and replayed messages."""
        for then, now in zip_longest(entry.sent, self._boundary.sent):
            if then is None or now is None or not _are_equal(then, now):
                return Difference(when, entry.name, then, now)
            self._equal[then.kind == STATUS_TYPE] += 1
        return None


def _are_equal(one: Sent, other: Sent) -> bool:
    """Return whether two messages are equal bit for bit, apart from padding."""
    if one == other:
        return True
    same_way = (one.topic, one.kind) == (other.topic, other.kind)
    return same_way and _message(one) == _message(other)


def _message(sent: Sent) -> str:
    """Return a message as text, with exact numbers."""
    package, _, name = sent.kind.split("/")
    kind = getattr(importlib.import_module(f"{package}.msg"), name)
    return repr(deserialize_message(sent.data, kind))


def _shown(sent: Sent | None) -> str:
    return "nothing" if sent is None else f"{sent.topic} {_message(sent)}"


def set_up(head: dict[str, Any]) -> list[str]:
    """Set up rclpy as for the recorded node, but without peers.

    Args:
        head: How that node was started.

    Returns:
        The differences from the recorded node, one line each.
    """
    given, known = head["parameters"], _known(head["parameters"])
    kept = {name: value for name, value in given.items() if name in known or _is_foreign(name)}
    lines = [f"parameter '{name}' is gone: {given[name]!r}" for name in given.keys() - kept]
    lines += [f"parameter '{name}' is new" for name in known - given.keys() - {"record"}]
    now = versions()
    lines += [
        f"{name} is {now.get(name)}; recorded with {value}: numbers may differ"
        for name, value in head["versions"].items()
        if now.get(name) != value
    ]
    # An empty list cannot be passed to a node; it means the same as no value.
    content = {"/**": {"ros__parameters": {k: v for k, v in kept.items() if v != []}}}
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "OFF"
    os.environ.pop("ROS_STATIC_PEERS", None)
    rclpy.try_shutdown()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(content, file)
        file.flush()
        words = ["--ros-args", *_renamed(head["arguments"]), "--params-file", file.name]
        rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    return lines


def _known(given: Mapping[str, Any]) -> set[str]:
    """Return the names of all parameters of a node with given ones."""
    own = {each.name for each in ik_parameters.NODE_PARAMETERS}
    prefixes = [f"{name}." if name else "" for name in given.get("chains") or [""]]
    postures = tuple(prefix + ik_parameters.POSTURE_PREFIX for prefix in prefixes)
    own |= {name for name in given if name.startswith(postures)}
    return own | {
        prefix + each.name for prefix in prefixes for each in ik_parameters.CHAIN_PARAMETERS
    }


def _is_foreign(name: str) -> bool:
    return name.startswith(FOREIGN_PARAMETERS)


def _renamed(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a node that remap names; the parameters are recorded separately."""
    return [word for pair in pairwise(arguments) if pair[0] in ("-r", "--remap") for word in pair]


def main(stop: Event) -> int:
    """Replay the recording on the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="replay",
        description="Replays a recording of ik_node, and compares each command and status.",
        epilog="Exit status: 0 all equal to the bit, 1 a difference or an error, 2 wrong usage.",
    )
    parser.add_argument("file", type=Path, help="what ik_node has recorded; see its `record`")
    recorded = Recorded(parser.parse_args(sys.argv[1:]).file)
    for line in set_up(recorded.head):
        print(line)
    outcome = Replay(recorded).run(stop)
    if outcome.cut_off:
        print("the recording is truncated, and is replayed to its end")
    length = (
        f"{outcome.commands} commands and {outcome.statuses} statuses in {outcome.seconds:.1f} s"
    )
    if stop.is_set():
        print(f"{length} are equal; it was stopped there")
        return 1
    if outcome.difference is None:
        print(f"{length}, all equal to the bit")
        return 0
    print(f"{length} are equal; then it {outcome.difference}")
    return 1
