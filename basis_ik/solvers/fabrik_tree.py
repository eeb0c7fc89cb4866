"""FABRIK on trees: several end effectors, limits, orientations, loops, fixed or free root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from basis_ik.kernels.fabrik import pull
from basis_ik.kernels.fabrik_limbs import sweep_limbs
from basis_ik.kernels.fabrik_reach import reach_chain
from basis_ik.kernels.fabrik_skeleton import Goals, IntArray, Skeleton
from basis_ik.kernels.rigid import FloatArray
from basis_ik.solvers.fabrik_limits import Limit
from basis_ik.solvers.fabrik_result import (
    FabrikResult,
    check_budget,
    check_points,
    check_tolerance,
    fresh_chain,
)
from basis_ik.solvers.fabrik_rotations import matrices, quaternions
from basis_ik.solvers.fabrik_search import (
    out_of_reach,
    position_first,
    search,
    starting_poses,
    touched,
)
from basis_ik.solvers.fabrik_skeleton import TreeError, make_goals, make_skeleton, starts_of
from basis_ik.solvers.verdict import Verdict

# Bone lengths of rest pose and start may differ by this part of the tree's size.
_SAME = 1e-6
# How well limbs meet their ends, as part of their reach: as well as sums allow.
_EXACT = 1e-15
_NOTHING = np.empty(0)


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
        The pose. What obeys no limit is never returned.

    Raises:
        ShapeError, NotFiniteError, OutOfRangeError, NotARotationError: A bad value.
        TreeError: Indices that do not fit, nothing asked, or a rest pose with other bones.
        NoBonesError: There is one joint only.
        ToleranceError, BudgetError: No tolerance, no budget.
        LimitError: A limit does not fit its bone.
    """
    p = fresh_chain(positions)
    check_points("positions", p)
    check_tolerance("tolerance", tolerance)
    check_tolerance("turn_tolerance", turn_tolerance)
    check_budget("max_iterations", max_iterations)
    starts = starts_of(parents, len(p))
    calm = p if rest is None else _checked_rest(rest, p, starts)
    s = make_skeleton(starts, calm, limits or {}, free_root)
    g = make_goals(starts, targets, orientations or {}, loops, free_root)
    if limits or orientations or loops:
        given = quaternions(rotations, s, p)
        return _bounded(s, g, p, given, tolerance, turn_tolerance, max_iterations, record)
    return _free(s, g, p, tolerance, max_iterations, record)


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
    guess = None
    if len(g.joints):
        guess = _free(s, g, p, tolerance, budget, False).positions
    poses = starting_poses(s, given, p, guess)
    found = search(s, g, poses, tolerance, turn_tolerance, budget, record)
    verdict = Verdict.REACHED
    if found.apart > tolerance or found.turned > turn_tolerance:
        verdict = out_of_reach(s, g, p[0], tolerance) or Verdict.BUDGET_SPENT
        if verdict is Verdict.BUDGET_SPENT and len(g.turned) and len(g.joints):
            first = position_first(s, g, found, tolerance, budget)
            if first.apart <= tolerance:
                found, verdict = first, Verdict.ORIENTATION_UNREACHABLE
    held = touched(s, found.q)
    if verdict is Verdict.BUDGET_SPENT and held:
        verdict = Verdict.LIMIT
    found.p.setflags(write=False)
    history = np.append(found.record, found.apart) if record else None
    return FabrikResult(
        found.p, verdict, found.apart, found.used, found.turned, matrices(found.q), held, history
    )


def _free(
    s: Skeleton, g: Goals, p: FloatArray, tolerance: float, budget: int, record: bool
) -> FabrikResult:
    """Sweep the limbs, then lay every limb between its ends."""
    limbs = _limbs(s, g)
    ends = [limb[-1] for limb in limbs]
    rows = {0: 0} | {end: row for row, end in enumerate(ends, 1)}
    bounds, parents = np.zeros((len(ends) + 1, 2)), np.zeros(len(ends) + 1, np.int64)
    for row, limb in enumerate(limbs, 1):
        lengths = np.sqrt((s.bones[np.array(limb[1:]) - 1] ** 2).sum(axis=1))
        bounds[row] = max(0.0, 2.0 * lengths.max() - lengths.sum()), lengths.sum()
        parents[row] = rows[limb[0]]
    places, goals = p[[0, *ends]], np.zeros((len(ends) + 1, 3))
    asked = np.zeros(len(ends) + 1, np.int64)
    for joint, point in zip(g.joints, g.points, strict=True):
        goals[rows[int(joint)]], asked[rows[int(joint)]] = point, 1
    trace = np.full(budget if record else 0, np.nan)
    _, used = sweep_limbs(
        parents, bounds, goals, asked, int(s.free_root[0]), 0.1 * tolerance, budget, places, trace
    )
    out = p.copy()
    out[0] = places[0]
    for limb, place in zip(limbs, places[1:], strict=True):
        _lay(limb, place, p, out)
    for bone in np.flatnonzero(g.active == 0):
        _drag(s, int(bone), out)
    misses = out[g.joints] - g.points
    residual = float(np.sqrt((misses**2).sum(axis=1)).max())
    verdict = Verdict.REACHED
    if not residual <= tolerance:
        verdict = out_of_reach(s, g, p[0], tolerance) or Verdict.BUDGET_SPENT
    out.setflags(write=False)
    history = np.append(trace[:used], residual) if record else None
    return FabrikResult(out, verdict, residual, used, record=history)


def _limbs(s: Skeleton, g: Goals) -> list[list[int]]:
    """Return the joints of every limb that leads to an end effector, from its start to its end."""
    forks = np.bincount(s.starts[g.active == 1], minlength=len(s.starts) + 1)
    ends = [joint for joint in range(1, len(forks)) if forks[joint] > 1 or joint in g.joints]
    limbs = []
    for end in ends:
        limb = [end]
        while True:
            limb.append(int(s.starts[limb[-1] - 1]))
            if limb[-1] == 0 or limb[-1] in ends:
                break
        limbs.append(limb[::-1])
    return limbs


def _lay(limb: list[int], place: FloatArray, p: FloatArray, out: FloatArray) -> None:
    """Move a limb as a free chain to where its ends are to be."""
    chain = p[limb]
    chain += out[limb[0]] - chain[0]
    reach = float(np.sqrt((np.diff(chain, axis=0) ** 2).sum(axis=1)).sum())
    reach_chain(chain, place, _EXACT * reach + np.finfo(float).tiny, _NOTHING)
    out[limb[1:]] = chain[1:]


def _drag(s: Skeleton, bone: int, out: FloatArray) -> None:
    """Pull the end of a bone that nothing is asked of after its start."""
    length = float(np.sqrt((s.bones[bone] ** 2).sum()))
    pull(out, int(s.starts[bone]), bone + 1, length)


def _checked_rest(rest: npt.ArrayLike, p: FloatArray, starts: IntArray) -> FloatArray:
    """Return the rest pose, or raise TreeError if its bones are not those of the start."""
    calm = fresh_chain(rest)
    check_points("rest", calm)
    if calm.shape != p.shape:
        raise TreeError(f"rest has {len(calm)} joints, positions have {len(p)}")
    lengths = [np.sqrt(((x[1:] - x[starts]) ** 2).sum(axis=1)) for x in (calm, p)]
    off = np.abs(lengths[0] - lengths[1])
    worst = int(off.argmax())
    if off[worst] > _SAME * float(lengths[1].sum()):
        raise TreeError(
            f"bone {worst} is {lengths[0][worst]:.6g} m at rest and {lengths[1][worst]:.6g} m in "
            "positions"
        )
    return calm
