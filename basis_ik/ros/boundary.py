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

"""The node's boundary: all that it learns from outside, and all that it sends.

What the node does follows from its parameters and from what crosses here. So a run that is recorded
here can be played back to the bit; `recording` and `replay` put boundaries of their own in place of
the plain one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from rclpy.clock import Clock
from rclpy.node import Node

T = TypeVar("T")


class Moment(NamedTuple):
    """An instant by both clocks that a control loop goes by; read once in each period."""

    loop: float
    """As of `sim_clock.loop_time` [s]."""
    clock: int
    """The node's clock [ns]."""

    @staticmethod
    def now(clock: Clock) -> Moment:
        """Return the present moment of a node's clock."""
        if clock.ros_time_is_active:
            now = int(clock.now().nanoseconds)
            return Moment(1e-9 * now, now)
        # The same as the clock's own, without the objects that rclpy makes of it.
        return Moment(time.monotonic(), time.time_ns())


class Form(NamedTuple):
    """The form in which what an action's callback takes is recorded.

    Attributes:
        pack: Makes of it what JSON can hold.
        unpack: Makes of that again what serves the callback as well.
    """

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class Boundary:
    """Reads clocks and graph, hands on what comes, and sends; nothing is kept.

    It belongs to the thread of the control loop: other threads read for themselves.
    """

    def read(self, name: str, live: Callable[[], T]) -> T:
        """Return what a source says.

        Args:
            name: Of the source.
            live: Asks it; returns what JSON can hold.
        """
        return live()

    def comes(self, name: str, live: Callable[[], bool], wait: Callable[[], object]) -> bool:
        """Tell whether something that another thread works at is there.

        Args:
            name: Of the source.
            live: Asks it.
            wait: Returns as soon as it is there.
        """
        return self.read(name, live)

    def done(self, future: Future[Any]) -> bool:
        """Tell whether a thread is through with something."""
        return self.comes("done", future.done, future.exception)

    def steady(self) -> float:
        """Return the time of a steady clock [s]."""
        return self.read("steady", time.monotonic)

    def steady_ns(self) -> int:
        """Return the time of a steady clock [ns]."""
        return self.read("steady_ns", time.monotonic_ns)

    def clock(self, clock: Clock) -> int:
        """Return the time of a node's clock [ns]."""
        return self.read("clock", lambda: int(clock.now().nanoseconds))

    def moment(self, clock: Clock) -> Moment:
        """Return the present moment of a node's clock."""
        return Moment(*self.read("moment", lambda: Moment.now(clock)))

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)

    def attend(self, node: Node) -> None:
        """Learn that a node has other subscriptions, timers or services than before."""

    def run(self, name: str, work: Callable[[], T]) -> T:
        """Do what is begun by no message, timer or request.

        Args:
            name: What it is called.
            work: Does it.
        """
        return work()

    def take(self, subscription: Any) -> None:
        """Handle a message, if there is one."""
        taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        if taken is not None:
            subscription.callback(taken[0])

    def fire(self, timer: Any) -> None:
        """Do what a timer is for."""
        timer.callback()

    def expect(self, name: str, callback: Callable[[Any], Any], form: Form) -> Callable[[Any], Any]:
        """Return the callback to give to an action's client or server.

        Args:
            name: Of the callback; one made later takes the place of one of that name.
            callback: Takes one argument.
            form: In which that is recorded.
        """
        return callback

    def send(self, name: str, message: Any, send: Callable[[], T]) -> T | None:
        """Send a message.

        Args:
            name: Of the topic.
            message: What is sent.
            send: Sends it.

        Returns:
            What `send` returns; None where nothing is really sent.
        """
        return send()

    def close(self) -> None:
        """Learn that nothing crosses any more."""

    def publish(self, publisher: Any, message: Any) -> None:
        """Send a message, as an object or serialised."""
        publisher.publish(message)


LIVE = Boundary()


def boundary_of(node: Node) -> Boundary:
    """Return a node's boundary; that of a node without one of its own is the plain one."""
    boundary: Boundary = getattr(node, "boundary", LIVE)
    return boundary


def entrances(node: Node) -> Iterator[tuple[str, Any]]:
    """Yield the subscriptions, timers and services of a node, each with a name of its own.

    The name tells kind, topic (or service, or callback of a timer), and how many of that name were
    made before: the same calls make the same names.
    """
    count = Counter[str]()
    for name, each in (
        *((f"topic {each.topic_name}", each) for each in node.subscriptions),
        *((f"timer {each.callback.__qualname__}", each) for each in node.timers),
        *((f"service {each.srv_name}", each) for each in node.services),
    ):
        yield f"{name} {count[name]}", each
        count[name] += 1
