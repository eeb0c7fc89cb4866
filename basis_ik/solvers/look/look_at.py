# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points-at on robots: joint positions from which a ray fixed to a chain's tip meets a point."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from basis_ik.descent.descent_kernel import DESCENT_REACHED as ARRIVED
from basis_ik.descent.pose_search_kernel import BAD_SEED, BAD_TARGET, LARGEST_ANGLE, LARGEST_LENGTH
from basis_ik.descent.tables_kernel import COLUMNS
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_numbers, as_three
from basis_ik.search.arguments import Positions, as_positions, count, hold_near, positive
from basis_ik.search.pose_constraint import frame_about, move_tip
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.solvers.look.look_diagnosis import LookDiagnosis
from basis_ik.solvers.look.look_kernel import solve_look
from basis_ik.solvers.look.pan_tilt_kernel import admits_pan_tilt, pan_tilt
from basis_ik.solvers.pose.explain import explain
from basis_ik.solvers.pose.solve import Solution, free_one
from basis_ik.transforms.checks import read_only
from basis_ik.verdict import REASON_REACHED, Verdict

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.robot.chain import Chain

MAX_LOOK_ITERATIONS = 20_000
MAX_LOOK_RESTARTS = 300
MOST_RAYS_KEPT = 64  # a ray that changes on every call must not fill the memory

_REACHED = Verdict.REACHED


def look_at(
    chain: Chain,
    point: npt.ArrayLike,
    seed: Positions | None = None,
    *,
    axis: npt.ArrayLike = (1.0, 0.0, 0.0),
    origin: npt.ArrayLike = (0.0, 0.0, 0.0),
    max_move: npt.ArrayLike | None = None,
    orientation_tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    scene: Scene | None = None,
) -> Solution:
    """Find joint positions at which a ray, fixed to the chain's tip, passes through a point.

    The ray starts at `origin` and runs along `axis`, both in the tip's coordinates. Its roll and
    the distance to the point are free. The solution is near the seed. A pan-tilt head is solved in
    closed form (docs/mathematics.md, section 7).
    The same arguments give the same bits, in every process and thread.

    Args:
        chain: What to move.
        point: (3,) what to look at, in the chain's root frame [m].
        seed: (n,) or by joint name, where to start, best the present positions [rad or m].
            Positions outside the limits are taken a full turn or else to the limit. None is
            `chain.neutral`.
        axis: (3,) direction of the ray in the tip's coordinates, of any length but zero. Optical
            frames look along z, (0, 0, 1).
        origin: (3,) start of the ray in the tip's coordinates [m].
        max_move: How far each joint may be from the seed, (n,) or one for all [rad or m], above 0.
        orientation_tolerance: Of the angle between the ray and the point [rad], at least 1e-15.
        max_iterations: Steps allowed, the explanation of a failure included. None: 20,000.
        max_restarts: Starts to make after the seed's before giving up. With fewer than 20 nothing
            is said about the point, unless a closed form does. None: 300.
        scene: What the solution must not collide with, see `solve`: the result is the nearest one
            found that does not, else COLLISION. None: nothing is checked.

    Returns:
        The solution. Its `orientation_error` is the angle between the ray and the line from the
        ray's origin to the point [rad], by forward kinematics; its `position_error` is always 0.
        With another verdict than REACHED, the positions leave the least angle found, and only
        where `reason.proven` is set it is known that the point cannot be met:
        TOO_NEAR: the point lies too near to an axis of a pan-tilt head, by `reason.missing` [m];
        LIMIT, MOVE_BOUND: without the limit (of `reason.joint`) the point could be met;
        ORIENTATION_NOT_FOUND: no start met it without limits either;
        DEGENERATE: the point is the ray's own origin, which no joint moves away: there is no
        direction, the joints stay, and the angle is given as π; BUDGET_SPENT.

    Raises:
        SolveArgumentError: An argument of wrong kind, shape or range, or not finite; a chain
            without joints; a scene of other joints.
        OutsideLimitsError: What was found is outside the limits: an error in basis_ik.
    """
    if scene is not None:
        chosen = look_at(
            chain, point, seed, axis=axis, origin=origin, max_move=max_move,
            orientation_tolerance=orientation_tolerance, max_iterations=max_iterations,
            max_restarts=max_restarts,
        )  # fmt: skip
        from basis_ik.solvers.look.look_alternatives import RayAlternatives
        from basis_ik.solvers.pose.collision_free import FREE_SEARCH, collisions_of

        collisions = collisions_of(chain, scene, chosen.positions)
        if not collisions:
            return chosen
        ready = with_ray(prepared(chain), axis, origin)
        goal = as_numbers("point", point, 3, "three numbers [m]")
        start = ready.middle if seed is None else as_positions("seed", seed, chain.joint_names)
        chains = [ready] if max_move is None else [hold_near(ready, start, max_move), ready]
        ways = [
            RayAlternatives(chain, each, goal, start, float(orientation_tolerance))
            for each in chains
        ]
        starts = FREE_SEARCH.starts if max_restarts is None else max_restarts
        return free_one(ways, scene, (chosen, collisions[0]), (starts, math.inf))
    ready = with_ray(prepared(chain), axis, origin)
    max_iterations = MAX_LOOK_ITERATIONS if max_iterations is None else max_iterations
    max_restarts = MAX_LOOK_RESTARTS if max_restarts is None else max_restarts
    if not (
        type(orientation_tolerance) is float
        and type(max_iterations) is type(max_restarts) is int
        and 0.0 < orientation_tolerance < math.pi
        and max_iterations >= 1
        and max_restarts >= 0
    ):  # one type each, or the kernel would be compiled again
        orientation_tolerance = positive("orientation_tolerance", orientation_tolerance, "rad")
        max_iterations = count("max_iterations", max_iterations, 1)
        max_restarts = count("max_restarts", max_restarts, 0)
    names = chain.joint_names
    start = ready.middle if seed is None else as_positions("seed", seed, names)
    goal = as_numbers("point", point, 3, "three numbers [m]")
    held = ready if max_move is None else hold_near(ready, start, max_move)
    positions = np.empty(len(start))
    work = ready.take_work()
    status, steps, fresh, angle = solve_look(
        held.fields, goal, start, positions, work,
        (orientation_tolerance, max_iterations, max_restarts),
    )  # fmt: skip
    ready.spare.append(work)
    if status == ARRIVED:
        ready.prove_inside(positions)
        positions.setflags(write=False)
        return Solution(positions, _REACHED, 0.0, angle, steps, fresh, REASON_REACHED)
    if status == BAD_SEED:
        raise SolveArgumentError("seed", seed, f"finite and within ±{LARGEST_ANGLE:g}")
    if status == BAD_TARGET:
        raise SolveArgumentError("point", point, f"finite and within {LARGEST_LENGTH:g} m")
    diagnosis = LookDiagnosis(
        ready, held, goal, start, positions, orientation_tolerance, max_iterations - steps,
        fresh + 1,
    )  # fmt: skip
    answer, reason = explain(diagnosis, names)
    if reason is REASON_REACHED:
        ready.prove_inside(answer.q)
    steps = max_iterations - diagnosis.budget
    return Solution(read_only(answer.q), reason.verdict, 0.0, answer.angle, steps, fresh, reason)


def warm_up(chain: Chain) -> None:
    """Prepare a chain and compile all that `look_at` may call, before a control loop starts."""
    ready = prepared(chain)
    tip = chain.forward(ready.middle)
    # Neither point may need the reasons that only a pan-tilt head can have.
    admits_pan_tilt(ready.exact, len(ready.middle))
    pan_tilt(np.zeros((3, 16)), np.zeros(3), np.zeros(2), np.empty((4, 2)))
    look_at(chain, tip.apply(np.array([1.0, 0.0, 0.0])))
    look_at(chain, tip.translation, max_iterations=50, max_move=1e-3)


def with_ray(ready: PreparedChain, axis: npt.ArrayLike, origin: npt.ArrayLike) -> PreparedChain:
    """Return the chain with a ray as its tip's z axis; the result is kept with the chain.

    Raises:
        SolveArgumentError: An axis or origin that makes no ray.
    """
    key: object = (axis, origin)
    try:
        kept = ready.narrowed.get(key)
    except TypeError:  # lists and arrays are as good
        kept = None
    if kept is None:
        direction = as_three("axis", axis, LARGEST_LENGTH)
        start = as_three("origin", origin, LARGEST_LENGTH)
        size = float(np.abs(direction).max())
        if not size > 0.0:
            raise SolveArgumentError("axis", axis, "a direction, not zero")
        key = (tuple(direction.tolist()), tuple(start.tolist()))
        kept = ready.narrowed.get(key)
        if kept is None:
            if len(ready.narrowed) >= MOST_RAYS_KEPT:
                ready.narrowed.clear()
            kept = ready.narrowed[key] = _prepare_ray(ready, direction / size, start)
    return kept


def _prepare_ray(ready: PreparedChain, direction: FloatArray, start: FloatArray) -> PreparedChain:
    frame = frame_about(tuple(direction.tolist()))
    frame[:3, 3] = start
    exact, ends = move_tip(ready, frame)
    variables = ready.variables[:, :COLUMNS].copy()  # without the starts found for poses
    return replace(
        ready, exact=exact, ends=ends, variables=variables,
        closed=None, closed_position=None, redundant=None,
    )  # fmt: skip
