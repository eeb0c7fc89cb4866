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

"""Listener and broadcasters in separate contexts, over DDS."""

import threading
import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.time import Time
from tf2_ros import (
    Buffer,
    StaticTransformBroadcaster,
    TransformBroadcaster,
    TransformException,
    TransformListener,
)


class Graph:
    """Nodes, each in its own context as if in its own process, spun together."""

    def __init__(self, domain):
        self._domain = domain
        self._made = []

    def node(self, name, spun=True):
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=self._domain)
        node = rclpy.create_node(name, context=context)
        executor = SingleThreadedExecutor(context=context)
        if spun:
            executor.add_node(node)
        self._made.append((node, executor, context))
        return node

    def spin_until(self, condition):
        end = time.monotonic() + 20.0
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            for _, executor, _ in self._made:
                executor.spin_once(timeout_sec=0.01)

    def close(self):
        for node, executor, context in self._made:
            executor.shutdown()
            node.destroy_node()
            context.try_shutdown()


@pytest.fixture
def graph(domain):
    graph = Graph(domain)
    yield graph
    graph.close()


@pytest.fixture
def buffer():
    return Buffer()


def knows(buffer, target, source):
    def known():
        try:
            return buffer.lookup_transform(target, source, Time())
        except TransformException:
            return None

    return known


def test_what_is_sent_is_heard(graph, buffer, stamped):
    TransformListener(buffer, graph.node("listener"))
    sender = TransformBroadcaster(graph.node("sender"))
    graph.spin_until(sender.pub_tf.get_subscription_count)

    def sent():
        sender.sendTransform(stamped("a", "b", 1.0))
        sender.sendTransform([stamped("b", "c", 1.0), stamped("c", "d", 1.0)])
        return knows(buffer, "a", "d")()

    graph.spin_until(sent)


def test_static_transforms_reach_who_comes_late(graph, buffer, stamped):
    sender = StaticTransformBroadcaster(graph.node("sender"))
    sender.sendTransform(stamped("a", "b", 1.0, (1.0, 0.0, 0.0)))
    sender.sendTransform([stamped("b", "c", 1.0), stamped("b", "d", 1.0)])
    sender.sendTransform(stamped("a", "b", 1.0, (2.0, 0.0, 0.0)))
    TransformListener(buffer, graph.node("listener"))
    for frame in ("b", "c", "d"):
        graph.spin_until(knows(buffer, "a", frame))
    assert knows(buffer, "a", "d")().transform.translation.x == 2.0


def test_a_thread_of_its_own_hears_while_nobody_spins(graph, buffer, stamped):
    StaticTransformBroadcaster(graph.node("sender")).sendTransform(stamped("a", "b", 1.0))
    listening = graph.node("listener", spun=False)
    listener = TransformListener(buffer, listening, spin_thread=True)
    graph.spin_until(knows(buffer, "a", "b"))
    listening.context.try_shutdown()
    listener.dedicated_listener_thread.join(10.0)
    assert not listener.dedicated_listener_thread.is_alive()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_thread_ends_quietly_with_rclpy(domain, buffer):
    for pause in (0.0, 0.001, 0.003, 0.01, 0.02):  # at different steps of the executor
        rclpy.init(domain_id=domain)
        node = rclpy.create_node("alone")
        listener = TransformListener(buffer, node, spin_thread=True)
        time.sleep(pause)
        rclpy.shutdown()
        listener.dedicated_listener_thread.join(10.0)
        assert not listener.dedicated_listener_thread.is_alive()


def test_the_thread_does_not_hide_a_fault(graph, buffer):
    node, raised = graph.node("alone", spun=False), []
    listener = TransformListener(buffer, node, spin_thread=True)
    hook, threading.excepthook = threading.excepthook, raised.append
    try:
        node.create_timer(0.01, lambda: 1 / 0)
        listener.dedicated_listener_thread.join(10.0)
    finally:
        threading.excepthook = hook
    assert [each.exc_type for each in raised] == [ZeroDivisionError]
