# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The real `ik_node` on the clock of a `World`: its input, output and time are those of the test.

What the node is made of is all there: parameters, lifecycle, services, tf, solves in threads. What
lies outside its boundary is not: DDS, the executor and the graph.
"""

import collections
import contextlib
import copy
import functools
import os
import time
from concurrent.futures import Future
from types import SimpleNamespace
from unittest import mock

import rclpy
from action_msgs.msg import GoalStatus
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.action import GoalResponse
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future as TaskFuture
from rclpy.time import Time
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from world import SECOND, Stalls, World

from basis_ik.arm.moment import Moment
from basis_ik.ros.boundary import Boundary, present
from basis_ik.ros.ik_node import IkNode, turn
from basis_ik.ros.periodic_spinner import SPIN_PAUSE
from basis_ik.warm_up import Step, node_steps

STEADY = 1000 * SECOND  # ns: of the steady clock at the world's beginning
EPOCH = 1_700_000_000 * SECOND  # of the system's


class VirtualBoundary(Boundary):
    """The node's input and output in a world.

    Args:
        world: The world.

    Attributes:
        offset: Of the system's clock from the world's [ns].
        stalls: When the node has no processor.
        sources: What the node sees of the ROS graph, by the beginnings of the sources' names.
        solving: Time that a solve in a thread takes [s].
        replaces: What the controller answers to whether it replaces trajectories; None: nothing.
        partial: What it answers to whether a trajectory may omit joints; None: nothing.
        publish_to: Called with topic and message of all that the node publishes.
        order, cancel: Called with each goal that the node sends, or cancels.
        grip, let_go: The same of a gripper's.
        answers: What callbacks of clients and actions are to be called with, in order.
    """

    def __init__(self, world):
        self.world, self.stalls = world, Stalls(world)
        self.offset = EPOCH
        self.sources = {
            "alike": 1,
            "listeners": 1,
            "publishers": 1,
            "compiling": False,
            "scaling": 1,
        }
        self.sources |= {"publishing": ["/robot"], "progress": "", "ready": True}
        self.solving, self.replaces, self.partial = 0.0, False, False
        self.publish_to = self.order = self.cancel = self.grip = self.let_go = None
        self.answers = collections.deque()
        self._begun = {}
        self._callbacks = {}

    def system(self):
        """Return the system's time [ns]."""
        return self.world.now + self.offset

    def read(self, name, live):
        now = STEADY + self.world.now
        if name == "steady":
            return 1e-9 * now
        if name == "steady_ns":
            return now
        return self.sources.get(name.split(" ", 1)[0]) if name != "cancel" else live()

    def clock(self, clock):
        return clock.now().nanoseconds if clock.ros_time_is_active else self.system()

    def moment(self, clock):
        if clock.ros_time_is_active:
            return present(clock)
        return Moment(1e-9 * (STEADY + self.world.now), self.system())

    def is_ready(self, name, live, wait):
        if name == "done" and self.solving and not self._is_over(wait):
            return False
        wait()
        return True

    def _is_over(self, wait):
        """Return whether a thread has had its time; the first query counts as its beginning."""
        future = wait.__self__
        begun = self._begun.setdefault(id(future), (future, self.world.now))[1]
        return self.world.now - begun >= SECOND * self.solving

    def sleep(self, seconds):
        self.world.advance(self.world.now + max(round(SECOND * seconds), 1))
        self.world.advance(self.stalls.end())

    def wrap(self, name, callback, form):
        self._callbacks[name] = callback
        if name.startswith("response "):
            self.newest = name
        return callback

    def answer(self, name, value):
        """Let the node's callback of a name be called with a value, in its next turn."""
        self.answers.append(lambda: self.enter(name, value))

    def enter(self, name, value):
        """Call the node's callback of a name; return its result."""
        return self._callbacks[name](value)

    def publish(self, publisher, message):
        if isinstance(message, bytes):
            message = deserialize_message(message, publisher.msg_type)
        self.publish_to(publisher.topic_name, message)

    def send(self, name, message, send):
        if isinstance(message, JointTrajectory):
            self.order(Goal(self, message))
            return
        if name.endswith("gripper_cmd/goal"):
            self.grip(Goal(self, message))
            return
        values = {
            "allow_trajectory_replacement": self.replaces,
            "allow_partial_joints_goal": self.partial,
        }
        value = values[message.names[0]]  # it asks the controller for one parameter
        if value is not None:
            values = [ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value)]
            answer = SimpleNamespace(result=lambda: GetParameters.Response(values=values))
            self.answer(f"parameters {name.removesuffix('/request')}", answer)


class Goal:
    """A goal that the node has sent: its client's handle, and what the server says of it.

    Attributes:
        trajectory: What the node wants.
        accepted: Whether the server has accepted it.
    """

    def __init__(self, boundary, trajectory):
        self._boundary, self.trajectory = boundary, trajectory
        self._name = boundary.newest.removeprefix("response ")
        self.accepted = False
        self._end, self._waiting = None, []

    def respond(self, accepted):
        """Accept or reject it."""
        self.accepted = accepted
        self._boundary.answer(f"response {self._name}", SimpleNamespace(result=lambda: self))

    def feed_back(self, feedback):
        """Send feedback."""
        self._boundary.answer(f"feedback {self._name}", SimpleNamespace(feedback=feedback))

    def end(self, status, text="", **fields):
        """Send the result."""
        result = SimpleNamespace(error_string=text, **fields)
        self._end = SimpleNamespace(status=status, result=result)
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            self._boundary.answers.append(lambda future=future: future.set_result(self._end))

    def forget(self):
        """Know it no longer: the server was started again."""
        self._waiting = []
        self._end = SimpleNamespace(status=GoalStatus.STATUS_UNKNOWN)

    def get_result_async(self):
        """Return a future of its result, as rclpy's handle does."""
        future = TaskFuture()
        if self._end is None:
            self._waiting.append(future)
        else:
            self._boundary.answers.append(lambda: future.set_result(self._end))
        return future

    def cancel_goal_async(self):
        """Cancel it, as rclpy's handle does."""
        own = "gripper" in self._name
        (self._boundary.let_go if own else self._boundary.cancel)(self)


class ActionGoal:
    """A goal of one of the node's actions: the server's handle, and what its client hears.

    Args:
        boundary: The node's.
        name: The action's.
        request: The goal.

    Attributes:
        accepted: Whether the node has accepted it; None: it has not answered.
        feedback: The messages that it has sent.
        status: How it has ended; None: it has not.
        result: With which message.
        is_cancel_requested: As of rclpy's handle; set by the client.
    """

    def __init__(self, boundary, name, request):
        self._boundary, self._name, self.request = boundary, name, request
        self.accepted = self.status = self.result = self._end = None
        self.feedback, self.is_cancel_requested = [], False
        boundary.answers.append(self._begin)

    def _begin(self):
        answer = self._boundary.enter(f"goal {self._name}", self.request)
        self.accepted = answer is GoalResponse.ACCEPT
        if self.accepted:
            self._boundary.enter(f"accepted {self._name}", self)

    def execute(self, callback):
        """Execute it, as rclpy's handle does."""
        self._execution = callback(self)
        self._boundary.answers.append(self._continue)

    def _continue(self):
        """Resume the node's coroutine; its result ends the goal."""
        try:
            self._execution.send(None)
        except StopIteration as end:
            self.status, self.result = self._end, end.value
        else:
            self._boundary.answers.append(self._continue)

    def publish_feedback(self, feedback):
        """Take feedback; of the head action its angle."""
        self.feedback.append(getattr(feedback, "pointing_angle_error", feedback))

    def succeed(self):
        """End it."""
        self._finish(GoalStatus.STATUS_SUCCEEDED)

    def abort(self):
        """End it."""
        self._finish(GoalStatus.STATUS_ABORTED)

    def canceled(self):
        """End it."""
        assert self.is_cancel_requested
        self._finish(GoalStatus.STATUS_CANCELED)

    def _finish(self, end):
        assert self._end is None, "it has ended"
        self._end = end


class Log(list):
    """Lines of the node's log, as pairs of level and text."""

    def _take(self, level, text, **_):
        self.append((level, text))

    def __getattr__(self, level):
        if level not in ("debug", "info", "warning", "warn", "error", "fatal"):
            raise AttributeError(level)
        return functools.partial(self._take, level)

    def get_child(self, _):
        return self

    def lines(self):
        return [text for _, text in self]


class VirtualClock:
    """A node's clock that shows the world's time."""

    def __init__(self, clock, boundary):
        self._clock, self._boundary = clock, boundary

    def __getattr__(self, name):
        return getattr(self._clock, name)

    def now(self):
        now = self._boundary.clock(self._clock)
        return Time(nanoseconds=now, clock_type=self._clock.clock_type)


@functools.cache
def steps_once():
    """Return the steps by which the node loads its kernels, each of which runs once."""
    return [Step(each.name, functools.cache(each.run)) for each in node_steps()]


class VirtualNode(IkNode):
    """`IkNode` with the world's time and a log that a test can read.

    Attributes:
        changes: How often it has created or destroyed a subscription.
    """

    changes = 0

    def __init__(self, boundary):
        self.log, self.boundary = Log(), boundary
        with mock.patch("basis_ik.ros.ik_node.node_steps", steps_once):
            super().__init__(lambda *_: boundary)

    def get_clock(self):
        return VirtualClock(super().get_clock(), self.boundary)

    def get_logger(self):
        return self.log

    def create_publisher(self, kind, topic, *arguments, **more):
        """Return a publisher whose messages the test hears, and which has a subscriber."""
        publisher = super().create_publisher(kind, topic, *arguments, **more)
        publisher.publish = functools.partial(self.boundary.publish, publisher)
        publisher.get_subscription_count = lambda: 1
        return publisher

    def create_subscription(self, *arguments, **more):
        self.changes += 1
        return super().create_subscription(*arguments, **more)

    def destroy_subscription(self, subscription):
        self.changes += 1
        return super().destroy_subscription(subscription)


class Spinner:
    """Handles the node's input in a world; in all else as `PeriodicSpinner`."""

    def __init__(self, node, boundary):
        self._node, self._world, self._boundary = node, boundary.world, boundary
        self._queues, self._requests, self._due = {}, collections.deque(), {}
        self._urgent_queues, self._topics = [], collections.defaultdict(list)
        self._changes = None  # of the node, as of the queues
        self._last_check = -SECOND

    def receive(self, topic, message):
        """Put a message into the queue of each subscription of a topic."""
        if self._changes != self._node.changes:
            self._make_queues()
        for queue in self._topics.get(topic, ()):
            queue.append(message)

    def forget(self):
        """Keep nothing of what the node may have destroyed."""
        self._make_queues()
        self._due.clear()

    def _make_queues(self):
        """Give each of the node's subscriptions a queue, or the one that it has."""
        before, self._queues, self._changes = self._queues, {}, self._node.changes
        self._urgent_queues.clear()
        self._topics.clear()
        for each in self._node.subscriptions:
            queue = before.get(each)
            if queue is None:
                queue = collections.deque(maxlen=each.qos_profile.depth or None)
            self._queues[each] = queue
            self._topics[each.topic_name].append(queue)
            if each.callback_group is self._node.inputs.urgent:
                self._urgent_queues.append(queue)

    def request(self, service, request):
        """Let a service be called; return the future of its response."""
        future = Future()
        name = self._node.resolve_service_name
        (found,) = [each for each in self._node.services if name(each.srv_name) == service]
        self._requests.append((found, request, future))
        return future

    def now(self):
        return 1e-9 * (STEADY + self._world.now)

    def sleep(self, seconds):
        self._boundary.sleep(seconds)

    def wait(self, seconds):
        until = self._world.now + max(round(SECOND * seconds), 1)
        if not self._urgent():
            self._world.advance(until, ends=self._urgent)
            self._world.advance(self._boundary.stalls.end())
        if not self._urgent():
            return False
        self._handle_once()
        return True

    def _urgent(self):
        return any(self._urgent_queues)

    def handle_messages(self):
        while self._handle_once():
            pass

    def _handle_once(self):
        """Handle the first message of each queue; return whether there was one."""
        if self._changes != self._node.changes:
            self._make_queues()
        waiting = [(each, queue) for each, queue in self._queues.items() if queue]
        for each, queue in waiting:
            each.callback(queue.popleft())
        return bool(waiting)

    def handle_others(self):
        now = self._world.now
        if now - self._last_check < SECOND * SPIN_PAUSE:
            return
        self._last_check = now
        for _ in range(len(self._boundary.answers)):
            self._boundary.answers.popleft()()
        for timer in list(self._node.timers):
            due = self._due.setdefault(timer, now + timer.timer_period_ns)
            if now >= due and not timer.is_canceled():
                self._due[timer] = due + timer.timer_period_ns
                timer.callback()
        for _ in range(len(self._requests)):
            service, request, future = self._requests.popleft()
            try:
                response = copy.deepcopy(service.callback(request, service.srv_type.Response()))
            except Exception as error:
                self._node.log_failure(error)  # the client gets no response
            else:
                self._world.at(now, functools.partial(future.set_result, response))


class Loop:
    """The loop of `ik_node`: turn by turn.

    Args:
        boundary: Its boundary.
        words: Arguments of ROS.
    """

    def __init__(self, boundary, words=()):
        with mock.patch.dict(os.environ, ROS_AUTOMATIC_DISCOVERY_RANGE="OFF"):
            rclpy.init(args=["--ros-args", *words], signal_handler_options=SignalHandlerOptions.NO)
        with contextlib.ExitStack() as stack:
            stack.callback(rclpy.try_shutdown)
            self.node = VirtualNode(boundary)
            stack.pop_all()
        self.spinner = Spinner(self.node, boundary)
        while not self.node.check_kernels():
            time.sleep(0.01)
        self.node.start()
        self._due = self.spinner.now()

    def turn(self):
        """Let the node wait for its next period, or for a target, and handle what came."""
        self._due = turn(self.node, self.spinner, self._due)

    def end(self):
        """End the node as by a signal."""
        self.node.end()
        self.node.destroy_node()
        rclpy.try_shutdown()


@contextlib.contextmanager
def alone(urdf, *words, topic="/robot_description"):
    """Yield a node that has read a robot's description, and hears of nothing else."""
    boundary = VirtualBoundary(World())
    boundary.publish_to = lambda topic, message: None
    loop = Loop(boundary, words)
    try:
        loop.spinner.receive(topic, String(data=urdf))
        while boundary.world.now < SECOND:
            loop.turn()
        yield loop.node
    finally:
        loop.end()
