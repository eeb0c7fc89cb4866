# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One step that puts the tip of a free chain at any reachable target.

FABRIK carries a change from bone to bone, so it needs more sweeps with more bones and near full
reach. Here the whole chain is turned to face the target, and bent evenly along its length if it has
to become shorter. All bones share the rest alike (`lean_kernel`). A straight chain is laid on a
circle instead (`arc_kernel`), and so is one where sharing fails. Each part costs a few passes over
the chain, whatever its length.
"""

from __future__ import annotations

import math

import numpy as np

from basis_ik.fabrik.arc_kernel import arc_half_angle, lay_on_arc
from basis_ik.fabrik.ball_chain_kernel import bone_lengths, distance
from basis_ik.fabrik.lean_kernel import lean
from basis_ik.fabrik.swing_twist_kernel import Quaternion, between, conjugate, rotate
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.transforms.directions_kernel import perpendicular

CHAIN_REACHED = 0
CHAIN_TOO_FAR = 1
CHAIN_TOO_NEAR = 2
CHAIN_UNFINISHED = 3
CHAIN_NOT_FINITE = 4

# A chain is called straight when its ends are this near to its reach.
_STRAIGHT_CHAIN = 1e-9
# Lengths [part of the reach] below which a direction is not to be trusted.
_SHORTEST_VECTOR = 1e-12
# How much the way the chain faced counts for the side it bulges to, against the bulge it has.
_FACING_WEIGHT = 1e-2
# Sharing stops at this part of the tolerance: what is left covers the sums' rounding.
_SHARING_TOLERANCE = 0.1
# …and never asks for more than the sums can hold.
_SHARING_FLOOR = 1e-14


@helper
def _normalise(v: FloatArray) -> bool:
    """Scale a vector to length one, unless it is too short to have a direction."""
    size = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if not size > _SHORTEST_VECTOR:
        return False
    v[0], v[1], v[2] = v[0] / size, v[1] / size, v[2] / size
    return True


@helper
def _square(v: FloatArray, t: FloatArray) -> bool:
    """Make v a unit vector at right angles to the unit vector t, unless it runs along t."""
    for _ in range(2):  # what is left of a vector close to t is mostly rounding: clear it again
        along = v[0] * t[0] + v[1] * t[1] + v[2] * t[2]
        for k in range(3):
            v[k] -= along * t[k]
        if not _normalise(v):
            return False
    return True


@helper
def _directions(p: FloatArray, reach: float, guides: FloatArray, bulge: FloatArray) -> None:
    """Write the bones' unit directions, the relative lengths and the chain's centre of mass.

    Args:
        p: Joint positions [m], shape (n + 1, 3).
        reach: Sum of the bone lengths [m], > 0.
        guides: Lengths [m] in column 3, shape (n, 4); filled with directions and lengths/reach.
        bulge: Filled with the centre of the chain's length, from the root, over the reach, (3,).
    """
    bulge[0], bulge[1], bulge[2] = 0.0, 0.0, 0.0
    for i in range(guides.shape[0]):
        length = guides[i, 3]
        share = length / reach
        inverse = 1.0 / length if length > 0.0 else 0.0
        guides[i, 3] = share
        for k in range(3):
            guides[i, k] = (p[i + 1, k] - p[i, k]) * inverse
            bulge[k] += share * (0.5 * (p[i, k] + p[i + 1, k]) - p[0, k]) / reach


@helper
def _face(
    p: FloatArray, target: FloatArray, reach: float, bulge: FloatArray, axes: FloatArray
) -> tuple[float, float, Quaternion]:
    """Choose how the chain is turned: along the target, and the side it bulges to.

    Args:
        p: Joint positions [m], shape (n + 1, 3).
        target: Where the tip should go [m], shape (3,).
        reach: Sum of the bone lengths [m], > 0.
        bulge: The chain's centre from `_directions`, shape (3,).
        axes: Filled with the target's direction, the bulge's, the normal of both, and the tip's
            direction, shape (4, 3).

    Returns:
        Distances of tip and target from the root, over the reach, and the turn from tip to target.
    """
    n = p.shape[0] - 1
    chord, wanted = distance(p[n], p[0]) / reach, distance(target, p[0]) / reach
    t, side, normal, u = axes[0], axes[1], axes[2], axes[3]
    u[0], u[1], u[2] = 1.0, 0.0, 0.0
    for k in range(3):
        if wanted > _SHORTEST_VECTOR:
            t[k] = (target[k] - p[0, k]) / (wanted * reach)
        if chord > _SHORTEST_VECTOR:
            u[k] = (p[n, k] - p[0, k]) / (chord * reach)
        elif wanted > _SHORTEST_VECTOR:
            u[k] = t[k]
        if not wanted > _SHORTEST_VECTOR:
            t[k] = u[k]
    turn = between((u[0], u[1], u[2]), (t[0], t[1], t[2]))
    side[0], side[1], side[2] = rotate(turn, bulge[0], bulge[1], bulge[2])
    for k in range(3):
        side[k] += _FACING_WEIGHT * u[k]
    if not _square(side, t):
        perpendicular(t, side)
    normal[0] = t[1] * side[2] - t[2] * side[1]
    normal[1] = t[2] * side[0] - t[0] * side[2]
    normal[2] = t[0] * side[1] - t[1] * side[0]
    return min(chord, 1.0), wanted, turn


@helper
def _bend(guides: FloatArray, axes: FloatArray, turn: Quaternion, angle: float) -> None:
    """Turn all bones to the target, and bend the chain evenly along its length.

    Args:
        guides: Directions and relative lengths, shape (n, 4); the directions are replaced by
            those in the frame of target, bulge and normal.
        axes: From `_face`, shape (4, 3).
        turn: From `_face`.
        angle: How much the first bone turns towards the bulge and the last away from it [rad].
    """
    rows, turn_back = np.empty((3, 3)), conjugate(turn)
    for k in range(3):  # row · turned(x) = turned back(row) · x
        row = rotate(turn_back, axes[k, 0], axes[k, 1], axes[k, 2])
        rows[k, 0], rows[k, 1], rows[k, 2] = row
    passed = 0.0
    for i in range(guides.shape[0]):
        a, b, c, share = guides[i, 0], guides[i, 1], guides[i, 2], guides[i, 3]
        x = rows[0, 0] * a + rows[0, 1] * b + rows[0, 2] * c
        y = rows[1, 0] * a + rows[1, 1] * b + rows[1, 2] * c
        guides[i, 2] = rows[2, 0] * a + rows[2, 1] * b + rows[2, 2] * c
        if angle != 0.0:
            own = angle * (1.0 - 2.0 * passed - share)
            cosine, sine = math.cos(own), math.sin(own)
            x, y = cosine * x - sine * y, sine * x + cosine * y
        guides[i, 0], guides[i, 1] = x, y
        passed += share


@helper
def _lay_joints(guides: FloatArray, axes: FloatArray, reach: float, p: FloatArray) -> None:
    """Lay the joints one after the other from the root, p[0], onwards.

    Args:
        guides: Directions in the frame of `axes` and relative lengths, shape (n, 4).
        axes: Rows 0 to 2 are that frame's axes, shape (4, 3).
        reach: Sum of the bone lengths [m].
        p: Joint positions [m], shape (n + 1, 3); all but the first are overwritten.
    """
    x, y, z = p[0, 0], p[0, 1], p[0, 2]
    for i in range(guides.shape[0]):
        length = guides[i, 3] * reach
        a, b, c = guides[i, 0] * length, guides[i, 1] * length, guides[i, 2] * length
        x += axes[0, 0] * a + axes[1, 0] * b + axes[2, 0] * c
        y += axes[0, 1] * a + axes[1, 1] * b + axes[2, 1] * c
        z += axes[0, 2] * a + axes[1, 2] * b + axes[2, 2] * c
        p[i + 1, 0], p[i + 1, 1], p[i + 1, 2] = x, y, z


@helper
def _extreme(guides: FloatArray, inner: bool) -> None:
    """Point all bones at the target; or, to come nearest, the longest at it and all others back."""
    longest = 0
    for i in range(guides.shape[0]):
        if guides[i, 3] > guides[longest, 3]:
            longest = i
    for i in range(guides.shape[0]):
        guides[i, 0] = -1.0 if inner and i != longest else 1.0
        guides[i, 1] = 0.0
        guides[i, 2] = 0.0


@helper
def _shape(
    guides: FloatArray, chord: float, wanted: float, tolerance: float, record: FloatArray
) -> int:
    """Turn the bones so that the chain ends at (wanted, 0, 0), with the reach as unit.

    Args:
        guides: Directions in the target's frame, bent as far as need be, and lengths, (n, 4).
        chord: Distance of the ends before.
        wanted: Distance of the ends afterwards, within what the chain can reach.
        tolerance: Distance from the target to stop at.
        record: Filled with the distance from the target in each pass, as far as it goes.

    Returns:
        The passes over the chain that it took.
    """
    used = 0
    if chord < 1.0 - _STRAIGHT_CHAIN:
        left, used = lean(
            guides, wanted, max(_SHARING_TOLERANCE * tolerance, _SHARING_FLOOR), record
        )
        if left < math.inf:
            return used
    return used + lay_on_arc(guides, wanted)


@jit
def reach_chain(
    p: FloatArray, target: FloatArray, tolerance: float, record: FloatArray
) -> tuple[int, float, int]:
    """Put the tip of a free chain with a fixed root at a target, or as near as it can come.

    Args:
        p: Joint positions [m], shape (n + 1, 3); overwritten with the result.
        target: Where the tip should go [m], shape (3,).
        tolerance: Distance at which the target counts as reached [m], > 0.
        record: Filled with the distance from the target in each pass that measures it, over the
            reach, as far as it goes.

    Returns:
        REACHED, TOO_FAR, TOO_NEAR, UNFINISHED (rounding keeps the tip outside the tolerance) or
        NOT_FINITE; the residual [m]; the passes over the chain that it took.
    """
    n = p.shape[0] - 1
    guides = np.empty((n, 4))
    axes, bulge = np.empty((4, 3)), np.empty(3)
    reach = bone_lengths(p, guides[:, 3])
    residual = distance(p[n], target)
    if not reach + residual < math.inf:
        return CHAIN_NOT_FINITE, math.inf, 0
    if residual <= tolerance or reach == 0.0:
        return CHAIN_REACHED if residual <= tolerance else CHAIN_TOO_FAR, residual, 0
    _directions(p, reach, guides, bulge)
    chord, wanted, turn = _face(p, target, reach, bulge, axes)
    longest = 0.0
    for i in range(n):
        longest = max(longest, guides[i, 3])
    hollow = 2.0 * longest - 1.0
    status, used = CHAIN_UNFINISHED, 1
    if wanted >= 1.0 or wanted <= hollow:
        status = CHAIN_TOO_FAR if wanted >= 1.0 else CHAIN_TOO_NEAR
        _extreme(guides, wanted <= hollow)
    else:
        _bend(guides, axes, turn, arc_half_angle(wanted) - arc_half_angle(chord))
        used += _shape(guides, chord, wanted, tolerance / reach, record)
    _lay_joints(guides, axes, reach, p)
    residual = distance(p[n], target)
    if status == CHAIN_UNFINISHED and residual > tolerance:
        # An arc between nearly parallel long bones is exact to half the digits only.
        used += lean(guides, wanted, _SHARING_FLOOR, record[used:])[1]
        _lay_joints(guides, axes, reach, p)
        residual = distance(p[n], target)
    return CHAIN_REACHED if residual <= tolerance else status, residual, used
