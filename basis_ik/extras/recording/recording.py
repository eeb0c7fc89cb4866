# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording of the node's input and output, in an MCAP file.

Each subscribed topic and each topic for commands or status has a channel with the serialised
messages. One more channel, `RECORDING` below the node's name, has texts in JSON. The first says how
the node was started. Then each handled message, timer and request has an entry, after its messages,
with the readings of clocks and graph in the meantime.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from io import BufferedWriter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from std_msgs.msg import String

from basis_ik.extras.recording.message_definition import definition
from basis_ik.extras.recording.versions import versions
from basis_ik.ros import ik_node
from basis_ik.ros.action_forms import array_text, pack
from basis_ik.ros.boundary import LIVE, Boundary, Form, named_inputs
from basis_ik.ros.parameters.parameters import Parameters, refused

T = TypeVar("T")

RECORDING = "recording"
RECEIVED = "received"  # metadata of a channel: whether the node received its messages, or sent them
TEXT_VERSION = 4  # of entries
WRITE_PERIOD = 0.1  # [s] between two cycles of the writing thread
FLUSH_PERIOD = 1.0  # [s] after which entries are readable in the file
LARGEST_QUEUE = 20_000  # entries
PAUSE_AFTER = 4  # entries, after which the writer pauses for the control loop
WRITER_PAUSE = 1e-4  # [s]
MCAP_MISSING = (
    "needs the Python package mcap, 1.6 or newer, which is not installed: "
    "python3 -m pip install 'mcap>=1.6'"
)


class Sent(NamedTuple):
    """A message that was sent or received.

    Attributes:
        topic: Name of the topic.
        kind: Type of the message, `package/msg/Type`.
        data: The serialised message.
    """

    topic: str
    kind: str
    data: bytes


class Entry(NamedTuple):
    """A handled input, and its effects.

    Attributes:
        time: Time of the system's clock [ns].
        name: Name of the input.
        received: The message, if the input was one.
        given: Other arguments, as JSON values.
        readings: Values of each source in the meantime, in order.
        sent: Messages sent in the meantime.
    """

    time: int
    name: str
    received: Sent | None
    given: Any
    readings: dict[str, list[Any]]
    sent: list[Sent]


def make_boundary(node: Node, parameters: Parameters) -> Boundary:
    """Return the boundary for the parameter `record`.

    Raises:
        ConfigError: The file cannot be created.
    """
    path: str = parameters["record"]
    if not path:
        return LIVE
    file = Path(path).expanduser()
    if file.is_dir():
        name = node.get_fully_qualified_name().strip("/").replace("/", "_")
        file /= time.strftime(f"{name}_%Y-%m-%d_%H-%M-%S.mcap")
    try:
        from mcap.writer import Writer

        if not hasattr(Writer, "flush"):
            raise ImportError(MCAP_MISSING)
        # "x": a restarted node must not overwrite its own recording.
        return RecordingBoundary(node, Recording(file.open("xb"), node, _head(node)))
    except ImportError:
        raise refused("record", MCAP_MISSING) from None
    except FileExistsError:
        raise refused("record", f"is {path}, which already exists; name a new file") from None
    except OSError as error:
        raise refused("record", f"is {path}, which cannot be created: {error.strerror}") from None


def _head(node: Node) -> dict[str, Any]:
    """Return how a node was started."""
    parameters = node.get_parameters_by_prefix("")
    return {
        "form": TEXT_VERSION,
        "node": node.get_fully_qualified_name(),
        "arguments": sys.argv[1:],
        "parameters": {name: each.value for name, each in parameters.items() if name != "record"},
        "versions": versions(),
    }


def main(stop: threading.Event) -> int:
    """Run `ik_node`, recorded if its parameter `record` says so; return the exit status."""
    return ik_node.run(stop, make_boundary)


class RecordingBoundary(Boundary):
    """Records the node's input and output.

    Args:
        node: The node.
        recording: Receives the entries.
    """

    def __init__(self, node: Node, recording: Recording) -> None:
        self._node, self._recording = node, recording
        self._inputs: tuple[Any, ...] = ()  # whose callbacks are recorded
        self._entry: Entry | None = None
        self._begin("make")  # ends when the next entry begins

    def read(self, name: str, live: Callable[[], T]) -> T:
        """Return the value of a source; see `Boundary.read`."""
        value = live()
        if self._entry is not None:
            self._entry.readings.setdefault(name, []).append(value)
        return value

    def take(self, name: str, live: Callable[[], T], form: Form) -> T:
        """Return the value of a source; see `Boundary.take`."""
        value = live()
        if self._entry is not None:
            self._entry.readings.setdefault(name, []).append(form.pack(value))
        return value

    def before_callbacks(self, node: Node) -> None:
        """Record the callbacks of new inputs; see `Boundary.before_callbacks`."""
        inputs = (*node.subscriptions, *node.timers, *node.services)
        if inputs == self._inputs:
            return
        self._inputs = inputs
        for name, each in named_inputs(node):
            if isinstance(each.callback, _RecordedCallback):
                each.callback.name = name
            elif isinstance(each, Subscription):
                each.callback = _RecordedTopic(self, name, each.callback, each)
                each.raw = True
            elif isinstance(each, Timer):
                each.callback = _RecordedTimer(self, name, each.callback)
            else:
                each.callback = _RecordedService(self, name, each.callback)

    def run(self, name: str, work: Callable[[], T]) -> T:
        """Run work that is not started by a message, timer or request; see `Boundary.run`."""
        self._begin(name)
        try:
            return work()
        finally:
            self._end(idle=name == "handle_target")

    def call(
        self, name: str, work: Callable[[], T], *, received: Sent | None = None, given: Any = None
    ) -> T:
        """Run the callback of a message, a timer, a request or an action.

        Args:
            name: Name of the entry.
            work: The function to run.
            received: The message, if it is one.
            given: Other arguments, as JSON values.
        """
        self._begin(name, received, given)
        try:
            return work()
        finally:
            self._end()

    def wrap(self, name: str, callback: Callable[[Any], Any], form: Form) -> Callable[[Any], Any]:
        """Return the callback to give to an action's client or server; see `Boundary.wrap`."""
        return lambda argument: self.call(
            name, lambda: callback(argument), given=form.pack(argument)
        )

    def publish(self, publisher: Any, message: Any) -> None:
        """Send a message, as an object or serialised."""
        data = message if isinstance(message, bytes) else serialize_message(message)
        self._note(Sent(publisher.topic_name, type_name(publisher.msg_type), data))
        publisher.publish(data)

    def send(self, name: str, message: Any, send: Callable[[], T]) -> T | None:
        """Send a message; see `Boundary.send`."""
        self._note(Sent(name, type_name(type(message)), serialize_message(message)))
        return send()

    def close(self) -> None:
        """End the recording."""
        self._recording.close()

    def _note(self, sent: Sent) -> None:
        if self._entry is not None:
            self._entry.sent.append(sent)

    def _begin(self, name: str, received: Sent | None = None, given: Any = None) -> None:
        self._end()
        self._entry = Entry(time.time_ns(), name, received, given, {}, [])

    def _end(self, *, idle: bool = False) -> None:
        """Queue the entry, unless it is idle and empty."""
        entry, self._entry = self._entry, None
        if entry is not None and not (idle and not entry.readings):
            self._recording.put(entry)


class _RecordedCallback:
    """A callback whose calls are recorded.

    Args:
        boundary: Records them.
        name: Name of the entries.
        callback: The original callback.
    """

    def __init__(
        self, boundary: RecordingBoundary, name: str, callback: Callable[..., Any]
    ) -> None:
        self._boundary, self.name, self._callback = boundary, name, callback
        self.__qualname__ = getattr(callback, "__qualname__", "")  # `named_inputs` reads it


class _RecordedTopic(_RecordedCallback):
    """The callback of a subscription that takes serialised messages.

    Args:
        subscription: The subscription.
    """

    def __init__(
        self,
        boundary: RecordingBoundary,
        name: str,
        callback: Callable[..., Any],
        subscription: Subscription,
    ) -> None:
        super().__init__(boundary, name, callback)
        self._topic, self._kind = subscription.topic_name, subscription.msg_type

    def __call__(self, data: bytes) -> None:
        self._boundary.call(
            self.name,
            lambda: self._callback(deserialize_message(data, self._kind)),
            received=Sent(self._topic, type_name(self._kind), data),
        )


class _RecordedTimer(_RecordedCallback):
    """The callback of a timer."""

    def __call__(self) -> None:
        self._boundary.call(self.name, self._callback)


class _RecordedService(_RecordedCallback):
    """The callback of a service."""

    def __call__(self, request: Any, response: Any) -> Any:
        return self._boundary.call(
            self.name, lambda: self._callback(request, response), given=pack(request)
        )


def _as_json(value: Any) -> list[Any]:
    return array_text(value) if isinstance(value, np.ndarray) else list(value)


_ENCODER = json.JSONEncoder(default=_as_json)


class Recording:
    """Writes entries to a file in its own thread.

    A failure to write only ends the recording; everything written before is readable.

    Args:
        file: A new file, open for writing.
        node: The recorded node; it logs a failure.
        head: How it was started; see `_head`.
    """

    def __init__(self, file: BufferedWriter, node: Node, head: dict[str, Any]) -> None:
        from mcap.writer import Writer

        self._file, self._log = file, node.get_logger()
        self._topic = f"{node.get_fully_qualified_name()}/{RECORDING}"
        self._writer: Any = Writer(file, enable_data_crcs=True)  # in part without types
        self._channels: dict[tuple[str, str, bool], int] = {}
        self._schemas: dict[str, int] = {}
        self._entries: deque[Entry] = deque()
        self._closing, self._failed = threading.Event(), False
        self._readable = 0  # bytes of the file up to the last flush
        self._writer.start(profile="ros2", library="basis_ik")
        self._write_text(time.time_ns(), head)
        self._flush()
        self._thread = threading.Thread(target=self._work, name=RECORDING, daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Queue an entry; it is written later."""
        if not self._failed:
            self._entries.append(entry)

    def close(self) -> None:
        """Write the remaining entries, and close the file."""
        self._closing.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            due = time.monotonic() + FLUSH_PERIOD
            while not self._closing.wait(WRITE_PERIOD):
                self._write_entries(WRITER_PAUSE)
                if time.monotonic() >= due:
                    due = time.monotonic() + FLUSH_PERIOD
                    self._flush()
            self._write_entries(0.0)
            self._writer.finish()
            self._file.close()
        except (OSError, OverflowError) as error:
            self._give_up(str(error))

    def _give_up(self, text: str) -> None:
        """Truncate the file to its readable part."""
        self._failed = True
        self._entries.clear()
        with contextlib.suppress(OSError):  # the file may have been deleted
            self._file.raw.truncate(self._readable)
            self._file.raw.close()
        self._log.error(f"the recording has ended, {text}: {self._file.name}")

    def _write_entries(self, pause: float) -> None:
        """Write the queued entries.

        Args:
            pause: Time after some entries in which other threads may work [s].
        """
        if len(self._entries) > LARGEST_QUEUE:
            raise OverflowError("for it is written more slowly than entries come")
        count = 0
        while self._entries:
            self._write_entry(self._entries.popleft())
            count += 1
            if count % PAUSE_AFTER == 0:
                time.sleep(pause)

    def _write_entry(self, entry: Entry) -> None:
        if entry.received is not None:
            self._write(entry.time, entry.received, received=True)
        for each in entry.sent:
            self._write(entry.time, each, received=False)
        text = {"name": entry.name, "readings": entry.readings}
        self._write_text(entry.time, text if entry.given is None else text | {"given": entry.given})

    def _write_text(self, when: int, content: dict[str, Any]) -> None:
        encode: Callable[[Any], Iterable[str]] = _ENCODER.encode
        if any(content.get("readings", {}).get("world", ())):
            encode = _ENCODER.iterencode  # it lets the control loop run between two pieces
        data = serialize_message(String(data="".join(encode(content))))
        self._write(when, Sent(self._topic, type_name(String), data), received=False)

    def _write(self, when: int, message: Sent, *, received: bool) -> None:
        key = message.topic, message.kind, received
        channel = self._channels.get(key)
        if channel is None:
            if message.kind not in self._schemas:
                text = definition(message.kind).encode()
                self._schemas[message.kind] = self._writer.register_schema(
                    message.kind, "ros2msg", text
                )
            channel = self._channels[key] = self._writer.register_channel(
                message.topic, "cdr", self._schemas[message.kind], {RECEIVED: str(received).lower()}
            )
        self._writer.add_message(channel, when, message.data, when)

    def _flush(self) -> None:
        self._writer.flush()
        self._readable = self._file.tell()


def type_name(kind: type) -> str:
    """Return the name of a message type, `package/msg/Type`."""
    return f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"
