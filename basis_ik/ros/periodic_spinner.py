# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Spins a node, alone or in the pauses of a loop, by public names of rclpy alone.

rclpy's single-threaded executor makes a wait set of all entities that may run, for every callback
anew. With the sixty entities of a node that costs more than the loop itself. A callback group says
which entities may run, and so which ones are waited for. `InputGroup` uses that: a node waits for
its urgent messages only, handles all messages once per turn, and everything else at intervals,
after the work of a period.

rclpy's events executor makes no wait sets at all, but in rclpy 7.1 it crashes with a segmentation
fault when a publisher is destroyed while one of its events is queued.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto
from itertools import chain
from threading import Event
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from basis_ik.ros.boundary import LIVE, Boundary

SPIN_PAUSE = 0.02  # [s] between two checks of timers, services, actions and events


class Phase(Enum):
    """Which callbacks may run now."""

    URGENT = auto()
    """Those of urgent messages."""
    MESSAGES = auto()
    """Those of all messages."""
    OTHERS = auto()
    """Those of timers, services, actions and events."""


class Inputs:
    """The callback groups of a node that a `PeriodicSpinner` spins.

    Attributes:
        urgent: Group of messages that end a wait; their queues should hold one message only.
        others: Group of everything else. The spinner moves entities of foreign groups into it.
        phase: Which callbacks may run now.
        begun: The entity whose callback began last, or None.
        awaiting: Number of coroutines that wait for something. Up to rclpy 7.1.8 an executor
            resumes each of them, in vain, before it looks for callbacks; whoever awaits must count
            itself here.
    """

    def __init__(self) -> None:
        self.urgent, self.others = InputGroup(self), InputGroup(self)
        self.phase = Phase.MESSAGES
        self.begun: Any = None
        self.awaiting = 0


class InputGroup(CallbackGroup):
    """Callbacks that run in their phases only.

    Args:
        inputs: The groups of the node.
    """

    def __init__(self, inputs: Inputs) -> None:
        super().__init__()
        self._inputs = inputs

    def can_execute(self, entity: Any) -> bool:
        """Return whether an entity's callback may run now."""
        phase = self._inputs.phase
        if isinstance(entity, Subscription):
            return phase is Phase.MESSAGES or (
                phase is Phase.URGENT and self is self._inputs.urgent
            )
        return phase is Phase.OTHERS

    def beginning_execution(self, entity: Any) -> bool:
        """Note which callback begins, and allow it."""
        self._inputs.begun = entity
        return True

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: a single thread runs one callback at a time."""


class PeriodicSpinner:
    """Handles the messages and requests of a node between the periods of a loop.

    An exception in the callback of a timer or a message leaves its methods. One of a request does
    not: it only concerns the client, which gets no response.

    Args:
        node: The node.
        inputs: Its callback groups.
        period: Period of the loop [s].
        handle_error: Called with the exception of a request.
        boundary: The node's boundary.
    """

    def __init__(
        self,
        node: Node,
        inputs: Inputs,
        period: float,
        handle_error: Callable[[BaseException], None],
        boundary: Boundary = LIVE,
    ) -> None:
        self._node, self._inputs, self._longest = node, inputs, 0.5 * period
        self._handle_error, self._boundary = handle_error, boundary
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        self._last_check = 0.0  # s, long ago

    def now(self) -> float:
        """Return the time of the steady clock by which it waits [s]."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait, and handle nothing."""
        time.sleep(seconds)

    def wait(self, seconds: float) -> bool:
        """Wait for an urgent message, and handle it and one of each other topic.

        Args:
            seconds: Longest time to wait [s].

        Returns:
            Whether there was one.
        """
        self._inputs.phase = Phase.URGENT
        self._adopt()
        end = time.monotonic() + seconds
        for _ in range(1 + self._inputs.awaiting):
            if self._spin_once(seconds):
                self._inputs.phase = Phase.MESSAGES
                self._handle_once(end)
                return True
            if time.monotonic() >= end:
                break
        return False

    def handle_messages(self) -> None:
        """Handle the messages that are there.

        Several messages of one topic are handled, too, but for at most half a period: somebody may
        publish faster than any node reads.
        """
        self._inputs.phase = Phase.MESSAGES
        end = time.monotonic() + self._longest
        while self._handle_once(end) and time.monotonic() < end:
            pass

    def handle_others(self) -> None:
        """Handle timers, requests and events; do nothing within 20 ms of the last time."""
        now = time.monotonic()
        if now - self._last_check >= SPIN_PAUSE:
            self._last_check = now
            self._inputs.phase = Phase.OTHERS
            self._handle_once(now + self._longest)

    def shutdown(self) -> None:
        """Release the node."""
        self._executor.shutdown()

    def _handle_once(self, end: float) -> bool:
        """Run the callbacks of the phase that are ready; return whether messages may be left.

        Args:
            end: When to leave messages, on the steady clock [s].
        """
        self._adopt()
        queued, idle = False, 0
        while idle <= self._inputs.awaiting:
            if self._spin_once(0.0):
                idle, begun = 0, self._inputs.begun
                queued = queued or begun.callback_group is self._inputs.others
            else:
                idle += 1
            if self._inputs.awaiting and time.monotonic() >= end:
                break
        return queued

    def _adopt(self) -> None:
        """Move new entities into the node's groups, and tell the boundary.

        tf2's listener, for example, creates a group of its own.
        """
        node, urgent, others = self._node, self._inputs.urgent, self._inputs.others
        for each in chain(
            node.subscriptions, node.waitables, node.timers, node.services, node.clients
        ):
            if each.callback_group is not others and each.callback_group is not urgent:
                each.callback_group = others
        self._boundary.before_callbacks(node)

    def _spin_once(self, timeout: float) -> bool:
        """Run at most one callback; return whether one ran.

        Args:
            timeout: Longest time to wait for it [s].
        """
        inputs = self._inputs
        inputs.begun = None
        try:
            self._executor.spin_once(timeout_sec=timeout)
        except Exception as error:
            if inputs.begun is None or isinstance(inputs.begun, (Timer, Subscription)):
                raise
            self._handle_error(error)
        return inputs.begun is not None


def spin(node: Node, stop: Event) -> None:
    """Handle a node's messages until `stop` is set."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.1)  # `stop` is only checked in between
    executor.shutdown()
    node.destroy_node()
