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

"""Filling a buffer with the transforms that others send."""

from threading import Thread

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.buffer import Buffer

_AUTHORITY = "default_authority"  # messages do not tell who sent them


class TransformListener:
    """Listens on /tf and /tf_static.

    With `spin_thread` a thread of its own spins the whole node, as upstream; then nobody else may.
    """

    def __init__(self, buffer: Buffer, node: Node, *, spin_thread: bool = False) -> None:
        self.buffer = buffer
        self.node = node
        # A callback that takes long must not keep transforms from arriving.
        group = ReentrantCallbackGroup()
        for topic, callback, durability in (
            ("/tf", self.callback, DurabilityPolicy.VOLATILE),
            ("/tf_static", self.static_callback, DurabilityPolicy.TRANSIENT_LOCAL),
        ):
            qos = QoSProfile(depth=100, durability=durability)
            node.create_subscription(TFMessage, topic, callback, qos, callback_group=group)
        if spin_thread:
            self.executor = SingleThreadedExecutor(context=node.context)
            self.dedicated_listener_thread = Thread(target=self._spin)
            self.dedicated_listener_thread.start()

    def callback(self, data: TFMessage) -> None:
        """Store what came on /tf."""
        for transform in data.transforms:
            self.buffer.set_transform(transform, _AUTHORITY)

    def static_callback(self, data: TFMessage) -> None:
        """Store what came on /tf_static."""
        for transform in data.transforms:
            self.buffer.set_transform_static(transform, _AUTHORITY)

    def _spin(self) -> None:
        self.executor.add_node(self.node)
        try:
            self.executor.spin()
        except Exception:
            # rclpy may be shut down between any two steps of the executor, and that is no fault.
            if self.node.context.ok():
                raise
