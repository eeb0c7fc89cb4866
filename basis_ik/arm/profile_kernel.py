# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The quickest motion of one joint to rest, limited in velocity, acceleration and jerk.

A profile is a row with the durations and the jerks of ten successive segments; docs/mathematics.md
has the derivation. Distances are relative to the joint's position, where `v` and `a` are its
velocity and acceleration. Units: [rad] or [m], and seconds.
"""

from __future__ import annotations

from math import copysign, inf, isfinite, nan, sqrt

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

SEGMENTS = 10
ROW = 2 * SEGMENTS
# Where the segments of a profile begin. The first two return below the largest acceleration, and
# below the largest velocity (ramp of the acceleration, hold). Then it speeds up (ramp, hold),
# levels off, cruises, and stops (ramp, hold, ramp).
RECOVER_SEGMENT, SLOW_SEGMENT, PUSH_SEGMENT = 0, 1, 3
LEVEL_SEGMENT, CRUISE_SEGMENT, STOP_SEGMENT = 5, 6, 7
PROFILE_TOLERANCE = 1e-14  # [rad or m], of the distance; relative above 1


@helper
def after(x: float, v: float, a: float, jerk: float, time: float) -> tuple[float, float, float]:
    """Return position, velocity and acceleration after a time of constant jerk."""
    return (
        x + time * (v + time * (0.5 * a + time * jerk / 6.0)),
        v + time * (a + time * 0.5 * jerk),
        a + time * jerk,
    )


@helper
def stop(v: float, a: float, top: float, jerk: float) -> tuple[float, float, float, float]:
    """Return the quickest motion to v = a = 0, at any position.

    Args:
        v: Velocity, relative to the desired one.
        a: Acceleration, within ±top.
        top: Largest acceleration.
        jerk: Largest jerk.

    Returns:
        The sign of the first jerk, and the durations of that jerk, of none, and of its opposite.
    """
    # The sign follows from the velocity that remains once the acceleration has returned to zero.
    sign = 1.0 if v + 0.5 * a * abs(a) / jerk < 0.0 else -1.0
    v, a = -sign * v, -sign * a
    crest = v + 0.5 * a * a / jerk  # where the first jerk's parabola v(a) crosses a = 0
    if jerk * crest <= top * top:
        low = max(sqrt(max(jerk * crest, 0.0)), -a)
        return sign, (a + low) / jerk, 0.0, low / jerk
    return sign, (a + top) / jerk, crest / top - top / jerk, top / jerk


@helper
def stopping_distance(v: float, a: float, top: float, jerk: float) -> float:
    """Return the distance of the motion to v = a = 0; arguments as of `stop`."""
    sign, ramp, hold, end = stop(v, a, top, jerk)
    x, v, a = after(0.0, v, a, sign * jerk, ramp)
    x, v, a = after(x, v, a, 0.0, hold)
    return after(x, v, a, -sign * jerk, end)[0]


@helper
def _push(v: float, a: float, top: float, jerk: float, time: float) -> tuple[float, float, float]:
    """Return the state after accelerating for a time as fast as the limits allow, from x = 0."""
    ramp = min(time, max(top - a, 0.0) / jerk)
    x, v, a = after(0.0, v, a, jerk, ramp)
    return after(x, v, a, 0.0, time - ramp)


@helper
def _excess(distance: float, v: float, a: float, top: float, jerk: float, time: float) -> float:
    """Return how far the joint passes `distance` if it accelerates for a time, then stops."""
    x, v, a = _push(v, a, top, jerk, time)
    return x + stopping_distance(v, a, top, jerk) - distance


@helper
def _push_time(
    distance: float, v: float, a: float, top: float, jerk: float, longest: float
) -> float:
    """Return how long to accelerate so that the joint then stops at `distance`.

    The distance never decreases with the time, so the root can be bracketed. The method is that of
    Chandrupatla (1997): inverse interpolation where it is certain to help, otherwise bisection.
    """
    close = PROFILE_TOLERANCE * max(1.0, abs(distance))
    x1, x2 = 0.0, longest
    f1 = _excess(distance, v, a, top, jerk, x1)
    f2 = _excess(distance, v, a, top, jerk, x2)
    if f1 >= -close:
        return x1
    share = f1 / (f1 - f2)
    for _ in range(100):
        x = x1 + share * (x2 - x1)
        f = _excess(distance, v, a, top, jerk, x)
        if abs(f) <= close or abs(x2 - x1) <= 1e-15 * longest:
            return x
        if (f < 0.0) == (f1 < 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f
        share = 0.5
        if f3 != f2:
            xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
            if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
                share = f1 / (f2 - f1) * (f3 / (f2 - f3))
                share += (x3 - x1) / (x2 - x1) * (f1 / (f3 - f1)) * (f2 / (f3 - f2))
        share = min(max(share, 1e-9), 1.0 - 1e-9)
    return x1


@helper
def _recover(
    v: float, a: float, lowest: float, highest: float, top: float, jerk: float, row: FloatArray
) -> tuple[float, float, float]:
    """Write the motion back into lowered limits; return the state at its end."""
    x = 0.0
    if abs(a) > top:
        row[RECOVER_SEGMENT] = (abs(a) - top) / jerk
        row[SEGMENTS + RECOVER_SEGMENT] = -copysign(jerk, a)
        x, v, _ = after(x, v, a, -copysign(jerk, a), row[RECOVER_SEGMENT])
        a = copysign(top, a)
    reach = v + 0.5 * a * abs(a) / jerk
    if reach > highest or reach < lowest:
        # The motion to the bound without its last ramp.
        bound = highest if reach > highest else lowest
        sign, ramp, hold, _ = stop(v - bound, a, top, jerk)
        row[SLOW_SEGMENT], row[SLOW_SEGMENT + 1] = ramp, hold
        row[SEGMENTS + SLOW_SEGMENT] = sign * jerk
        x, v, a = after(x, v, a, sign * jerk, ramp)
        x, v, a = after(x, v, a, 0.0, hold)
    return x, v, a


@helper
def _write_stop(v: float, a: float, top: float, jerk: float, turn: float, row: FloatArray) -> None:
    sign, row[STOP_SEGMENT], row[STOP_SEGMENT + 1], row[STOP_SEGMENT + 2] = stop(v, a, top, jerk)
    row[SEGMENTS + STOP_SEGMENT], row[SEGMENTS + STOP_SEGMENT + 2] = (
        turn * sign * jerk,
        -turn * sign * jerk,
    )


@jit
def plan_stop(v: float, a: float, top: float, jerk: float, row: FloatArray) -> None:
    """Write the quickest profile to rest, at any position.

    Args:
        v: Velocity.
        a: Acceleration, of any size.
        top: Largest acceleration, positive.
        jerk: Largest jerk, positive.
        row: (20,) profile.
    """
    row[:] = 0.0
    _, v, a = _recover(v, a, -inf, inf, top, jerk, row)
    _write_stop(v, a, top, jerk, 1.0, row)


@helper
def plan(
    distance: float, v: float, a: float, bounds: tuple[float, float, float, float], row: FloatArray
) -> None:
    """Write the quickest profile to rest at a distance; NaN if that is not finite.

    The joint accelerates towards the goal, levels off at the largest velocity, cruises, and stops.
    A velocity or acceleration beyond its limit is reduced first.

    Args:
        distance: From the current position to the goal.
        v: Velocity.
        a: Acceleration.
        bounds: Least velocity, negative; largest velocity, acceleration and jerk, positive.
        row: (20,) profile.
    """
    lowest, highest, top, jerk = bounds
    row[:] = 0.0 if isfinite(distance + v + a) else nan
    x, v, a = _recover(v, a, lowest, highest, top, jerk, row)
    distance -= x
    # If it would stop too late, it accelerates the other way: solve the mirror image.
    turn = 1.0 if distance >= stopping_distance(v, a, top, jerk) else -1.0
    distance, v, a = turn * distance, turn * v, turn * a
    fastest = highest if turn > 0.0 else -lowest
    # The longest acceleration gives the largest velocity after levelling off.
    base = v - 0.5 * a * a / jerk
    crest = sqrt(max(jerk * (fastest - base), 0.0))
    longest = max((crest - a) / jerk, 0.0)
    if crest > top:
        longest = (top - a) / jerk + (fastest - base) / top - top / jerk
    time, left = longest, -_excess(distance, v, a, top, jerk, longest)
    if left < 0.0:
        time = _push_time(distance, v, a, top, jerk, longest)
    row[PUSH_SEGMENT] = min(time, max(top - a, 0.0) / jerk)
    row[PUSH_SEGMENT + 1] = time - row[PUSH_SEGMENT]
    row[SEGMENTS + PUSH_SEGMENT] = turn * jerk
    _, v, a = _push(v, a, top, jerk, time)
    if left > 0.0:
        row[LEVEL_SEGMENT], row[SEGMENTS + LEVEL_SEGMENT] = max(a, 0.0) / jerk, -turn * jerk
        row[CRUISE_SEGMENT] = left / fastest
        v, a = fastest, 0.0
    _write_stop(v, a, top, jerk, turn, row)


@jit
def duration(row: FloatArray) -> float:
    """Return the duration of a profile (20,) [s]."""
    total = 0.0
    for i in range(SEGMENTS):
        total += row[i]
    return total


@jit
def sample(
    row: FloatArray, x: float, v: float, a: float, time: float
) -> tuple[float, float, float, bool]:
    """Return the state on a profile (20,) after a time, and whether the profile has ended.

    Args:
        row: The profile.
        x: Position at its start.
        v: Velocity at its start.
        a: Acceleration at its start.
        time: Since its start [s].
    """
    for i in range(SEGMENTS):
        if i == CRUISE_SEGMENT and row[i] > 0.0:
            a = 0.0  # its rounding error would accumulate over a long cruise
        if time < row[i]:
            x, v, a = after(x, v, a, row[SEGMENTS + i], time)
            return x, v, a, False
        x, v, a = after(x, v, a, row[SEGMENTS + i], row[i])
        time -= row[i]
    return x, 0.0, 0.0, True


@helper
def position_range(row: FloatArray, x: float, v: float, a: float) -> tuple[float, float]:
    """Return the least and the largest position on a profile (20,) that starts at x, v, a."""
    least, largest = x, x
    for i in range(SEGMENTS):
        j = row[SEGMENTS + i]
        # The joint turns where v + a t + j t²/2 = 0; both roots without cancellation.
        root = a * a - 2.0 * j * v
        q = -(a + copysign(sqrt(max(root, 0.0)), a))
        if root > 0.0 and q != 0.0:
            for time in (q / j if j != 0.0 else -1.0, 2.0 * v / q):
                if 0.0 < time < row[i]:
                    turned = after(x, v, a, j, time)[0]
                    least, largest = min(least, turned), max(largest, turned)
        x, v, a = after(x, v, a, j, row[i])
        least, largest = min(least, x), max(largest, x)
    return least, largest
