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

from rclpy.node import Node

from basis_ik.ros.outputs.controller_parameter import ControllerParameter

RULES = ASK, ALLOWED, NOT_ALLOWED = "ask", "allowed", "not_allowed"


class ReplacementRule:
    """Whether a joint_trajectory_controller places a trajectory by its stamp alone.

    It does if its parameter `allow_trajectory_replacement` is false or does not exist. If that is
    true, a trajectory whose stamp is not ahead begins when it arrives. Before the controller has
    answered the rule is unknown.

    Args:
        node: The node that asks.
        controller: Name of the controller.
        given: One of `RULES`.
    """

    def __init__(self, node: Node, controller: str, given: str) -> None:
        self._node, self._given = node, given
        self._parameter: ControllerParameter | None = None
        if given == ASK:
            self._parameter = ControllerParameter(
                node, controller, "allow_trajectory_replacement", unset=False
            )
        self._reported = False

    @property
    def by_stamp(self) -> bool:
        """Whether it is known to count the stamp alone."""
        if self._parameter is None:
            return self._given == NOT_ALLOWED
        return self._parameter.value is False

    def ask(self) -> None:
        """Ask if that is due, and report once that there is no answer."""
        if self._parameter is None:
            return
        self._parameter.ask()
        if self._parameter.is_overdue and not self._reported:
            self._reported = True
            self._node.get_logger().warning(
                f"{self._parameter.service} does not tell the rule by which the controller "
                "replaces trajectories: windows suit both rules, and the arm reacts up to 0.02 s "
                "later; set the parameter trajectory_replacement"
            )

    def destroy(self) -> None:
        """Destroy the client."""
        if self._parameter is not None:
            self._parameter.destroy()
