# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The output by topics to several controllers that share an arm."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node

from basis_ik.arm.execution.messages import Outgoing, Share
from basis_ik.ros.outputs.output import Output
from basis_ik.ros.outputs.topic_output import TrajectoryOutput


class SharedOutput(Output):
    """Publishes to several joint_trajectory_controllers, to each the trajectories of its joints.

    Args:
        node: The node that publishes.
        controllers: Names of the controllers.
    """

    def __init__(self, node: Node, controllers: Sequence[str]) -> None:
        super().__init__(node)
        self._outputs = [TrajectoryOutput(node, each) for each in controllers]
        self.name = ", ".join(each.name for each in self._outputs)

    def complaint(self) -> str:
        """Return why one would not take what is sent, or nothing."""
        return next(filter(None, (each.complaint() for each in self._outputs)), "")

    def other_commander(self) -> str:
        """Return the other node that commands one of them; empty if there is none."""
        return next(filter(None, (each.other_commander() for each in self._outputs)), "")

    def send(self, outgoing: Outgoing) -> None:
        """Publish what one of them gets."""
        assert isinstance(outgoing, Share)
        self._outputs[outgoing.controller].send(outgoing.trajectory)

    def destroy(self) -> None:
        """Destroy the publishers."""
        for each in self._outputs:
            each.destroy()
