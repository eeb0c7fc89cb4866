# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is sent to a controller and what it answers, as data; `ros/outputs` knows the messages."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from basis_ik.arm.limiter import Motion
from basis_ik.numerics.arrays import FloatArray


class Held(NamedTuple):
    """The controller's joints that are not the chain's, and stay where they are."""

    names: tuple[str, ...]
    """Their names."""
    positions: FloatArray
    """Their positions, shape (m,) [rad or m]."""


class Samples(NamedTuple):
    """A command of each joint: positions or velocities, as the controller takes them."""

    values: FloatArray
    """Shape (n,) [rad or m, or per s]."""


class Trajectory(NamedTuple):
    """A motion that replaces the one that the controller follows."""

    motion: Motion
    """Its samples."""
    stamp: int
    """ROS time of its stamp [ns]; 0: it begins when it is taken."""
    start: int
    """Time from the stamp to the motion's own zero [ns]."""
    joint_names: tuple[str, ...]
    """The joints that it moves, in its order."""
    held: Held
    """Further joints."""


class Share(NamedTuple):
    """What one of several controllers gets of a motion."""

    controller: int
    """Its index."""
    trajectory: Trajectory
    """The motion of its joints."""


class GoalRequest(NamedTuple):
    """A motion that the controller is asked to accept as a goal."""

    number: int
    """Its number, different from those of all others."""
    motion: Motion
    """Its samples; times from the stamp."""
    stamp: float | None
    """ROS time [s]; None: it begins when it is accepted."""
    held: Held
    """Further joints."""


class CancelRequest(NamedTuple):
    """A goal that is to be canceled."""

    number: int
    """The number of an accepted goal."""


class StatusRequest(NamedTuple):
    """A goal whose controller is asked whether it knows it."""

    number: int
    """The number of an accepted goal."""
    newest: int
    """The number of the newest goal by then."""


Outgoing = Samples | Trajectory | Share | GoalRequest | CancelRequest | StatusRequest


class ControllerReport(NamedTuple):
    """The state that a trajectory controller has published."""

    joint_names: Sequence[str]
    """Its joints."""
    stamp: int
    """ROS time [ns]."""
    reference: Sequence[float]
    """Where its trajectory is, by joint [rad or m]; empty if it does not tell, like all others."""
    reference_velocities: Sequence[float]
    """Velocities there [rad/s or m/s]."""
    output: Sequence[float]
    """Positions that it has sent to the drives."""
    feedback: Sequence[float]
    """Positions that it has measured."""
    error: Sequence[float]
    """By how much the reference is ahead of the feedback."""
    speed_scaling: float
    """Its factor of speed; 0 also if it has none."""


class GoalFeedback(NamedTuple):
    """What a controller tells of a goal that it pursues."""

    number: int
    """The goal's number."""
    when: float | None
    """ROS time of the stamp [s]; None if it has none."""
    joint_names: Sequence[str]
    """Its joints; empty: those of the goal."""
    desired: Sequence[float]
    """Where it should be, by joint [rad or m]."""


class GoalOutcome(enum.Enum):
    """What a controller has done with a goal."""

    SUCCEEDED = "reached"
    ABORTED = "aborted"
    CANCELED = "canceled"
    UNKNOWN = "lost"
    OTHER = "ended"


class GoalResult(NamedTuple):
    """How a goal has ended."""

    number: int
    """The goal's number."""
    outcome: GoalOutcome
    """What the controller has done with it."""
    text: str
    """The controller's reason."""
