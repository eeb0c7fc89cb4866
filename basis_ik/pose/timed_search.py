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

"""The search of `solve` against the clock."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from basis_ik.search.descent_kernel import SPENT
from basis_ik.search.pose_search_kernel import GO_ON
from basis_ik.search.prepared_chain import PreparedChain

FloatArray = npt.NDArray[np.float64]

MARGIN = 100.0  # a slice of several steps is run where as many of the slowest so far would fit
LONGEST = 256  # steps of a slice


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
    """One search, in slices, because compiled code cannot ask for the time.

    Attributes:
        ready: The chain.
        weights: (12,) of what is wanted.
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

        Near the deadline the clock is read after every single step.

        Args:
            tolerances: Of position [m] and orientation [rad].
            iterations: Steps allowed.
            restarts: Starts allowed after the seed's.
            deadline: By `time.perf_counter` [s].
        """
        ready = self.ready
        work, q = ready.new_work(), np.empty_like(self.seed)
        first, steps, slowest, now = 0, 0, 0.0, time.perf_counter()
        while True:
            fitting = (deadline - now) / (MARGIN * slowest) if slowest > 0.0 else 1.0
            slice_ = min(max(1, int(min(fitting, LONGEST))), iterations - steps)
            status, taken, fresh, away, turned = ready.search(
                self.weights, self.goal, self.seed, q, tolerances, slice_,
                first=first, last=restarts, work=work,
            )  # fmt: skip
            before, now = now, time.perf_counter()
            first, steps = GO_ON, steps + taken
            slowest = max(slowest, (now - before) / max(1, taken))
            if status != SPENT or steps >= iterations or now >= deadline:
                return Finish(q, status, away, turned, steps, fresh)
