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

"""Sending transforms: those that change, and those that do not."""

from collections.abc import Iterable

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage


class TransformBroadcaster:
    """Sends transforms on /tf."""

    def __init__(self, node: Node) -> None:
        self.pub_tf = node.create_publisher(TFMessage, "/tf", QoSProfile(depth=100))

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:
        """Send one transform or several."""
        self.pub_tf.publish(TFMessage(transforms=_several(transform)))


class StaticTransformBroadcaster:
    """Sends transforms on /tf_static, all of them each time, for listeners that come late."""

    def __init__(self, node: Node) -> None:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.pub_tf = node.create_publisher(TFMessage, "/tf_static", latched)
        self._sent: dict[str, TransformStamped] = {}

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:
        """Send one transform or several; one of the same child frame replaces the former."""
        self._sent.update((each.child_frame_id, each) for each in _several(transform))
        self.pub_tf.publish(TFMessage(transforms=list(self._sent.values())))


def _several(transform: TransformStamped | Iterable[TransformStamped]) -> list[TransformStamped]:
    return [transform] if isinstance(transform, TransformStamped) else list(transform)
