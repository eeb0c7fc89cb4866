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

import socket
import time

import pytest
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.time import Time


@pytest.fixture
def stamped():
    def make(parent, child, at=0.0, x=0.0):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        message.header.stamp = Time(nanoseconds=round(at * 1e9)).to_msg()
        message.transform.translation.x = x
        return message

    return make


class Graph:
    """Nodes, each in its own context as if in its own process, spun together."""

    def __init__(self, domain):
        self._domain = domain
        self._made = []

    def node(self, name, spun=True, kind=SingleThreadedExecutor, **kwargs):
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=self._domain)
        node = rclpy.create_node(name, context=context, **kwargs)
        executor = kind(context=context)
        if spun:
            executor.add_node(node)
        self._made.append((node, executor, context))
        return node

    def spin_until(self, condition, limit=20.0):
        end = time.monotonic() + limit
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
def domain():
    """A ROS_DOMAIN_ID of its own, claimed as upstream's domain_coordinator does it."""
    for number in range(1, 101):
        with socket.socket() as claim:
            try:
                claim.bind(("", 32768 + number))
            except OSError:
                continue
            yield number
            return


@pytest.fixture
def graph(domain):
    graph = Graph(domain)
    yield graph
    graph.close()
