# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whether two convex bodies are apart, with a proof: a direction in which they do not overlap.

A body is the hull of points, made thicker by a disc about its z axis and by a ball. That is a box,
a cylinder, a sphere, a capsule or the hull of a mesh. Their difference has a point nearest to the
origin. The algorithm of Wolfe (1976, "Finding the nearest point in a polytope") finds it, with the
bodies' supports as in that of Gilbert, Johnson and Keerthi (1988). Each step has a direction; what
the supports leave between the bodies along it is at most their distance, however the direction was
found.

The tables, by rows:

- points (v, 3): of all bodies, in their own frames.
- bodies (b, 17): the body's pose in its joint's moved frame (3, 4), the joint (-1: the root), its
  first point and the first after them, the radius of the disc and that of the ball.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.collision.distance_kernel import (
    GAP_COLUMNS,
    GAP_DISTANCE,
    JOINT_A,
    JOINT_B,
    NORMAL,
    POINT_A,
    POINT_B,
    CoverFields,
    WorkFields,
    fill_gradient,
    measure_row,
    place_balls,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.robot.chain_kernel import ChainArrays, ChainFields, Triple, forward_frames

IntArray = NDArray[np.int64]
ShapeFields = tuple[FloatArray, FloatArray]
"""points and bodies."""

BODY_JOINT = 12
BODY_FIRST = 13
BODY_END = 14
BODY_DISC = 15
BODY_BALL = 16

MOST_SEPARATION_STEPS = 100
NEAREST_TOLERANCE = 1e-9  # of the bodies' size: how closely the nearest point is found
SINGULAR_PIVOT = 1e-13  # of the squared size: a pivot below this is none
NO_BOUND = -1e30


@helper
def place_body(frames: FloatArray, body: FloatArray, place: FloatArray) -> None:
    """Write root_T_body (3, 4)."""
    joint = int(body[BODY_JOINT])
    for r in range(3):
        for c in range(4):
            if joint < 0:
                place[r, c] = body[4 * r + c]
            else:
                frame = frames[joint]
                place[r, c] = (
                    frame[r, 0] * body[c] + frame[r, 1] * body[4 + c] + frame[r, 2] * body[8 + c]
                )
                if c == 3:
                    place[r, c] += frame[r, 3]


@helper
def farthest(points: FloatArray, body: FloatArray, place: FloatArray, n: Triple) -> Triple:
    """Return the point of a body, without its ball, that is farthest along a direction."""
    x = place[0, 0] * n[0] + place[1, 0] * n[1] + place[2, 0] * n[2]
    y = place[0, 1] * n[0] + place[1, 1] * n[1] + place[2, 1] * n[2]
    z = place[0, 2] * n[0] + place[1, 2] * n[1] + place[2, 2] * n[2]
    best, most = int(body[BODY_FIRST]), NO_BOUND
    for i in range(int(body[BODY_FIRST]), int(body[BODY_END])):
        along = points[i, 0] * x + points[i, 1] * y + points[i, 2] * z
        if along > most:
            best, most = i, along
    a, b, c = points[best, 0], points[best, 1], points[best, 2]
    out = sqrt(x * x + y * y)
    if out > 0.0:
        a += body[BODY_DISC] * x / out
        b += body[BODY_DISC] * y / out
    return (
        place[0, 0] * a + place[0, 1] * b + place[0, 2] * c + place[0, 3],
        place[1, 0] * a + place[1, 1] * b + place[1, 2] * c + place[1, 3],
        place[2, 0] * a + place[2, 1] * b + place[2, 2] * c + place[2, 3],
    )


@helper
def weigh_corners(
    corners: FloatArray, count: int, unit: float, gram: FloatArray, weights: FloatArray
) -> bool:
    """Write the weights, of sum one, of the point nearest to the origin in the corners' span.

    Args:
        corners: (4, 6), of which the first `count` matter.
        count: How many.
        unit: A length of their order.
        gram: (4, 4) workspace.
        weights: (4,) result.

    Returns:
        Whether the corners are independent.
    """
    for i in range(count):
        weights[i] = 1.0
        for j in range(count):
            gram[i, j] = unit * unit + (
                corners[i, 0] * corners[j, 0]
                + corners[i, 1] * corners[j, 1]
                + corners[i, 2] * corners[j, 2]
            )
    for i in range(count):  # elimination; the matrix is positive definite
        if not gram[i, i] > SINGULAR_PIVOT * unit * unit:
            return False
        for k in range(i + 1, count):
            factor = gram[k, i] / gram[i, i]
            for j in range(i, count):
                gram[k, j] -= factor * gram[i, j]
            weights[k] -= factor * weights[i]
    total = 0.0
    for step in range(count):
        i = count - 1 - step
        for j in range(i + 1, count):
            weights[i] -= gram[i, j] * weights[j]
        weights[i] /= gram[i, i]
        total += weights[i]
    for i in range(count):
        weights[i] /= total
    return True


@helper
def refine_corners(
    corners: FloatArray, count: int, unit: float, gram: FloatArray, weights: FloatArray
) -> int:
    """Drop corners until the point nearest to the origin in the rest's span is between them.

    Args:
        corners: (4, 6), of which the first `count` matter.
        count: How many.
        unit: A length of their order.
        gram: (4, 4) workspace.
        weights: (2, 4): those of a point between the corners, which become those of the nearest.

    Returns:
        How many corners are left; 0 if they are dependent.
    """
    now, wanted = weights[0], weights[1]
    while weigh_corners(corners, count, unit, gram, wanted):
        share = 1.0
        for i in range(count):
            if wanted[i] < 0.0:
                share = min(share, now[i] / (now[i] - wanted[i]))
        kept = 0
        for i in range(count):
            now[i] += share * (wanted[i] - now[i])
            if now[i] > 1e-15:
                now[kept] = now[i]
                for r in range(6):
                    corners[kept, r] = corners[i, r]
                kept += 1
        if kept == count or kept == 0:
            return kept
        count = kept
    return 0


@helper
def gap_between(
    shapes: ShapeFields, one: int, other: int, places: FloatArray, nearest: FloatArray,
    enough: float,
) -> tuple[float, float]:  # fmt: skip
    """Return a lower and an upper bound on the distance of two bodies, without their balls.

    Args:
        shapes: The tables.
        one: Number of a body.
        other: Number of another one.
        places: (2, 3, 4) their poses in the root frame.
        nearest: (6,) result: the point of the first that is nearest to the second, and the
            direction from there to it, where they are apart.
        enough: A lower bound at which the search ends.
    """
    (points, bodies), corners = shapes, np.empty((4, 6))
    gram, weights = np.empty((4, 4)), np.zeros((2, 4))
    a, b = bodies[one], bodies[other]
    n = (
        places[0, 0, 3] - places[1, 0, 3],
        places[0, 1, 3] - places[1, 1, 3],
        places[0, 2, 3] - places[1, 2, 3],
    )
    count, lower, size, unit = 0, NO_BOUND, 0.0, 0.0
    for _ in range(MOST_SEPARATION_STEPS):
        p = farthest(points, a, places[0], (-n[0], -n[1], -n[2]))
        q = farthest(points, b, places[1], n)
        d = (p[0] - q[0], p[1] - q[1], p[2] - q[2])
        if count == 0:
            unit = max(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), 1e-6)
            weights[0, 0] = 1.0
        else:
            along = n[0] * d[0] + n[1] * d[1] + n[2] * d[2]
            lower = max(lower, along)
            if lower > enough or size - along <= NEAREST_TOLERANCE * unit or count == 4:
                break
            weights[0, count] = 0.0
        for r in range(3):
            corners[count, r], corners[count, 3 + r] = d[r], p[r]
        kept = refine_corners(corners, count + 1, unit, gram, weights)
        if kept == 0:
            break
        count = kept
        x, y, z = 0.0, 0.0, 0.0
        for i in range(count):
            x += weights[0, i] * corners[i, 0]
            y += weights[0, i] * corners[i, 1]
            z += weights[0, i] * corners[i, 2]
        size = sqrt(x * x + y * y + z * z)
        if size <= NEAREST_TOLERANCE * unit:
            return lower, 0.0
        n = (x / size, y / size, z / size)
        for r in range(3):
            nearest[r], nearest[3 + r] = 0.0, -n[r]
            for i in range(count):
                nearest[r] += weights[0, i] * corners[i, 3 + r]
    return lower, size


@helper
def are_apart(shapes: ShapeFields, ranges: IntArray, frames: FloatArray, padding: float) -> bool:
    """Return whether two links are proven to be farther apart than the padding.

    Of what has no bodies, a cloud of points, only the covers tell.
    """
    if ranges[2] == ranges[3]:
        return False
    places, nearest, bodies = np.empty((2, 3, 4)), np.zeros(6), shapes[1]
    for i in range(ranges[0], ranges[1]):
        place_body(frames, bodies[i], places[0])
        for j in range(ranges[2], ranges[3]):
            place_body(frames, bodies[j], places[1])
            thick = bodies[i, BODY_BALL] + bodies[j, BODY_BALL] + padding
            if not gap_between(shapes, i, j, places, nearest, thick)[0] > thick:
                return False
    return True


@jit
def first_collision(
    fields: ChainFields, cover: CoverFields, shapes: ShapeFields, ranges: IntArray, q: FloatArray,
    work: WorkFields,
) -> int:  # fmt: skip
    """Return the number of the first row of `distance_kernel` that collides.

    Args:
        fields: The fields of `ChainArrays`.
        cover: The tables of `distance_kernel`.
        shapes: The tables.
        ranges: (p, 4) the first body of each of a row, and the first after them.
        q: (n,) [rad or m].
        work: Workspace, see `distance_kernel`.

    Returns:
        The number; -1 if all are proven to be apart.
    """
    (balls, paddings), (frames, tip, world) = (cover[0], cover[-1]), work
    forward_frames(ChainArrays(*fields), q, frames, tip)
    place_balls(frames, balls, world)
    row = np.zeros(GAP_COLUMNS)
    for k in range(ranges.shape[0]):
        row[GAP_DISTANCE] = 0.0
        measure_row(cover, world, k, row)
        if row[GAP_DISTANCE] < 0.0 and not are_apart(shapes, ranges[k], frames, paddings[k]):
            return k
    return -1


@jit
def separate_links(
    fields: ChainFields, shapes: ShapeFields, ranges: IntArray, frames: FloatArray,
    row: FloatArray, gradient: FloatArray, padding: float,
) -> tuple[float, float]:  # fmt: skip
    """Return a lower and an upper bound on the distance of two links.

    Args:
        fields: The fields of `ChainArrays`.
        shapes: The tables.
        ranges: (4,) the first body of each link and the first after them.
        frames: (m, 3, 4) the joints' moved frames.
        row: (12,) as of `distance_kernel`, by the covers; result, if the bodies are proven to be
            apart, with or without the padding, by more than that.
        gradient: (n,) likewise.
        padding: Distance that is subtracted [m].

    Returns:
        The least bounds of all pairs of their bodies [m]. If the lower one is above zero, it is
        proven by the supports that they are apart; an upper one of zero or less is a common point.
        Nothing is known of what has no bodies, a cloud of points.
    """
    if ranges[2] == ranges[3]:
        return NO_BOUND, -NO_BOUND
    places, nearest = np.empty((2, 3, 4)), np.zeros(6)
    lower, upper, bodies, best = -NO_BOUND, -NO_BOUND, shapes[1], np.empty(GAP_COLUMNS)
    for i in range(ranges[0], ranges[1]):
        place_body(frames, bodies[i], places[0])
        for j in range(ranges[2], ranges[3]):
            place_body(frames, bodies[j], places[1])
            ball, other = bodies[i, BODY_BALL], bodies[j, BODY_BALL]
            thick = ball + other + padding
            low, high = gap_between(shapes, i, j, places, nearest, lower + thick)
            upper = min(upper, high - thick)
            if low - thick < lower:
                lower = low - thick
                best[GAP_DISTANCE] = lower
                best[JOINT_A], best[JOINT_B] = bodies[i, BODY_JOINT], bodies[j, BODY_JOINT]
                for r in range(3):
                    best[NORMAL + r] = -nearest[3 + r]
                    best[POINT_A + r] = nearest[r] + ball * nearest[3 + r]
                    best[POINT_B + r] = nearest[r] + (high - other) * nearest[3 + r]
    if lower + padding > 0.0 and lower > row[GAP_DISTANCE]:
        for k in range(GAP_COLUMNS):
            row[k] = best[k]
        fill_gradient(ChainArrays(*fields), frames, row, gradient)
    return lower, upper
