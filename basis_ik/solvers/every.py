"""All the ways an arm can reach a target, and choosing among them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.kernels.descent import REACHED as ARRIVED
from basis_ik.kernels.pose_solve import solve_pose, take_shortest_turns
from basis_ik.solvers.arguments import SolveArgumentError, as_positions, refuse
from basis_ik.solvers.prepared import prepared
from basis_ik.solvers.solve import PATIENCE, Solution
from basis_ik.solvers.verdict import REACHED, Verdict
from basis_ik.solvers.wanted import Wanted, aim
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.model.chain import Chain

FloatArray = npt.NDArray[np.float64]

STEPS_PER_START = 100  # a descent that needs more has lost its way


class Preference(enum.Enum):
    """What makes one solution better than another."""

    NEAREST = "nearest to the seed"
    MANIPULABLE = "most manipulable"
    CENTRED = "farthest from the limits"


def solve_every(
    chain: Chain,
    target: RigidTransform,
    seed: npt.ArrayLike | None = None,
    *,
    wanted: Wanted | None = None,
    prefer: Preference = Preference.NEAREST,
    starts: int = 100,
    distinct: float = 0.05,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
) -> tuple[Solution, ...]:
    """Find the distinct solutions that a number of starts leads to, the preferred one first.

    An arm of six joints has at most 16 postures for a pose, all of which a few hundred starts find
    as a rule; a redundant arm has a continuum, of which these are samples. None found means no
    more than that: ask `solve` why.

    Args:
        chain: What to move.
        target: root_T_target, wanted of root_T_tip.
        seed: (n,) near which solutions are preferred and turned; None: the middle of the limits.
        wanted: Which part of the pose counts, where it is less than all of it.
        prefer: The order of the solutions.
        starts: How many starts, the seed's included; each costs a few microseconds.
        distinct: Solutions count as different if a joint differs by more [rad or m].
        position_tolerance: [m], above 0.
        orientation_tolerance: [rad], above 0.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite.
    """
    if type(target) is not RigidTransform:
        raise SolveArgumentError("target", target, "a RigidTransform")
    ready, weights, goal = aim(prepared(chain), wanted, target._m)
    start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
    if not starts >= 1:
        raise SolveArgumentError("starts", starts, "at least 1")
    if not distinct > 0.0:
        raise SolveArgumentError("distinct", distinct, "above 0")
    found: list[Solution] = []
    work, q = ready.new_work(), np.empty_like(start)
    for number in range(starts):
        status, steps, _, away, turned = solve_pose(
            ready.exact, ready.joints, ready.variables, ready.ends, ready.reach, weights,
            goal, start, q, work, float(position_tolerance), float(orientation_tolerance),
            STEPS_PER_START, number, number, PATIENCE, False, np.inf if number == 0 else 0.0,
        )  # fmt: skip
        refuse(status, "seed", seed, target)
        if status == ARRIVED and _is_new(q, found, ready.variables, distinct):
            found.append(Solution(q.copy(), Verdict.REACHED, away, turned, steps, number, REACHED))
    return tuple(
        sorted(found, key=lambda solution: _cost(chain, solution.positions, start, prefer))
    )


def _is_new(q: FloatArray, found: list[Solution], variables: FloatArray, distinct: float) -> bool:
    for solution in found:
        turned = q.copy()
        take_shortest_turns(variables, solution.positions, turned)
        if np.abs(turned - solution.positions).max() <= distinct:
            return False
    return True


def _cost(chain: Chain, q: FloatArray, seed: FloatArray, prefer: Preference) -> float:
    if prefer is Preference.NEAREST:
        return float(np.linalg.norm(q - seed))
    if prefer is Preference.MANIPULABLE:  # Yoshikawa 1985, Eq. 10
        jacobian = chain.jacobian(q)
        return -float(np.sqrt(max(0.0, np.linalg.det(jacobian @ jacobian.T))))
    bounded = np.isfinite(chain.lower) & np.isfinite(chain.upper)
    gap = np.minimum(q - chain.lower, chain.upper - q)[bounded]
    share = gap / (chain.upper - chain.lower)[bounded]
    return -float(share.min(initial=1.0))
