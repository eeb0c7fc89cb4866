# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Angles that are the same up to full turns: the nearest of them, and the nearest within bounds."""

from __future__ import annotations

from math import ceil, floor, pi

from basis_ik.numerics.jit import inlined, jit

WHOLE_TURN = 2.0 * pi
TURNS_PER_RADIAN = 0.5 / pi
WAY_TIE = 1e-12  # [rad] by which the ways to two bounds have to differ for one to be nearer


@inlined
def whole_turns(angle: float) -> float:
    """Return the full turns that are nearest to an angle: what is left of it is within ±π [rad]."""
    return WHOLE_TURN * floor(angle * TURNS_PER_RADIAN + 0.5)


@inlined
def turned_inside(angle: float, near: float, lower: float, upper: float) -> float:
    """Return the same angle up to full turns, nearest to `near` as far as bounds allow [rad].

    It is outside the bounds only if no full turn brings it inside.
    """
    turned = angle + whole_turns(near - angle)
    if turned > upper:
        turned -= WHOLE_TURN * ceil((turned - upper) * TURNS_PER_RADIAN)
    if turned < lower:
        turned += WHOLE_TURN * ceil((lower - turned) * TURNS_PER_RADIAN)
    return turned


@jit
def nearest_angle(angle: float, near: float, lower: float, upper: float) -> float:
    """Return the angle within bounds that is nearest to a desired one on the circle [rad].

    Args:
        angle: Desired angle, up to full turns.
        near: Of several equally good angles, the one nearest to this is returned.
        lower: Lower bound; may be −inf.
        upper: Upper bound; may be inf.
    """
    turned = turned_inside(angle, near, lower, upper)
    if lower <= turned <= upper:
        return turned
    below, above = angle - lower, angle - upper
    below, above = abs(below - whole_turns(below)), abs(above - whole_turns(above))
    if abs(below - above) <= WAY_TIE:
        return lower if abs(near - lower) <= abs(near - upper) else upper
    return lower if below < above else upper
