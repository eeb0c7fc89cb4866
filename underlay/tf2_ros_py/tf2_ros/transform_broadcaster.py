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

"""Sending transforms that change."""

from collections.abc import Iterable

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage


class TransformBroadcaster:
    """Sends transforms on /tf."""

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        self.pub_tf = node.create_publisher(
            TFMessage, "/tf", QoSProfile(depth=100) if qos is None else qos
        )

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:
        """Send one transform or several."""
        several = transform if hasattr(transform, "__iter__") else [transform]
        self.pub_tf.publish(TFMessage(transforms=list(several)))
