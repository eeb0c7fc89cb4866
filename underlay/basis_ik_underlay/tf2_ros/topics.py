# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sending transforms on /tf and /tf_static, and filling a buffer with those that others send."""

from collections.abc import Iterable
from functools import partial
from threading import Thread

from geometry_msgs.msg import TransformStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.buffer import Buffer

_AUTHORITY = "default_authority"  # messages do not tell who sent them


class TransformBroadcaster:
    """Sends transforms on /tf."""

    def __init__(self, node: Node) -> None:
        self.pub_tf = node.create_publisher(TFMessage, "/tf", 100)

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


class TransformListener:
    """Listens on /tf and /tf_static.

    With `spin_thread` a thread of its own spins the whole node, as upstream; then nobody else may.
    """

    def __init__(self, buffer: Buffer, node: Node, *, spin_thread: bool = False) -> None:
        # A callback that takes long must not keep transforms from arriving.
        group = ReentrantCallbackGroup()
        self.node, self._subscriptions = node, []
        for topic, put, durability in (
            ("/tf", buffer.set_transform, DurabilityPolicy.VOLATILE),
            ("/tf_static", buffer.set_transform_static, DurabilityPolicy.TRANSIENT_LOCAL),
        ):
            qos = QoSProfile(depth=100, durability=durability)
            store = partial(_store, put)
            subscription = node.create_subscription(
                TFMessage, topic, store, qos, callback_group=group
            )
            self._subscriptions.append(subscription)
        if spin_thread:
            self.dedicated_listener_thread = Thread(target=_spin, args=(node,))
            self.dedicated_listener_thread.start()

    def unregister(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self.node.destroy_subscription(subscription)


def _store(put, message: TFMessage) -> None:
    for transform in message.transforms:
        put(transform, _AUTHORITY)


def _spin(node: Node) -> None:
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    try:
        executor.spin()
    except Exception:
        # rclpy may be shut down between any two steps of the executor, and that is no fault.
        if node.context.ok():
            raise
