# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tasks that `solve_tasks` takes, and the limbs that they move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from basis_ik.descent.pose_search_kernel import LARGEST_ANGLE, LARGEST_LENGTH
from basis_ik.descent.tables_kernel import BOX, WRX, WRY, WX
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import ByValue, FloatArray, as_three
from basis_ik.search.arguments import Target, bad_target, count
from basis_ik.search.limb_kernel import PackedTask
from basis_ik.search.look_residual_kernel import LOOK_RESIDUAL
from basis_ik.search.pose_constraint import PoseConstraint, aim, constrain, weigh
from basis_ik.search.pose_residual_kernel import POSE_RESIDUAL
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import ROTATION_WEIGHT, PreparedChain
from basis_ik.search.ranked_tasks import Ranked, RankedTask, join_variables, renumbered
from basis_ik.solvers.look.look_at import look_at, with_ray
from basis_ik.solvers.pose.solve import solve
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain
    from basis_ik.robot.robot import RobotModel

STARTS_ALONE = 20  # of a task that no other solver explains


@runtime_checkable
class Task(Protocol):
    """What `solve_tasks` takes."""

    @property
    def tip(self) -> str:
        """The link."""

    @property
    def priority(self) -> int:
        """0 is the most important."""

    def pack(self, name: str, ready: PreparedChain) -> PackedTask:
        """Return the task as kernels take it.

        Args:
            name: Its own, for errors.
            ready: The chain to the tip.

        Raises:
            SolveArgumentError: An attribute of wrong kind, shape or range.
        """


@dataclass(frozen=True, eq=False)
class PoseTask(ByValue):
    """A link is to be at a pose, or where some of it is.

    Attributes:
        tip: The link.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix; or a position (3,)
            alone [m].
        constraint: Which part of the pose counts; None: all of it.
        priority: 0 is the most important. Tasks of one priority that cannot all be met trade off
            by their weights (`PoseConstraint.weights`).
    """

    tip: str
    target: Target
    constraint: PoseConstraint | None = None
    priority: int = 0

    def pack(self, name: str, ready: PreparedChain) -> PackedTask:
        """Return the task as kernels take it; see `Task`."""
        target, constraint = aim(f"{name}.target", self.target, self.constraint)
        weights = weigh(ready, constraint)
        narrowed, _, goal = constrain(ready, constraint, target._m)
        if not (np.abs(goal[:3]) <= LARGEST_LENGTH).all():
            raise bad_target(f"{name}.target", target)
        radius = float(np.linalg.norm(weights[BOX])) if weights[WX] > 0.0 else np.inf
        return PackedTask(POSE_RESIDUAL, narrowed.exact, weights, goal, radius)


@dataclass(frozen=True, eq=False)
class LookTask(ByValue):
    """A ray fixed to a link is to pass through a point.

    Attributes:
        tip: The link.
        point: (3,) what to look at, in the root frame [m].
        axis: (3,) direction of the ray in the link's coordinates.
        origin: (3,) start of the ray in the link's coordinates [m].
        priority: 0 is the most important.
    """

    tip: str
    point: npt.ArrayLike
    axis: npt.ArrayLike = (1.0, 0.0, 0.0)
    origin: npt.ArrayLike = (0.0, 0.0, 0.0)
    priority: int = 0

    def pack(self, name: str, ready: PreparedChain) -> PackedTask:
        """Return the task as kernels take it; see `Task`."""
        exact = with_ray(ready, self.axis, self.origin).exact
        weights, goal = np.zeros(12), np.eye(4)
        weights[WRX], weights[WRY] = ROTATION_WEIGHT, ROTATION_WEIGHT
        goal[:3, 3] = as_three(f"{name}.point", self.point, LARGEST_LENGTH)
        return PackedTask(LOOK_RESIDUAL, exact, weights, goal, np.inf)


class Problem:
    """The tasks on the limbs that they move.

    Attributes:
        names: The n variables of all limbs.
        variables: (n, 8), see `descent.pose_search_kernel.solve_pose`.
        middle: (n,) the middle of the limits.
        ranked: The tasks as kernels take them, in the order given.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: tuple[Task, ...],
        root: str,
        tolerances: tuple[float, float],
    ) -> None:
        if not tasks:
            raise SolveArgumentError("tasks", tasks, "at least one task")
        for index, task in enumerate(tasks):
            if not isinstance(task, Task):
                required = "a task, such as a PoseTask or a LookTask"
                raise SolveArgumentError(f"tasks[{index}]", task, required)
        self.model, self.tasks, self.tolerances = model, tasks, tolerances
        self.chains = [_chain(model, root, task.tip) for task in tasks]
        limbs = [(chain.joint_names, prepared(chain).variables) for chain in self.chains]
        self.names, self.variables = join_variables(limbs)
        ranked = [self._rank(index) for index in range(len(tasks))]
        self.ranked, self.radii = [each[0] for each in ranked], [each[1] for each in ranked]
        middles: dict[str, float] = {}
        for chain in self.chains:
            middles |= dict(zip(chain.joint_names, prepared(chain).middle, strict=True))
        self.middle = np.array([middles[name] for name in self.names])

    def positions(
        self, argument: str, named: Mapping[str, float] | None, default: FloatArray
    ) -> FloatArray:
        """Return positions (n,): those named, and the default for all others."""
        values = default.copy()
        if named is None:
            return values
        if not isinstance(named, Mapping):  # a robot's joints have no order
            raise SolveArgumentError(argument, named, "positions by joint name")
        for name, value in named.items():
            if name not in self.model.joints:
                raise SolveArgumentError(argument, name, "the robot's joints")
            if not (isinstance(value, (int, float, np.floating)) and abs(value) <= LARGEST_ANGLE):
                required = f"finite and within ±{LARGEST_ANGLE:g}"
                raise SolveArgumentError(f"{argument}[{name!r}]", value, required)
            if name in self.names:
                values[self.names.index(name)] = value
        return values

    def is_out_of_reach(self) -> bool:
        """Return whether a position is farther away than its limb is long."""
        return any(self._too_far(index) > 0.0 for index in range(len(self.tasks)))

    def alone(self, index: int, q: FloatArray) -> Reason:
        """Return the reason for which a task alone, searched for from q, is not met, or REACHED."""
        task, chain = self.tasks[index], self.chains[index]
        seed = q[[self.names.index(name) for name in chain.joint_names]]
        if isinstance(task, LookTask):
            return look_at(
                chain, task.point, seed, axis=task.axis, origin=task.origin,
                orientation_tolerance=self.tolerances[1],
            ).reason  # fmt: skip
        if isinstance(task, PoseTask):
            return solve(
                chain, task.target, seed, constraint=task.constraint,
                position_tolerance=self.tolerances[0], orientation_tolerance=self.tolerances[1],
            ).reason  # fmt: skip
        if self._too_far(index) > 0.0:
            return Reason(Verdict.TOO_FAR, self._too_far(index), proven=True)
        ranked = self.ranked[index]
        best, _, last = Ranked([ranked], self.variables).search(q, STARTS_ALONE - 1)
        if ranked.is_met(best.q):
            return REASON_REACHED
        return Reason(Verdict.BUDGET_SPENT, *ranked.miss(best.q), starts=last + 1)

    def _rank(self, index: int) -> tuple[RankedTask, float]:
        """Return a task, and its radius as `PackedTask` has it."""
        task, chain, name = self.tasks[index], self.chains[index], f"tasks[{index}]"
        level = count(f"{name}.priority", task.priority, 0)
        residual, limb, weights, goal, radius = task.pack(name, prepared(chain))
        limb = renumbered(limb, chain.joint_names, self.names)
        return RankedTask(residual, limb, weights, goal, level, self.tolerances), radius

    def _too_far(self, index: int) -> float:
        """Return by how much a goal is beyond the reach of its limb [m]; below 0 if within."""
        ready, goal = prepared(self.chains[index]), self.ranked[index].goal
        far = float(np.linalg.norm(goal[:3, 3] - ready.ends[0, :, 3]))
        return far - (ready.reach + self.radii[index] + self.tolerances[0])


_chains: WeakKeyDictionary[RobotModel, dict[tuple[str, str], Chain]] = WeakKeyDictionary()


def _chain(model: RobotModel, root: str, tip: str) -> Chain:
    """Return a chain, which is kept with the model: preparing one takes a while."""
    kept = _chains.setdefault(model, {})
    if (root, tip) not in kept:
        kept[root, tip] = model.chain(root, tip)
    return kept[root, tip]
