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

"""Plug-ins of a robot beside its control loop, created and destroyed with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger
from tf2_ros import Buffer

from basis_ik.arm.statistics import LoopMeter
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.diagnostics import Diagnostics
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.point_head import PointHeadServer
from basis_ik.ros.rviz.drag import ClickedPoint, Drag
from basis_ik.ros.rviz.markers import Markers
from basis_ik.ros.speed_override import SpeedOverride


class PlugIn(Protocol):
    """An object that owns ROS entities."""

    def destroy(self) -> None:
        """Destroy them."""


class Operator:
    """Serves `~/enable`, `~/stop` and `~/home` of one arm.

    Args:
        node: The node that owns the services.
        arm: The arm.
    """

    def __init__(self, node: Node, arm: ChainController) -> None:
        self._node, self._arm = node, arm
        self._services = [
            node.create_service(SetBool, arm.resolve("enable"), self._on_enable),
            node.create_service(Trigger, arm.resolve("stop"), self._on_stop),
            node.create_service(Trigger, arm.resolve("home"), self._on_home),
        ]

    def destroy(self) -> None:
        """Destroy the services."""
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
        response.success, response.message = True, "stopping; call ~/enable to continue"
        return response

    def _on_home(self, request: Any, response: Any) -> Any:
        refused = self._arm.go_home()
        response.success = refused is None
        response.message = "going home" if refused is None else refused
        return response


def make_plug_ins(
    node: LifecycleNode,
    arms: Sequence[ChainController],
    loop: LoopMeter,
    buffer: Buffer,
    parameters: Parameters,
) -> Iterator[PlugIn]:
    """Yield a robot's plug-ins one by one: if one fails, the caller can destroy the others.

    Args:
        node: The node that owns them.
        arms: Its arms.
        loop: Measures its control loop.
        buffer: Its transforms; queried with zero timeout.
        parameters: The node's parameters, including its chains'.
    """
    yield KinematicsServices(node, arms, buffer, parameters)
    yield Diagnostics(node, arms, loop, buffer, parameters)
    drags = []
    for arm in arms:
        yield Operator(node, arm)
        yield SpeedOverride(node, arm)
        drags.append(Drag(node, arm))
        yield drags[-1]
        yield PointHeadServer(node, node.inputs, arm, buffer, parameters)
        if parameters["markers_rate"] > 0.0:
            yield Markers(node, arm, parameters["markers_rate"])
    if len(arms) > 1:
        yield ClickedPoint(node, drags)
