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

"""What several tips of one robot are to do, and the limbs that do it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from basis_ik.errors import SolveArgumentError
from basis_ik.look.look_at import as_triple, look_at, with_ray
from basis_ik.numerics.arrays import FloatArray
from basis_ik.pose.solve import Solution, solve
from basis_ik.search.arguments import Target, as_target, bad_target, count
from basis_ik.search.pose_constraint import PoseConstraint, Triple, constrain, weigh
from basis_ik.search.pose_search_kernel import LARGEST_ANGLE, LARGEST_LENGTH
from basis_ik.search.prepare import prepared
from basis_ik.search.ranked_tasks import RankedTask, join_variables, look_weights, renumbered
from basis_ik.search.residuals_kernel import LOOK, POSE
from basis_ik.search.tables_kernel import BOX, WX

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain
    from basis_ik.robot.robot import RobotModel


@dataclass(frozen=True)
class PoseTask:
    """A link is to be at a pose, or where some of it is.

    Attributes:
        tip: The link.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix.
        constraint: Which part of the pose counts; None: all of it.
        priority: 0 is the most important; tasks of one priority share what they cannot all have,
            by their weights (`PoseConstraint.weights`).
    """

    tip: str
    target: Target
    constraint: PoseConstraint | None = None
    priority: int = 0


@dataclass(frozen=True)
class LookTask:
    """A ray fixed to a link is to pass through a point.

    Attributes:
        tip: The link.
        point: What to look at, in the root frame [m].
        axis: Direction of the ray in the link's coordinates.
        origin: Start of the ray in the link's coordinates [m].
        priority: 0 is the most important.
    """

    tip: str
    point: Triple
    axis: Triple = (1.0, 0.0, 0.0)
    origin: Triple = (0.0, 0.0, 0.0)
    priority: int = 0


Task = PoseTask | LookTask


class Problem:
    """The tasks on the limbs that they move.

    Attributes:
        names: The n variables of all limbs.
        variables: (n, 8), see `search.pose_search_kernel.solve_pose`.
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
            if not isinstance(task, (PoseTask, LookTask)):
                raise SolveArgumentError(f"tasks[{index}]", task, "a PoseTask or a LookTask")
        self.model, self.tasks, self.tolerances = model, tasks, tolerances
        self.chains = [_chain(model, root, task.tip) for task in tasks]
        limbs = [(chain.joint_names, prepared(chain).variables) for chain in self.chains]
        self.names, self.variables = join_variables(limbs)
        self.ranked = [self._rank(index) for index in range(len(tasks))]
        middles: dict[str, float] = {}
        for chain in self.chains:
            middles |= dict(zip(chain.joint_names, prepared(chain).middle, strict=True))
        self.middle = np.array([middles[name] for name in self.names])

    def positions(
        self, argument: str, named: Mapping[str, float] | None, default: FloatArray
    ) -> FloatArray:
        """Return (n,) of what is named, and the default where nothing is."""
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

    def hopeless(self) -> bool:
        """Return whether a position is farther away than its limb is long."""
        for task, chain in zip(self.ranked, self.chains, strict=True):
            ready = prepared(chain)
            if task.kind == POSE and task.weights[WX] > 0.0:
                far = float(np.linalg.norm(task.goal[:3, 3] - ready.ends[0, :, 3]))
                if far > ready.reach + np.linalg.norm(task.weights[BOX]) + self.tolerances[0]:
                    return True
        return False

    def alone(self, index: int, q: FloatArray) -> Solution:
        """Return what a task comes to with no other beside it, from q."""
        task, chain = self.tasks[index], self.chains[index]
        seed = q[[self.names.index(name) for name in chain.joint_names]]
        if isinstance(task, LookTask):
            return look_at(
                chain, task.point, seed, axis=task.axis, origin=task.origin,
                angle_tolerance=self.tolerances[1],
            )  # fmt: skip
        return solve(
            chain, task.target, seed, constraint=task.constraint,
            position_tolerance=self.tolerances[0], orientation_tolerance=self.tolerances[1],
        )  # fmt: skip

    def _rank(self, index: int) -> RankedTask:
        task, chain = self.tasks[index], self.chains[index]
        ready, level = prepared(chain), count(f"tasks[{index}].priority", task.priority, 0)
        if isinstance(task, LookTask):
            ready = with_ray(ready, task.axis, task.origin)
            kind, weights, goal = LOOK, look_weights(), np.eye(4)
            goal[:3, 3] = as_triple(f"tasks[{index}].point", task.point)
        else:
            target = as_target(f"tasks[{index}].target", task.target)
            kind, weights = POSE, weigh(ready, task.constraint)
            ready, _, goal = constrain(ready, task.constraint, target._m)
            if not (np.abs(goal[:3]) <= LARGEST_LENGTH).all():
                raise bad_target(f"tasks[{index}].target", target)
        limb = renumbered(ready.exact, chain.joint_names, self.names)
        return RankedTask(kind, limb, weights, goal, level, self.tolerances)


_chains: WeakKeyDictionary[RobotModel, dict[tuple[str, str], Chain]] = WeakKeyDictionary()


def _chain(model: RobotModel, root: str, tip: str) -> Chain:
    """Return a chain, from memory after the first time: making one ready takes a while."""
    kept = _chains.setdefault(model, {})
    if (root, tip) not in kept:
        kept[root, tip] = model.chain(root, tip)
    return kept[root, tip]
