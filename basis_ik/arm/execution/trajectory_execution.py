# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What executions by a joint_trajectory_controller have in common."""

from __future__ import annotations

from typing import NamedTuple

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.controller_states import ControllerStates
from basis_ik.arm.execution.execution import Drives, Execution, Link, Rule
from basis_ik.arm.moment import Moment

CLOCK_UNCERTAINTY = 4_000_000  # [ns], by which a clock may be farther behind than was proven


class Controller(NamedTuple):
    """A joint_trajectory_controller."""

    link: Link
    """The way to it."""
    state: ControllerState | ControllerStates
    """What it publishes, or several that share the arm."""
    rule: Rule
    """How it replaces trajectories."""
    resumes: bool
    """Whether a motion goes on after it has scaled its speed to 0."""


class TrajectoryExecution(Execution):
    """Knows what a joint_trajectory_controller publishes, and how it replaces trajectories.

    Args:
        drives: What is commanded.
        controller: The controller.
    """

    _state: ControllerState | ControllerStates

    def __init__(self, drives: Drives, controller: Controller) -> None:
        super().__init__(controller.link)
        self._joint_names, self._lag = drives.joint_names, drives.lag
        _, self._state, self._rule, self._resumes = controller
        self._behind = 0  # by how much the controller's clock is behind at least [ns]; < 0: ahead

    def unmet(self, now: Moment) -> str:
        """Return why no command would be executed; see `Execution.unmet`."""
        self._state.begin_period(now)
        return super().unmet(now)

    def _check(self, now: Moment) -> str:
        self._rule.ask()
        unmet = super()._check(now)
        self.is_silent = not unmet and self._state.is_silent
        return unmet or self._state.unmet(waits=self._resumes)

    def excuse(self, until: float) -> None:
        """Do not take the controller for silent until then; see `Execution.excuse`."""
        self._state.excuse(until)

    def on_clock_jump(self, now: Moment) -> None:
        """Discard all times; see `Execution.on_clock_jump`."""
        super().on_clock_jump(now)
        self._state.on_clock_jump(now)
        self._behind = 0

    def _is_behind(self, farther: int) -> None:
        """Note how much earlier a motion has begun, by its stamp, than it was sent [ns].

        That is by how much the controller's clock is farther behind than was known, at least.
        """
        self._behind += max(farther, 0)

    def _there(self, now: Moment) -> Moment:
        """Return the moment as the controller's clock has it at the latest."""
        # A state is at least as old, when it comes, as the clock is behind.
        self._behind = min(self._behind, self._state.age)
        return now._replace(clock=now.clock - self._behind)

    def _unsure(self, *, by_stamp: bool) -> int:
        """Return by how much the controller's clock may be earlier than that [ns].

        Args:
            by_stamp: Whether the stamp alone counts: then more of the way before costs nothing.
                Otherwise it takes from the time in which a trajectory may be sent.
        """
        unsure = self._state.age - self._behind
        return unsure if by_stamp else min(unsure, CLOCK_UNCERTAINTY)
