# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What all executions of commands have in common: what they need, tell and send."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.execution.messages import Outgoing
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.numerics.arrays import FloatArray

# An arm at rest that is farther than this from its goal [rad or m] was moved by something else.
MOVED_AWAY = 0.05
LONG_AGO = -(10**18)  # [ns], before any ROS time


class Replacement(NamedTuple):
    """Times of a trajectory that replaces another one [ns]."""

    lateness: int = 50_000_000  # by which it may be late and still continue the one before
    lead: int = 3_000_000  # by which its first sample is in the past
    transit: int = 12_000_000  # that it may need until a cycle of the controller has taken it


REPLACEMENT = Replacement()


class Drives(NamedTuple):
    """What is commanded."""

    joint_names: Sequence[str]
    """The commanded joints, in the order of the commands."""
    period: float
    """Period of the control loop [s]."""
    lag: float
    """Largest lag of the arm [s]."""
    velocity: FloatArray
    """Velocity limits of the joints (n,) [rad/s or m/s]."""


class Link(Protocol):
    """What can be asked of the way to the controller."""

    def is_due(self) -> bool:
        """Return whether it is time to ask again."""

    def ask_soon(self) -> None:
        """Let it be time to ask again."""

    def complaint(self) -> str:
        """Return why nothing would take what is sent, or nothing."""

    def other_commander(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""


class Rule(Protocol):
    """How a controller replaces trajectories; asked for, and not waited for."""

    def ask(self) -> None:
        """Ask if that is due."""

    @property
    def by_stamp(self) -> bool:
        """Whether it is known to place a trajectory by its stamp alone."""

    @property
    def asked(self) -> str:
        """The service that may still tell; empty once it has, or is overdue."""


class Execution(ABC):
    """Decides what is sent to a controller, and follows what becomes of it.

    Args:
        link: The way to the controller.

    Attributes:
        streams: Whether it sends each command of a motion; otherwise whole motions.
        failure: The controller's failure; empty again from the next goal on.
        other_commander: The other node that commands the arm; empty if there is none.
        is_silent: Whether commands are not executed only because the controller, which exists, has
            published nothing for too long.
        sent: Number of commands so far.
    """

    streams: bool

    def __init__(self, link: Link) -> None:
        self._link = link
        self.failure = self.other_commander = ""
        self.is_silent, self.sent = False, 0
        self._unmet = ""
        self._outgoing: list[Outgoing] = []

    def outgoing(self) -> list[Outgoing]:
        """Return what is to be sent now, in this order; each once."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def unmet(self, now: Moment) -> str:
        """Return why no command would be executed, or nothing."""
        if self._link.is_due():
            self.is_silent = False
            # A node that starts to command during a motion must not stop it; that node must wait.
            self.other_commander = (
                "" if self.expected(now) is not None else self._link.other_commander()
            )
            self._unmet = self.other_commander or self._check(now)
        return self._unmet

    def _check(self, now: Moment) -> str:
        """Return why the controller would execute no command, or nothing."""
        return self._link.complaint()

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

    def observe(self, measured: FloatArray, age: float, now: Moment) -> None:
        """Take where the arm is measured, before `advance`.

        Args:
            measured: Measured positions (n,) [rad or m].
            age: Their age [s].
            now: The beginning of the period.
        """
        return  # most are told by the controller, or send each command

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

    def on_clock_jump(self, now: Moment) -> None:
        """Discard all times, which refer to the old clock."""
        self._link.ask_soon()

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; empty if it does."""
        return ""

    @property
    def unheard(self) -> str:
        """Why a motion cannot begin while the controller publishes nothing."""
        return "the controller does not tell where it is"

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
    def in_doubt(self) -> bool:
        """Whether it is not known yet if an arm has braked that was told to."""
        return False

    @property
    def is_led_elsewhere(self) -> bool:
        """Whether the controller moves the arm, but not on the way that was sent last."""
        return False

    def keeps(self, command: FloatArray) -> bool:
        """Return whether the controller still holds the last command (n,) of an ended motion."""
        return True

    @abstractmethod
    def end(self, pipeline: Pipeline, now: Moment) -> None:
        """Send the last that the controller needs to come to rest, without the pipeline's steps."""

    def close(self) -> None:
        """Send the last before nothing can be sent any more."""
        return  # a controller comes to rest by itself
