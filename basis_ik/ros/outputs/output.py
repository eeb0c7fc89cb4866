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

"""The base class of all outputs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.numerics.arrays import FloatArray
from basis_ik.ros.boundary import Moment, boundary_of

CHECK_PERIOD = 0.2  # s between two checks of subscribers and other publishers
# An arm at rest that is farther than this from its goal [rad or m] was moved by something else.
MOVED_AWAY = 0.05
LONG_AGO = -(10**18)  # ns: before any ROS time


class OutputOptions(NamedTuple):
    """The arguments of all outputs."""

    node: Node
    """The node that owns the publisher or client."""
    controller: str
    """Name of the controller."""
    joint_names: Sequence[str]
    """The commanded joints, in the order of the commands."""
    period: float
    """Period of the control loop [s]."""
    lag: float
    """Largest lag of the arm [s]."""
    velocity: FloatArray
    """Velocity limits of the joints (n,) [rad/s or m/s]."""
    trajectory_replacement: str
    """The controller's rule, one of `replacement_rule.RULES`."""
    resume_after_pause: bool
    """Whether a motion goes on after the controller has scaled its speed to 0."""
    hold_other_joints: bool
    """Whether trajectories hold the controller's joints that are not the chain's."""


class Output(ABC):
    """Sends commands to a controller, and monitors their execution.

    Attributes:
        name: Topic or action of the commands.
        streams: Whether it sends each command of a motion; otherwise whole motions.
        failure: The controller's failure; empty again from the next goal on.
        other_commander: The other node that commands the arm; empty if there is none.
        is_silent: Whether commands are not executed only because the controller, which exists, has
            published nothing for too long.
        sent: Number of messages sent.
    """

    name: str
    streams: bool

    def __init__(self, node: Node) -> None:
        self._node, self._boundary = node, boundary_of(node)
        self.failure = self.other_commander = ""
        self.is_silent, self.sent = False, 0
        self._looked_at, self._unmet = -math.inf, ""

    def unmet(self, now: Moment) -> str:
        """Return why no command would be executed, or nothing."""
        if self._boundary.steady() - self._looked_at >= CHECK_PERIOD:
            self._looked_at, self.is_silent = self._boundary.steady(), False
            # A node that starts to command during a motion must not stop it; that node must wait.
            self.other_commander = (
                "" if self.expected(now) is not None else self.find_other_commander()
            )
            self._unmet = self.other_commander or self._check()
        return self._unmet

    def find_other_commander(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        own = self._node.get_name(), self._node.get_namespace()
        alike = self._boundary.read(
            "alike", lambda: self._node.get_node_names_and_namespaces().count(own)
        )
        if alike > 1:
            return f"there is another node {self._node.get_fully_qualified_name()}; end one of them"
        return ""

    @abstractmethod
    def _check(self) -> str:
        """Return why the controller would execute no command, or nothing."""

    def begin(self) -> None:
        """Start a motion to a new goal."""
        self.failure = ""

    @abstractmethod
    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""

    @abstractmethod
    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake an arm that is not where it was commanded to be.

        Args:
            pipeline: The source of the commands.
            measured: Measured positions (n,) [rad or m].
            now: The beginning of the period.
            lost: The joints that do not follow, shape (n,).
        """

    @abstractmethod
    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Run one control period.

        Args:
            pipeline: The source of the commands.
            measured: Measured positions (n,) [rad or m].
            now: The beginning of the period.

        Returns:
            The phase of the commands.
        """

    @abstractmethod
    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should have been recently.

        Args:
            now: The beginning of the period.
            age: Age of the measurement [s].

        Returns:
            Positions (k, n) [rad or m], k ≥ 1; None at rest.
        """

    def on_clock_jump(self) -> None:
        """Discard all times, which refer to the old clock."""
        self._looked_at = -math.inf

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; empty if it does."""
        return ""

    def excuse(self, until: float) -> None:
        """Do not take the controller for silent until a time of the loop [s]: the node was late."""
        return  # without a published state, nothing can be silent

    def end_of_motion(self, pipeline: Pipeline) -> FloatArray | None:
        """Return where the arm comes to rest if nothing else is sent (n,); None: not known."""
        return pipeline.command

    def controller_reference(self) -> FloatArray | None:
        """Return the controller's reference (n,) [rad or m]; None if it is not published."""
        return None

    @property
    def is_led_elsewhere(self) -> bool:
        """Whether the controller moves the arm, but not on the way that was sent last."""
        return False

    def keeps(self, command: FloatArray) -> bool:
        """Return whether the controller still holds the last command (n,) of an ended motion."""
        return True

    @abstractmethod
    def end(self, pipeline: Pipeline) -> None:
        """Send the last that the controller needs to come to rest, without the pipeline's steps."""

    @abstractmethod
    def destroy(self) -> None:
        """Destroy its entities of the node."""


def count_publishers(node: Node, topic: str) -> int:
    """Return the number of a topic's publishers."""
    return boundary_of(node).read(f"publishers {topic}", lambda: node.count_publishers(topic))
