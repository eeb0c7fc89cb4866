# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Buffer, listener and broadcasters of tf2 for rclpy, under the names of the upstream package."""

from tf2_ros.buffer import Buffer
from tf2_ros.history import TransformException
from tf2_ros.topics import StaticTransformBroadcaster, TransformBroadcaster, TransformListener

__all__ = [
    "Buffer",
    "StaticTransformBroadcaster",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
]
