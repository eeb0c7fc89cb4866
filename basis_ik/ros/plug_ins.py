"""What the node has beside its control loop: made when a robot is loaded, destroyed with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rclpy.lifecycle import LifecycleNode
from tf2_ros import Buffer

from basis_ik.motion.statistics import LoopMeter
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.diagnostics import Diagnostics
from basis_ik.ros.drag import Drag
from basis_ik.ros.kinematics_services import KinematicsServices
from basis_ik.ros.markers import Markers
from basis_ik.ros.operator import Operator
from basis_ik.ros.parameters import Parameters
from basis_ik.ros.point_head import PointHeadServer


class PlugIn(Protocol):
    """Holds ROS entities of its own."""

    def destroy(self) -> None:
        """Give them up."""


def make_plug_ins(
    node: LifecycleNode,
    arms: Sequence[ChainController],
    loop: LoopMeter,
    buffer: Buffer,
    parameters: Parameters,
) -> Iterator[PlugIn]:
    """Make all plug-ins for the arms of a robot, one by one: should one fail, the others are known.

    Args:
        node: The node that they live in.
        arms: Its arms.
        loop: What watches its control loop.
        buffer: Its transforms; to be asked with zero timeout only.
        parameters: The node's parameters, those of its chains included.
    """
    yield KinematicsServices(node, arms, buffer, parameters)
    yield Diagnostics(node, arms, loop, buffer)
    for arm in arms:
        yield Operator(node, arm)
        yield Drag(node, arm)
        yield PointHeadServer(node, arm, buffer, parameters)
        if parameters["markers_rate"] > 0.0:
            yield Markers(node, arm, parameters["markers_rate"])
