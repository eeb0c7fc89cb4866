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

"""Buffer, listener and broadcasters of tf2 for rclpy, under the names of the upstream package."""

from typing import Any

from tf2_py import (
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)

from tf2_ros.buffer import Buffer
from tf2_ros.buffer_interface import (
    BufferInterface,
    NotImplementedException,
    TransformRegistration,
    TypeException,
)
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from tf2_ros.transform_broadcaster import TransformBroadcaster
from tf2_ros.transform_listener import TransformListener

__all__ = [
    "Buffer",
    "BufferCore",
    "BufferInterface",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "NotImplementedException",
    "StaticTransformBroadcaster",
    "TimeoutException",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
    "TransformRegistration",
    "TypeException",
]

_OUTSIDE = ("BufferClient", "ConvertRegistration", "Stamped", "StaticTransformListener", "convert")


def __getattr__(name: str) -> Any:
    """Name what upstream has and this underlay lacks."""
    if name in _OUTSIDE:
        raise ImportError(f"tf2_ros.{name} is not in this underlay; it needs a ROS 2 installation")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
