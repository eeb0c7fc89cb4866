# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on a chain of ball joints: joint positions in, joint positions out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from basis_ik.fabrik import ball_chain_kernel as sweeps
from basis_ik.fabrik.ball_limits import Limit
from basis_ik.fabrik.fabrik_tree import solve_tree
from basis_ik.fabrik.free_reach_kernel import (
    CHAIN_NOT_FINITE,
    CHAIN_REACHED,
    CHAIN_TOO_FAR,
    CHAIN_TOO_NEAR,
    CHAIN_UNFINISHED,
    reach_chain,
)
from basis_ik.fabrik.limbs import NO_TRACE
from basis_ik.fabrik.result import (
    FabrikResult,
    check_budget,
    check_points,
    check_tolerance,
    finite_chain,
    fresh_chain,
    fresh_point,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.verdict import Verdict

_VERDICTS = {
    CHAIN_REACHED: Verdict.REACHED,
    CHAIN_TOO_FAR: Verdict.TOO_FAR,
    CHAIN_TOO_NEAR: Verdict.TOO_NEAR,
    CHAIN_UNFINISHED: Verdict.BUDGET_SPENT,
}
# More passes than `reach_chain` ever records.
_MOST_PASSES = 128


def solve_chain(
    positions: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    limits: Mapping[int, Limit] | None = None,
    orientation: npt.ArrayLike | None = None,
    rest: npt.ArrayLike | None = None,
    rotations: npt.ArrayLike | None = None,
    free_root: bool = False,
    tolerance: float = 1e-6,
    turn_tolerance: float = 1e-6,
    max_iterations: int = 1000,
    record: bool = False,
) -> FabrikResult:
    """Move a chain of ball joints so that its tip is at a target.

    A chain without limits and orientation and with a fixed root is solved in a few passes, whatever
    its length and however near to full reach. It is turned and bent as a whole, and all bones share
    the rest alike (docs/fabrik.md). For a target out of reach the result is the nearest pose.
    Anything else goes through `solve_tree`.

    Args:
        positions: Joint positions to start from, root to tip [m], shape (n + 1, 3). Bones may have
            any length, zero included.
        target: Where the tip should go [m], shape (3,).
        limits: What joints allow, by bone: bone 0 starts at the root.
        orientation: How the last bone should be turned against its rest pose, shape (3, 3).
        rest: Joint positions in the rest pose that limits and orientation are told in [m], shape
            (n + 1, 3); the start if not given.
        rotations: How each bone of the start is turned against rest, shape (n, 3, 3), as a former
            result has it; found from the positions if not given.
        free_root: Whether the root may move.
        tolerance: Distance at which the target counts as reached [m].
        turn_tolerance: Angle at which the orientation counts as reached [rad].
        max_iterations: Largest number of sweeps and steps with limits, orientation or a free root.
            Without, no more than 130 passes are ever made, and few of them as a rule.
        record: Whether to record the residuals.

    Returns:
        The pose. From a bent pose, a target that moves little moves it little.

    Raises:
        ShapeError, NotFiniteError, OutOfRangeError, NotARotationError: A bad value.
        NoBonesError: There is one joint only.
        ToleranceError, BudgetError: No tolerance, no budget.
        TreeError: A limit for a bone that is not there, or a rest pose with other bones.
        LimitError: A limit does not fit its bone.
    """
    p, t = fresh_chain("positions", positions), fresh_point("target", target)
    if limits or orientation is not None or free_root:
        n = len(p) - 1
        return solve_tree(
            p, range(-1, n), {n: t},
            limits=limits, orientations={} if orientation is None else {n - 1: orientation},
            rest=rest, rotations=rotations, free_root=free_root, tolerance=tolerance,
            turn_tolerance=turn_tolerance, max_iterations=max_iterations, record=record,
        )  # fmt: skip
    tolerance = check_tolerance("tolerance", tolerance)
    check_tolerance("turn_tolerance", turn_tolerance)
    check_budget("max_iterations", max_iterations)
    before = sweeps.distance(p[-1], t) if record else 0.0
    trace = np.full(_MOST_PASSES, np.nan) if record else NO_TRACE
    status, residual, used = reach_chain(p, t, tolerance, trace)
    if status == CHAIN_NOT_FINITE:
        check_points("positions", p)
        check_points("target", t)
    p.setflags(write=False)
    if not record:
        return FabrikResult(p, _VERDICTS[status], residual, used)
    reach = sweeps.bone_lengths(p, np.empty(len(p) - 1))
    history = np.concatenate(([before], trace[np.isfinite(trace)] * reach, [residual]))
    return FabrikResult(p, _VERDICTS[status], residual, used, record=history)


def sweep_chain(
    positions: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    record: bool = False,
) -> FabrikResult:
    """Move a chain as FABRIK was published: backward and forward pass until the tip has arrived.

    It moves the joints near the tip first and most, where `solve_chain` moves all alike. Its cost
    grows with the square of the number of bones, and without bound near full reach.

    Args:
        positions: Joint positions to start from, root to tip [m], shape (n + 1, 3).
        target: Where the tip should go [m], shape (3,).
        tolerance: Distance at which the target counts as reached [m].
        max_iterations: Largest number of sweeps.
        record: Whether to record the residuals.

    Returns:
        The pose; out of reach, the one that comes nearest.

    Raises:
        ShapeError, NotFiniteError, OutOfRangeError: Bad positions or target.
        NoBonesError: There is one joint only.
        ToleranceError, BudgetError: No tolerance, no budget.
    """
    p, t = finite_chain("positions", positions), fresh_point("target", target)
    check_points("target", t)
    tolerance = check_tolerance("tolerance", tolerance)
    budget = check_budget("max_iterations", max_iterations)
    lengths = np.empty(len(p) - 1)
    reach = sweeps.bone_lengths(p, lengths)
    apart = sweeps.distance(p[0], t)
    if apart >= reach or apart <= 2.0 * lengths.max() - reach:
        return solve_chain(p, t, tolerance=tolerance, record=record)
    trace = np.full(budget + 1 if record else 0, np.nan)
    residual, used = sweeps.sweep_ball_chain(p, lengths, t, tolerance, budget, trace)
    p.setflags(write=False)
    verdict = Verdict.REACHED if residual <= tolerance else Verdict.BUDGET_SPENT
    return FabrikResult(p, verdict, residual, used, record=trace[: used + 1] if record else None)


def chain_passes(
    positions: npt.ArrayLike, target: npt.ArrayLike, *, tolerance: float, max_iterations: int
) -> list[tuple[str, FloatArray]]:
    """Return a chain before `sweep_chain` and after each of its passes, for a look at them.

    Args:
        positions: Joint positions to start from, root to tip [m], shape (n + 1, 3).
        target: Where the tip should go [m], shape (3,).
        tolerance: Distance of the tip after which no sweep follows [m].
        max_iterations: Largest number of sweeps.

    Returns:
        "start", then "backward" and "forward" in turn, each with its joint positions [m]. After a
        backward pass the tip is at the target; after a forward pass, the root in its place.

    Raises:
        ShapeError, NotFiniteError, OutOfRangeError, NoBonesError: Bad positions or target.
    """
    now, goal = finite_chain("positions", positions), fresh_point("target", target)
    lengths = np.empty(len(now) - 1)
    sweeps.bone_lengths(now, lengths)
    stages = [("start", now)]
    for _ in range(max_iterations):
        if np.linalg.norm(now[-1] - goal) <= tolerance:
            break
        back = now.copy()
        back[-1] = goal
        for i in reversed(range(len(lengths))):
            away = back[i] - back[i + 1]
            back[i] = back[i + 1] + away * (lengths[i] / (np.linalg.norm(away) or 1.0))
        now = now.copy()
        sweeps.sweep_ball_chain(now, lengths, goal, 0.0, 1, NO_TRACE)
        stages += [("backward", back), ("forward", now)]
    return stages
