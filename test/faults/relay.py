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

"""A bad network between topics: some messages get lost, all are late, some overtake others.

`python relay.py LOSS DELAY JITTER FROM=TO=package/Type...`, DELAY and JITTER in s. A message
that is given on comes DELAY, and at random up to JITTER, later than it came here.
"""

import heapq
import importlib
import itertools
import random
import signal
import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile

DEEP = QoSProfile(depth=1000)


def main():
    loss, delay, jitter = map(float, sys.argv[1:4])
    chance = random.Random(1)
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    rclpy.init(args=[], signal_handler_options=rclpy.SignalHandlerOptions.NO)
    node = rclpy.create_node("relay")
    queue, order = [], itertools.count()

    def give_on(publisher):
        def take(message):
            if chance.random() >= loss:
                due = time.monotonic() + delay + jitter * chance.random()
                heapq.heappush(queue, (due, next(order), publisher, message))

        return take

    for each in sys.argv[4:]:
        source, sink, name = each.split("=")
        package, _, type_name = name.partition("/")
        kind = getattr(importlib.import_module(f"{package}.msg"), type_name)
        publisher = node.create_publisher(kind, sink, DEEP)
        node.create_subscription(kind, source, give_on(publisher), DEEP, raw=True)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stopped:
        wait = queue[0][0] - time.monotonic() if queue else 0.05
        executor.spin_once(timeout_sec=min(max(wait, 0.0), 0.05))
        while queue and queue[0][0] <= time.monotonic():
            _, _, publisher, message = heapq.heappop(queue)
            publisher.publish(message)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
