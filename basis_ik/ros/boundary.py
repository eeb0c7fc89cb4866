# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node's boundary: all its input and output.

The node's behaviour depends only on its parameters and on what crosses this boundary. A run that is
recorded here can therefore be replayed bit for bit: `recording` and `replay` replace the plain
boundary by their own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar

from rclpy.clock import Clock
from rclpy.node import Node

from basis_ik.arm.moment import Moment

T = TypeVar("T")


def present(clock: Clock) -> Moment:
    """Return the present moment of a node's clock."""
    if clock.ros_time_is_active:
        now = int(clock.now().nanoseconds)
        return Moment(1e-9 * now, now)
    # The same as the clock's own method, without rclpy's temporary objects.
    return Moment(time.monotonic(), time.time_ns())


class Form(NamedTuple):
    """The conversions that record a value, such as the argument of an action's callback.

    Attributes:
        pack: Converts it for JSON; it may have arrays.
        unpack: Converts it back to an equivalent value.
    """

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class Job(Generic[T]):
    """Work in another thread.

    Args:
        future: Its future.
        boundary: The node's boundary.
    """

    def __init__(self, future: Future[T], boundary: Boundary) -> None:
        self._future, self._boundary = future, boundary

    def done(self) -> bool:
        """Return whether it has ended."""
        return self._boundary.done(self._future)

    def result(self) -> T:
        """Return its result, once it has ended."""
        return self._future.result()


class Boundary:
    """Reads clocks and graph, forwards input, and sends; it stores nothing.

    Only the thread of the control loop uses it, apart from `clock_aside`.
    """

    def read(self, name: str, live: Callable[[], T]) -> T:
        """Return the value of a source, for example of the ROS graph.

        Args:
            name: Name of the source.
            live: Queries it; returns a value for JSON.
        """
        return live()

    def take(self, name: str, live: Callable[[], T], form: Form) -> T:
        """Return the value of a source that JSON does not have as it is.

        Args:
            name: Name of the source.
            live: Queries it.
            form: How the value is recorded. Its conversions are called once for each value, in
                order.
        """
        return live()

    def is_ready(self, name: str, live: Callable[[], bool], wait: Callable[[], object]) -> bool:
        """Return whether the result of another thread is ready.

        Args:
            name: Name of the source.
            live: Queries it.
            wait: Blocks until it is ready.
        """
        return self.read(name, live)

    def done(self, future: Future[Any]) -> bool:
        """Return whether another thread's future is done."""
        return self.is_ready("done", future.done, future.exception)

    def thread(self, name: str) -> Callable[[Callable[[], T]], Job[T]]:
        """Return a function that lets a thread of its own do work.

        Args:
            name: Name of the thread, which starts with the first work.
        """
        executor = ThreadPoolExecutor(1, name)
        return lambda work: Job(executor.submit(work), self)

    def steady(self) -> float:
        """Return the time of a steady clock [s]."""
        return self.read("steady", time.monotonic)

    def steady_ns(self) -> int:
        """Return the time of a steady clock [ns]."""
        return self.read("steady_ns", time.monotonic_ns)

    def clock(self, clock: Clock) -> int:
        """Return the time of a node's clock [ns]."""
        return self.read("clock", lambda: int(clock.now().nanoseconds))

    def clock_aside(self, clock: Clock) -> int:
        """Return the time of a node's clock to another thread than the loop's [ns]."""
        return int(clock.now().nanoseconds)

    def moment(self, clock: Clock) -> Moment:
        """Return the present moment of a node's clock."""
        return Moment(*self.read("moment", lambda: present(clock)))

    def sleep(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def before_callbacks(self, node: Node) -> None:
        """Handle new subscriptions, timers and services of a node, before their callbacks run."""

    def run(self, name: str, work: Callable[[], T]) -> T:
        """Run work that is not started by a message, timer or request.

        Args:
            name: Name of the work.
            work: The function to run.
        """
        return work()

    def wrap(self, name: str, callback: Callable[[Any], Any], form: Form) -> Callable[[Any], Any]:
        """Return the callback to give to an action's client or server.

        Args:
            name: Name of the callback; a later one replaces an earlier one of that name.
            callback: Takes one argument.
            form: How the argument is recorded.
        """
        return callback

    def send(self, name: str, message: Any, send: Callable[[], T]) -> T | None:
        """Send a message.

        Args:
            name: Name of the topic.
            message: The message.
            send: Sends it.

        Returns:
            The result of `send`; None in a replay, which sends nothing.
        """
        return send()

    def close(self) -> None:
        """End the input and output."""

    def publish(self, publisher: Any, message: Any) -> None:
        """Send a message, as an object or serialised."""
        publisher.publish(message)


LIVE = Boundary()


def boundary_of(node: Node) -> Boundary:
    """Return a node's boundary; the plain one for a node without its own."""
    boundary: Boundary = getattr(node, "boundary", LIVE)
    return boundary


def named_inputs(node: Node) -> Iterator[tuple[str, Any]]:
    """Yield the subscriptions, timers and services of a node, each with a unique name.

    A name has the kind, the topic (or service, or timer callback), and the number of earlier inputs
    of that name, so that the same calls give the same names.
    """
    count = Counter[str]()
    for name, each in (
        *((f"topic {each.topic_name}", each) for each in node.subscriptions),
        *((f"timer {each.callback.__qualname__}", each) for each in node.timers),
        *((f"service {each.srv_name}", each) for each in node.services),
    ):
        yield f"{name} {count[name]}", each
        count[name] += 1
