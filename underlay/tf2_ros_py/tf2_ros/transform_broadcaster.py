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
