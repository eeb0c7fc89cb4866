# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions of messages of actions and services for recordings."""

from __future__ import annotations

from base64 import b64decode, b64encode
from types import SimpleNamespace
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory, PointHead
from numpy.typing import NDArray
from rcl_interfaces.srv import GetParameters
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future

from basis_ik.ros.boundary import Form

PIECE_BYTES = 48_000  # a multiple of three: base64 has no padding between two pieces


def pack(message: Any) -> str:
    """Return a message as text."""
    return b64encode(serialize_message(message)).decode()


def unpack(text: str, kind: type) -> Any:
    """Return the message from a text.

    Args:
        text: The result of `pack`.
        kind: Its type.
    """
    return deserialize_message(b64decode(text), kind)


def array_text(array: NDArray[Any]) -> list[Any]:
    """Return an array as JSON has it: kind, shape, and bytes in pieces.

    No other thread runs while one piece is written.
    """
    data = memoryview(array.tobytes())
    pieces = [
        b64encode(data[k : k + PIECE_BYTES]).decode() for k in range(0, len(data), PIECE_BYTES)
    ]
    return [array.dtype.str, list(array.shape), pieces]


def array_of(packed: list[Any]) -> NDArray[Any]:
    """Return the array of `array_text`, to the bit."""
    kind, shape, pieces = packed
    return np.frombuffer(b64decode("".join(pieces)), kind).reshape(shape).copy()


def _nothing(*_: object) -> None:
    """Do nothing, instead of calls that a replayed action cannot make."""


def _goal_response(accepted: bool) -> Any:
    handle = SimpleNamespace(accepted=accepted, get_result_async=Future, cancel_goal_async=_nothing)
    return SimpleNamespace(result=lambda: handle)


def _feedback(text: str) -> Any:
    return SimpleNamespace(feedback=unpack(text, FollowJointTrajectory.Feedback))


def _parameters(text: str) -> Any:
    return SimpleNamespace(result=lambda: unpack(text, GetParameters.Response))


def _pack_end(end: Any) -> list[Any]:
    return [end.result().status, end.result().result.error_string]


def _end(values: list[Any]) -> Any:
    end = SimpleNamespace(status=values[0], result=SimpleNamespace(error_string=values[1]))
    return SimpleNamespace(result=lambda: end)


def _pack_gripper(response: Any) -> list[Any]:
    end = response.result()
    return [end.status, end.result.stalled, end.result.reached_goal]


def _gripper(values: list[Any]) -> Any:
    status, stalled, reached = values
    result = SimpleNamespace(stalled=stalled, reached_goal=reached)
    return SimpleNamespace(result=lambda: SimpleNamespace(status=status, result=result))


def _handle(text: str, kind: type) -> Any:
    return SimpleNamespace(
        request=unpack(text, kind),
        is_cancel_requested=False,
        execute=_nothing,
        publish_feedback=_nothing,
        succeed=_nothing,
        canceled=_nothing,
        abort=_nothing,
    )


# A controller's response to a goal, its feedback, and its result.
GOAL_RESPONSE = Form(lambda response: bool(response.result().accepted), _goal_response)
GOAL_FEEDBACK = Form(lambda message: pack(message.feedback), _feedback)
GOAL_END = Form(_pack_end, _end)
GRIPPER_END = Form(_pack_gripper, _gripper)  # the same of a gripper
# The values of another node's parameters.
PARAMETER_VALUES = Form(lambda response: pack(response.result()), _parameters)


def goal_of(action: Any) -> Form:
    """Return the form of an action's goal."""
    return Form(pack, lambda text: unpack(text, action.Goal))


def handle_of(action: Any) -> Form:
    """Return the form of the handle of an action's accepted goal."""
    return Form(lambda handle: pack(handle.request), lambda text: _handle(text, action.Goal))


HEAD_GOAL, HEAD_HANDLE = goal_of(PointHead), handle_of(PointHead)
