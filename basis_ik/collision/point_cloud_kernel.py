# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From the points of a depth camera to spheres that contain them, in a tree.

Each voxel of a grid gets one sphere around its points. The tree is binary, balanced, and without
pointers: node `1` is the root, `2 k` and `2 k + 1` are below node `k`. At a depth `d` the node
`2^d + j` has the spheres from `n j / 2^d` on, rounded down, of all `n`; `distance_kernel` reads it.
"""

from __future__ import annotations

from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

IntArray = NDArray[np.int64]

EMPTY_NODE = -1e30  # radius of a node without spheres
SPHERE_ROUNDING = 1e-9  # [m], and of a size: added to each radius


@jit
def points_outside(
    points: FloatArray, place: FloatArray, reaches: FloatArray, capsules: FloatArray,
    kept: FloatArray,
) -> int:  # fmt: skip
    """Write the points that count, placed, and return how many these are.

    Points that are not finite are dropped, and those that are far away or in a capsule.

    Args:
        points: (n, 3) in the sensor's frame [m].
        place: (3, 4) root_T_sensor.
        reaches: (r, 4) centres and radii, of which one at least has to contain a point.
        capsules: (k, 7) both ends of each axis and the radius, in the root frame.
        kept: (n, 3) result.
    """
    count, low, high = 0, np.full(3, -EMPTY_NODE), np.full(3, EMPTY_NODE)
    for k in range(capsules.shape[0]):
        for r in range(3):
            a, b = capsules[k, r], capsules[k, 3 + r]
            low[r] = min(low[r], min(a, b) - capsules[k, 6])
            high[r] = max(high[r], max(a, b) + capsules[k, 6])
    for p in range(points.shape[0]):
        a, b, c = points[p, 0], points[p, 1], points[p, 2]
        x = place[0, 0] * a + place[0, 1] * b + place[0, 2] * c + place[0, 3]
        y = place[1, 0] * a + place[1, 1] * b + place[1, 2] * c + place[1, 3]
        z = place[2, 0] * a + place[2, 1] * b + place[2, 2] * c + place[2, 3]
        is_kept = False
        for k in range(reaches.shape[0]):  # NaN and infinity are in none
            a, b, c = x - reaches[k, 0], y - reaches[k, 1], z - reaches[k, 2]
            is_kept |= a * a + b * b + c * c <= reaches[k, 3] * reaches[k, 3]
        is_near = low[0] <= x <= high[0] and low[1] <= y <= high[1] and low[2] <= z <= high[2]
        k = 0 if is_near else capsules.shape[0]
        while is_kept and k < capsules.shape[0]:
            each = capsules[k]
            u, v, w = each[3] - each[0], each[4] - each[1], each[5] - each[2]
            a, b, c = x - each[0], y - each[1], z - each[2]
            length, along = u * u + v * v + w * w, u * a + v * b + w * c
            share = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
            a, b, c = a - share * u, b - share * v, c - share * w
            is_kept = a * a + b * b + c * c > each[6] * each[6]
            k += 1
        if is_kept:
            kept[count, 0], kept[count, 1], kept[count, 2] = x, y, z
            count += 1
    return count


@jit
def cover_by_spheres(
    points: FloatArray, size: float, slots: IntArray, voxels: IntArray, boxes: FloatArray,
    spheres: FloatArray,
) -> int:  # fmt: skip
    """Write a sphere for each voxel that has points, around these; return how many there are.

    Args:
        points: (n, 3), all finite [m].
        size: Edge of a voxel [m].
        slots: Workspace, of zeros; its length is a power of two and above n.
        voxels: (n, 4) workspace.
        boxes: (n, 6) workspace.
        spheres: (n, 4) result: centres and radii.
    """
    count, mask = 0, slots.shape[0] - 1
    for p in range(points.shape[0]):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        i, j, k = floor(x / size), floor(y / size), floor(z / size)
        slot = ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask
        while True:
            voxel = slots[slot] - 1
            if voxel < 0:
                voxel = count
                slots[slot] = count + 1
                voxels[voxel, 0], voxels[voxel, 1], voxels[voxel, 2] = i, j, k
                for r in range(3):
                    boxes[voxel, r] = boxes[voxel, 3 + r] = points[p, r]
                count += 1
                break
            if voxels[voxel, 0] == i and voxels[voxel, 1] == j and voxels[voxel, 2] == k:
                for r in range(3):
                    boxes[voxel, r] = min(boxes[voxel, r], points[p, r])
                    boxes[voxel, 3 + r] = max(boxes[voxel, 3 + r], points[p, r])
                break
            slot = (slot + 1) & mask
        voxels[p, 3] = voxel
    for s in range(count):
        for r in range(3):
            spheres[s, r] = 0.5 * (boxes[s, r] + boxes[s, 3 + r])
        spheres[s, 3] = 0.0
    for p in range(points.shape[0]):
        sphere = spheres[voxels[p, 3]]
        x, y, z = points[p, 0] - sphere[0], points[p, 1] - sphere[1], points[p, 2] - sphere[2]
        sphere[3] = max(sphere[3], sqrt(x * x + y * y + z * z))
    for s in range(count):
        spheres[s, 3] += SPHERE_ROUNDING * (1.0 + spheres[s, 3])
    return count


@helper
def select(rows: FloatArray, low: int, high: int, middle: int, axis: int) -> None:
    """Exchange rows from one to another until none before a middle one has a larger coordinate.

    Args:
        rows: The rows.
        low: The first row.
        high: The last row.
        middle: The one that is as if they were sorted.
        axis: The coordinate.
    """
    while low < high:
        pivot, i, j = rows[(low + high) >> 1, axis], low, high
        while i <= j:
            while rows[i, axis] < pivot:
                i += 1
            while rows[j, axis] > pivot:
                j -= 1
            if i <= j:
                for r in range(4):
                    rows[i, r], rows[j, r] = rows[j, r], rows[i, r]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@helper
def box_of(rows: FloatArray, low: int, high: int, box: FloatArray) -> int:
    """Write the box (6,) of the centres of rows; return its longest axis."""
    for r in range(3):
        box[r] = box[3 + r] = rows[low, r]
    for s in range(low + 1, high):
        for r in range(3):
            box[r] = min(box[r], rows[s, r])
            box[3 + r] = max(box[3 + r], rows[s, r])
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@jit
def build_tree(tree: FloatArray, count: int, depth: int) -> None:
    """Sort spheres into a tree, and write its nodes, spheres around those below them.

    Args:
        tree: (2^(depth + 1) + count, 4) the nodes, of which the first is unused, and the spheres:
            centres and radii.
        count: Number of spheres.
        depth: That of the leaves.
    """
    first, box = 2 << depth, np.empty(6)
    for d in range(depth + 1):
        for j in range(1 << d):
            low, high = first + ((count * j) >> d), first + ((count * (j + 1)) >> d)
            node = tree[(1 << d) + j]
            node[3] = EMPTY_NODE
            if low == high:
                continue
            axis = box_of(tree, low, high, box)
            for r in range(3):
                node[r] = 0.5 * (box[r] + box[3 + r])
            for s in range(low, high):
                x, y, z = tree[s, 0] - node[0], tree[s, 1] - node[1], tree[s, 2] - node[2]
                node[3] = max(node[3], sqrt(x * x + y * y + z * z) + tree[s, 3])
            node[3] += SPHERE_ROUNDING * (1.0 + node[3])
            if d < depth:
                select(tree, low, high - 1, first + ((count * (2 * j + 1)) >> (d + 1)), axis)
