# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Following a moving target inside a control loop: one bounded step per call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.descent.descent_kernel import DESCENT_SPENT
from basis_ik.descent.pose_search_kernel import BAD_SEED, BAD_TARGET, LARGEST_ANGLE
from basis_ik.descent.tables_kernel import WRX, WX, GoalFields
from basis_ik.search.arguments import (
    Positions,
    Target,
    as_bounds,
    as_positions,
    count,
    positive,
    refuse,
)
from basis_ik.search.pose_constraint import PoseConstraint, aim, constrain, position_of
from basis_ik.search.pose_residual_kernel import POSE_RESIDUAL
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.search.ranked_tasks import RankedTask
from basis_ik.solvers.pose.solve import Solution
from basis_ik.solvers.pose.track_kernel import HELD_BY_LIMIT, HELD_BY_STEP, step_towards
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain

MAX_TRACK_ITERATIONS = 60


def track(
    chain: Chain,
    target: Target,
    current: Positions,
    max_step: npt.ArrayLike,
    *,
    previous: Positions | None = None,
    previous_target: Target | None = None,
    position_only: bool = False,
    constraint: PoseConstraint | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    max_iterations: int | None = None,
    scene: Scene | None = None,
) -> Solution:
    """Move from the current positions towards a target, each joint by no more than its bound.

    The only start is the current positions, so the arm stays on its branch. If the bounds are too
    small to reach the target, the step goes as close as they allow, the verdict is STEP_BOUND, and
    the next call continues from there. A redundant arm moves in the null space of the task, away
    from its limits and from where joints would have to be fast, while the target moves; at the
    target it is at rest. Where its limits or a singularity keep it from the target for good, it
    goes to another posture that reaches the target, as fast as it may and so that it meets the
    target on its way. The tip leaves the target meanwhile: by no more than one and a half times the
    arm's reach, on the straight line to that posture.

    Args:
        chain: What to move.
        target: root_T_target, where the tip is to be; also as a (4, 4) matrix; or a position (3,)
            alone [m].
        current: (n,) or by joint name, positions now, as commanded or measured [rad or m]. Those
            outside the limits are led inwards.
        max_step: Largest change of each joint, (n,) or one for all [rad or m]; above 0. In a loop
            that is `chain.velocity` times the period.
        previous: Positions one step ago [rad or m]. The arm then passes through a singularity with
            its velocity, onto the branch where that continues; without, it turns back there and
            stays on its branch. A redundant arm's self-motion does not go on by itself.
        previous_target: The target one step ago. On the way to another posture the target is
            then taken to move on for a while as it did; without, to stand still.
        position_only: Leave the orientation free: short for a constraint with `orientation=False`.
        constraint: Which part of the pose counts; None: all of it.
        position_tolerance: [m], at least 1e-15.
        orientation_tolerance: [rad], at least 1e-15.
        max_iterations: Steps of one descent. A step in which the arm arrives takes one or two;
            off a singularity there may be 2 n + 1 descents. The search for another posture has
            a number of its own. None: 60.
        scene: What the arm must not collide with, see `solve`: it goes on as far as it is free. If
            it collides already, it goes on as far as nothing gets deeper. None: nothing is checked.

    Returns:
        The solution. `positions` differ from `current` by no more than `max_step`, and are within
        the limits as far as that allows. Away from the target the verdict is STEP_BOUND while the
        arm is on its way, LIMIT or SINGULAR where it can get no nearer from here, TOO_FAR where
        the lengths of the chain rule the target out. STEP_BOUND and LIMIT name the joint that
        would bring the tip nearest if it were let; on the way to another posture, STEP_BOUND names
        the joint that takes longest. A step that ends before a collision has the verdict COLLISION,
        which names the pair, even if a way around it may exist: that `solve` finds.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite; the scene is
            of other joints.
    """
    ready = prepared(chain)
    alone = type(target) is not RigidTransform and np.ndim(target) == 1  # a position
    target, constraint = aim("target", target, constraint)
    start = as_positions("current", current, chain.joint_names)
    before = start
    if previous is not None:
        before = as_positions("previous", previous, chain.joint_names)
    if position_only:
        constraint = position_of(constraint)
    ready, weights, goal = constrain(ready, constraint, target._m)
    goal_fields = (
        weights, goal,
        positive("position_tolerance", position_tolerance, "m"),
        positive("orientation_tolerance", orientation_tolerance, "rad"),
    )  # fmt: skip
    most = (
        MAX_TRACK_ITERATIONS
        if max_iterations is None
        else count("max_iterations", max_iterations, 1)
    )
    pace = start, before, as_bounds("max_step", max_step, len(start)), most
    motion = np.zeros(6)
    if previous_target is not None:
        earlier, _ = aim("previous_target", previous_target, constraint)
        if alone or np.ndim(previous_target) == 1:
            earlier = RigidTransform.from_rotation_translation(target.rotation, earlier.translation)
        motion = (target @ earlier.inverse()).log()
    q = np.empty_like(start)
    status, steps, away, turned, holds, joint = step_towards(
        ready.fields, goal_fields, pace, motion, q, ready.new_work()
    )
    if scene is not None and status not in (BAD_SEED, BAD_TARGET):
        from basis_ik.solvers.pose.collision_free import go_freely, scene_of

        pair = go_freely(scene_of(chain, scene), start, q)
        if pair is not None:
            task = RankedTask(POSE_RESIDUAL, ready.exact, weights, goal, 0, goal_fields[2:])
            away, turned = task.miss(q)
            turn = 0.0 if weights[WRX] == 0.0 else turned
            missing = 0.0 if weights[WX] == 0.0 else away
            reason = Reason(Verdict.COLLISION, missing, turn, pair=pair.names, depth=-pair.distance)
            return Solution(read_only(q), reason.verdict, away, turned, steps, 0, reason)
    q.setflags(write=False)
    if status == ARRIVED:
        return Solution(q, Verdict.REACHED, away, turned, steps, 0, REASON_REACHED)
    if status == BAD_SEED and (np.abs(start) <= LARGEST_ANGLE).all():
        refuse(status, "previous", previous, target)
    refuse(status, "current", current, target)
    verdict = _verdict(ready, goal_fields, status, holds)
    turn = 0.0 if weights[WRX] == 0.0 else turned
    reason = Reason(verdict, away, turn, proven=verdict is Verdict.TOO_FAR)
    if verdict in (Verdict.STEP_BOUND, Verdict.LIMIT):
        reason = Reason(verdict, away, turn, chain.joint_names[joint], float(q[joint]))
    return Solution(q, verdict, away, turned, steps, 0, reason)


def warm_up(chain: Chain) -> None:
    """Prepare a chain and compile what `track` calls, before a control loop starts."""
    middle = prepared(chain).middle
    track(chain, chain.forward(middle), middle, 1.0)


def _verdict(ready: PreparedChain, fields: GoalFields, status: int, holds: int) -> Verdict:
    if holds == HELD_BY_STEP:
        return Verdict.STEP_BOUND
    _, goal, position_tolerance, _ = fields
    if np.linalg.norm(goal[:3, 3] - ready.ends[0, :, 3]) > ready.reach + position_tolerance:
        return Verdict.TOO_FAR
    if holds == HELD_BY_LIMIT:
        return Verdict.LIMIT
    return Verdict.BUDGET_SPENT if status == DESCENT_SPENT else Verdict.SINGULAR
