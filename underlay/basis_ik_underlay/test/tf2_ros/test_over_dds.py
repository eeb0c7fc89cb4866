# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Listener and broadcasters over DDS."""

import threading
import time

import pytest
import rclpy
from rclpy.time import Time
from tf2_ros import (
    Buffer,
    StaticTransformBroadcaster,
    TransformBroadcaster,
    TransformException,
    TransformListener,
)


@pytest.fixture
def buffer():
    return Buffer()


@pytest.fixture
def node(domain):
    rclpy.init(domain_id=domain)
    node = rclpy.create_node("alone")
    yield node
    node.destroy_node()  # else it is still heard on its domain
    rclpy.try_shutdown()


def wait_for(buffer, target, source, do=lambda: None):
    end = time.monotonic() + 20.0
    while True:
        do()
        try:
            return buffer.lookup_transform(target, source, Time())
        except TransformException:
            assert time.monotonic() < end, "it did not come"
            time.sleep(0.05)


def test_what_is_sent_is_heard_by_a_thread_that_ends_with_rclpy(node, buffer, stamped):
    late = StaticTransformBroadcaster(node)
    late.sendTransform(stamped("a", "b", 1.0, (1.0, 0.0, 0.0)))
    late.sendTransform([stamped("b", "c", 1.0), stamped("b", "d", 1.0)])
    late.sendTransform(stamped("a", "b", 1.0, (2.0, 0.0, 0.0)))
    listener = TransformListener(buffer, node, spin_thread=True)
    for frame in ("c", "d"):
        assert wait_for(buffer, "a", frame).transform.translation.x == 2.0
    moving = TransformBroadcaster(node)
    wait_for(buffer, "c", "e", lambda: moving.sendTransform(stamped("c", "e", 1.0)))
    wait_for(buffer, "a", "f", lambda: moving.sendTransform([stamped("c", "f", 1.0)]))
    rclpy.shutdown()
    listener.dedicated_listener_thread.join(10.0)
    assert not listener.dedicated_listener_thread.is_alive()


def test_who_has_unregistered_hears_nothing(node, buffer):
    listener = TransformListener(buffer, node)
    assert node.count_subscribers("/tf") == node.count_subscribers("/tf_static") == 1
    listener.unregister()
    assert list(node.subscriptions) == []


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("pause", [0.0, 0.001, 0.003, 0.01, 0.02])
def test_the_thread_ends_quietly_at_any_step_of_the_executor(node, buffer, pause):
    listener = TransformListener(buffer, node, spin_thread=True)
    time.sleep(pause)
    rclpy.shutdown()
    listener.dedicated_listener_thread.join(10.0)
    assert not listener.dedicated_listener_thread.is_alive()


def test_the_thread_does_not_hide_a_fault(node, buffer, monkeypatch):
    raised = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    listener = TransformListener(buffer, node, spin_thread=True)
    node.create_timer(0.01, lambda: 1 / 0)
    listener.dedicated_listener_thread.join(10.0)
    assert [each.exc_type for each in raised] == [ZeroDivisionError]
