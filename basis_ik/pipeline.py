"""From a target in the chain's root frame to the next safe command; no ROS, no clock."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from basis_ik.model.chain import Chain
from basis_ik.motion.limiter import is_safe, step_towards
from basis_ik.solvers.solve import Solution, solve
from basis_ik.transforms.rigid import RigidTransform

UNSTATED_SPEED = (1.0, 0.1)  # of joints whose URDF states none [rad/s], [m/s]


class State(enum.Enum):
    """What the pipeline is doing."""

    IDLE = "no target"
    MOVING = "moving to the target"
    ARRIVED = "at the goal"
    UNSAFE = "the next command failed the last check"


def speeds(chain: Chain) -> NDArray[np.float64]:
    """Return the speed allowed of each variable (n,) [rad/s or m/s]: the URDF's, or a slow one."""
    slow = np.where(chain.prismatic, UNSTATED_SPEED[1], UNSTATED_SPEED[0])
    return np.where(np.isfinite(chain.velocity), chain.velocity, slow)


class Pipeline:
    """Solves for a target and walks there within the chain's limits.

    A goal is kept until the target changes: a target that rests is solved once. Motion starts from
    the measured positions; while it lasts, each command continues from the one before, so that the
    arm's own lag does not feed back.

    Args:
        chain: What to move.
        period: Time between two calls of `step` [s].
        velocity_scaling: Fraction of the joints' velocity limits to use, in (0, 1].
        position_tolerance: Largest position error of a solution that counts as reached [m].
        orientation_tolerance: Largest orientation error of one [rad].
    """

    ARRIVED_REPEATS = 25  # a command lost on the way is made good before silence

    def __init__(
        self,
        chain: Chain,
        *,
        period: float,
        velocity_scaling: float = 1.0,
        position_tolerance: float = 1e-5,
        orientation_tolerance: float = 1e-5,
    ) -> None:
        self._chain = chain
        self._max_step = speeds(chain) * period
        self.velocity_scaling = velocity_scaling
        self.position_tolerance = position_tolerance
        self.orientation_tolerance = orientation_tolerance
        self.state = State.IDLE
        self.solution: Solution | None = None
        self._target: RigidTransform | None = None
        self._position_only = False
        self._command: NDArray[np.float64] | None = None
        self._repeats = 0

    def aim(
        self,
        root_T_target: RigidTransform,
        measured: NDArray[np.float64],
        *,
        position_only: bool = False,
    ) -> Solution:
        """Solve for a target, unless it is the one solved last.

        Args:
            root_T_target: Wanted pose of the tip in the root frame.
            measured: Measured positions (n,) [rad or m]; the seed of a first solve.
            position_only: Leave the orientation free.

        Returns:
            The solution the arm is going to.
        """
        same = (
            self.solution is not None
            and self._target is not None
            and self._position_only == position_only
            and np.array_equal(self._target.matrix, root_T_target.matrix)
        )
        if not same:
            # From goal to goal the branch is kept; a first goal is the one nearest to the arm.
            seed = measured if self.solution is None else self.solution.positions
            self.solution = solve(
                self._chain,
                root_T_target,
                np.clip(seed, self._chain.lower, self._chain.upper),
                position_only=position_only,
                position_tolerance=self.position_tolerance,
                orientation_tolerance=self.orientation_tolerance,
            )
            self._target = root_T_target
            self._position_only = position_only
            self._repeats = 0
            self.state = State.MOVING
        assert self.solution is not None
        return self.solution

    def rest(self) -> None:
        """Forget target and command; the next motion starts from the measured positions."""
        self.solution = self._target = self._command = None
        self.state = State.IDLE

    def step(self, measured: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the next command (n,) [rad or m], or None when there is nothing to send.

        Args:
            measured: Measured positions (n,), all finite.
        """
        if self.solution is None or self._repeats >= self.ARRIVED_REPEATS:
            return None
        goal = self.solution.positions
        previous = measured if self._command is None else self._command
        max_step = self._max_step * self.velocity_scaling
        command = step_towards(previous, goal, max_step)
        if not is_safe(command, previous, self._chain.lower, self._chain.upper, max_step):
            self.state = State.UNSAFE
            self._command = None
            return None
        self._command = command
        if np.array_equal(command, goal):
            self.state = State.ARRIVED
            self._repeats += 1
            if self._repeats >= self.ARRIVED_REPEATS:
                self._command = None  # whoever moves the arm now moves it from where it is
        else:
            self.state = State.MOVING
        return command
