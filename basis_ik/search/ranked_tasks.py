# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tasks by priority on the limbs of one robot, packed for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from basis_ik.descent.pose_search_kernel import TOLERANCE_SHARE, begin_inside, write_start
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    GOLDEN_STEP,
    PERIODIC,
    POSITION,
    ROTATION,
    VARIABLE,
    WRX,
    WX,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.search.levels_kernel import descend_levels
from basis_ik.search.limb_kernel import Residual
from basis_ik.search.prepare import golden_steps
from basis_ik.search.residuals_kernel import (
    FIRST_ROW,
    POSITION_GOAL,
    POSITION_ROWS,
    ROTATION_GOAL,
    ROTATION_ROWS,
    TASK_COLUMNS,
    TASK_KIND,
    TASK_WEIGHTS,
    TaskArrays,
)
from basis_ik.search.starts import search_starts

LEVEL_ITERATIONS = 300  # of one level; a descent converges in far fewer, or creeps along a ridge


@dataclass(frozen=True, eq=False)
class RankedTask:
    """One task on one limb.

    Attributes:
        residual: The kind of residual.
        limb: (m + 1, 16) as `proof_kernel.place_exactly` takes it, its VARIABLE an index into the
            variables of all limbs.
        weights: (12,), what the residual makes of them.
        goal: (4, 4), likewise.
        level: 0 is the most important.
        tolerances: Of position [m] and orientation [rad].
    """

    residual: Residual
    limb: FloatArray
    weights: FloatArray
    goal: FloatArray
    level: int
    tolerances: tuple[float, float]

    def miss(self, q: FloatArray) -> tuple[float, float]:
        """Return the distance [m] and the angle [rad] that are left at q, by forward kinematics."""
        frame = np.empty((3, 4))
        place_exactly(self.limb, q, frame)
        return self.residual.miss(frame, self.goal, self.weights)

    def is_met(self, q: FloatArray) -> bool:
        """Return whether the task is met within its tolerances at q."""
        distance, angle = self.miss(q)
        near = self.weights[WX] == 0.0 or distance <= self.tolerances[0]
        return near and (self.weights[WRX] == 0.0 or angle <= self.tolerances[1])

    def arrival(self) -> tuple[float, float]:
        """Return the weighted squared errors at which a descent may stop."""
        return tuple(
            (TOLERANCE_SHARE * tolerance * min((w for w in weights if w > 0.0), default=0.0)) ** 2
            for tolerance, weights in zip(
                self.tolerances, (self.weights[POSITION], self.weights[ROTATION]), strict=True
            )
        )  # type: ignore[return-value]


@dataclass(frozen=True)
class Descent:
    """The end of a descent.

    Attributes:
        q: (n,).
        costs: The weighted error of each level: the root of the sum of squares.
        steps: Steps taken.
    """

    q: FloatArray
    costs: tuple[float, ...]
    steps: int


class Ranked:
    """Tasks, the most important first, and maybe a posture after all of them.

    Args:
        tasks: At least one.
        variables: (n, 8), see `descent.pose_search_kernel.solve_pose`.
        posture: (n,) preferred values.
        pull: (n,) 1 where a variable has one; no posture if all are 0.
    """

    def __init__(
        self,
        tasks: Sequence[RankedTask],
        variables: FloatArray,
        posture: FloatArray | None = None,
        pull: FloatArray | None = None,
    ) -> None:
        n = len(variables)
        self.tasks = sorted(tasks, key=lambda task: task.level)
        self.variables = variables[:, :COLUMNS].copy()  # starts of one limb suit no other
        self.posture = np.zeros(n) if posture is None else posture
        self.pull = np.zeros(n) if pull is None else pull
        self.limbs = np.concatenate([task.limb for task in self.tasks])
        lengths = [len(task.limb) for task in self.tasks]
        self.starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        self.goals = np.array([task.goal for task in self.tasks])
        self.packed = np.zeros((len(self.tasks), TASK_COLUMNS))
        levels, row, thresholds = [], 0, []
        for index, task in enumerate(self.tasks):
            if index == 0 or task.level != self.tasks[index - 1].level:
                levels.append(row)
            arrival, packed, residual = task.arrival(), self.packed[index], task.residual
            packed[TASK_KIND], packed[FIRST_ROW] = residual.number, row
            packed[POSITION_ROWS] = residual.position_rows
            packed[ROTATION_ROWS] = residual.rotation_rows
            packed[POSITION_GOAL], packed[ROTATION_GOAL] = arrival
            packed[TASK_WEIGHTS:] = task.weights
            thresholds += [threshold for threshold in arrival if threshold > 0.0]
            row += residual.position_rows + residual.rotation_rows
        self.rows = row
        self.slack = min(thresholds)
        self.levels = np.array([*levels, row, *([row + n] if self.pull.any() else [])], np.int64)

    def together(self, start: FloatArray) -> Descent:
        """Descend with all tasks at once, as if none were more important than another."""
        return self._descend(start, np.array([0, self.rows], np.int64))

    def search(self, seed: FloatArray, restarts: int) -> tuple[Descent, int, int]:
        """Search for positions that meet all tasks; else return those that leave least altogether.

        Returns:
            The descent that ended there; steps of all descents; number of the last start.
        """
        best, steps, used = search_starts(
            (self.start(number, seed) for number in range(restarts + 1)),
            lambda start, left: self.together(start),
            lambda one, other: one.costs < other.costs,
            lambda end: self.all_met(end.q),
        )
        return best, steps, used - 1

    def in_order(self, start: FloatArray, left: int = LEVEL_ITERATIONS) -> Descent:
        """Descend level by level, with at most so many iterations for each."""
        return self._descend(start, self.levels, max(0, min(LEVEL_ITERATIONS, left)))

    def standing(self, q: FloatArray) -> Descent:
        """Return q itself, with its costs."""
        return self._descend(q, self.levels, 0)

    def all_met(self, q: FloatArray) -> bool:
        """Return whether every task is met, by forward kinematics."""
        return all(task.is_met(q) for task in self.tasks)

    def start(self, number: int, seed: FloatArray) -> FloatArray:
        """Return the start of a number: 0 is the seed, brought inside the limits."""
        q = np.empty(len(self.variables))
        if number == 0:
            begin_inside(self.variables, seed, q)
        else:
            write_start(self.variables, number, q)
        return q

    def is_better(self, one: Descent, other: Descent) -> bool:
        """Return whether one costs less than the other on the first level on which they differ."""
        margin = float(np.sqrt(self.slack))
        for a, b in zip(one.costs, other.costs, strict=True):
            if abs(a - b) > margin:
                return a < b
        return False

    def _descend(
        self, start: FloatArray, levels: npt.NDArray[np.int64], iterations: int = LEVEL_ITERATIONS
    ) -> Descent:
        q, error = start.copy(), np.empty(self.rows + len(start))
        problem = TaskArrays(
            self.limbs, self.starts, self.packed, self.goals, self.variables, self.posture,
            self.pull,
        )  # fmt: skip
        steps = descend_levels(problem, levels, self.slack, iterations, q, error)
        parts = (error[a:b] for a, b in pairwise(levels))
        return Descent(q, tuple(float(np.sqrt(part @ part)) for part in parts), steps)


def join_variables(limbs: Sequence[tuple[tuple[str, ...], FloatArray]]) -> tuple[
    tuple[str, ...], FloatArray
]:  # fmt: skip
    """Return the names and the rows (n, 8) of all limbs' variables, each once.

    Args:
        limbs: Of each limb its variables' names, and their rows.
    """
    rows: dict[str, FloatArray] = {}
    for names, variables in limbs:
        for name, row in zip(names, variables, strict=True):
            # Where a full turn changes something for one limb, it changes something.
            if name not in rows or row[PERIODIC] < rows[name][PERIODIC]:
                rows[name] = row[:COLUMNS].copy()
    joined = np.array(list(rows.values()))
    joined[:, GOLDEN_STEP] = golden_steps(len(rows))
    return tuple(rows), joined


def renumbered(limb: FloatArray, names: Sequence[str], among: Sequence[str]) -> FloatArray:
    """Return a limb whose variables are counted among those of all limbs."""
    moved = limb.copy()
    moved[:-1, VARIABLE] = [among.index(names[int(k)]) for k in limb[:-1, VARIABLE]]
    return moved
