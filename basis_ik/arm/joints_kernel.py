# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion of several joints: to rest together, or following a moving goal.

The state of a motion is an array `memory` (n, 27) with a row for each joint: its current position,
velocity and acceleration, the same at the start of its profile, the position at the end of the
profile, and the profile. `limits` (5, n) has the least and largest positions, and the largest
velocities, accelerations and jerks.
"""

from __future__ import annotations

from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.profile_kernel import (
    ROW,
    SEGMENTS,
    after,
    duration,
    plan,
    plan_stop,
    position_range,
    sample,
)
from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

JOINT_POSITION, JOINT_SPEED, JOINT_RATE, START_STATE, GOAL, PROFILE = 0, 1, 2, 3, 6, 7
JOINT_COLUMNS = PROFILE + ROW
LOWER_BOUND, UPPER_BOUND, VELOCITY, ACCELERATION, JERK = 0, 1, 2, 3, 4
# A straight line in joint space may take this factor longer than the slowest joint.
STRAIGHT_FACTOR = 1.05
# A joint follows a goal with these fractions of its largest velocity and acceleration. The rest is
# for catching up.
FOLLOWING_SPEED = 0.9
FOLLOWING_ACCELERATION = 0.5
POSITION_ROUNDING = 1e-12  # [rad or m], allowance at a position limit
LIMIT_ALLOWANCE = 1.0 + 1e-9  # factor, allowance at the other limits
TIME_ROUNDING = 1e-9  # [periods], allowance for times
# Search for the fraction of its limits with which a joint stops together with the last one.
LATE_STOP_BISECTIONS = 30
LEAST_LATE_STOP = 1e-3  # fraction where the search begins; it is too slow


@jit
def plan_joints(memory: FloatArray, limits: FloatArray) -> float:
    """Write profiles to rest at the stored goal; return the duration of the slowest [s].

    From rest the joints start and arrive together. They move on a straight line in joint space. If
    different limits make that more than a twentieth slower, each joint's own profile is slowed
    down instead. If joints already move, each moves as quickly as it can.

    Args:
        memory: (n, 27) with state and goal; the rest is overwritten.
        limits: (5, n).
    """
    slowest, resting = 0.0, True
    velocity, acceleration, jerk = inf, inf, inf
    for i in range(memory.shape[0]):
        x, v, a = memory[i, JOINT_POSITION], memory[i, JOINT_SPEED], memory[i, JOINT_RATE]
        distance, highest = memory[i, GOAL] - x, limits[VELOCITY, i]
        top, most = limits[ACCELERATION, i], limits[JERK, i]
        plan(distance, v, a, (-highest, highest, top, most), memory[i, PROFILE:])
        memory[i, START_STATE], memory[i, START_STATE + 1], memory[i, START_STATE + 2] = x, v, a
        slowest = max(slowest, duration(memory[i, PROFILE:]))
        resting = resting and v == 0.0 and a == 0.0
        if distance != 0.0:
            velocity = min(velocity, highest / abs(distance))
            acceleration = min(acceleration, top / abs(distance))
            jerk = min(jerk, most / abs(distance))
    if resting and 0.0 < slowest < inf and 0.0 < jerk < inf:
        return _together(memory, velocity, acceleration, jerk, slowest)
    return slowest


@helper
def _together(
    memory: FloatArray, velocity: float, acceleration: float, jerk: float, slowest: float
) -> float:
    """Give profiles from rest the same duration; return it [s].

    Args:
        memory: (n, 27) with profiles.
        velocity: Largest velocity on the line from start (0) to goal (1).
        acceleration: Largest acceleration on it.
        jerk: Largest jerk on it.
        slowest: Duration of the longest profile [s].
    """
    line = memory[0, PROFILE:].copy()
    plan(1.0, 0.0, 0.0, (-velocity, velocity, acceleration, jerk), line)
    straight = duration(line) <= STRAIGHT_FACTOR * slowest
    for i in range(memory.shape[0]):
        row, distance = memory[i, PROFILE:], memory[i, GOAL] - memory[i, JOINT_POSITION]
        own = duration(row)
        for k in range(SEGMENTS):
            if straight:
                row[k], row[SEGMENTS + k] = line[k], line[SEGMENTS + k] * distance
            elif own > 0.0:
                row[k] *= slowest / own
                row[SEGMENTS + k] *= (own / slowest) ** 3
    return duration(line) if straight else slowest


@helper
def _passed(x: float, v: float, a: float, limits: FloatArray, i: int, row: FloatArray) -> int:
    """Return 1 or -1 if joint i cannot stop before its upper or lower limit, else 0."""
    plan_stop(v, a, limits[ACCELERATION, i], limits[JERK, i], row)
    least, largest = position_range(row, x, v, a)
    if largest > limits[UPPER_BOUND, i] + POSITION_ROUNDING:
        return 1
    return -1 if least < limits[LOWER_BOUND, i] - POSITION_ROUNDING else 0


@jit
def begin(memory: FloatArray, positions: FloatArray) -> bool:
    """Restart from rest at positions (n,); return whether they are finite. Memory (n, 27)."""
    finite = True
    for i in range(memory.shape[0]):
        memory[i, :] = 0.0
        memory[i, JOINT_POSITION] = positions[i]
        finite = finite and isfinite(positions[i])
    return finite


@jit
def is_equal(a: FloatArray, b: FloatArray) -> bool:
    """Return whether all elements of two arrays (n,) are equal."""
    equal = True
    for i in range(a.shape[0]):
        equal = equal and a[i] == b[i]
    return equal


@jit
def is_near(
    way: FloatArray,
    measured: FloatArray,
    endless: NDArray[np.bool_],
    margin: float,
    away: FloatArray,
) -> bool:
    """Return whether joints are on a path, or within a margin of it.

    Args:
        way: (k, n) positions of the path, k ≥ 1; each joint should be between them.
        measured: (n,) measured positions.
        endless: (n,) the continuous joints, for which whole turns do not count.
        margin: [rad or m].
        away: (n,) distance of each joint from the path, output; zero or negative on the path, NaN
            if unknown.
    """
    near = True
    for i in range(measured.shape[0]):
        least, largest = way[0, i], way[0, i]
        for k in range(1, way.shape[0]):
            least, largest = min(least, way[k, i]), max(largest, way[k, i])
        off = measured[i] - 0.5 * (least + largest)
        if endless[i]:
            off -= whole_turns(off)
        away[i] = abs(off) - 0.5 * (largest - least)
        near = near and away[i] <= margin
    return near


@jit
def can_stop(memory: FloatArray, limits: FloatArray) -> bool:
    """Return whether every joint can stop before its limits; memory (n, 27), limits (5, n)."""
    row = memory[0, PROFILE:].copy()
    for i in range(memory.shape[0]):
        x, v, a = memory[i, JOINT_POSITION], memory[i, JOINT_SPEED], memory[i, JOINT_RATE]
        if _passed(x, v, a, limits, i, row) != 0:
            return False
    return True


@helper
def _keep(memory: FloatArray, i: int, x: float, v: float, a: float, limits: FloatArray) -> None:
    """Set the state of joint i; rounding does not move it out of the limits, or farther out."""
    least = min(limits[LOWER_BOUND, i], memory[i, JOINT_POSITION])
    largest = max(limits[UPPER_BOUND, i], memory[i, JOINT_POSITION])
    memory[i, JOINT_POSITION] = least if x < least else largest if x > largest else x
    memory[i, JOINT_SPEED], memory[i, JOINT_RATE] = v, a


@jit
def advance(memory: FloatArray, limits: FloatArray, time: float) -> None:
    """Set the state at a time on the profiles; after their end, the goal.

    Args:
        memory: (n, 27).
        limits: (5, n).
        time: Since the profiles' start [s].
    """
    for i in range(memory.shape[0]):
        x, v, a = memory[i, START_STATE], memory[i, START_STATE + 1], memory[i, START_STATE + 2]
        x, v, a, ended = sample(memory[i, PROFILE:], x, v, a, time)
        _keep(memory, i, memory[i, GOAL] if ended else x, v, a, limits)


@helper
def _may_leave_limits(
    v: float, a: float, u: float, b: float, limits: FloatArray, i: int, period: float
) -> bool:
    """Return whether joint i may become too fast within a period or after it.

    Within the period the velocity exceeds that at both ends by at most the largest acceleration
    times half of the period. After it, the velocity grows until the acceleration is zero.
    """
    jerk = limits[JERK, i]
    between = max(abs(v), abs(u)) + 0.5 * period * (max(abs(a), abs(b)) + 0.5 * period * jerk)
    ahead = abs(u + 0.5 * b * abs(b) / jerk)
    return not (max(between, ahead) <= limits[VELOCITY, i] and abs(b) <= limits[ACCELERATION, i])


@helper
def _follow(
    memory: FloatArray,
    i: int,
    goal: float,
    w: float,
    c: float,
    limits: FloatArray,
    period: float,
) -> None:
    """Advance joint i by a period, towards a goal with velocity w and acceleration c.

    The joint comes to rest relative to the goal. If its limits do not allow that, the goal's
    acceleration is ignored. If the joint then could not stop before a position limit, it moves to
    that limit instead.
    """
    x, v, a = memory[i, JOINT_POSITION], memory[i, JOINT_SPEED], memory[i, JOINT_RATE]
    speed, top, jerk = limits[VELOCITY, i], limits[ACCELERATION, i], limits[JERK, i]
    row = memory[i, PROFILE:]
    w = min(max(w, -FOLLOWING_SPEED * speed), FOLLOWING_SPEED * speed)
    c = min(max(c, -FOLLOWING_ACCELERATION * top), FOLLOWING_ACCELERATION * top)
    for _ in range(2):
        rest = top - abs(c)
        plan(goal - x, v - w, a - c, (-speed - w, speed - w, rest, jerk), row)
        y, u, b, ended = sample(row, x, v - w, a - c, period)
        y, u, b = (
            (goal if ended else y) + period * (w + 0.5 * period * c),
            u + w + period * c,
            b + c,
        )
        if c == 0.0 or not _may_leave_limits(v, a, u, b, limits, i, period):
            break
        c = 0.0
    passed = _passed(y, u, b, limits, i, row)
    if passed != 0:
        bound = limits[UPPER_BOUND if passed > 0 else LOWER_BOUND, i]
        plan(bound - x, v, a, (-speed, speed, top, jerk), row)
        y, u, b, ended = sample(row, x, v, a, period)
        y = bound if ended else y
    _keep(memory, i, y, u, b, limits)


@jit
def step_joints(
    memory: FloatArray,
    goal: FloatArray,
    velocity: FloatArray,
    acceleration: FloatArray,
    limits: FloatArray,
    period: float,
    ticks: int,
) -> int:
    """Advance by one period.

    Profiles to a goal at rest are planned once and then sampled; profiles to a moving goal are
    planned in every period.

    Args:
        memory: (n, 27).
        goal: (n,) positions to reach, clamped to the limits.
        velocity: (n,) of the goal.
        acceleration: (n,) of the goal; ignored for a joint whose goal has no velocity.
        limits: (5, n).
        period: [s].
        ticks: Periods since the profiles' start; 0 to plan again.

    Returns:
        `ticks` for the next call.
    """
    moves, known = False, ticks > 0
    for i in range(goal.shape[0]):
        lower, upper = limits[LOWER_BOUND, i], limits[UPPER_BOUND, i]
        clamped = lower if goal[i] < lower else upper if goal[i] > upper else goal[i]
        known = known and clamped == memory[i, GOAL]
        memory[i, GOAL] = clamped
        moves = moves or velocity[i] != 0.0
    if moves:
        for i in range(goal.shape[0]):
            _follow(memory, i, memory[i, GOAL], velocity[i], acceleration[i], limits, period)
        return 0
    if not known:
        plan_joints(memory, limits)
        ticks = 0
    advance(memory, limits, (ticks + 1) * period)
    return ticks + 1


@helper
def _plan_brake(memory: FloatArray, limits: FloatArray) -> None:
    """Plan the quickest stop of each joint."""
    for i in range(memory.shape[0]):
        x, v, a = memory[i, JOINT_POSITION], memory[i, JOINT_SPEED], memory[i, JOINT_RATE]
        plan_stop(v, a, limits[ACCELERATION, i], limits[JERK, i], memory[i, PROFILE:])
        memory[i, START_STATE], memory[i, START_STATE + 1], memory[i, START_STATE + 2] = x, v, a
        memory[i, GOAL] = sample(memory[i, PROFILE:], x, v, a, inf)[0]


@helper
def _least_part(v: float, a: float, speed: float, jerk: float) -> float:
    """Return the smallest fraction of its jerk with which a joint keeps its velocity limit.

    While the acceleration fades to zero, the velocity changes from v to v + a |a| / (2 jerk).
    """
    room = speed - v if a > 0.0 else speed + v
    needed = 0.5 * a * a / jerk
    return needed / room if needed < room else 1.0


@jit
def plan_brake_together(memory: FloatArray, limits: FloatArray) -> float:
    """Write profiles to rest that all end when the slowest joint stops.

    The other joints use less acceleration and jerk. So a tip on a line hardly leaves it, and joints
    whose motions cancel at a link do so to the end. A joint that would exceed its velocity limit
    stops earlier. A joint that would pass a position limit stops as soon as it can.

    Args:
        memory: (n, 27).
        limits: (5, n).

    Returns:
        The duration [s].
    """
    longest = 0.0
    for i in range(memory.shape[0]):
        row = memory[i, PROFILE:]
        x, v, a = memory[i, JOINT_POSITION], memory[i, JOINT_SPEED], memory[i, JOINT_RATE]
        plan_stop(v, a, limits[ACCELERATION, i], limits[JERK, i], row)
        memory[i, START_STATE], memory[i, START_STATE + 1], memory[i, START_STATE + 2] = x, v, a
        longest = max(longest, duration(row))
    for i in range(memory.shape[0]):
        row = memory[i, PROFILE:]
        x, v, a = memory[i, START_STATE], memory[i, START_STATE + 1], memory[i, START_STATE + 2]
        top, jerk = limits[ACCELERATION, i], limits[JERK, i]
        low, high = LEAST_LATE_STOP, 1.0  # too slow, and fast enough
        if v != 0.0 or a != 0.0:
            for _ in range(LATE_STOP_BISECTIONS):
                part = 0.5 * (low + high)
                plan_stop(v, a, max(part * top, abs(a)), part * jerk, row)
                if duration(row) > longest:
                    low = part
                else:
                    high = part
            high = max(high, _least_part(v, a, limits[VELOCITY, i], jerk))
            plan_stop(v, a, max(high * top, abs(a)), high * jerk, row)
            least, largest = position_range(row, x, v, a)
            lower, upper = min(limits[LOWER_BOUND, i], x), max(limits[UPPER_BOUND, i], x)
            if least < lower - POSITION_ROUNDING or largest > upper + POSITION_ROUNDING:
                plan_stop(v, a, top, jerk, row)
        memory[i, GOAL] = sample(row, x, v, a, inf)[0]
    return longest


@jit
def brake(memory: FloatArray, limits: FloatArray, period: float, ticks: int) -> int:
    """Advance by one period of the quickest stop; arguments and result as of `step_joints`."""
    if ticks == 0:
        _plan_brake(memory, limits)
    advance(memory, limits, (ticks + 1) * period)
    return ticks + 1


@helper
def _comes_to(v: float, a: float, jerk: float) -> float:
    """Return the velocity of a joint once its acceleration has returned to zero directly."""
    return v + 0.5 * a * abs(a) / jerk


@helper
def _keeps_speed(now: FloatArray, then: FloatArray, limits: FloatArray, i: int) -> bool:
    """Return whether joint i can keep its velocity limit after `then`, or exceeds it less.

    Args:
        now: (3,) its current state.
        then: (3,) its next state.
        limits: (5, n).
        i: The joint.
    """
    was = _comes_to(now[JOINT_SPEED], now[JOINT_RATE], limits[JERK, i])
    speed = _comes_to(then[JOINT_SPEED], then[JOINT_RATE], limits[JERK, i])
    return bool(abs(speed) <= max(limits[VELOCITY, i], abs(was)) * LIMIT_ALLOWANCE)


@helper
def _can_lead(c: float, v: float, x: float, edge: float) -> bool:
    """Return whether a jerk u(t) within ±1 for unit time can change a joint's state by c, v, x.

    c is the integral of u, and v that of (1 - t) u. The jerk that adds most (least) to the position
    is +1 (-1), except for one interval with the opposite sign.

    Args:
        c: Acceleration.
        v: Velocity.
        x: Position.
        edge: Rounding allowance of x.
    """
    for _ in range(2):
        width = 0.5 * (1.0 - c)  # of the interval where u = -1
        if not width >= 0.0:
            return False
        # The middle of the interval, as remaining time s = 1 - t.
        middle = (0.5 - v) / (2.0 * width) if width > TIME_ROUNDING else 0.5
        if width <= TIME_ROUNDING and abs(v - 0.5) > TIME_ROUNDING:
            return False
        if not (
            middle >= 0.5 * width - TIME_ROUNDING and middle + 0.5 * width <= 1.0 + TIME_ROUNDING
        ):
            return False
        if not x <= 1.0 / 6.0 - width * (middle * middle + width * width / 12.0) + edge:
            return False
        c, v, x = -c, -v, -x
    return True


@helper
def _allowed(
    now: FloatArray, then: FloatArray, limits: FloatArray, i: int, period: float, row: FloatArray
) -> bool:
    """Return whether joint i may move from `now`, its row of `memory`, to `then` (3,)."""
    x, v, a = then[JOINT_POSITION], then[JOINT_SPEED], then[JOINT_RATE]
    if not abs(v) <= max(limits[VELOCITY, i], abs(now[JOINT_SPEED])) * LIMIT_ALLOWANCE:
        return False
    if not abs(a) <= max(limits[ACCELERATION, i], abs(now[JOINT_RATE])) * LIMIT_ALLOWANCE:
        return False
    if not _keeps_speed(now, then, limits, i):
        return False
    # Relative to the motion without jerk, in units of the largest jerk's effect.
    y, u, b = after(now[JOINT_POSITION], now[JOINT_SPEED], now[JOINT_RATE], 0.0, period)
    most = limits[JERK, i] * period * LIMIT_ALLOWANCE
    edge = POSITION_ROUNDING / (most * period * period)
    x_off, v_off = (x - y) / (most * period * period), (v - u) / (most * period)
    if not _can_lead((a - b) / most, v_off, x_off, edge):
        return False
    plan_stop(v, a, limits[ACCELERATION, i], limits[JERK, i], row)
    least, largest = position_range(row, x, v, a)
    lower, upper = (
        min(limits[LOWER_BOUND, i], now[JOINT_POSITION]),
        max(limits[UPPER_BOUND, i], now[JOINT_POSITION]),
    )
    return bool(lower - POSITION_ROUNDING <= least and largest <= upper + POSITION_ROUNDING)


@jit
def take(memory: FloatArray, states: FloatArray, limits: FloatArray, period: float) -> bool:
    """Advance by one period to given states, if the limits allow it.

    No joint may exceed its limits of velocity, acceleration or jerk, and each must then be able to
    stop before its position limits. A joint that is already beyond a limit may not move farther
    beyond.

    Args:
        memory: (n, 27); unchanged unless the states are accepted.
        states: (n, 3) positions, velocities, accelerations.
        limits: (5, n).
        period: [s].

    Returns:
        Whether they were accepted.
    """
    row = memory[0, PROFILE:].copy()
    for i in range(memory.shape[0]):
        if not _allowed(memory[i], states[i], limits, i, period, row):
            return False
    for i in range(memory.shape[0]):
        _keep(
            memory,
            i,
            states[i, JOINT_POSITION],
            states[i, JOINT_SPEED],
            states[i, JOINT_RATE],
            limits,
        )
    return True
