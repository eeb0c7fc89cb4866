"""The search of `solve` against the clock."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from basis_ik.kernels.descent import REACHED
from basis_ik.kernels.pose_solve import BAD_SEED, BAD_TARGET, OUT_OF_REACH, solve_pose
from basis_ik.solvers.prepared import NEAR, PreparedChain

FloatArray = npt.NDArray[np.float64]

STEPS = 40  # of one descent, at most: what the clock may be overrun by
NEVER_WORTH_ANOTHER = (REACHED, OUT_OF_REACH, BAD_SEED, BAD_TARGET)


@dataclass(frozen=True)
class Finish:
    """Where the search stood when it ended."""

    q: FloatArray
    status: int
    away: float
    turned: float
    steps: int
    starts: int


@dataclass
class Race:
    """One search, start by start, because compiled code cannot ask for the time.

    Attributes:
        ready: The chain.
        weights: (9,) of what is wanted.
        goal: (4, 4) root_T_goal.
        seed: (n,).
    """

    ready: PreparedChain
    weights: FloatArray
    goal: FloatArray
    seed: FloatArray

    def run(
        self, tolerances: tuple[float, float], iterations: int, restarts: int, deadline: float
    ) -> Finish:
        """Search until a start arrives, or iterations, restarts or time are used up.

        Args:
            tolerances: Of position [m] and orientation [rad].
            iterations: Steps allowed.
            restarts: Starts allowed after the seed's.
            deadline: By `time.perf_counter` [s].
        """
        ready = self.ready
        work, steps, least = ready.new_work(), 0, np.inf
        best = Finish(np.empty_like(self.seed), 0, np.inf, np.inf, 0, 0)
        for number in range(restarts + 1):
            q = np.empty_like(self.seed)
            status, taken, _, away, turned = solve_pose(
                ready.exact, ready.joints, ready.variables, ready.ends, ready.reach, self.weights,
                self.goal, self.seed, q, work, *tolerances,
                min(STEPS, iterations - steps), number, number, 1, False, NEAR,
            )  # fmt: skip
            steps += taken
            cost = (self.weights[0] * away) ** 2 + (self.weights[3] * turned) ** 2
            if cost < least or status in NEVER_WORTH_ANOTHER:
                least, best = cost, Finish(q, status, away, turned, steps, number)
            over = steps >= iterations or time.perf_counter() >= deadline
            if over or status in NEVER_WORTH_ANOTHER:
                break
        return Finish(best.q, best.status, best.away, best.turned, steps, number)
