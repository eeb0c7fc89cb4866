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
from rclpy.clock import ClockType
from rclpy.duration import Duration
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from tf2_msgs.srv import FrameGraph
from tf2_ros import Buffer, StaticTransformBroadcaster, TransformBroadcaster, TransformListener


@pytest.fixture
def buffer():
    return Buffer()


def matched(listener, sender):
    def both():
        return sender.pub_tf.get_subscription_count() and listener.tf_sub.get_publisher_count()

    return both


def test_what_is_sent_is_heard(graph, buffer, stamped):
    listener = TransformListener(buffer, graph.node("listener"))
    sender = TransformBroadcaster(graph.node("sender"))
    graph.spin_until(matched(listener, sender))
    sender.sendTransform(stamped("a", "b", 1.0, x=3.0))
    sender.sendTransform([stamped("b", "c", 1.0), stamped("c", "d", 1.0)])
    sender.sendTransform(iter([stamped("d", "e", 1.0)]))
    graph.spin_until(lambda: buffer.can_transform("a", "e", Time(seconds=1)))
    assert buffer.lookup_transform("a", "e", Time()).transform.translation.x == 3.0
    assert "broadcaster: 'default_authority'" in buffer.all_frames_as_yaml()
    listener.unregister()
    graph.spin_until(lambda: not sender.pub_tf.get_subscription_count())


def test_static_transforms_reach_who_comes_late(graph, buffer, stamped):
    sender = StaticTransformBroadcaster(graph.node("sender"))
    sender.sendTransform(stamped("a", "b", 1.0, x=1.0))
    sender.sendTransform([stamped("b", "c", 1.0), stamped("b", "d", 1.0)])
    sender.sendTransform(stamped("a", "b", 1.0, x=2.0))
    TransformListener(buffer, graph.node("listener"))
    for frame in ("b", "c", "d"):
        graph.spin_until(lambda frame=frame: buffer.can_transform("a", frame, Time(seconds=77)))
    assert buffer.lookup_transform("a", "d", Time()).transform.translation.x == 2.0


def test_topics_and_quality_of_service_are_those_of_upstream(graph, buffer):
    node = graph.node("everything", namespace="/robot")
    kept = TransformBroadcaster(node), StaticTransformBroadcaster(node)
    kept += (TransformListener(buffer, node),)
    watcher = graph.node("watcher")
    lasting = {"/tf": DurabilityPolicy.VOLATILE, "/tf_static": DurabilityPolicy.TRANSIENT_LOCAL}
    for topic, durability in lasting.items():

        def endpoints(topic=topic):
            return watcher.get_publishers_info_by_topic(
                topic
            ) + watcher.get_subscriptions_info_by_topic(topic)

        graph.spin_until(lambda: len(endpoints()) == 2)
        assert {each.qos_profile.durability for each in endpoints()} == {durability}
        assert {each.qos_profile.reliability for each in endpoints()} == {
            ReliabilityPolicy.RELIABLE
        }


def test_a_quality_of_service_may_be_given(graph, buffer, stamped):
    listening, sending = graph.node("listener"), graph.node("sender")
    listener = TransformListener(buffer, listening, qos=5, static_qos=6)
    sender = TransformBroadcaster(sending, qos=7)
    StaticTransformBroadcaster(sending, 8)
    graph.spin_until(matched(listener, sender))
    sender.sendTransform(stamped("a", "b", 1.0))
    graph.spin_until(lambda: buffer.can_transform("a", "b", Time()))


def test_a_thread_of_its_own_lets_the_main_thread_wait(graph, buffer, stamped):
    listening = graph.node("listener", spun=False)
    listener = TransformListener(buffer, listening, spin_thread=True)
    sender = TransformBroadcaster(graph.node("sender"))
    graph.spin_until(matched(listener, sender))
    threading.Timer(0.1, lambda: sender.sendTransform(stamped("a", "b", 1.0))).start()
    assert buffer.lookup_transform("a", "b", Time(), Duration(seconds=20)).header.stamp.sec == 1
    listening.context.try_shutdown()
    listener.dedicated_listener_thread.join(10.0)
    assert not listener.dedicated_listener_thread.is_alive()


def test_a_callback_that_blocks_lets_transforms_in(graph, buffer, stamped):
    node, found = graph.node("listener", kind=MultiThreadedExecutor), []
    listener = TransformListener(buffer, node)
    sender = TransformBroadcaster(graph.node("sender"))
    graph.spin_until(matched(listener, sender))

    def wait():
        timer.cancel()
        sender.sendTransform(stamped("a", "b", 1.0))
        found.append(buffer.can_transform("a", "b", Time(), Duration(seconds=10)))

    timer = node.create_timer(0.01, wait)
    graph.spin_until(lambda: found)
    assert found == [1]


def test_an_awaiting_callback_goes_on_when_the_transform_arrives(graph, buffer, stamped):
    node, found = graph.node("listener"), []
    listener = TransformListener(buffer, node)
    sender = TransformBroadcaster(graph.node("sender"))
    graph.spin_until(matched(listener, sender))
    started = []

    async def wait():
        timer.cancel()
        started.append(True)
        found.append(await buffer.lookup_transform_async("a", "b", Time()))

    timer = node.create_timer(0.01, wait)
    graph.spin_until(lambda: started)
    sender.sendTransform(stamped("a", "b", 1.0, x=4.0))
    graph.spin_until(lambda: found)
    assert found[0].transform.translation.x == 4.0


def test_the_frames_are_served(graph, stamped):
    buffer = Buffer(node=graph.node("holder"))
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    client = graph.node("asker").create_client(FrameGraph, "/tf2_frames")
    graph.spin_until(client.service_is_ready)
    answer = client.call_async(FrameGraph.Request())
    graph.spin_until(answer.done)
    assert answer.result().frame_yaml == buffer.all_frames_as_yaml()


def test_a_clock_that_jumps_back_clears_the_buffer(graph, stamped):
    simulated = [Parameter("use_sim_time", value=True)]
    node = graph.node("holder", parameter_overrides=simulated)
    buffer = Buffer(node=node)
    clock = graph.node("clock").create_publisher(Clock, "/clock", 10)

    def tick(seconds):
        def ticked():  # the clock is best effort: say it again
            clock.publish(Clock(clock=Time(seconds=seconds).to_msg()))
            return node.get_clock().now() == Time(seconds=seconds, clock_type=ClockType.ROS_TIME)

        graph.spin_until(ticked)

    tick(100)
    buffer.set_transform(stamped("a", "b", 100.0), "test")
    tick(110)
    assert buffer.can_transform("a", "b", Time())
    tick(50)
    assert not buffer.can_transform("a", "b", Time())


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
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
