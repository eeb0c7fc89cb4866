"""Following commanded trajectories: what is desired now, and when a goal is reached or missed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.motion.tolerances import Tolerances, exceeded
from basis_ik.motion.trajectory import Trajectory, TrajectorySample, plan_trajectory
from basis_ik.motion.trajectory_command import TrajectoryCommand

FloatArray = NDArray[np.float64]


class Progress(Enum):
    """What became of the trajectory that is followed."""

    HOLDING = "nothing is followed, a position is held"
    FOLLOWING = "on the way, or waiting to be within the goal tolerances"
    REACHED = "the end was reached just now and is held"
    PATH_VIOLATED = "a path tolerance was violated just now, the position is held"
    GOAL_VIOLATED = "the goal tolerances were not met in time, the position is held"


class Judgement(NamedTuple):
    """The state of the motion after a step.

    Attributes:
        progress: What became of the trajectory.
        errors: shape (2, n), desired minus actual positions and velocities.
        reason: Which tolerance was violated; empty otherwise.
    """

    progress: Progress
    errors: FloatArray
    reason: str = ""


class TrajectoryFollower:
    """One trajectory that is followed, and at most one that waits for its start time.

    Has its own time line, the sum of the steps, so that no jump of any clock disturbs a motion. The
    newest command replaces the present one from its start time on, and any that waits at once.
    """

    def __init__(
        self, joints: Sequence[str], continuous: NDArray[np.bool_], positions: FloatArray
    ) -> None:
        """Hold a position.

        Args:
            joints: The n joints, in the order of all arrays.
            continuous: shape (n,), True where the joint turns without end.
            positions: shape (n,), [rad] or [m].
        """
        self._joints = tuple(joints)
        self._continuous = continuous
        self._time = 0.0
        self._trajectory: Trajectory | None = None
        self._tolerances = Tolerances(np.zeros((2, 0)), np.zeros((2, 0)), 0.0)
        self._first = False
        self._waiting: tuple[float, TrajectoryCommand, Tolerances] | None = None
        self._desired = _at_rest(positions)

    @property
    def waiting(self) -> TrajectoryCommand | None:
        """The command whose start time has not come yet."""
        return None if self._waiting is None else self._waiting[1]

    def accept(self, command: TrajectoryCommand, tolerances: Tolerances) -> None:
        """Follow a command, from the next step or from its start time on.

        Args:
            command: One that `refuse_trajectory` does not refuse.
            tolerances: How far it may be missed.
        """
        start = self._time if command.delay is None else self._time + command.delay
        self._waiting = (start, command, tolerances)

    def hold(self, positions: FloatArray) -> None:
        """Forget all trajectories and desire to stay here, shape (n,)."""
        self._trajectory = None
        self._waiting = None
        self._desired = _at_rest(positions)

    def advance(self, dt: float, positions: FloatArray, velocities: FloatArray) -> TrajectorySample:
        """Let time pass and say what is desired then.

        Args:
            dt: How long [s].
            positions: shape (n,), actual, at the beginning.
            velocities: shape (n,), actual, at the beginning.

        Returns:
            The desired state at the end.
        """
        if self._waiting is not None and self._waiting[0] <= self._time:
            start, command, self._tolerances = self._waiting
            self._trajectory = plan_trajectory(
                command, self._joints, self._continuous, self._time, start, positions, velocities
            )
            self._waiting = None
            self._first = True
        self._time += dt
        if self._trajectory is not None:
            self._desired = self._trajectory.sample(self._time)
        return self._desired

    def judge(self, positions: FloatArray, velocities: FloatArray) -> Judgement:
        """Compare what was desired with what has become of it.

        Args:
            positions: shape (n,), actual, after the step.
            velocities: shape (n,), actual, after the step.

        Returns:
            The errors and the progress; REACHED and the violations are told once.
        """
        desired = self._desired
        errors = np.stack([desired.positions - positions, desired.velocities - velocities])
        if self._trajectory is None:
            return Judgement(Progress.HOLDING, errors)
        # A trajectory that is over at its first step is still one that jumped.
        on_the_way = self._first or not desired.finished
        self._first = False
        missed = exceeded(errors, self._tolerances.path, self._joints) if on_the_way else None
        if missed is not None:
            self._stop_at(positions)
            return Judgement(Progress.PATH_VIOLATED, errors, missed)
        if not desired.finished:
            return Judgement(Progress.FOLLOWING, errors)
        missed = exceeded(errors, self._tolerances.goal, self._joints)
        if missed is None:
            self._stop_at(desired.positions)
            return Judgement(Progress.REACHED, errors)
        late = self._time - self._trajectory.end
        if 0.0 < self._tolerances.goal_time < late:
            self._stop_at(positions)
            return Judgement(Progress.GOAL_VIOLATED, errors, f"{missed}, {late:.3f} s late")
        return Judgement(Progress.FOLLOWING, errors)

    def _stop_at(self, positions: FloatArray) -> None:
        self._trajectory = None
        self._desired = _at_rest(positions)


def _at_rest(positions: FloatArray) -> TrajectorySample:
    zero = np.zeros_like(positions)
    return TrajectorySample(positions, zero, zero, finished=True)
