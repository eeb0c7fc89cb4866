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

"""Finds out by which rule a trajectory controller replaces the trajectory that it follows."""

from __future__ import annotations

import math
from typing import Any

from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.recording.action_forms import PARAMETERS

RULES = ASK, ALLOWED, NOT_ALLOWED = "ask", "allowed", "not_allowed"
QUESTION = "allow_trajectory_replacement"
PATIENCE = 2.0  # s without an answer, after which the rule counts as unknown


class ReplacementRule:
    """Whether a joint_trajectory_controller places a trajectory by its stamp alone.

    It does if its parameter `allow_trajectory_replacement` is false or does not exist. If that is
    true, a trajectory whose stamp is not ahead begins when it arrives. The controller is asked once
    its service is there. Nothing waits for the answer: before it the rule is unknown.

    Args:
        node: The node that asks.
        controller: Name of the controller.
        given: One of `RULES`.

    Attributes:
        by_stamp: Whether it is known to count the stamp alone.
    """

    def __init__(self, node: Node, controller: str, given: str) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self.by_stamp = given == NOT_ALLOWED
        self._client: Any = None
        if given == ASK:
            self._client = node.create_client(GetParameters, f"{controller}/get_parameters")
        self._reachable: bool | None = None
        self._since = math.inf  # steady time since which it can be asked, or cannot [s]
        self._settled = given != ASK  # whether it was known before, or is reported to be unknown

    def ask(self) -> None:
        """Ask if that is due, and report once that there is no answer."""
        if self._client is None:
            return
        service, now = self._client.srv_name, self._boundary.steady()
        reachable = self._boundary.read(f"ready {service}", self._client.service_is_ready)
        if reachable is not self._reachable:  # a controller that was restarted may answer otherwise
            self._reachable, self._since = reachable, now
            self.by_stamp = False
            if reachable:
                self._send_question(service)
        if not self._settled and now - self._since > PATIENCE:
            self._settled = True
            self._node.get_logger().warning(
                f"{service} does not tell the rule by which the controller replaces trajectories: "
                "windows suit both rules, and the arm reacts up to 0.02 s later; set the parameter "
                "trajectory_replacement"
            )

    def _send_question(self, service: str) -> None:
        request = GetParameters.Request(names=[QUESTION])
        callback = self._boundary.wrap(f"parameters {service}", self._on_answer, PARAMETERS)
        response = self._boundary.send(
            f"{service}/request", request, lambda: self._client.call_async(request)
        )
        if response is not None:
            response.add_done_callback(callback)

    def _on_answer(self, response: Any) -> None:
        values = response.result().values
        value = values[0] if values else ParameterValue()  # rclcpp sends none if there is none
        known = value.type in (ParameterType.PARAMETER_BOOL, ParameterType.PARAMETER_NOT_SET)
        self.by_stamp = known and not value.bool_value
        self._settled = self._settled or known

    def destroy(self) -> None:
        """Destroy the client."""
        if self._client is not None:
            self._node.destroy_client(self._client)
