# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A parameter of a controller that the node asks for."""

from __future__ import annotations

import math
from typing import Any

from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from basis_ik.ros.action_forms import PARAMETER_VALUES
from basis_ik.ros.boundary import boundary_of

PARAMETER_TIMEOUT = 2.0  # [s] without an answer, after which the value counts as unknown


class ControllerParameter:
    """A Boolean parameter of a controller, asked for once the controller's service is there.

    Nothing waits for the answer. A controller that was gone may have been restarted with another
    value, so it is asked again.

    Args:
        node: The node that asks.
        controller: Name of the controller.
        name: Name of the parameter.
        unset: Value of a controller without the parameter; None if that tells nothing.

    Attributes:
        value: The value; None if it is not known.
        is_overdue: Whether it was never known and has been waited for, for `PARAMETER_TIMEOUT`.
    """

    def __init__(self, node: Node, controller: str, name: str, *, unset: bool | None) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self._name, self._unset = name, unset
        self._client: Any = node.create_client(GetParameters, f"{controller}/get_parameters")
        self.service: str = self._client.srv_name
        self._label = f"{self.service} {name}"
        self._reachable: bool | None = None
        self._since = math.inf  # steady time since which it can be asked, or cannot [s]
        self._asked_at = math.inf  # steady time of the last question [s]
        self.value: bool | None = None
        self.is_overdue = self._was_known = False

    def ask(self, *, again: float = math.inf) -> None:
        """Ask if that is due.

        Args:
            again: Time after which a controller is asked that was asked before [s].
        """
        now = self._boundary.steady()
        reachable = self._boundary.read(f"ready {self._label}", self._client.service_is_ready)
        changed = reachable is not self._reachable
        if changed:
            self._reachable, self._since, self.value = reachable, now, None
        if reachable and (changed or now - self._asked_at > again):
            self._asked_at = now
            self._send_question()
        self.is_overdue = not self._was_known and now - self._since > PARAMETER_TIMEOUT

    def _send_question(self) -> None:
        request = GetParameters.Request(names=[self._name])
        callback = self._boundary.wrap(
            f"parameters {self._label}", self._on_answer, PARAMETER_VALUES
        )
        response = self._boundary.send(
            f"{self._label}/request", request, lambda: self._client.call_async(request)
        )
        if response is not None:
            response.add_done_callback(callback)

    def _on_answer(self, response: Any) -> None:
        values = response.result().values
        value = values[0] if values else ParameterValue()  # rclcpp sends none if there is none
        if value.type == ParameterType.PARAMETER_BOOL:
            self.value = bool(value.bool_value)
        else:
            self.value = self._unset if value.type == ParameterType.PARAMETER_NOT_SET else None
        self._was_known = self._was_known or self.value is not None

    def destroy(self) -> None:
        """Destroy the client."""
        self._node.destroy_client(self._client)
