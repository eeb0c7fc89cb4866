# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The descent of a chain until a ray fixed to its tip passes through a point, with its roll free.

With d the ray's unit direction, p its origin and a the unit vector from p to the point, n away, the
error is the angle θ from d to a about k = d × a / sin θ. A velocity v of p and a turn ω of the tip
change it by θ' = −(ω·k + v·(k × a) / n), which is one row of the Jacobian. The other row is the
turn about k × a: its error is always 0, and it keeps the ray from turning aside near the goal. So
the system has two rows, however many joints there are.
"""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np

from basis_ik.descent.descent_kernel import (
    DESCENT_REACHED,
    DESCENT_SPENT,
    DESCENT_STALLED,
    apply_step,
    place,
    twist_by,
)
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import (
    ASIDE,
    AXIS_X,
    AXIS_Y,
    AXIS_Z,
    BEFORE_PULL,
    DRIVER,
    IS_FIRST,
    LOWER,
    PULL,
    SCALE,
    SLIDE,
    STEP,
    TOWARDS,
    TURN,
    UPPER,
    PackedChain,
    Triple,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.bounded_step_kernel import leaves
from basis_ik.numerics.jit import helper

NO_RAY_LENGTH = 1e-9  # [m] from the ray's origin to the point: nearer, there is no direction to it
PARALLEL_SINE = 1e-13  # sine up to which k is rounding noise, and any k will do
OPPOSITE_SINE = 1e-9  # the same from exactly opposite, where noise would choose the way round
RAY_DAMPING = 0.01  # of the squared error
RAY_FLOOR = 1e-14  # keeps the system solvable where rows vanish
MOST_PULLS = 10
# A pull towards the seed has to shorten the way this much to be followed by another.
PULL_GAIN = 0.99


@helper
def ray_miss(
    d0: float, d1: float, d2: float, p0: float, p1: float, p2: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """Return θ, 1/n, k and a for a ray from p along d; the point is the origin.

    Where d and a are parallel or opposite, or there is no a, k is zero.
    """
    length = sqrt(p0 * p0 + p1 * p1 + p2 * p2)
    if not length > NO_RAY_LENGTH:
        return pi, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    near = 1.0 / length
    a0, a1, a2 = -p0 * near, -p1 * near, -p2 * near
    k0, k1, k2 = d1 * a2 - d2 * a1, d2 * a0 - d0 * a2, d0 * a1 - d1 * a0
    sine = sqrt(k0 * k0 + k1 * k1 + k2 * k2)
    cosine = d0 * a0 + d1 * a1 + d2 * a2
    scale = 1.0 / sine if sine > (PARALLEL_SINE if cosine > 0.0 else OPPOSITE_SINE) else 0.0
    return atan2(sine, cosine), near, k0 * scale, k1 * scale, k2 * scale, a0, a1, a2


@helper
def choose_way_round(
    joints: FloatArray, variables: FloatArray, q: FloatArray, work: FloatArray, direction: Triple
) -> Triple:
    """Return k for a point exactly behind the ray: along the axis that can turn the ray best.

    The sign lets that joint turn to the side where it has more room.
    """
    (d0, d1, d2), n = direction, q.shape[0]
    best, k0, k1, k2 = 1e-6, 0.0, 0.0, 0.0
    for i in range(joints.shape[0]):
        x, y, z = work[n + i, AXIS_X], work[n + i, AXIS_Y], work[n + i, AXIS_Z]
        along = x * d0 + y * d1 + z * d2
        x, y, z = x - along * d0, y - along * d1, z - along * d2
        across = sqrt(x * x + y * y + z * z)
        if joints[i, TURN] != 0.0 and across > best:
            k = int(joints[i, DRIVER])
            more_below = q[k] - variables[k, LOWER] > variables[k, UPPER] - q[k]
            scale = (-1.0 if more_below != (joints[i, TURN] < 0.0) else 1.0) / across
            best, k0, k1, k2 = across, x * scale, y * scale, z * scale
    return k0, k1, k2


@helper
def fill_rows(
    joints: FloatArray, variables: FloatArray, work: FloatArray, p: Triple, near: float,
    k: Triple, a: Triple,
) -> None:  # fmt: skip
    """Write both rows of the Jacobian, scaled to angles; p, k and a are those of `ray_miss`."""
    (k0, k1, k2), (a0, a1, a2), n = k, a, variables.shape[0]
    m0, m1, m2 = k1 * a2 - k2 * a1, k2 * a0 - k0 * a2, k0 * a1 - k1 * a0
    for i in range(joints.shape[0]):
        v0, v1, v2, w0, w1, w2 = twist_by(joints[i, TURN], joints[i, SLIDE], work, n + i, p)
        column = int(joints[i, DRIVER])
        scale = variables[column, SCALE]
        towards = w0 * k0 + w1 * k1 + w2 * k2 + near * (v0 * m0 + v1 * m1 + v2 * m2)
        aside = w0 * m0 + w1 * m1 + w2 * m2 - near * (v0 * k0 + v1 * k1 + v2 * k2)
        if joints[i, IS_FIRST] == 0.0:  # a mimic joint adds to the column of the one it follows
            work[column, TOWARDS] += scale * towards
            work[column, ASIDE] += scale * aside
        else:
            work[column, TOWARDS], work[column, ASIDE] = scale * towards, scale * aside


@helper
def fill_ray_step(
    variables: FloatArray, q: FloatArray, work: FloatArray, damping: float, error: float,
    pull: float, seed: FloatArray,
) -> float:  # fmt: skip
    """Write the step Jᵀ (J Jᵀ + damping I)⁻¹ (e − J t) + t; return its largest entry.

    t is `pull` times the way back to the seed, which acts in the null space of the error. A
    variable that stands at a limit and would step outward leaves the system, and the others take
    over (active set). The step is computed again until no variable would.
    """
    n = variables.shape[0]
    for k in range(n):
        work[k, PULL] = pull * (seed[k] - q[k]) / variables[k, SCALE]
    largest = 0.0
    for _ in range(n + 1):
        a, b, c, e, f = damping, 0.0, damping, error, 0.0
        for k in range(n):
            a += work[k, TOWARDS] * work[k, TOWARDS]
            b += work[k, TOWARDS] * work[k, ASIDE]
            c += work[k, ASIDE] * work[k, ASIDE]
            e -= work[k, TOWARDS] * work[k, PULL]
            f -= work[k, ASIDE] * work[k, PULL]
        determinant = a * c - b * b
        x, y = (c * e - b * f) / determinant, (a * f - b * e) / determinant
        largest, again = 0.0, False
        for k in range(n):
            step = work[k, TOWARDS] * x + work[k, ASIDE] * y + work[k, PULL]
            if leaves(q[k], variables[k, LOWER], variables[k, UPPER], step, 0.0):
                work[k, TOWARDS], work[k, ASIDE], work[k, PULL] = 0.0, 0.0, 0.0
                step, again = 0.0, True
            work[k, STEP] = step
            largest = max(largest, abs(step))
        if not again:
            break
    return largest


@helper
def ray_step(
    chain: PackedChain, q: FloatArray, work: FloatArray, seed: FloatArray, damping: float,
    pull: float,
) -> tuple[float, float]:  # fmt: skip
    """Write a step from q into `work`; return the angle at q and the step's largest entry.

    The step is damped by `damping` times the squared angle; see `fill_ray_step` for the pull.
    """
    joints, variables, n = chain.joints, chain.variables, q.shape[0]
    x0, _, d0, p0, x1, _, d1, p1, x2, _, d2, p2 = place(joints, chain.ends[1], q, work, n)
    angle, near, k0, k1, k2, a0, a1, a2 = ray_miss(d0, d1, d2, p0, p1, p2)
    if k0 == k1 == k2 == 0.0:
        if angle > 1.0:
            k0, k1, k2 = choose_way_round(joints, variables, q, work, (d0, d1, d2))
        if k0 == k1 == k2 == 0.0:
            k0, k1, k2 = x0, x1, x2
    fill_rows(joints, variables, work, (p0, p1, p2), near, (k0, k1, k2), (a0, a1, a2))
    largest = fill_ray_step(
        variables, q, work, damping * angle * angle + RAY_FLOOR, angle, pull, seed
    )
    return angle, largest


@helper
def descend_to_point(
    chain: PackedChain, q: FloatArray, work: FloatArray, goal: float, iterations: int
) -> tuple[int, int, float]:
    """Walk q (n,) inside the limits until the ray meets the point, or the angle shrinks slowly.

    Args:
        chain: The chain with a ray as its tip: its origin, and its direction as z.
        q: (n,) start, and result.
        work: With point_T_first_joint, root's axes, in its row n + m, and the bounds.
        goal: Angle that counts as reached [rad].
        iterations: How many steps are allowed.

    Returns:
        DESCENT_REACHED, DESCENT_SPENT or DESCENT_STALLED; steps taken; the angle at q [rad].
    """
    least, stalls, taken = np.inf, 0, 0
    while True:
        angle, largest = ray_step(chain, q, work, q, RAY_DAMPING, 0.0)
        if angle <= goal:
            return DESCENT_REACHED, taken, angle
        if angle < 0.97 * least:
            least, stalls = angle, 0
        else:
            stalls += 1
            if stalls > 1:
                return DESCENT_STALLED, taken, angle
        if taken >= iterations:
            return DESCENT_SPENT, taken, angle
        taken += 1
        apply_step(chain.variables, q, work, largest)


@helper
def squared_way(variables: FloatArray, seed: FloatArray, q: FloatArray) -> float:
    """Return the squared distance from the seed, with slides scaled to angles."""
    way = 0.0
    for k in range(variables.shape[0]):
        way += ((q[k] - seed[k]) / variables[k, SCALE]) ** 2
    return way


@helper
def pull_to_seed(
    chain: PackedChain, seed: FloatArray, q: FloatArray, work: FloatArray, goal: float,
    iterations: int,
) -> int:  # fmt: skip
    """Move q, which meets the point, in the null space towards the seed; return steps taken."""
    variables, n, taken = chain.variables, q.shape[0], 0
    way = squared_way(variables, seed, q)
    for _ in range(MOST_PULLS):
        if taken >= iterations:
            break
        for k in range(n):
            work[k, BEFORE_PULL] = q[k]
        largest = ray_step(chain, q, work, seed, 0.0, 1.0)[1]
        apply_step(variables, q, work, largest)
        left = iterations - taken - 1
        status, steps, _ = descend_to_point(chain, q, work, goal, left)
        taken += 1 + steps
        now = squared_way(variables, seed, q)
        if status != DESCENT_REACHED or not now < way:
            for k in range(n):
                q[k] = work[k, BEFORE_PULL]
            break
        if now > PULL_GAIN * way:
            break
        way = now
    return taken


@helper
def exact_miss(exact: FloatArray, q: FloatArray, point: FloatArray, frame: FloatArray) -> float:
    """Return the angle from the ray to the point [rad].

    Args:
        exact: (m + 1, 16), see `tables_kernel`; the last row holds the ray.
        q: (n,).
        point: (3,) in the root frame [m].
        frame: (3, 4), overwritten with root_T_ray.
    """
    place_exactly(exact, q, frame)
    p0, p1, p2 = frame[0, 3] - point[0], frame[1, 3] - point[1], frame[2, 3] - point[2]
    return ray_miss(frame[0, 2], frame[1, 2], frame[2, 2], p0, p1, p2)[0]
