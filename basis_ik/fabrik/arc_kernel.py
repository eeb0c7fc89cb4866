# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A chain of any bone lengths bent onto a circle, so that its ends are a given distance apart.

Bones and chord together are the sides of a polygon inscribed in a circle. Such a polygon exists and
is unique for every set of sides of which none is longer than all others together, which is to say:
for every distance that the chain can reach at all, from straight to closed.
"""

from __future__ import annotations

import math

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper

# Newton's steps before giving up; a handful are enough but for bones of wildly different lengths.
_ARC_STEPS = 60
# A step this small is the last: after it Newton's error is its square, below rounding.
_LAST_ARC_STEP = 1e-10
# What a sum of angles that make up ω cannot resolve, for each of them.
_ANGLE_ROUNDING = 1e-16


@helper
def arc_half_angle(ratio: float) -> float:
    """Half the angle a [rad] of the arc whose chord is `ratio` of its length: sin(a)/a = ratio.

    Args:
        ratio: Chord over arc length, clamped to 0 … 1.

    Returns:
        An angle in 0 … π, to 1e-12.
    """
    if ratio >= 1.0:
        return 0.0
    if ratio <= 0.0:
        return math.pi
    # sin(a)/a = 1 − a²/6 + …  near 0, and 1 − a/π + … near π; sin(a) − ratio a is concave on both.
    a = math.pi * (1.0 - ratio) if ratio < 0.3 else math.sqrt(6.0 * (1.0 - ratio))
    a = min(a, math.pi)
    for _ in range(8):
        step = (math.sin(a) - ratio * a) / (math.cos(a) - ratio)
        a -= step
        if abs(step) < 1e-12:
            break
    return min(max(a, 0.0), math.pi)


@helper
def _half_angles(
    guides: FloatArray, chord: float, longest: int, omega: float
) -> tuple[float, float]:
    """Evaluate E(ω) = Σ asin(s_i sin ω / s_max) − ω over all sides but the longest.

    E(ω) = 0 closes the polygon. The longest side subtends the half angle π − ω, which covers both
    a circle's centre inside the polygon (ω > π/2) and outside, beyond that side (ω < π/2).

    Args:
        guides: Bone lengths in column 3, shape (n, 4).
        chord: Length of the closing side.
        longest: Bone that is the longest side, −1 for the chord.
        omega: ω [rad].

    Returns:
        E and its derivative.
    """
    sine, cosine = math.sin(omega), math.cos(omega)
    largest = chord if longest < 0 else guides[longest, 3]
    value, derivative = -omega, -1.0
    last, angle, rate = -1.0, 0.0, 0.0
    for i in range(-1, guides.shape[0]):
        if i == longest:
            continue
        length = chord if i < 0 else guides[i, 3]
        if length != last:
            last = length
            ratio = length / largest
            angle = math.asin(min(ratio * sine, 1.0))
            root = math.sqrt(max(1.0 - ratio * ratio * sine * sine, 0.0))
            rate = ratio * cosine / root if root > 0.0 else 0.0
        value += angle
        derivative += rate
    return value, derivative


@helper
def _guess(guides: FloatArray, chord: float, longest: int) -> float:
    """Estimate the root of E from its expansions near 0 (to ω³) and near π, whichever is less.

    E is concave on 0 … π, zero at 0 and negative at π: from the root's right Newton's method
    comes down on it without overshooting.

    Args:
        guides: Bone lengths of sum 1 in column 3, shape (n, 4).
        chord: Length of the closing side, < 1.
        longest: Bone that is the longest side, −1 for the chord.

    Returns:
        ω [rad].
    """
    largest = chord if longest < 0 else guides[longest, 3]
    others, cubes = -1.0, -1.0
    for i in range(-1, guides.shape[0]):
        ratio = (chord if i < 0 else guides[i, 3]) / largest
        others += ratio
        cubes += ratio * ratio * ratio
    near_pi = math.pi * others / (1.0 + others)
    if others <= 1.0 or cubes >= 1.0:
        return near_pi
    return min(math.sqrt(6.0 * (others - 1.0) / (1.0 - cubes)), near_pi)


@helper
def _close(guides: FloatArray, chord: float, longest: int) -> tuple[float, int]:
    """Solve E(ω) = 0 by Newton's method from the right.

    Args:
        guides: Bone lengths of sum 1 in column 3, shape (n, 4).
        chord: Length of the closing side, < 1.
        longest: Bone that is the longest side, −1 for the chord.

    Returns:
        ω [rad] and the passes used.
    """
    omega = _guess(guides, chord, longest)
    resolved = _ANGLE_ROUNDING * (guides.shape[0] + 4)
    used = 0
    while used < _ARC_STEPS:
        value, derivative = _half_angles(guides, chord, longest, omega)
        used += 1
        if abs(value) <= resolved * omega or not derivative < 0.0:
            break
        step = value / derivative
        omega -= step
        if abs(step) <= _LAST_ARC_STEP * omega:
            break
    return omega, used


@helper
def lay_on_arc(guides: FloatArray, chord: float) -> int:
    """Lay a chain on a circular arc in the plane of its first two coordinates.

    Args:
        guides: Bone lengths l_i of sum 1 in column 3, shape (n, 4); columns 0 to 2 are filled with
            the bones' directions. The chain then ends at (chord, 0, 0) and bulges towards +y.
        chord: Distance from root to tip, 0 ≤ chord ≤ 1 and no less than 2 max l_i − 1.

    Returns:
        The passes over the chain that it took.
    """
    longest, largest = 0 * guides.shape[0] - 1, chord  # a constant would be a type of its own
    for i in range(guides.shape[0]):
        if guides[i, 3] > largest:
            longest, largest = i, guides[i, 3]
    omega, used = _close(guides, chord, longest)
    sine = math.sin(omega)
    half = omega if longest < 0 else math.pi - math.asin(min(chord / largest * sine, 1.0))
    turned, last, angle = 0.0, -1.0, 0.0
    for i in range(guides.shape[0]):
        length = guides[i, 3]
        if length != last:
            last = length
            angle = math.asin(min(length / largest * sine, 1.0))
        own = math.pi - omega if i == longest else angle
        direction = half - 2.0 * turned - own
        guides[i, 0], guides[i, 1], guides[i, 2] = math.cos(direction), math.sin(direction), 0.0
        turned += own
    return used + 1
