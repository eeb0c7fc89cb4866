# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The proof that no positions within the limits reach a pose: a closed form in intervals.

The angle of a form's first joint is divided into intervals, where two joints are open into
rectangles. Within each, the equations of the form give an interval for every other joint, which
contains all solutions of all poses within the tolerances. An interval without any within the limits
is done with; the others are halved. If none is left, there is no solution. All bounds are of the
functions themselves and not of their derivatives at a point, so the proof holds near singularities
too; there it may fail, after more halvings than are worthwhile.

A vector is known within a ball, an angle within an interval: (middle, half width). With an error
of a vector of r, rotation about an axis by an interval of half width w adds w times its distance
from the axis. Every bound also includes a multiple of rounding.
"""

from __future__ import annotations

from math import acos, asin, atan2, pi
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.robot.safety_kernel import SLACK
from basis_ik.search.closed_form_kernel import (
    AXES,
    BACKWARD,
    COUPLED,
    DRIVES,
    FACTOR,
    FREE,
    HELD,
    KIND,
    LOOP_START,
    MEET_2_3,
    NAME,
    NUMBER,
    OFFSETS,
    PARALLEL_2_3_4,
    ROWS,
    SHIFT,
    SIZE,
    SLIDE_AXIS,
    TIP,
    FormGoal,
    Vector,
    apply_rotation,
    back,
    cross,
    dot,
    find_slide_offset,
    form_goal,
    law_of_cosines,
    length,
    minus,
    plus,
    rotate_about,
    row,
    turn_by,
)
from basis_ik.search.closed_form_loop_kernel import MEETING, open_loop
from basis_ik.search.closed_form_quartic_kernel import PARALLELS
from basis_ik.search.tables_kernel import LOWER, UPPER

Interval = tuple[float, float]
"""Middle and half width of an angle [rad]; a negative half width: empty."""

ROUNDING = 1e-13  # relative to the size of what is calculated, and absolute for angles
LEAST_WIDTH = 1e-8  # [rad] below which no interval is halved
MOST_INTERVALS = 2000  # after which the proof is given up
MOST_RECTANGLES = 20000  # the same where two joints are open
DEPTH = 128  # intervals that may wait
EMPTY = -1.0


class Pose(NamedTuple):
    """An opened form, its pose within a ball, and the intervals that the limits leave."""

    form: FloatArray
    """(27, 3), opened."""
    goal: FormGoal
    allowed: FloatArray
    """(6, 2) intervals of the joints, in the order of the opened form."""
    length_error: float
    """Of the position [m]."""
    angle_error: float
    """Of the rotation [rad]."""


@helper
def within(found: Interval, allowed: FloatArray, i: int) -> Interval:
    """Return what an interval has in common with the allowed one of a joint, modulo full turns."""
    middle, half = allowed[i, 0], allowed[i, 1]
    if half >= pi:
        return found
    if found[1] >= pi:
        return middle, half
    off = found[0] - middle
    off, width = off - whole_turns(off), found[1] + ROUNDING
    low, high = max(off - width, -half), min(off + width, half)
    again_low = off - width + 2.0 * pi <= half
    again_high = off + width - 2.0 * pi >= -half
    if again_low or again_high:
        if low <= high or (again_low and again_high):
            return middle, half  # both ends of the allowed interval
        low = max(off - width + (2.0 * pi if again_low else -2.0 * pi), -half)
        high = min(off + width + (2.0 * pi if again_low else -2.0 * pi), half)
    if low > high:
        return 0.0, EMPTY
    return middle + 0.5 * (low + high), 0.5 * (high - low) + ROUNDING


@helper
def turned(axis: Vector, angle: Interval, v: Vector, error: float) -> tuple[Vector, float]:
    """Return a ball that contains all vectors of a ball, turned by all angles of an interval."""
    wide = min(angle[1], 2.0) * length(cross(axis, v))
    return rotate_about(axis, turn_by(angle[0]), v), error + wide + ROUNDING * length(v)


@helper
def turns_onto(axis: Vector, a: Vector, ra: float, b: Vector, rb: float) -> Interval:
    """Return the turns about an axis that bring a vector of one ball onto one of another."""
    u, v = cross(axis, a), cross(axis, b)
    first, second = length(u), length(v)
    ra, rb = ra + ROUNDING * length(a), rb + ROUNDING * length(b)
    if abs(first - second) > ra + rb or abs(dot(axis, a) - dot(axis, b)) > ra + rb:
        return 0.0, EMPTY
    if ra >= first or rb >= second:
        return 0.0, pi
    angle = atan2(dot(u, b), dot(u, v))
    return angle, min(asin(ra / first) + asin(rb / second) + ROUNDING, pi)


@helper
def turns_to_height(
    normal: Vector, axis: Vector, v: Vector, height: float, error: float
) -> tuple[Interval, Interval]:
    """Return all turns with |normal · (v turned) − height| ≤ error; see `subproblem_4`."""
    along = dot(normal, axis) * dot(axis, v)
    a, b, c = dot(normal, v) - along, dot(normal, cross(axis, v)), height - along
    error += ROUNDING * (length(normal) * length(v) + abs(height))
    radius = (a * a + b * b) ** 0.5
    if abs(c) > radius + error:
        return (0.0, EMPTY), (0.0, EMPTY)
    if radius <= error:
        return (0.0, pi), (0.0, EMPTY)
    near, far = acos(min(1.0, (c + error) / radius)), acos(max(-1.0, (c - error) / radius))
    phase, middle, half = atan2(b, a), 0.5 * (near + far), 0.5 * (far - near) + ROUNDING
    if near == 0.0:
        if far >= pi:
            return (0.0, pi), (0.0, EMPTY)
        return (phase, far + ROUNDING), (0.0, EMPTY)
    if far >= pi:
        return (phase + pi, pi - near + ROUNDING), (0.0, EMPTY)
    return (phase + middle, half), (phase - middle, half)


@helper
def is_wrist_open(pose: Pose, a: Vector, ra: float, b: Vector, rb: float) -> bool:
    """Return whether joints 4 to 6 may bring axis 6 and its side, seen from joint 4, to balls."""
    form, allowed = pose.form, pose.allowed
    h4, h5, h6 = row(form, AXES + 3), row(form, AXES + 4), row(form, AXES + 5)
    across = cross(h6, h5)
    one, other = turns_to_height(h4, h5, h6, dot(h4, a), ra)
    for k in range(2):
        t5 = within(one if k == 0 else other, allowed, 4)
        if (one if k == 0 else other)[1] < 0.0 or t5[1] < 0.0:
            continue
        bent, r = turned(h5, t5, h6, 0.0)
        t4 = turns_onto(h4, bent, r, a, ra)
        if t4[1] < 0.0:
            continue
        t4 = within(t4, allowed, 3)
        if t4[1] < 0.0:
            continue
        side, r = turned(h4, (-t4[0], t4[1]), b, rb)
        side, r = turned(h5, (-t5[0], t5[1]), side, r)
        t6 = turns_onto(h6, across, 0.0, side, r)
        if t6[1] >= 0.0 and within(t6, allowed, 5)[1] >= 0.0:
            return True
    return False


@helper
def is_hand_open(pose: Pose, t1: Interval, t2: Interval, t3: Interval) -> bool:
    """Return whether the wrist may reach its orientation within intervals of joints 1 to 3."""
    form, goal, _, _, turn = pose
    if form[DRIVES + 3, NUMBER] == FREE:  # and so are joints 5 and 6
        return True
    h1, h2, h3, h6 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2), row(form, AXES + 5)
    across = cross(h6, row(form, AXES + 4))
    a, ra = turned(h1, (-t1[0], t1[1]), apply_rotation(goal.rotation, h6), turn)
    b, rb = turned(h1, (-t1[0], t1[1]), apply_rotation(goal.rotation, across), turn)
    a, ra = turned(h2, (-t2[0], t2[1]), a, ra)
    b, rb = turned(h2, (-t2[0], t2[1]), b, rb)
    a, ra = turned(h3, (-t3[0], t3[1]), a, ra)
    b, rb = turned(h3, (-t3[0], t3[1]), b, rb)
    return is_wrist_open(pose, a, ra, b, rb)


@helper
def is_arm_open(pose: Pose, t1: Interval) -> bool:
    """Return whether an arm with a spherical wrist may have a solution within an interval."""
    form, goal, allowed, e, _ = pose
    h1, h2, h3 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2)
    a1, a2, a3 = row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3)
    p, rp = turned(back(h1), t1, goal.p, e)
    w, far = minus(p, a1), length(goal.p)
    rw = rp + ROUNDING * (far + length(a1))
    rise = e + t1[1] * length(cross(h1, h2)) * far + ROUNDING * (far + length(a1))
    one, other = turns_to_height(
        a2, h3, a3, law_of_cosines(w, a2, a3), rw * (length(w) + 0.5 * rw)
        + ROUNDING * (dot(w, w) + dot(a2, a2) + dot(a3, a3)),
    )  # fmt: skip
    for k in range(2):
        t3 = one if k == 0 else other
        if t3[1] < 0.0:
            continue
        t3 = within(t3, allowed, 2)
        if t3[1] < 0.0:
            continue
        v, rv = turned(h3, t3, a3, 0.0)
        v = plus(a2, v)
        lift = min(t3[1], 2.0) * length(cross(h3, h2)) * length(a3)
        if abs(dot(h2, w) - dot(h2, v)) > rise + lift + ROUNDING * (length(w) + length(v)):
            continue
        t2 = turns_onto(h2, v, rv + ROUNDING * length(a2), w, rw)
        if t2[1] < 0.0:
            continue
        t2 = within(t2, allowed, 1)
        if t2[1] < 0.0:
            continue
        if is_hand_open(pose, t1, t2, t3):
            return True
    return False


@helper
def is_ball_open(pose: Pose, t1: Interval) -> bool:
    """Do the work of `is_arm_open` where axes 2 and 3 meet: joint 3 moves nothing to axis 2."""
    form, goal, allowed, e, _ = pose
    h1, h2, h3 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2)
    a1, a2, a3 = row(form, OFFSETS + 1), row(form, OFFSETS + 2), row(form, OFFSETS + 3)
    p, rw = turned(back(h1), t1, goal.p, e)
    w, back2, rw = minus(p, a1), back(h2), rw + ROUNDING * (length(p) + length(a1))
    one, other = turns_to_height(h3, back2, w, dot(h3, plus(a2, a3)), rw)
    for k in range(2):
        t2 = one if k == 0 else other
        if t2[1] < 0.0:
            continue
        t2 = within(t2, allowed, 1)
        if t2[1] < 0.0:
            continue
        y, ry = turned(back2, t2, w, rw + ROUNDING * length(a2))
        t3 = turns_onto(h3, a3, 0.0, minus(y, a2), ry)
        if t3[1] < 0.0:
            continue
        t3 = within(t3, allowed, 2)
        if t3[1] >= 0.0 and is_hand_open(pose, t1, t2, t3):
            return True
    return False


@helper
def is_triangle_open(pose: Pose, t1: Interval, t5: Interval) -> bool:
    """Return whether an arm with parallel axes 2 to 4 may have a solution with joints 1 and 5."""
    form, goal, allowed, e, turn = pose
    h1, h2, h3, h4 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2), row(form, AXES + 3)
    h5, h6, a5 = row(form, AXES + 4), row(form, AXES + 5), row(form, OFFSETS + 5)
    a2, a3, back1, across = row(form, OFFSETS + 2), row(form, OFFSETS + 3), back(h1), cross(h6, h5)
    a, ra = turned(back1, t1, apply_rotation(goal.rotation, h6), turn)
    b, rb = turned(back1, t1, apply_rotation(goal.rotation, across), turn)
    bent, r = turned(h5, t5, h6, 0.0)
    t234 = turns_onto(h2, bent, r, a, ra)
    if t234[1] < 0.0:
        return False
    side, r = turned(h2, (-t234[0], t234[1]), b, rb)
    side, r = turned(h5, (-t5[0], t5[1]), side, r)
    t6 = turns_onto(h6, across, 0.0, side, r)
    if t6[1] < 0.0 or within(t6, allowed, 5)[1] < 0.0:
        return False
    p, rw = turned(back1, t1, goal.p, e)
    last, r = turned(h5, t5, a5, 0.0)
    last, r = turned(h2, t234, plus(row(form, OFFSETS + 4), last), r)
    w = minus(minus(p, row(form, OFFSETS + 1)), last)
    rw += r + ROUNDING * (length(p) + length(row(form, OFFSETS + 1)) + length(last))
    one, other = turns_to_height(
        a2, h3, a3, law_of_cosines(w, a2, a3), rw * (length(w) + 0.5 * rw)
        + ROUNDING * (dot(w, w) + dot(a2, a2) + dot(a3, a3)),
    )  # fmt: skip
    for k in range(2):
        t3 = one if k == 0 else other
        if t3[1] < 0.0:
            continue
        t3 = within(t3, allowed, 2)
        if t3[1] < 0.0:
            continue
        v, rv = turned(h3, t3, a3, ROUNDING * length(a2))
        t2 = turns_onto(h2, plus(a2, v), rv, w, rw)
        if t2[1] < 0.0:
            continue
        t2 = within(t2, allowed, 1)
        if t2[1] < 0.0:
            continue
        sign3, sign4 = dot(h2, h3), dot(h2, h4)
        t4 = sign4 * (t234[0] - t2[0] - sign3 * t3[0])
        if within((t4, min(t234[1] + t2[1] + t3[1], pi)), allowed, 3)[1] >= 0.0:
            return True
    return False


@helper
def is_parallel_open(pose: Pose, t1: Interval) -> bool:
    """Return whether an arm with parallel axes 2 to 4 may have a solution within an interval."""
    form, goal, allowed, e, turn = pose
    h1, h2, h5, h6 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 4), row(form, AXES + 5)
    a5, back1, tilt = row(form, OFFSETS + 5), back(h1), t1[1] * length(cross(h1, h2))
    a = rotate_about(back1, turn_by(t1[0]), apply_rotation(goal.rotation, h6))
    p = rotate_about(back1, turn_by(t1[0]), goal.p)
    still = plus(row(form, OFFSETS + 1), row(form, OFFSETS + 2))
    still = plus(still, plus(row(form, OFFSETS + 3), row(form, OFFSETS + 4)))
    rise = e + (tilt + ROUNDING) * length(p) + ROUNDING * length(still)
    one, other = turns_to_height(h2, h5, h6, dot(h2, a), turn + tilt)
    for k in range(2):
        t5 = one if k == 0 else other
        if t5[1] < 0.0:
            continue
        t5 = within(t5, allowed, 4)
        if t5[1] < 0.0:
            continue
        last = rotate_about(h5, turn_by(t5[0]), a5)
        lift = (min(t5[1], 2.0) * length(cross(h2, h5)) + ROUNDING) * length(a5)
        if abs(dot(h2, minus(p, plus(still, last)))) > rise + lift:
            continue
        if is_triangle_open(pose, t1, t5):
            return True
    return False


@helper
def is_pair_open(pose: Pose, t1: Interval, t2: Interval) -> bool:
    """Return whether an arm whose axes 5 and 6 meet may have a solution within a rectangle."""
    form, goal, allowed, e, turn = pose
    h1, h2, h3, h4 = row(form, AXES), row(form, AXES + 1), row(form, AXES + 2), row(form, AXES + 3)
    h5, h6, back1, back2 = row(form, AXES + 4), row(form, AXES + 5), back(h1), back(h2)
    a1, a2 = row(form, OFFSETS + 1), row(form, OFFSETS + 2)
    a3, a4, across = row(form, OFFSETS + 3), row(form, OFFSETS + 4), cross(h6, h5)
    p, r = turned(back1, t1, goal.p, e)
    y, r = turned(back2, t2, minus(p, a1), r + ROUNDING * length(a1))
    y, r = minus(y, a2), r + ROUNDING * length(a2)
    one, other = turns_to_height(
        a3, h4, a4, law_of_cosines(y, a3, a4), r * (length(y) + 0.5 * r)
        + ROUNDING * (dot(y, y) + dot(a3, a3) + dot(a4, a4)),
    )  # fmt: skip
    for k in range(2):
        t4 = one if k == 0 else other
        if t4[1] < 0.0:
            continue
        t4 = within(t4, allowed, 3)
        if t4[1] < 0.0:
            continue
        v, rv = turned(h4, t4, a4, ROUNDING * length(a3))
        t3 = turns_onto(h3, plus(a3, v), rv, y, r)
        if t3[1] < 0.0:
            continue
        t3 = within(t3, allowed, 2)
        if t3[1] < 0.0:
            continue
        a, ra = turned(back1, t1, apply_rotation(goal.rotation, h6), turn)
        a, ra = turned(back2, t2, a, ra)
        a, ra = turned(h3, (-t3[0], t3[1]), a, ra)
        a, ra = turned(h4, (-t4[0], t4[1]), a, ra)
        t5 = turns_onto(h5, h6, 0.0, a, ra)
        if t5[1] < 0.0:
            continue
        t5 = within(t5, allowed, 4)
        if t5[1] < 0.0:
            continue
        b, rb = turned(back1, t1, apply_rotation(goal.rotation, across), turn)
        b, rb = turned(back2, t2, b, rb)
        b, rb = turned(h3, (-t3[0], t3[1]), b, rb)
        b, rb = turned(h4, (-t4[0], t4[1]), b, rb)
        b, rb = turned(h5, (-t5[0], t5[1]), b, rb)
        t6 = turns_onto(h6, across, 0.0, b, rb)
        if t6[1] >= 0.0 and within(t6, allowed, 5)[1] >= 0.0:
            return True
    return False


@helper
def is_open(pose: Pose, box: FloatArray) -> bool:
    """Return whether a pose may have a solution within intervals (4,) of joints 1 and 2."""
    kind = pose.form[KIND, NAME]
    if kind == MEETING:
        return is_pair_open(pose, (box[0], box[1]), (box[2], box[3]))
    if kind == MEET_2_3:
        return is_ball_open(pose, (box[0], box[1]))
    if kind == PARALLELS:
        return is_parallel_open(pose, (box[0], box[1]))
    if kind == PARALLEL_2_3_4:
        return is_parallel_open(pose, (box[0], box[1]))
    return is_arm_open(pose, (box[0], box[1]))


@helper
def fill_allowed(form: FloatArray, first: int, variables: FloatArray, allowed: FloatArray) -> None:
    """Write the intervals (6, 2) that limits leave to the joints of a form opened at one."""
    for i in range(6):
        k = (i + first) % 6
        j = DRIVES + (5 - k if form[KIND, BACKWARD] != 0.0 else k)
        number = form[j, NUMBER]
        allowed[i, 0], allowed[i, 1] = 0.0, pi
        if number == HELD:
            allowed[i, 1] = ROUNDING
        elif number != FREE:
            v = int(number) if number >= 0.0 else int(COUPLED - number)
            low, high = variables[v, LOWER], variables[v, UPPER]
            half = abs(form[j, FACTOR]) * (
                0.5 * (high - low) + SLACK + ROUNDING * (abs(low) + abs(high))
            )
            if half < pi:
                middle = 0.5 * form[j, FACTOR] * (low + high) + form[j, SHIFT]
                allowed[i, 0], allowed[i, 1] = middle - whole_turns(middle), half


@helper
def halve(boxes: FloatArray, waiting: int) -> int:
    """Replace the last of the waiting boxes (k, 4) by its halves; return their number."""
    side = 0 if boxes[waiting - 1, 1] >= boxes[waiting - 1, 3] else 2
    half = 0.5 * boxes[waiting - 1, side + 1]
    for c in range(4):
        boxes[waiting, c] = boxes[waiting - 1, c]
    boxes[waiting - 1, side] -= half
    boxes[waiting, side] += half
    boxes[waiting - 1, side + 1] = half * (1.0 + 1e-12)
    boxes[waiting, side + 1] = half * (1.0 + 1e-12)
    return waiting + 1


@helper
def slide_excess(form: FloatArray, variables: FloatArray, offset: float) -> float:
    """Return by how much the slide of a form is outside its limits [m]."""
    if form[SLIDE_AXIS + 1, FACTOR] == 0.0:
        return 0.0
    v = int(form[SLIDE_AXIS + 1, NUMBER])
    at = form[SLIDE_AXIS + 1, FACTOR] * (offset - form[SLIDE_AXIS + 1, SHIFT])
    return max(variables[v, LOWER] - at, at - variables[v, UPPER])  # type: ignore[no-any-return]


@helper
def errors_of(
    form: FloatArray, position_error: float, rotation_error: float
) -> tuple[float, float]:
    """Return the errors of any point of the arm [m] and of the rotation [rad].

    Solutions of a pose that differs are solutions of the same pose with a small motion somewhere
    in the arm. It moves a point of the arm by what it moves the tip, and by its angle times their
    distance, which is at most the length of the arm.
    """
    size = length(row(form, TIP))
    for i in range(6):
        size += length(row(form, OFFSETS + i))
    error, turn = position_error + 10.0 * ROUNDING * size, rotation_error + ROUNDING
    if form[DRIVES + 3, NUMBER] == FREE and form[DRIVES + 4, NUMBER] == FREE:
        return error, 0.0  # the orientation is free, and the wrist is at the tip
    return error + turn * (size + error), turn


@jit
def excludes(
    form: FloatArray, variables: FloatArray, target: FloatArray, position_error: float,
    rotation_error: float,
) -> bool:  # fmt: skip
    """Return whether it is proven that no positions within the limits reach a pose.

    Args:
        form: (27, 3), see `closed_form_kernel.find_branches`.
        variables: (n, 8 or more), see `tables_kernel`.
        target: (4, 4) root_T_target.
        position_error: Tolerance and deviation of the arm from the form together [m].
        rotation_error: The same [rad].
    """
    opened, boxes = np.empty((ROWS, 3)), np.zeros((DEPTH, 4))
    offset, errors = (
        find_slide_offset(form, target),
        errors_of(form, position_error, rotation_error),
    )
    if slide_excess(form, variables, offset) > errors[0]:
        return True
    goal = form_goal(form, target, offset, np.zeros(variables.shape[0]))
    goal, allowed = open_loop(form, goal, opened), np.empty((6, 2))
    fill_allowed(form, int(form[SIZE, LOOP_START]), variables, allowed)
    pose = Pose(opened, goal, allowed, errors[0], errors[1])
    boxes[0, 0], boxes[0, 1], left = allowed[0, 0], allowed[0, 1], MOST_INTERVALS
    if form[KIND, NAME] == MEETING:
        boxes[0, 2], boxes[0, 3], left = allowed[1, 0], allowed[1, 1], MOST_RECTANGLES
    waiting = 1
    while waiting > 0:
        left -= 1
        if not is_open(pose, boxes[waiting - 1]):
            waiting -= 1
            continue
        widest = max(boxes[waiting - 1, 1], boxes[waiting - 1, 3])
        if left <= 0 or widest < LEAST_WIDTH or waiting >= DEPTH:
            return False
        waiting = halve(boxes, waiting)
    return True
