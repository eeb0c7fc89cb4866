# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulation of ros2_control's joint_trajectory_controller, cycle by cycle.

Its rules follow recordings of the real controller; docs/simulated_arm.md compares both.
Positions are [rad] or [m], velocities per second, times [s].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.simulation.tolerances import Tolerances, exceeded
from basis_ik.simulation.trajectory import (
    Entry,
    Running,
    Trajectory,
    TrajectorySample,
    blend_trajectory,
    plan_trajectory,
    whole_nanoseconds,
)
from basis_ik.simulation.trajectory_command import ErrorCode, TrajectoryCommand


class GoalStatus(Enum):
    """Final status of an action goal."""

    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ABORTED = "aborted"


class GoalEnd(NamedTuple):
    """The end of an action goal.

    Attributes:
        status: The goal's final status.
        code: Error code of its result.
        text: Error string of its result, as from the real controller.
    """

    status: GoalStatus
    code: ErrorCode
    text: str


GOAL_REACHED = GoalEnd(GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL, "Goal successfully reached!")
GOAL_CANCELED = GoalEnd(GoalStatus.CANCELED, ErrorCode.SUCCESSFUL, "")
GOAL_PREEMPTED = GoalEnd(
    GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, "Current goal preempted by new incoming action."
)
GOAL_DEACTIVATED = GoalEnd(
    GoalStatus.ABORTED,
    ErrorCode.INVALID_GOAL,
    "Current goal cancelled during deactivate transition.",
)
GOAL_PATH_VIOLATED = GoalEnd(
    GoalStatus.ABORTED,
    ErrorCode.PATH_TOLERANCE_VIOLATED,
    "Aborted due to path tolerance violation",
)


class Update(NamedTuple):
    """The result of one cycle of the controller.

    Attributes:
        reference: The desired state now.
        output: The commanded state: the desired one a cycle later.
        errors: shape (2, n), reference minus measured positions and velocities.
        goal_end: The end of the active goal, if it ended in this cycle.
        violation: The violated tolerance, or nothing.
    """

    reference: TrajectorySample
    output: TrajectorySample
    errors: FloatArray
    goal_end: GoalEnd | None = None
    violation: str = ""


class TrajectoryController:
    """Follows the newest trajectory, which may belong to an action goal.

    Trajectory time is the sum of the periods, each multiplied by the speed scaling. So a jump of
    the clock does not disturb a motion. The clock only matters in the cycle in which a trajectory
    takes effect.

    Attributes:
        speed_scaling: Rate of trajectory time, from 0 to 1.
    """

    def __init__(
        self,
        joints: Sequence[str],
        continuous: NDArray[np.bool_],
        positions: FloatArray,
        tolerances: Tolerances,
        *,
        period: float,
        interpolate_from_desired_state: bool = False,
        allow_trajectory_replacement: bool = False,
    ) -> None:
        """Start active, holding a position.

        Args:
            joints: The n joints, in the order of all arrays.
            continuous: shape (n,), True for continuous joints.
            positions: Positions to hold, shape (n,) [rad or m].
            tolerances: Tolerances until a goal has its own.
            period: Time from one cycle to the next [s].
            interpolate_from_desired_state: Whether a trajectory with its first point ahead begins
                at the last command instead of the measured state.
            allow_trajectory_replacement: Whether a new trajectory is blended with the running one,
                as by ros2_controllers after 6.9.0; see `blend_trajectory`.
        """
        self._joints = tuple(joints)
        self._continuous = continuous
        self._period = period
        self._from_desired_state = interpolate_from_desired_state
        self._blends = allow_trajectory_replacement
        self._output = TrajectorySample.at_rest(positions)
        self._measured = positions
        self._new: TrajectoryCommand | Trajectory | None = None
        self._time = 0.0
        self._has_goal = False
        self.speed_scaling = 1.0
        self._tolerances = tolerances
        self.activate()

    @property
    def active(self) -> bool:
        """Whether it accepts trajectories and commands the joints."""
        return self._active

    @property
    def output(self) -> TrajectorySample:
        """The last command."""
        return self._output

    def activate(self) -> None:
        """Hold the last command. As upstream, the tolerances of the last goal stay valid."""
        self._active = True
        self._commanded_at = math.inf  # as upstream: the first trajectory begins without a delay
        self._output = TrajectorySample.at_rest(self._output.positions)
        self._trajectory = Trajectory.constant(self._output)  # nothing is blended with the last one
        self._hold(self._output.positions)

    def deactivate(self) -> GoalEnd | None:
        """Keep the last command, and end the active goal, if there is one."""
        self._active = False
        return self._end_goal(GOAL_DEACTIVATED)

    def follow(self, command: TrajectoryCommand) -> None:
        """Follow a trajectory from the next cycle on; the active goal then depends on it.

        Args:
            command: A command that `refuse_trajectory` accepts. An inactive controller ignores it:
                it has no cycles, and holds its position when it is activated.
        """
        self._new = command
        self._holding = False

    def start_goal(self, command: TrajectoryCommand, tolerances: Tolerances) -> GoalEnd | None:
        """Follow the trajectory of a goal from the next cycle on.

        Args:
            command: A command that `refuse_trajectory` accepts.
            tolerances: Tolerances until another goal starts.

        Returns:
            The end of the goal that was active.
        """
        preempted = self._end_goal(GOAL_PREEMPTED)
        self._has_goal = True
        self._tolerances = tolerances
        self.follow(command)
        return preempted

    def cancel_goal(self) -> GoalEnd | None:
        """End the active goal, if there is one, and hold the measured position."""
        if self._has_goal:
            self._hold(self._measured)
        return self._end_goal(GOAL_CANCELED)

    def update(
        self,
        now: float,
        positions: FloatArray,
        velocities: FloatArray,
        elapsed: float | None = None,
    ) -> Update:
        """Run one cycle.

        Args:
            now: Time on the clock of the commands' start times [s].
            positions: shape (n,), measured.
            velocities: shape (n,), measured.
            elapsed: Time since the last cycle [s]; None: a period.
        """
        self._measured = positions
        now = whole_nanoseconds(now)
        first = self._new is not None
        if self._new is None:
            passed = (self._period if elapsed is None else elapsed) * self.speed_scaling
            self._time = whole_nanoseconds(self._time + passed)
        else:
            self._trajectory = self._enter(self._new, now, positions, velocities)
            self._time = now
            self._new = None
        # As upstream before 6.9.0: a cycle after the command, the desired state is at the end too.
        at_end = not first and not self._blends and self._output.finished
        at_end = at_end and self._time >= self._trajectory.begin
        reference = self._output if at_end else self._trajectory.sample(self._time)
        # As upstream: a whole period ahead, regardless of the speed scaling.
        output = self._trajectory.sample(whole_nanoseconds(self._time + self._period))
        errors = np.array([reference.positions - positions, reference.velocities - velocities])
        goal_end, violation = self._check(errors[0], first, output.finished)
        if not violation:
            self._output, self._commanded_at = output, now
        return Update(reference, self._output, errors, goal_end, violation)

    def _enter(
        self,
        new: TrajectoryCommand | Trajectory,
        now: float,
        positions: FloatArray,
        velocities: FloatArray,
    ) -> Trajectory:
        if isinstance(new, Trajectory):
            return new
        if self._from_desired_state:
            # As upstream: the last command is for now, but has the time of the cycle that gave it.
            # That may be long ago: cycles were missed, or violated a tolerance and gave none.
            since, state = min(self._commanded_at, now), self._output
        else:
            # As upstream: accelerations are not measured, and count as zero.
            since = now
            state = TrajectorySample(positions, velocities, np.zeros_like(positions), False)
        entry = Entry(now, since, state, self._output.positions)
        # As upstream: a trajectory of one point, such as a hold, is not blended with the next.
        if self._blends and self._trajectory.commanded > 1:
            running = Running(self._trajectory, self._time, self.speed_scaling)
            return blend_trajectory(new, self._joints, self._continuous, entry, running)
        return plan_trajectory(new, self._joints, self._continuous, entry)

    def _check(self, errors: FloatArray, first: bool, at_end: bool) -> tuple[GoalEnd | None, str]:
        """Return the goal's end and the violated tolerance, if any; in that case hold."""
        if self._holding:
            return None, ""
        # A trajectory that ends in its first cycle may jump.
        path = exceeded(errors, self._tolerances.path, self._joints) if first or not at_end else ""
        if path:
            self._hold(self._measured)
            return self._end_goal(GOAL_PATH_VIOLATED), f"on the path, {path}"
        if not at_end:
            return None, ""
        missed = exceeded(errors, self._tolerances.goal, self._joints)
        late = self._time - self._trajectory.end
        if not missed:
            if self._has_goal:
                self._new = Trajectory.constant(self._trajectory.sample(self._trajectory.end))
                self._holding = True
            return self._end_goal(GOAL_REACHED), ""
        if not 0.0 < self._tolerances.goal_time < late:
            return None, ""
        self._hold(self._measured)
        text = f"Aborted due to goal_time_tolerance exceeding by {late:.6f} seconds"
        end = GoalEnd(GoalStatus.ABORTED, ErrorCode.GOAL_TOLERANCE_VIOLATED, text)
        return self._end_goal(end), f"{late:.3f} s after the end, {missed}"

    def _end_goal(self, end: GoalEnd) -> GoalEnd | None:
        had_goal, self._has_goal = self._has_goal, False
        return end if had_goal else None

    def _hold(self, positions: FloatArray) -> None:
        self._new = Trajectory.constant(TrajectorySample.at_rest(positions))
        self._holding = True
