# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solutions of a pose that are nearest to a posture, or have the elbow nearest to a pole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.descent.pose_search_kernel import LARGEST_ANGLE, LARGEST_LENGTH, take_shortest_turns
from basis_ik.descent.tables_kernel import ORIGIN
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_three
from basis_ik.search.arguments import Positions, Target, as_positions, count
from basis_ik.search.pose_constraint import PoseConstraint, aim, constrain, position_of
from basis_ik.search.pose_residual_kernel import POSE_RESIDUAL
from basis_ik.search.prepare import prepared
from basis_ik.search.ranked_tasks import Ranked, RankedTask
from basis_ik.search.starts import search_starts
from basis_ik.solvers.pose.solve import Solution, solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REASON_REACHED, Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain


PREFERENCE_STARTS = 50
PREFERENCE_CANDIDATES = 8  # solutions that are moved on; the most promising of those found


def solve_posture(
    chain: Chain,
    target: Target,
    posture: Positions,
    seed: Positions | None = None,
    *,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    starts: int = PREFERENCE_STARTS,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    scene: Scene | None = None,
) -> Solution:
    """Reach a target with joint positions as near as possible to a posture.

    The distance is the sum of squared differences, [rad] and [m] alike. A redundant arm, or any arm
    with a free axis, is moved in the null space of the target; any other arm takes the nearest of
    its distinct solutions.

    Args:
        chain: What to move.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix; or a position (3,)
            alone [m].
        posture: (n,) or by joint name, preferred positions [rad or m], which need not lie within
            the limits.
        seed: (n,) or by joint name, where the search starts; None: the posture.
        position_only: Leave the orientation free: short for a constraint with `orientation=False`.
        constraint: Which part of the pose counts; None: all of it.
        starts: How many starts, the seed's included. With 1 the answer lies downhill from the
            seed's own solution, which keeps a stream of targets on one branch.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        scene: What the solution must not collide with, see `solve`. None: nothing is checked.

    Returns:
        The solution, proven like that of `solve`; where the target is not reached, what `solve`
        answers, without regard to the posture.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite.
    """
    ready = prepared(chain)
    target, constraint = aim("target", target, constraint)
    if position_only:
        constraint = position_of(constraint)
    wish = as_positions("posture", posture, chain.joint_names)
    if not (np.abs(wish) <= LARGEST_ANGLE).all():
        raise SolveArgumentError("posture", posture, f"finite and within ±{LARGEST_ANGLE:g}")
    tolerances = (position_tolerance, orientation_tolerance)
    start = wish if seed is None else as_positions("seed", seed, chain.joint_names)
    found = _reaching(chain, target, start, constraint, starts, tolerances, scene)
    if not found[0].success:
        return found[0]
    task = _as_task(chain, target, constraint, tolerances)
    ranked = Ranked([task], ready.variables, wish, np.ones(len(wish)))
    return _best(ranked, task, found, wish, scene)


def solve_pole(
    chain: Chain,
    target: Target,
    link: str,
    pole: npt.ArrayLike,
    seed: Positions | None = None,
    *,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    starts: int = PREFERENCE_STARTS,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    scene: Scene | None = None,
) -> Solution:
    """Reach a target with a link, such as an elbow, as near as possible to a point, the pole.

    An elbow that can go round a circle between shoulder and wrist comes to lie in the half-plane
    from their line through the pole, as with a pole vector in animation.

    Args:
        chain: What to move.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix; or a position (3,)
            alone [m].
        link: A link of the chain whose origin is to be near the pole.
        pole: (3,) in the root frame [m].
        seed: (n,) or by joint name, where the search starts; None is `chain.neutral`.
        position_only: See `solve_posture`.
        constraint: See `solve_posture`.
        starts: See `solve_posture`.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        scene: See `solve_posture`.

    Returns:
        The solution, proven like that of `solve`; where the target is not reached, what `solve`
        answers, without regard to the pole.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite.
        ChainError: The link is not on the chain.
    """
    ready = prepared(chain)
    target, constraint = aim("target", target, constraint)
    if position_only:
        constraint = position_of(constraint)
    point = as_three("pole", pole, LARGEST_LENGTH)
    joint, joint_T_link = chain.joint_T_link(link)
    if joint < 0:
        raise SolveArgumentError("link", link, "a link that a joint of the chain moves")
    limb = ready.exact[: joint + 2].copy()
    limb[-1] = 0.0
    limb[-1, ORIGIN] = joint_T_link.reshape(12)
    goal = np.eye(4)
    goal[:3, 3] = point
    tolerances = (position_tolerance, orientation_tolerance)
    start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
    found = _reaching(chain, target, start, constraint, starts, tolerances, scene)
    if not found[0].success:
        return found[0]
    task = _as_task(chain, target, constraint, tolerances)
    hint = RankedTask(POSE_RESIDUAL, limb, ready.position_weights, goal, 1, tolerances)
    return _best(Ranked([task, hint], ready.variables), task, found, start, scene)


def _reaching(
    chain: Chain,
    target: RigidTransform,
    seed: FloatArray,
    constraint: PoseConstraint | None,
    starts: int,
    tolerances: tuple[float, float],
    scene: Scene | None,
) -> tuple[Solution, ...]:
    """Return the distinct solutions found; without any, or with one start, that of `solve`."""
    found: tuple[Solution, ...] = ()
    if count("starts", starts, 1) > 1:  # a closed form has all branches in one
        found = solve_all(
            chain, target, seed, constraint=constraint, starts=starts,
            position_tolerance=tolerances[0], orientation_tolerance=tolerances[1], scene=scene,
        )  # fmt: skip
    return found or (
        solve(
            chain, target, seed, constraint=constraint,
            position_tolerance=tolerances[0], orientation_tolerance=tolerances[1], scene=scene,
        ),
    )  # fmt: skip


def _as_task(
    chain: Chain,
    target: RigidTransform,
    constraint: PoseConstraint | None,
    tolerances: tuple[float, float],
) -> RankedTask:
    ready, weights, goal = constrain(prepared(chain), constraint, target._m)
    return RankedTask(POSE_RESIDUAL, ready.exact, weights, goal, 0, tolerances)


def _best(
    ranked: Ranked, task: RankedTask, found: tuple[Solution, ...], reference: FloatArray,
    scene: Scene | None,
) -> Solution:  # fmt: skip
    """Improve the most promising solutions by the preference, and return the best of all.

    Args:
        ranked: The task, and the preference as the last level.
        task: The task itself.
        found: Solutions of it.
        reference: (n,) what joints that turn fully stay nearest to.
        scene: What none of them may collide with; None: nothing.
    """
    starts = [solution.positions.copy() for solution in found]
    for start in starts:
        take_shortest_turns(ranked.variables, reference, start)
    standing = [ranked.standing(start) for start in starts]
    order = sorted(range(len(found)), key=lambda i: standing[i].costs[-1])
    best, steps, _ = search_starts(
        [starts[i] for i in order[:PREFERENCE_CANDIDATES]],
        ranked.in_order,
        lambda one, other: (
            one.costs[-1] < other.costs[-1]
            and task.is_met(one.q)
            and (scene is None or scene.is_free(one.q))
        ),
        best=standing[order[0]],
    )
    steps += sum(solution.iterations for solution in found)
    distance, angle = task.miss(best.q)
    return Solution(
        read_only(best.q),
        Verdict.REACHED,
        distance,
        angle,
        steps,
        max(s.restarts for s in found),
        REASON_REACHED,
    )
