# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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

    @property
    def asked(self) -> str:
        """The service that may still tell; empty once it has, or is overdue."""
        asked = self._parameter
        waits = asked is not None and asked.value is None and not asked.is_overdue
        return asked.service if asked is not None and waits else ""

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
