# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Another program's node on the clock of a `World`: its messages, services and goals are calls."""

import collections.abc
import contextlib
import functools
import os
import sys
from types import SimpleNamespace
from unittest import mock

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import CancelResponse, GoalResponse
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from virtual_node import EPOCH, Log
from world import SECOND, Stalls

from basis_ik.ros.boundary import Boundary


class VirtualProgram:
    """A node that lives by its callbacks, as `periodic_spinner.spin` runs it.

    Args:
        world: Its clock.
        kind: The node's class.
        words: Arguments of ROS.

    Attributes:
        node: The node.
        log: What it has logged.
        sent: The messages of each topic that it has published.
        stalls: When it has no processor.
        offset: Of its clock from the world's [ns].
        end: Ends the node.
    """

    def __init__(self, world, kind, *words):
        self.world, self.stalls, self.log = world, Stalls(world), Log()
        self.offset = EPOCH
        self.sent = collections.defaultdict(Sent)
        self._queues = {}
        with mock.patch.dict(os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE="OFF"):
            rclpy.init(args=["--ros-args", *words], signal_handler_options=SignalHandlerOptions.NO)
        with contextlib.ExitStack() as stack:
            stack.callback(rclpy.try_shutdown)
            # Nodes that pace what they say.
            clock = SimpleNamespace(monotonic=lambda: 1e-9 * world.now)
            module = sys.modules[kind.__module__]
            stack.enter_context(mock.patch.object(module, "time", clock, create=True))
            self.node = type(kind.__name__, (_Virtual, kind), {"program": self})()
            stack.callback(self.node.destroy_node)
            self.end = stack.pop_all().close

    def now(self):
        """Return the time of its clock."""
        return Time(nanoseconds=self.world.now + self.offset)

    def hear(self, topic, message):
        """Keep a message."""
        self.sent[topic].add(message)

    def run(self, seconds):
        """Let time pass."""
        self.world.advance(self.world.now + round(SECOND * seconds))

    def receive(self, topic, message):
        """Let a message come: its callback is called as soon as the node has a processor."""
        for each in self.node.subscriptions:
            if each.topic_name == topic:
                depth = each.qos_profile.depth or None
                queue = self._queues.setdefault(each, collections.deque(maxlen=depth))
                queue.append(message)
        self.world.at(self.stalls.end(), self._handle)

    def _handle(self):
        for each, queue in list(self._queues.items()):
            while queue:
                each.callback(queue.popleft())

    def call(self, kind, name, **fields):
        """Call a service; return its response."""
        full = self.node.resolve_service_name
        (found,) = [each for each in self.node.services if full(each.srv_name) == full(name)]
        return found.callback(kind.Request(**fields), kind.Response())


class Sent(collections.abc.Sequence):
    """Messages as they were on the wire: a node may fill its own again.

    Each is read when it is looked at, which takes longer than to write it.
    """

    def __init__(self):
        self._wire, self._read = [], {}

    def add(self, message):
        """Keep a message as it is now."""
        self._wire.append((serialize_message(message), type(message)))

    def clear(self):
        """Forget them."""
        self.__init__()

    def __len__(self):
        return len(self._wire)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        number = range(len(self))[index]
        if number not in self._read:
            self._read[number] = deserialize_message(*self._wire[number])
        return self._read[number]


class _Steady(Boundary):
    """Its steady clock is the world's."""

    def __init__(self, world):
        self._world = world

    def steady(self):
        return 1e-9 * self._world.now


class _Virtual:
    """What a node takes from rclpy: clock, log, timers, publishers."""

    @property
    def boundary(self):
        return _Steady(self.program.world)

    def get_clock(self):
        return SimpleNamespace(now=self.program.now, ros_time_is_active=False)

    def get_logger(self):
        return self.program.log

    def create_timer(self, period, callback, *_, **__):
        world, stalls = self.program.world, self.program.stalls
        step, timer = round(SECOND * period), SimpleNamespace(is_canceled=False)

        def ring(due):
            if timer.is_canceled:
                return
            world.at(due + step, functools.partial(ring, due + step))
            if stalls.end() == world.now:
                callback()

        world.at(world.now + step, functools.partial(ring, world.now + step))
        return timer

    def destroy_timer(self, timer):
        timer.is_canceled = True

    def create_publisher(self, kind, topic, *arguments, **more):
        publisher = super().create_publisher(kind, topic, *arguments, **more)
        publisher.publish = functools.partial(self.program.hear, publisher.topic_name)
        publisher.get_subscription_count = lambda: 1
        return publisher


class Server:
    """Stands in for rclpy's action server: the test sends goals, and cancels them.

    Attributes:
        newest: The one that was made last.
    """

    newest = None

    def __init__(self, *_, goal_callback, handle_accepted_callback, cancel_callback, **__):
        Server.newest = self
        self._goal, self._accepted = goal_callback, handle_accepted_callback
        self._cancel = cancel_callback

    def send(self, request):
        """Return the goal; it may have been rejected."""
        goal = Goal(request, self._goal(request) == GoalResponse.ACCEPT)
        if goal.accepted:
            self._accepted(goal)
        return goal

    def cancel(self, goal):
        """Request that a goal be canceled."""
        goal.is_cancel_requested = self._cancel(goal) == CancelResponse.ACCEPT


class Goal:
    """A goal, as the server's callbacks see it, and what becomes of it.

    Attributes:
        accepted: Whether the server has accepted it.
        feedback: All of its feedback.
        status: Its last status, of action_msgs/GoalStatus.
    """

    def __init__(self, request, accepted):
        self.request, self.accepted = request, accepted
        self.is_cancel_requested, self.feedback = False, []
        self.status, self._work = GoalStatus.STATUS_EXECUTING, None

    def execute(self, work):
        self._work = work

    def publish_feedback(self, message):
        self.feedback.append(message)

    def succeed(self):
        self.status = GoalStatus.STATUS_SUCCEEDED

    def canceled(self):
        self.status = GoalStatus.STATUS_CANCELED

    def abort(self):
        self.status = GoalStatus.STATUS_ABORTED

    def result(self):
        """Return the result, once the goal has ended."""
        try:
            self._work(self).send(None)
        except StopIteration as end:
            return end.value
        raise AssertionError("the goal has not ended")
