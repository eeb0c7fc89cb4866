# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on trees: several end effectors, limits, orientations, loops, fixed or free root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from basis_ik.fabrik.attempts import (
    out_of_reach,
    position_first,
    search_within_limits,
    starting_poses,
    touched,
)
from basis_ik.fabrik.ball_limits import Limit
from basis_ik.fabrik.limbs import solve_limbs
from basis_ik.fabrik.result import FabrikResult, check_budget, check_tolerance, finite_chain
from basis_ik.fabrik.rotations import matrices, quaternions
from basis_ik.fabrik.skeleton import TreeError, make_goals, make_skeleton, starts_of
from basis_ik.fabrik.skeleton_kernel import Goals, IntArray, Skeleton
from basis_ik.numerics.arrays import FloatArray
from basis_ik.verdict import Verdict

# Bone lengths of rest pose and start may differ by this part of the tree's size.
_SAME_LENGTH = 1e-6
# With fewer starts than these nothing is said about what cannot be reached.
_CLAIM_STARTS = 8


def solve_tree(
    positions: npt.ArrayLike,
    parents: Sequence[int],
    targets: Mapping[int, npt.ArrayLike],
    *,
    limits: Mapping[int, Limit] | None = None,
    orientations: Mapping[int, npt.ArrayLike] | None = None,
    loops: Sequence[tuple[int, int]] = (),
    rest: npt.ArrayLike | None = None,
    rotations: npt.ArrayLike | None = None,
    free_root: bool = False,
    tolerance: float = 1e-6,
    turn_tolerance: float = 1e-6,
    max_iterations: int = 1000,
    record: bool = False,
) -> FabrikResult:
    """Move a tree of bones so that its end effectors are at their targets.

    Bone j ends at joint j + 1 and starts at that joint's parent. Without limits, orientations and
    loops, whole limbs are swept instead of bones, and each is then solved as a free chain. With
    them, FABRIK sweeps that keep to the limits in both passes and damped least squares take turns,
    from the given pose, from the solution without limits, and from poses spread over the limits.

    Args:
        positions: Joint positions to start from [m], shape (m + 1, 3); joint 0 is the root.
        parents: −1 for joint 0, an earlier joint for every other.
        targets: Where joints should go [m], by joint, shape (3,) each.
        limits: What joints allow, by the bone that they turn against its parent.
        orientations: How bones should be turned against their rest pose, by bone, shape (3, 3).
        loops: Pairs of joints that should coincide.
        rest: Joint positions in the rest pose that limits and orientations are told in [m]; the
            start if not given.
        rotations: How each bone of the start is turned against rest, shape (m, 3, 3), as a former
            result has it; if not given, the bones are turned from the root outwards as little as
            explains the positions.
        free_root: Whether the root may move.
        tolerance: Distance at which a target counts as reached [m].
        turn_tolerance: Angle at which an orientation counts as reached [rad].
        max_iterations: Largest number of sweeps and steps.
        record: Whether to record the residuals.

    Returns:
        The pose. What is outside a limit is never returned.

    Raises:
        ShapeError, NotFiniteError, OutOfRangeError, NotARotationError: A bad value.
        TreeError: Indices that do not fit, nothing asked, or a rest pose with other bones.
        NoBonesError: There is one joint only.
        ToleranceError, BudgetError: No tolerance, no budget.
        LimitError: A limit does not fit its bone.
    """
    p = finite_chain("positions", positions)
    tolerance = check_tolerance("tolerance", tolerance)
    turn_tolerance = check_tolerance("turn_tolerance", turn_tolerance)
    check_budget("max_iterations", max_iterations)
    starts = starts_of(parents, len(p))
    at_rest = p if rest is None else _checked_rest(rest, p, starts)
    s = make_skeleton(starts, at_rest, limits or {}, free_root)
    g = make_goals(starts, targets, orientations or {}, loops, free_root)
    if limits or orientations or loops:
        given = quaternions(rotations, s, p)
        return _bounded(s, g, p, given, tolerance, turn_tolerance, max_iterations, record)
    return solve_limbs(s, g, p, tolerance, max_iterations, record)


def _bounded(
    s: Skeleton,
    g: Goals,
    p: FloatArray,
    given: FloatArray,
    tolerance: float,
    turn_tolerance: float,
    budget: int,
    record: bool,
) -> FabrikResult:
    """Search within limits, and judge what was found."""
    solve_freely = cache(partial(solve_limbs, s, g, p, tolerance, budget, False))
    poses = starting_poses(s, given, p, solve_freely if len(g.joints) else None)
    both = len(g.turned) > 0 and len(g.joints) > 0
    share = budget // 4 if both else 0  # kept back for the position alone
    found = search_within_limits(s, g, poses, tolerance, turn_tolerance, budget - share, record)
    verdict = Verdict.REACHED
    if found.distance > tolerance or found.angle > turn_tolerance:
        verdict = out_of_reach(s, g, p[0], tolerance) or Verdict.BUDGET_SPENT
        if verdict is Verdict.BUDGET_SPENT and both and found.starts >= _CLAIM_STARTS:
            first = position_first(s, g, found, tolerance, share)
            if first.distance <= tolerance:
                found, verdict = first, Verdict.ORIENTATION_NOT_FOUND
    held = touched(s, found.q)
    claimed = found.starts >= _CLAIM_STARTS and s.kinds.any()
    if verdict is Verdict.BUDGET_SPENT and claimed:
        # What the bones could reach without their limits, the limits keep them from.
        could = len(g.joints) > 0 and len(g.loops) == 0 and solve_freely().success
        if held or could:
            verdict = Verdict.LIMIT
    found.p.setflags(write=False)
    history = np.append(found.record, found.distance) if record else None
    return FabrikResult(
        found.p, verdict, found.distance, found.used, found.angle, matrices(found.q), held,
        history,
    )  # fmt: skip


def _checked_rest(rest: npt.ArrayLike, p: FloatArray, starts: IntArray) -> FloatArray:
    """Return the rest pose, or raise TreeError if its bones are not those of the start."""
    at_rest = finite_chain("rest", rest)
    if at_rest.shape != p.shape:
        raise TreeError(f"rest has {len(at_rest)} joints, positions have {len(p)}")
    lengths = [np.sqrt(((x[1:] - x[starts]) ** 2).sum(axis=1)) for x in (at_rest, p)]
    off = np.abs(lengths[0] - lengths[1])
    worst = int(off.argmax())
    if off[worst] > _SAME_LENGTH * float(lengths[1].sum()):
        raise TreeError(
            f"bone {worst} is {lengths[0][worst]:.6g} m at rest and {lengths[1][worst]:.6g} m in "
            "positions"
        )
    return at_rest
