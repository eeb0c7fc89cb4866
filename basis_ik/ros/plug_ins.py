# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plug-ins of a robot beside its control loop, created and destroyed with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger
from tf2_ros import Buffer

from basis_ik.arm.statistics import LoopMeter
from basis_ik.robot.chain import turning_link
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.diagnostics import Diagnostics
from basis_ik.ros.gripper import Gripper
from basis_ik.ros.held_object import HeldObject
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.move_group import MoveGroupServer
from basis_ik.ros.parameters.ik_parameters import IGNORE
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.point_head import PointHeadServer
from basis_ik.ros.rviz.drag import ClickedPoint, Drag
from basis_ik.ros.rviz.markers import Markers
from basis_ik.ros.speed_override import SpeedOverride
from basis_ik.ros.world.world_server import WorldServer


class PlugIn(Protocol):
    """An object that owns ROS entities."""

    def destroy(self) -> None:
        """Destroy them."""


class Operator:
    """Serves `~/enable`, `~/stop`, `~/home` and `~/go` of one arm.

    Args:
        node: The node that owns the services.
        controller: Of the arm.
    """

    def __init__(self, node: Node, controller: ChainController) -> None:
        self._node, self._controller = node, controller
        self._services = [
            node.create_service(SetBool, controller.resolve("enable"), self._on_enable),
            node.create_service(Trigger, controller.resolve("stop"), self._on_stop),
            node.create_service(Trigger, controller.resolve("home"), self._on_home),
            node.create_service(Trigger, controller.resolve("go"), self._on_go),
        ]

    def destroy(self) -> None:
        """Destroy the services."""
        for service in self._services:
            self._node.destroy_service(service)

    def _on_enable(self, request: Any, response: Any) -> Any:
        if request.data:
            self._controller.arm.enable()
            response.message = "targets are followed"
        else:
            self._controller.arm.stop()
            response.message = "stopping"
        response.success = True
        return response

    def _on_stop(self, request: Any, response: Any) -> Any:
        self._controller.arm.stop()
        response.success, response.message = True, "stopping; call ~/enable to continue"
        return response

    def _on_home(self, request: Any, response: Any) -> Any:
        refused = self._controller.arm.go_home()
        response.success = refused is None
        waits = self._controller.arm.settings.follow_drag == "confirm"
        response.message = refused or ("call ~/go" if waits else "going home")
        return response

    def _on_go(self, request: Any, response: Any) -> Any:
        refused = self._controller.go()
        response.success, response.message = refused is None, refused or "going"
        return response


def make_plug_ins(
    node: LifecycleNode,
    controllers: Sequence[ChainController],
    loop: LoopMeter,
    buffer: Buffer,
    parameters: Parameters,
    scenes: Scenes,
) -> Iterator[PlugIn]:
    """Yield a robot's plug-ins one by one: if one fails, the caller can destroy the others.

    Args:
        node: The node that owns them.
        controllers: Of its arms.
        loop: Measures its control loop.
        buffer: Its transforms; queried with zero timeout.
        parameters: The node's parameters, including its chains'.
        scenes: The robot among the objects around it.
    """
    arms = [each.arm for each in controllers]
    kinematics = KinematicsServices(node, arms, buffer, parameters, scenes)
    yield kinematics
    yield MoveGroupServer(node, node.inputs, controllers, kinematics)
    if parameters["planning_scene"] != IGNORE or parameters["point_cloud_topic"]:
        yield WorldServer(node, arms, node.world, scenes, parameters)
    yield Diagnostics(node, arms, loop, buffer, parameters)
    drags = []
    for each in controllers:
        yield Operator(node, each)
        yield SpeedOverride(node, each)
        if turning_link(each.arm.chain) is not None:
            yield HeldObject(node, each, kinematics)
        if each.own("gripper.interface") != "none":
            yield Gripper(node, each)
        drags.append(Drag(node, each))
        yield drags[-1]
        yield PointHeadServer(node, node.inputs, each, buffer, parameters)
        if parameters["markers_rate"] > 0.0:
            yield Markers(node, each, parameters["markers_rate"])
    if len(controllers) > 1:
        yield ClickedPoint(node, drags)
