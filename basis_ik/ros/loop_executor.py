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

"""An executor for a control loop: messages and timers at once, all other entities at intervals.

rclpy's own executors build a wait set of all a node's entities for every wait. Its events executor
needs none, but in rclpy 7.1 it crashes with a segmentation fault when a publisher is destroyed
while one of its events is queued.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from rclpy.executors import (
    ExternalShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
    TimeoutObject,
)
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.timer import Timer
from rclpy.waitable import NumberOfEntities

from basis_ik.ros.boundary import LIVE, Boundary

PAUSE = 0.02  # s between two checks of services, actions and events


class LoopExecutor(SingleThreadedExecutor):
    """Waits for messages and timers; checks services, actions and events every 20 ms.

    A lifecycle node with parameters and services has about fifty entities. Most are rarely used,
    but waiting for them would cost half a millisecond per message and period. Therefore the
    executor waits for messages and timers only, and checks the rest at intervals. Both wait sets
    are kept until the nodes' entities change. rclpy's own executor handles the ready entities.

    An exception in a timer's or a message's callback leaves `spin_once`. An exception in a request
    does not: it only concerns the client, which gets no response. Callbacks of timers and messages
    must be functions, not coroutines.

    Args:
        handle_error: Called with the exception of a request.
        boundary: The node's boundary; it handles messages and timers.
    """

    def __init__(
        self, handle_error: Callable[[BaseException], None], boundary: Boundary = LIVE
    ) -> None:
        super().__init__()
        self._handle_error, self._boundary = handle_error, boundary
        self._last_check = 0.0  # s, long ago
        self._in_use = ExitStack()
        self._timers: dict[int, Timer] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._services: list[Any] = []
        self._clients: list[Any] = []
        self._waitables: list[Any] = []
        self._outdated = True

    def add_node(self, node: Node) -> bool:
        """Add a node; allowed while spinning."""
        added = bool(super().add_node(node))
        self._outdated = True
        return added

    def remove_node(self, node: Node) -> None:
        """Remove a node; allowed while spinning."""
        super().remove_node(node)
        self._outdated = True

    def wake(self) -> None:
        """Handle a change of the nodes' entities; rclpy calls this."""
        self._outdated = True
        super().wake()

    def can_execute(self, entity: Any) -> bool:
        """Return whether rclpy's own executor handles an entity."""
        return not isinstance(entity, (Timer, Subscription)) and super().can_execute(entity)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Release all entities."""
        self._in_use.close()
        return bool(super().shutdown(timeout_sec))

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait at most 20 ms for messages and timers, and handle them and what else is due.

        Args:
            timeout_sec: Longest time to wait, if less than 20 ms [s].

        Raises:
            TypeError: The callback of a timer or a subscription is a coroutine.
        """
        self._spin(PAUSE if timeout_sec is None or timeout_sec < 0.0 else min(timeout_sec, PAUSE))

    def spin_once_until_future_complete(
        self, future: Future[Any], timeout_sec: float | TimeoutObject | None = None
    ) -> None:
        """Do the same as `spin_once`, which returns within 20 ms."""
        self.spin_once(0.0 if future.done() else None)

    _spin_once_until_future_complete = spin_once_until_future_complete  # Kilted's loop calls this

    def _spin(self, timeout: float) -> None:
        if self._outdated:
            self._renew()
        now = time.monotonic()
        if now - self._last_check >= PAUSE:
            self._last_check = now
            if self._has_requests():
                self._handle_requests()
            if self._outdated:
                self._renew()
        self._wait(timeout)

    def _renew(self) -> None:
        """Rebuild both wait sets: messages and timers, and the rest."""
        self._outdated = False
        self._in_use.close()
        self._in_use.enter_context(self._context.handle)
        self._timers, self._subscriptions = {}, {}
        self._services, self._clients, self._waitables = [], [], []
        for node in self.get_nodes():
            self._boundary.entities_changed(node)
            for timer in node.timers:
                _refuse_coroutine(timer.callback, "a timer")
                self._timers[self._use(timer)] = timer
            for subscription in node.subscriptions:
                _refuse_coroutine(subscription.callback, subscription.topic_name)
                self._subscriptions[self._use(subscription)] = subscription
            self._services += node.services
            self._clients += node.clients
            self._waitables += node.waitables
        for each in (*self._services, *self._clients):
            self._in_use.enter_context(each.handle)
        number = NumberOfEntities(num_clients=len(self._clients), num_services=len(self._services))
        for waitable in self._waitables:
            self._in_use.enter_context(waitable)
            number += waitable.get_num_entities()
        context = self._context.handle
        self._wait_set = _rclpy.WaitSet(
            len(self._subscriptions), 0, len(self._timers), 0, 0, 0, context
        )
        self._request_set = _rclpy.WaitSet(
            number.num_subscriptions, number.num_guard_conditions, number.num_timers,
            number.num_clients, number.num_services, number.num_events, context,
        )  # fmt: skip

    def _use(self, entity: Timer | Subscription) -> int:
        """Keep an entity from being destroyed while it is in the wait set."""
        self._in_use.enter_context(entity.handle)
        return int(entity.handle.pointer)

    def _wait(self, timeout: float) -> None:
        if not (self._timers or self._subscriptions):  # a wait set must not be empty
            time.sleep(timeout)
            return
        wait_set = self._wait_set
        wait_set.clear_entities()
        for subscription in self._subscriptions.values():
            wait_set.add_subscription(subscription.handle)
        for timer in self._timers.values():
            wait_set.add_timer(timer.handle)
        wait_set.wait(round(1e9 * timeout))
        if not self._context.ok():
            raise ExternalShutdownException
        # Messages first, so that the loop uses the newest.
        for pointer in wait_set.get_ready_entities("subscription"):
            self._boundary.take(self._subscriptions[pointer])
            if self._outdated:
                return  # some may have been destroyed; the others stay ready
        for pointer in wait_set.get_ready_entities("timer"):
            timer = self._timers[pointer]
            if timer.handle.is_timer_ready():
                timer.handle.call_timer()
                self._boundary.fire(timer)
            if self._outdated:
                return

    def _has_requests(self) -> bool:
        """Return whether a service, an action or an event is ready."""
        if any(not task.done() for task, _, _ in self._tasks):
            return True
        if not (self._services or self._clients or self._waitables):  # as in `_wait`
            return False
        wait_set = self._request_set
        wait_set.clear_entities()
        for service in self._services:
            wait_set.add_service(service.handle)
        for client in self._clients:
            wait_set.add_client(client.handle)
        for waitable in self._waitables:
            waitable.add_to_wait_set(wait_set)
        wait_set.wait(0)
        return bool(
            wait_set.get_ready_entities("service")
            or wait_set.get_ready_entities("client")
            or any(waitable.is_ready(wait_set) for waitable in self._waitables)
        )

    def _handle_requests(self) -> None:
        """Handle the services, actions and events that are ready."""
        try:
            while True:
                handler, _, _ = self.wait_for_ready_callbacks(timeout_sec=0.0)
                handler()
                error = handler.exception()
                if error is not None:
                    self._handle_error(error)
                if self._outdated:  # new entities are registered before their callbacks run
                    self._renew()
        except TimeoutException:
            pass


def _refuse_coroutine(callback: Any, name: str) -> None:
    if inspect.iscoroutinefunction(callback):
        raise TypeError(f"the callback of {name} must be a function, not a coroutine")
