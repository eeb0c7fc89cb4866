# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cartesian paths: lines and arcs of poses, and joint positions that follow them without jumps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import ByValue, FloatArray, as_number
from basis_ik.search.arguments import Positions, Target, as_bounds, as_positions, as_target
from basis_ik.search.pose_constraint import PoseConstraint, aim_each, position_of
from basis_ik.search.prepare import prepared
from basis_ik.solvers.path.ladder import Ladder
from basis_ik.solvers.pose.solve import Solution, solve
from basis_ik.transforms.checks import finite_array, read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain


MOST_PATH_POSES = 1_000_000  # of a line or an arc: more is a step in the wrong unit
PATH_RESTARTS = 50  # another start may land on the same branch: the bound on the move decides


@dataclass(frozen=True, eq=False)
class PathSolution(ByValue):
    """Joint positions along a path, as far as it could be followed; true only if to its end."""

    positions: FloatArray
    """(k, n), one row for each pose that was reached, in order; read-only."""
    fraction: float
    """Share of the poses that was reached."""
    reason: Reason
    """What stopped the arm at the next pose, or that nothing did."""

    @property
    def success(self) -> bool:
        """Whether the whole path was followed."""
        return self.reason.verdict is Verdict.REACHED

    def __bool__(self) -> bool:
        return self.success


def line(
    start: Target, end: Target, *, step: float = 0.005, turn: float = 0.02
) -> list[RigidTransform]:
    """Return poses on the straight line between two, the orientation turning about one axis.

    Args:
        start: First pose, a transform or its (4, 4) matrix.
        end: Last pose.
        step: Largest distance between neighbours [m].
        turn: Largest angle between neighbours [rad].
    """
    start, end = as_target("start", start), as_target("end", end)
    _check_steps(step, turn)
    vector = (start.inverse() @ end).log()[3:]
    shift = end.translation - start.translation
    angle = float(np.linalg.norm(vector))
    count = _count_poses((float(np.linalg.norm(shift)), step), (angle, turn))
    poses = []
    for s in np.linspace(0.0, 1.0, count + 1):
        spun = RigidTransform.exp(np.concatenate([np.zeros(3), s * vector]))
        rotation = start.rotation @ spun.rotation
        poses.append(
            RigidTransform.from_rotation_translation(rotation, start.translation + s * shift)
        )
    return poses


def arc(
    start: Target,
    centre: npt.ArrayLike,
    axis: npt.ArrayLike,
    angle: float,
    *,
    step: float = 0.005,
    turn: float = 0.02,
) -> list[RigidTransform]:
    """Return poses on a circular arc; position and orientation turn together.

    Args:
        start: First pose, a transform or its (4, 4) matrix.
        centre: A point of the arc's axis (3,) [m].
        axis: Direction of the axis (3,), any length above zero.
        angle: How far to turn, by the right hand [rad].
        step: Largest distance between neighbours [m].
        turn: Largest angle between neighbours [rad].
    """
    start = as_target("start", start)
    _check_steps(step, turn)
    if not math.isfinite(as_number("angle", angle, "finite")):
        raise SolveArgumentError("angle", angle, "finite")
    hub = RigidTransform.from_rotation_translation(np.eye(3), finite_array("centre", centre, 3))
    spoke = float(np.linalg.norm(start.translation - hub.translation))
    count = _count_poses((abs(angle) * spoke, step), (abs(angle), turn))
    back = hub.inverse()
    return [
        hub @ RigidTransform.from_axis_angle(axis, angle * i / count) @ back @ start
        for i in range(count + 1)
    ]


def follow(
    chain: Chain,
    poses: Sequence[Target] | npt.NDArray[Any],
    seed: Positions | None = None,
    *,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    max_move: npt.ArrayLike = 0.2,
    from_seed: bool = False,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    scene: Scene | None = None,
) -> PathSolution:
    """Follow poses one after the other, without jumps.

    First each pose is solved from the one before by the nearest solution. If that does not lead to
    the end, other ways are searched for (`ladder`): from the other solutions of the
    first pose, and by branching off on the way, where joints to spare go aside along their
    self-motion. The result is the way that gets farthest. Of ways that get as far, it is the one
    that begins nearest to the seed.

    It is certain that neighbouring rows keep the bound on the move and that each reaches its pose.
    It is not certain that no other way gets farther. An arm without joints to spare has few
    solutions of a pose, and as a rule all of them are found. Of a redundant arm's continuum at most
    128 ways are followed side by side. The search is bounded by a number of descents, and the same
    arguments give the same bits.

    Args:
        chain: What to move.
        poses: k of root_T_target; also as matrices, (k, 4, 4); or positions alone, (k, 3) [m].
        seed: (n,) or by joint name, where the arm is; None is `chain.neutral`. The first pose may
            be anywhere from there.
        position_only: Leave the orientation free: short for a constraint with `orientation=False`.
        constraint: Which part of each pose counts; None: all of it.
        max_move: Largest change of each joint between neighbours, (n,) or one for all [rad or m].
            There is no path without such a bound.
        from_seed: The path begins at the seed: to the first pose the bound on the move holds, too.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        scene: What no row may collide with, see `solve`. What is between neighbouring rows is not
            asked: let the scene's padding be what a link may move there. The seed may collide.
            None: nothing is checked.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite; the scene is
            of other joints.
    """
    targets, constraint = aim_each("poses", poses, constraint)
    if position_only:
        constraint = position_of(constraint)
    bounds = as_bounds("max_move", max_move, len(prepared(chain).middle))
    here = None if seed is None else as_positions("seed", seed, chain.joint_names)
    rows: list[FloatArray] = []
    if from_seed:
        if here is None:
            raise SolveArgumentError("from_seed", from_seed, "False without a seed")
        targets, rows = [chain.forward(here), *targets], [here]

    def reach(pose: RigidTransform, start: npt.ArrayLike | None, bound: npt.ArrayLike | None,
              restarts: int | None) -> Solution:  # fmt: skip
        return solve(
            chain, pose, start, constraint=constraint, max_move=bound, max_restarts=restarts,
            position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance,
            scene=scene,
        )  # fmt: skip

    def go_on(rows: list[FloatArray]) -> Reason:
        """Append the nearest solutions as far as they lead; return the reason that ends them."""
        for pose in targets[len(rows) :]:
            start, bound = (rows[-1], bounds) if rows else (here, None)
            solution = reach(pose, start, bound, PATH_RESTARTS)
            if not solution.success:
                return solution.reason
            rows.append(solution.positions)
        return REASON_REACHED

    reason = go_on(rows)
    # What cannot be reached from anywhere, no way leads to.
    if 0 < len(rows) < len(targets) and reach(targets[len(rows)], rows[-1], None, None).success:
        tolerances = position_tolerance, orientation_tolerance
        ladder = Ladder(
            chain, targets, here, bounds, constraint, tolerances, fixed=from_seed, scene=scene
        )
        other = list(ladder.climb(rows[0]))
        if len(other) > len(rows):
            rows, reason = other, go_on(other)
    rows, count = rows[from_seed:], len(targets) - from_seed
    positions = np.array(rows).reshape(len(rows), len(chain.joint_names))
    return PathSolution(read_only(positions), len(rows) / count if count else 1.0, reason)


def _count_poses(way: tuple[float, float], turning: tuple[float, float]) -> int:
    """Return the number of steps for a way [m] and a turn [rad], each with its largest step."""
    for name, (size, each) in (("step", way), ("turn", turning)):
        if not size / each <= MOST_PATH_POSES:
            least = f"at least {size / MOST_PATH_POSES:.3g}: there would be too many poses"
            raise SolveArgumentError(name, each, least)
    return max(1, *(math.ceil(size / each) for size, each in (way, turning)))


def _check_steps(step: float, turn: float) -> None:
    for name, value, required in (("step", step, "above 0 m"), ("turn", turn, "above 0 rad")):
        if not 0.0 < as_number(name, value, required) < math.inf:
            raise SolveArgumentError(name, value, required)
