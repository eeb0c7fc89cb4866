"""The operator's services of a chain: enable, stop, home."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from basis_ik.ros.chain_controller import ChainController


class Operator:
    """Serves `~/enable`, `~/stop` and `~/home` of one arm.

    Args:
        node: The node that serves.
        arm: The arm that obeys.
    """

    def __init__(self, node: Node, arm: ChainController) -> None:
        self._node, self._arm = node, arm
        self._services = [
            node.create_service(SetBool, arm.resolve("enable"), self._on_enable),
            node.create_service(Trigger, arm.resolve("stop"), self._on_stop),
            node.create_service(Trigger, arm.resolve("home"), self._on_home),
        ]

    def destroy(self) -> None:
        """Give up the services."""
        for service in self._services:
            self._node.destroy_service(service)

    def _on_enable(self, request: Any, response: Any) -> Any:
        if request.data:
            self._arm.enable()
            response.message = "targets are followed"
        else:
            self._arm.stop()
            response.message = "stopping"
        response.success = True
        return response

    def _on_stop(self, request: Any, response: Any) -> Any:
        self._arm.stop()
        response.success, response.message = True, "stopping; ~/enable lets it go on"
        return response

    def _on_home(self, request: Any, response: Any) -> Any:
        refused = self._arm.go_home()
        response.success = refused is None
        response.message = "going home" if refused is None else refused
        return response
