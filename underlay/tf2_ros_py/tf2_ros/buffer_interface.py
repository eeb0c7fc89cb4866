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

"""Transforming any message type for which a package has registered how."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar

from geometry_msgs.msg import TransformStamped
from rclpy.duration import Duration
from rclpy.time import Time

NOT_AT_ALL = Duration()


class TypeException(Exception):  # noqa: N818 (upstream's name)
    """No function is registered for a type."""


class NotImplementedException(Exception):  # noqa: N818 (upstream's name)
    """A buffer does not offer what was asked of it."""

    def __init__(self) -> None:
        super().__init__("CanTransform or LookupTransform not implemented")


class TransformRegistration:
    """Which function transforms messages of a type: f(message, transform) -> message."""

    _functions: ClassVar[dict[type, Callable[..., Any]]] = {}

    def add(self, key: type, callback: Callable[..., Any]) -> None:
        """Register a function for a type."""
        self._functions[key] = callback

    def get(self, key: type) -> Callable[..., Any]:
        """The function for a type; TypeException if none is registered."""
        if key not in self._functions:
            raise TypeException(f"Type {key} is not loaded or supported")
        return self._functions[key]


class BufferInterface:
    """Transforms of messages by means of lookups, which children implement."""

    def __init__(self) -> None:
        self.registration = TransformRegistration()

    def transform(
        self,
        object_stamped: Any,
        target_frame: str,
        timeout: Duration = NOT_AT_ALL,
        new_type: type | None = None,
    ) -> Any:
        """A stamped message in another frame, at the message's own time.

        Raises:
            TypeException: Nothing is registered for its type.
            TransformException: The transform is not known.
        """
        do_transform = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform(target_frame, header.frame_id, header.stamp, timeout)
        return _of_type(do_transform(object_stamped, found), new_type)

    def transform_full(
        self,
        object_stamped: Any,
        target_frame: str,
        target_time: Time,
        fixed_frame: str,
        timeout: Duration = NOT_AT_ALL,
        new_type: type | None = None,
    ) -> Any:
        """As `transform`, into the target frame of another time, across a fixed frame."""
        do_transform = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform_full(
            target_frame, target_time, header.frame_id, header.stamp, fixed_frame, timeout
        )
        return _of_type(do_transform(object_stamped, found), new_type)

    def lookup_transform(self, *args: Any, **kwargs: Any) -> TransformStamped:
        """Left to children."""
        raise NotImplementedException

    lookup_transform_full = can_transform = can_transform_full = lookup_transform


def _of_type(message: Any, new_type: type | None) -> Any:
    if new_type in (None, type(message)):
        return message if new_type is None else deepcopy(message)
    raise TypeException(
        f"Type {new_type} is not loaded or supported: conversion between types (upstream's "
        "tf2_ros.ConvertRegistration) is not in this underlay"
    )
