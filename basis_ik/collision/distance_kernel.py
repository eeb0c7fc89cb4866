# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distances between the capsules of links, and from them to boxes and cylinders, with gradients.

A distance is that of two bodies, less the padding; below zero they overlap by at least so much in
depth. The distance from a box or a cylinder is convex along the axis of a capsule, and so is its
depth inside; the nearest point of the axis is found by its slope.

The tables, by rows:

- balls (b, 8): both ends of a capsule's axis in the frame of its joint, the radius, and the joint's
  number, -1 for the root.
- links (l, 2): the first of a link's balls, and the first after them.
- pairs (p, 2): two links.
- solids (s, 22): solid_T_root (3, 4), half the extents, whether it is a cylinder, centre and radius
  of a sphere around it, the number of further solids after it that are of the same object, and how
  much thicker it is.
- targets (t, 2): a link and the first solid of an object.
- clouds (c, 16): cloud_T_root (3, 4), how much thicker it is, the first row of its tree, the number
  of its spheres, and the depth of its tree.
- beside (n, 2): a link and a cloud.
- tree (m, 4): the trees of all clouds, see `point_cloud_kernel`.

Rows of a result are those of the pairs, then of the targets, then of links beside clouds.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, inlined, jit
from basis_ik.robot.chain_kernel import (
    ChainArrays,
    ChainFields,
    Triple,
    forward_frames,
    joint_twist,
)

IntArray = NDArray[np.int64]
CoverFields = tuple[
    FloatArray, IntArray, IntArray, FloatArray, IntArray, FloatArray, IntArray, FloatArray,
    FloatArray,
]  # fmt: skip
"""balls, links, pairs, solids, targets, clouds, beside, tree, and the padding of each row (p + t +
n,) [m]."""
WorkFields = tuple[FloatArray, FloatArray, FloatArray]
"""Joint frames (m, 3, 4), the tip's (3, 4), and the balls in the root frame (b, 10)."""

# Columns of a result.
GAP_DISTANCE = 0
POINT_A = 1
POINT_B = 4
NORMAL = 7
JOINT_A = 10
JOINT_B = 11
GAP_COLUMNS = 12

SOLID_COLUMNS = 22
CLOUD_COLUMNS = 16
MOST_WAITING_NODES = 64  # of a tree

FAR_AWAY = 1e30
TOUCHING_AXES = 1e-12  # [m] between axes, below which they have no direction to each other
MOST_AXIS_STEPS = 60
AXIS_TOLERANCE = 1e-10  # of an axis' length: how closely its nearest point is found


@inlined
def clamp(value: float) -> float:
    """Return a value within 0 and 1."""
    return min(max(value, 0.0), 1.0)


@inlined
def scalar(a: Triple, b: Triple) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def nearest_shares(u: Triple, v: Triple, w: Triple) -> tuple[float, float]:
    """Return where two segments are nearest to each other (Ericson 2005, section 5.1.9).

    Args:
        u: From the start to the end of the first.
        v: From the start to the end of the second.
        w: From the start of the second to that of the first.

    Returns:
        The shares of u and v.
    """
    uu, vv, uv, uw, vw = scalar(u, u), scalar(v, v), scalar(u, v), scalar(u, w), scalar(v, w)
    if uu <= 0.0:
        return 0.0, clamp(vw / vv) if vv > 0.0 else 0.0
    if vv <= 0.0:
        return clamp(-uw / uu), 0.0
    rest = uu * vv - uv * uv
    s = clamp((uv * vw - uw * vv) / rest) if rest > 1e-14 * uu * vv else 0.0
    t = (uv * s + vw) / vv
    if t < 0.0:
        return clamp(-uw / uu), 0.0
    if t > 1.0:
        return clamp((uv - uw) / uu), 1.0
    return s, t


@inlined
def across(u: Triple, v: Triple) -> Triple:
    """Return a unit vector across two directions; across the longer one if they are parallel."""
    x, y, z = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    if x * x + y * y + z * z <= 1e-16 * scalar(u, u) * scalar(v, v):
        a = u if scalar(u, u) > scalar(v, v) else v
        if abs(a[0]) <= abs(a[1]) and abs(a[0]) <= abs(a[2]):
            x, y, z = 0.0, a[2], -a[1]
        elif abs(a[1]) <= abs(a[2]):
            x, y, z = -a[2], 0.0, a[0]
        else:
            x, y, z = a[1], -a[0], 0.0
    size = sqrt(x * x + y * y + z * z)
    if size <= 0.0:
        return 1.0, 0.0, 0.0
    return x / size, y / size, z / size


@helper
def place_balls(frames: FloatArray, balls: FloatArray, world: FloatArray) -> None:
    """Write the balls in the root frame: start, axis, middle, and the radius around the middle."""
    for i in range(balls.shape[0]):
        joint = int(balls[i, 7])
        for r in range(3):
            a, b = balls[i, r], balls[i, 3 + r]
            if joint >= 0:
                frame = frames[joint]
                x, y, z, t = frame[r, 0], frame[r, 1], frame[r, 2], frame[r, 3]
                a = x * balls[i, 0] + y * balls[i, 1] + z * balls[i, 2] + t
                b = x * balls[i, 3] + y * balls[i, 4] + z * balls[i, 5] + t
            world[i, r] = a
            world[i, 3 + r] = b - a
            world[i, 6 + r] = 0.5 * (a + b)
        x, y, z = world[i, 3], world[i, 4], world[i, 5]
        world[i, 9] = 0.5 * sqrt(x * x + y * y + z * z) + balls[i, 6]


@helper
def measure_balls(
    balls: FloatArray, world: FloatArray, i: int, j: int, padding: float, row: FloatArray
) -> None:
    """Write the distance of two balls into a row, if it is less than that in it."""
    first, second = world[i], world[j]
    u, v = (first[3], first[4], first[5]), (second[3], second[4], second[5])
    w = (first[0] - second[0], first[1] - second[1], first[2] - second[2])
    s, t = nearest_shares(u, v, w)
    x = w[0] + s * u[0] - t * v[0]
    y = w[1] + s * u[1] - t * v[1]
    z = w[2] + s * u[2] - t * v[2]
    apart = sqrt(x * x + y * y + z * z)
    radius, other = balls[i, 6], balls[j, 6]
    distance = apart - radius - other - padding
    if not distance < row[GAP_DISTANCE]:
        return
    n = (x / apart, y / apart, z / apart) if apart > TOUCHING_AXES else across(u, v)
    row[GAP_DISTANCE] = distance
    for r in range(3):
        row[POINT_A + r] = first[r] + s * u[r] - radius * n[r]
        row[POINT_B + r] = second[r] + t * v[r] + other * n[r]
        row[NORMAL + r] = n[r]
    row[JOINT_A], row[JOINT_B] = balls[i, 7], balls[j, 7]


@inlined
def solid_distance(solid: FloatArray, p: Triple) -> tuple[float, Triple]:
    """Return the distance of a point in a solid's frame, below zero inside, and its gradient."""
    x, y, z = p
    if solid[15] != 0.0:
        across_ = sqrt(x * x + y * y)
        out, up = across_ - solid[12], abs(z) - solid[14]
        cx, cy = (x / across_, y / across_) if across_ > 0.0 else (1.0, 0.0)
        sz = 1.0 if z >= 0.0 else -1.0
        if out > 0.0 and up > 0.0:
            d = sqrt(out * out + up * up)
            return d, (cx * out / d, cy * out / d, sz * up / d)
        if out >= up:
            return out, (cx, cy, 0.0)
        return up, (0.0, 0.0, sz)
    a, b, c = abs(x) - solid[12], abs(y) - solid[13], abs(z) - solid[14]
    sx, sy, sz = 1.0 if x >= 0.0 else -1.0, 1.0 if y >= 0.0 else -1.0, 1.0 if z >= 0.0 else -1.0
    if a > 0.0 or b > 0.0 or c > 0.0:
        fx, fy, fz = max(a, 0.0), max(b, 0.0), max(c, 0.0)
        d = sqrt(fx * fx + fy * fy + fz * fz)
        return d, (sx * fx / d, sy * fy / d, sz * fz / d)
    if a >= b and a >= c:
        return a, (sx, 0.0, 0.0)
    if b >= c:
        return b, (0.0, sy, 0.0)
    return c, (0.0, 0.0, sz)


@inlined
def into(solid: FloatArray, p: Triple, one: float) -> Triple:
    """Return a point (one = 1) or a vector (0) of the root frame in a solid's frame."""
    return (
        solid[0] * p[0] + solid[1] * p[1] + solid[2] * p[2] + one * solid[3],
        solid[4] * p[0] + solid[5] * p[1] + solid[6] * p[2] + one * solid[7],
        solid[8] * p[0] + solid[9] * p[1] + solid[10] * p[2] + one * solid[11],
    )


@inlined
def nearest_share(solid: FloatArray, a: Triple, u: Triple) -> float:
    """Return where on a segment, from a along u, it is nearest to a solid, or deepest in it."""
    low, high = 0.0, 1.0
    _, g = solid_distance(solid, a)
    at_low = scalar(g, u)
    if at_low >= 0.0:
        return 0.0
    _, g = solid_distance(solid, (a[0] + u[0], a[1] + u[1], a[2] + u[2]))
    at_high = scalar(g, u)
    if at_high <= 0.0:
        return 1.0
    for step in range(MOST_AXIS_STEPS):
        if high - low <= AXIS_TOLERANCE:
            break
        t = 0.5 * (low + high)
        if step % 2 == 0:  # where a line through the slopes is zero
            t = low - at_low * (high - low) / (at_high - at_low)
        _, g = solid_distance(solid, (a[0] + t * u[0], a[1] + t * u[1], a[2] + t * u[2]))
        slope = scalar(g, u)
        if slope < 0.0:
            low, at_low = t, slope
        elif slope > 0.0:
            high, at_high = t, slope
        else:
            return t
    return 0.5 * (low + high)


@helper
def measure_solid(
    balls: FloatArray, world: FloatArray, i: int, solid: FloatArray, padding: float, row: FloatArray
) -> None:
    """Write the distance of a ball and a solid into a row, if it is less than that in it."""
    ball, radius, thick = world[i], balls[i, 6], solid[21]
    from_middle, g = solid_distance(solid, into(solid, (ball[6], ball[7], ball[8]), 1.0))
    if from_middle - ball[9] - thick - padding >= row[GAP_DISTANCE]:
        return
    a = into(solid, (ball[0], ball[1], ball[2]), 1.0)
    u = into(solid, (ball[3], ball[4], ball[5]), 0.0)
    t = nearest_share(solid, a, u)
    d, g = solid_distance(solid, (a[0] + t * u[0], a[1] + t * u[1], a[2] + t * u[2]))
    if not d - radius - thick - padding < row[GAP_DISTANCE]:
        return
    row[GAP_DISTANCE] = d - radius - thick - padding
    for r in range(3):
        n = solid[r] * g[0] + solid[4 + r] * g[1] + solid[8 + r] * g[2]
        point = ball[r] + t * ball[3 + r]
        row[POINT_A + r] = point - radius * n
        row[POINT_B + r] = point - (d - thick) * n
        row[NORMAL + r] = n
    row[JOINT_A], row[JOINT_B] = balls[i, 7], -1.0


@inlined
def from_axis(point: FloatArray, a: Triple, u: Triple, inverse: float) -> float:
    """Return the squared distance of a point from a segment, from a along u.

    Args:
        point: (3,) or more.
        a: The start.
        u: From the start to the end.
        inverse: One by the squared length; zero of a point.
    """
    x, y, z = point[0] - a[0], point[1] - a[1], point[2] - a[2]
    t = clamp((x * u[0] + y * u[1] + z * u[2]) * inverse)
    x, y, z = x - t * u[0], y - t * u[1], z - t * u[2]
    squared: float = x * x + y * y + z * z
    return squared


@helper
def measure_cloud(
    own: FloatArray, ball: FloatArray, cloud: FloatArray, tree: FloatArray, padding: float,
    row: FloatArray, waits: FloatArray,
) -> None:  # fmt: skip
    """Write the distance of a ball and a cloud into a row, if it is less than that in it.

    Of two nodes the nearer one is opened first, and none that is not nearer than what is found.

    Args:
        own: Row of the ball.
        ball: The ball, placed.
        cloud: Row of the cloud.
        tree: The table.
        padding: Distance that is subtracted [m].
        row: (12,) result.
        waits: (DEEPEST, 2) workspace: nodes, and how far their centres are, squared.
    """
    radius, thick = own[6], cloud[12]
    a = into(cloud, (ball[0], ball[1], ball[2]), 1.0)
    u = into(cloud, (ball[3], ball[4], ball[5]), 0.0)
    uu, first, count, depth = scalar(u, u), int(cloud[13]), int(cloud[14]), int(cloud[15])
    spheres, most = first + (2 << depth), row[GAP_DISTANCE] + radius + thick + padding
    inverse, best, waiting = 1.0 / uu if uu > TOUCHING_AXES * TOUCHING_AXES else 0.0, -1, 1
    waits[0, 0], waits[0, 1] = 1, from_axis(tree[first + 1], a, u, inverse)
    while waiting > 0:
        waiting -= 1
        node = int(waits[waiting, 0])
        room = most + tree[first + node, 3]
        if not (room > 0.0 and waits[waiting, 1] < room * room):
            continue
        if node >> depth == 0:
            far, near = 2 * node, 2 * node + 1
            beyond = from_axis(tree[first + far], a, u, inverse)
            squared = from_axis(tree[first + near], a, u, inverse)
            if beyond < squared:
                far, near, beyond, squared = near, far, squared, beyond
            waits[waiting, 0], waits[waiting, 1] = far, beyond
            waits[waiting + 1, 0], waits[waiting + 1, 1] = near, squared
            waiting += 2
        else:
            low, high = node - (1 << depth), node + 1 - (1 << depth)
            for s in range(spheres + (count * low >> depth), spheres + (count * high >> depth)):
                squared, room = from_axis(tree[s], a, u, inverse), most + tree[s, 3]
                if room > 0.0 and squared < room * room:
                    best, most = s, sqrt(squared) - tree[s, 3]
    if best < 0:
        return
    centre, size = tree[best], tree[best, 3]
    x, y, z = centre[0] - a[0], centre[1] - a[1], centre[2] - a[2]
    t = clamp((x * u[0] + y * u[1] + z * u[2]) * inverse)
    x, y, z = t * u[0] - x, t * u[1] - y, t * u[2] - z
    apart = sqrt(x * x + y * y + z * z)
    n = (x / apart, y / apart, z / apart) if apart > TOUCHING_AXES else across(u, (0.0, 0.0, 0.0))
    row[GAP_DISTANCE] = apart - size - radius - thick - padding
    for r in range(3):
        out = cloud[r] * n[0] + cloud[4 + r] * n[1] + cloud[8 + r] * n[2]
        point = ball[r] + t * ball[3 + r]
        row[POINT_A + r] = point - radius * out
        row[POINT_B + r] = point - (apart - size - thick) * out
        row[NORMAL + r] = out
    row[JOINT_A], row[JOINT_B] = own[7], -1.0


@helper
def fill_gradient(
    chain: ChainArrays, frames: FloatArray, row: FloatArray, gradient: FloatArray
) -> None:
    """Write the derivative (n,) of a row's distance by the variables.

    Joints that move both bodies do not change it. Along the normal it is the same point of either.
    """
    for k in range(gradient.shape[0]):
        gradient[k] = 0.0
    one, other = int(row[JOINT_A]), int(row[JOINT_B])
    sign = 1.0 if one > other else -1.0
    for i in range(min(one, other) + 1, max(one, other) + 1):
        frame = frames[i]
        turn, slide = chain.multipliers[i], 0.0 * chain.multipliers[i]
        if chain.prismatic[i] != 0:
            turn, slide = slide, turn
        arm = (
            row[POINT_A] - frame[0, 3],
            row[POINT_A + 1] - frame[1, 3],
            row[POINT_A + 2] - frame[2, 3],
        )
        axis = (frame[0, 2], frame[1, 2], frame[2, 2])
        x, y, z, _, _, _ = joint_twist(turn, slide, axis, arm)
        along = x * row[NORMAL] + y * row[NORMAL + 1] + z * row[NORMAL + 2]
        gradient[chain.variables[i]] += sign * along


@jit
def measure_pairs(
    fields: ChainFields, cover: CoverFields, q: FloatArray, work: WorkFields,
    rows: FloatArray, gradients: FloatArray, within: float,
) -> None:  # fmt: skip
    """Write the distances of all rows, and their gradients.

    Of those that are not within a distance only this is written.

    Args:
        fields: The fields of `ChainArrays`.
        cover: The tables.
        q: (n,) [rad or m].
        work: Workspace.
        rows: (p + t + n, 12) result.
        gradients: (p + t + n, n) result [m/rad or 1].
        within: The distance [m].
    """
    chain, balls = ChainArrays(*fields), cover[0]
    frames, tip, world = work
    forward_frames(chain, q, frames, tip)
    place_balls(frames, balls, world)
    for k in range(rows.shape[0]):
        row = rows[k]
        row[GAP_DISTANCE] = within
        measure_row(cover, world, k, row)
        if row[GAP_DISTANCE] < within:
            fill_gradient(chain, frames, row, gradients[k])


@helper
def measure_row(cover: CoverFields, world: FloatArray, k: int, row: FloatArray) -> None:
    """Write the distance of the two of a row, if it is less than that in it."""
    balls, links, pairs, solids, targets, clouds, beside, tree, paddings = cover
    count, padding = pairs.shape[0], paddings[k]
    if k < count:
        begin, end = links[pairs[k, 1], 0], links[pairs[k, 1], 1]
        for i in range(links[pairs[k, 0], 0], links[pairs[k, 0], 1]):
            a, b, c, around = world[i, 6], world[i, 7], world[i, 8], world[i, 9] + padding
            for j in range(begin, end):
                x, y, z = a - world[j, 6], b - world[j, 7], c - world[j, 8]
                room = row[GAP_DISTANCE] + around + world[j, 9]
                if room > 0.0 and x * x + y * y + z * z < room * room:
                    measure_balls(balls, world, i, j, padding, row)
    elif k < count + targets.shape[0]:
        link, first = targets[k - count, 0], targets[k - count, 1]
        for number in range(first, first + 1 + int(solids[first, 20])):
            solid = solids[number]
            a, b, c = solid[16], solid[17], solid[18]
            around = solid[19] + solid[21] + padding
            for i in range(links[link, 0], links[link, 1]):
                x, y, z = world[i, 6] - a, world[i, 7] - b, world[i, 8] - c
                room = row[GAP_DISTANCE] + around + world[i, 9]
                if room > 0.0 and x * x + y * y + z * z < room * room:
                    measure_solid(balls, world, i, solid, padding, row)
    else:
        k -= count + targets.shape[0]
        link, cloud = beside[k, 0], clouds[beside[k, 1]]
        waits = np.empty((MOST_WAITING_NODES, 2))
        for i in range(links[link, 0], links[link, 1]):
            measure_cloud(balls[i], world[i], cloud, tree, padding, row, waits)
