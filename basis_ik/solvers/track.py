"""Following a moving target inside a control loop: one bounded step per call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.kernels.descent import REACHED as ARRIVED
from basis_ik.kernels.descent import STALLED
from basis_ik.kernels.pose_solve import OUT_OF_REACH, solve_pose
from basis_ik.solvers.arguments import SolveArgumentError, as_positions, refuse
from basis_ik.solvers.prepared import PreparedChain, prepared
from basis_ik.solvers.solve import Solution
from basis_ik.solvers.verdict import REACHED, Reason, Verdict
from basis_ik.solvers.wanted import Wanted, narrow
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.model.chain import Chain

FloatArray = npt.NDArray[np.float64]


def track(
    chain: Chain,
    target: RigidTransform,
    current: npt.ArrayLike,
    max_step: npt.ArrayLike,
    *,
    position_only: bool = False,
    wanted: Wanted | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    max_iterations: int = 60,
) -> Solution:
    """Move from the current positions towards a target, by a bounded step.

    There are no other starts than the current positions, so the arm stays on its branch. A step
    that would be longer than allowed is shortened as a whole and the verdict says so
    (STEP_BOUND); the next call goes on from there.

    Args:
        chain: What to move.
        target: root_T_target, wanted of root_T_tip.
        current: (n,) positions now, as commanded or measured [rad or m]. Those outside the limits
            are led inwards.
        max_step: Largest change of each joint, (n,) or one for all [rad or m]; above 0.
        position_only: Leave the orientation free.
        wanted: Which part of the pose counts, where it is less than all of it.
        position_tolerance: [m], above 0.
        orientation_tolerance: [rad], above 0.
        max_iterations: Steps of the descent.

    Returns:
        The solution. `positions` differ from `current` by no more than `max_step`, and are within
        the limits as far as that allows. Away from the target the verdict is STEP_BOUND while the
        arm is on its way, LIMIT or SINGULAR where it can get no nearer from here, TOO_FAR where
        the lengths of the chain rule the target out.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite.
    """
    ready = prepared(chain)
    if type(target) is not RigidTransform:
        raise SolveArgumentError("target", target, "a RigidTransform")
    start = as_positions("current", current, chain.joint_names)
    bound = np.broadcast_to(np.asarray(max_step, np.float64), start.shape)
    if not (bound > 0.0).all():
        raise SolveArgumentError("max_step", max_step, "above 0 for every joint")
    goal = target._m
    if wanted is not None:
        ready = narrow(ready, wanted)
        position_only = position_only or not wanted.orientation
        if ready.target_T_goal is not None:
            goal = goal @ ready.target_T_goal
    weights = ready.position if position_only else ready.full
    q = np.empty_like(start)
    work = ready.new_work()
    status, steps, _, away, turned = solve_pose(
        ready.exact, ready.joints, ready.variables, ready.ends, ready.reach, weights, goal,
        start, q, work, float(position_tolerance), float(orientation_tolerance),
        int(max_iterations), 0, 0, 1, True, np.inf,
    )  # fmt: skip
    refuse(status, "current", current, target)
    shortened = float((np.abs(q - start) / bound).max())
    turn = 0.0 if position_only else turned
    if shortened > 1.0:
        q = start + (q - start) / shortened
        reason = Reason(Verdict.STEP_BOUND, away, turn)
    elif status == ARRIVED:
        reason = REACHED
    elif status == OUT_OF_REACH:
        reason = Reason(Verdict.TOO_FAR, away, turn)
    elif status == STALLED:
        reason = _stuck(chain, ready, q, goal, weights, away, turn)
    else:
        reason = Reason(Verdict.BUDGET_SPENT, away, turn)
    return Solution(q, reason.verdict, away, turned, steps, 0, reason)


def _stuck(
    chain: Chain,
    ready: PreparedChain,
    q: FloatArray,
    goal: FloatArray,
    weights: FloatArray,
    away: float,
    turn: float,
) -> Reason:
    """Say what keeps the arm at a bottom away from the target: a limit, or lost directions."""
    turn_back = goal[:3, :3].T
    tip = chain.forward(q).matrix
    if ready.target_T_goal is not None:
        tip = tip @ ready.target_T_goal
    off = turn_back @ (tip[:3, 3] - goal[:3, 3])
    error = np.empty(6)
    error[:3] = np.clip(off, -weights[6:], weights[6:]) - off
    # Where a turn is free it weighs nothing; what is left of the vector has the right signs.
    error[3:] = np.cross(turn_back @ tip[:3, :3], np.eye(3), axis=0).sum(axis=1)
    error *= weights[:6]
    jacobian = chain.jacobian(q)
    columns = np.vstack([turn_back @ jacobian[:3], turn_back @ jacobian[3:]])
    pull = (weights[:6, None] * columns).T @ error * ready.variables[:, 2]
    pull[(q > chain.lower) & (q < chain.upper)] = 0.0
    pull[(q <= chain.lower) & (pull > 0.0)] = 0.0
    pull[(q >= chain.upper) & (pull < 0.0)] = 0.0
    k = int(np.argmax(np.abs(pull)))
    if abs(pull[k]) <= 1e-6 * float(error @ error):
        return Reason(Verdict.SINGULAR, away, turn)
    bound = chain.lower[k] if pull[k] < 0.0 else chain.upper[k]
    return Reason(Verdict.LIMIT, away, turn, chain.joint_names[k], float(bound))
