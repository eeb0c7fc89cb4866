# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The proof for arms whose axes 5 and 6 meet: three joints are open to a box.

With joints 1, 2 and 4 known, the turn of joint 3 brings the arm to the point of axes 5 and 6. Three
equations are left: the distance of that point from axis 3, its height along it, and the angle of
axis 6 from axis 5. Intervals cut joints 2 and 4 down first; where a box is small, the equations are
combined to first order.

Few arms need this module, which is compiled when the first one does.
"""

from __future__ import annotations

from math import inf, pi

import numpy as np

from basis_ik.closed_form.closed_form_interval_kernel import (
    EMPTY_INTERVAL,
    INTERVAL_ROUNDING,
    Interval,
    Pose,
    bends,
    in_common,
    turned,
    turns_onto,
    turns_to_height,
    within,
)
from basis_ik.closed_form.closed_form_kernel import (
    FORM_AXES,
    FORM_OFFSETS,
    FORM_ROWS,
    Vector,
    apply_rotation,
    back,
    cross,
    dot,
    find_slide_offset,
    length,
    minus,
    plus,
    row,
)
from basis_ik.closed_form.closed_form_linear_kernel import (
    Linear,
    LinearVector,
    Widths,
    constant,
    difference,
    half_square,
    height_of,
    linear_turn,
    linearly_turned,
    may_vanish_together,
    opposite,
    shifted,
    span,
)
from basis_ik.closed_form.closed_form_proof_kernel import (
    LEAST_WIDTH,
    MOST_WAITING_BOXES,
    errors_of,
    halve,
    opened_pose,
    slide_excess,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit

PARALLEL_PRODUCT = 0.1  # |h2 × h3| below which the height along axis 2 tells joint 4, not joint 2
FIRST_ORDER_WIDTH = 0.5  # [rad] up to which a box is worth forms of first order
MOST_BOXES = 8000  # after which the proof is given up
MUCH_WIDER = 3.0  # than joint 1: the interval of another one that is halved instead

Ball = tuple[Vector, float]


@helper
def from_second(pose: Pose, t1: Interval) -> Ball:
    """Return the ball of the end of the arm, seen from the point of axis 2 before joint 2 turns.

    The end is the point where axes 5 and 6 meet.
    """
    form, goal, _, e, _ = pose
    a1, a2 = row(form, FORM_OFFSETS + 1), row(form, FORM_OFFSETS + 2)
    p, r = turned(back(row(form, FORM_AXES)), t1, goal.p, e)
    size = length(p) + length(a1) + length(a2)
    size += length(row(form, FORM_OFFSETS + 3)) + length(row(form, FORM_OFFSETS + 4))
    return minus(p, a1), r + INTERVAL_ROUNDING * size


@helper
def fourth_by_height(form: FloatArray, end: Ball) -> tuple[Interval, Interval]:
    """Return the turns of joint 4 that bring the end of the arm to its height along axis 2.

    Joint 3 changes that height, but not where axes 2 and 3 are parallel.
    """
    h2, h3, h4 = row(form, FORM_AXES + 1), row(form, FORM_AXES + 2), row(form, FORM_AXES + 3)
    a2, a3, a4 = (
        row(form, FORM_OFFSETS + 2),
        row(form, FORM_OFFSETS + 3),
        row(form, FORM_OFFSETS + 4),
    )
    same, (u, r) = dot(h2, h3), end
    normal = same * h3[0], same * h3[1], same * h3[2]
    lean = length(cross(h2, h3)) * (length(a3) + length(a4))
    return turns_to_height(normal, h4, a4, dot(h2, minus(u, a2)) - dot(normal, a3), r + lean)


@helper
def second_of_pair(form: FloatArray, end: Ball, t4: Interval) -> tuple[Interval, Interval]:
    """Return the turns of joint 2 that bring the end of the arm to its place beside axis 3.

    To its height along axis 3; if axes 2 and 3 are parallel, joint 2 does not change that, and it
    is the distance.
    """
    h2, h3, h4 = row(form, FORM_AXES + 1), row(form, FORM_AXES + 2), row(form, FORM_AXES + 3)
    a2, a3, a4 = (
        row(form, FORM_OFFSETS + 2),
        row(form, FORM_OFFSETS + 3),
        row(form, FORM_OFFSETS + 4),
    )
    (u, r), back2 = end, back(h2)
    v, rv = turned(h4, t4, a4, INTERVAL_ROUNDING * length(a3))
    v = plus(a3, v)
    if length(cross(h2, h3)) < PARALLEL_PRODUCT:
        sizes = dot(u, u) + dot(a2, a2) + dot(v, v)
        height = 0.5 * (dot(u, u) + dot(a2, a2) - dot(v, v))
        error = r * (length(u) + length(a2) + 0.5 * r) + rv * (length(v) + 0.5 * rv)
        return turns_to_height(a2, back2, u, height, error + INTERVAL_ROUNDING * sizes)
    lift = min(t4[1], 2.0) * length(cross(h3, h4)) * length(cross(h4, a4))
    return turns_to_height(h3, back2, u, dot(h3, plus(a2, v)), r + lift)


@helper
def unwound(
    pose: Pose, turns: tuple[Interval, Interval, Interval, Interval], v: Vector
) -> tuple[Vector, float]:
    """Return a direction of the tip to be reached as joint 5 has it, and its error."""
    form, goal, _, _, turn = pose
    a, r = apply_rotation(goal.rotation, v), turn
    for i in range(4):
        t = turns[i]
        a, r = turned(row(form, FORM_AXES + i), (-t[0], t[1]), a, r)
    return a, r


@helper
def are_last_open(pose: Pose, turns: tuple[Interval, Interval, Interval, Interval]) -> bool:
    """Return whether joints 5 and 6 may turn the tip as wanted, with intervals of joints 1 to 4."""
    form, allowed = pose.form, pose.allowed
    h5, h6 = row(form, FORM_AXES + 4), row(form, FORM_AXES + 5)
    a, r = unwound(pose, turns, h6)
    t5 = within(turns_onto(h5, h6, 0.0, a, r), allowed, 4)
    if t5[1] < 0.0:
        return False
    across = cross(h6, h5)
    b, r = unwound(pose, turns, across)
    b, r = turned(h5, (-t5[0], t5[1]), b, r)
    return within(turns_onto(h6, across, 0.0, b, r), allowed, 5)[1] >= 0.0


@helper
def is_allowed(angle: Linear, w: Widths, allowed: FloatArray, i: int) -> bool:
    """Return whether an angle may be within the limits of a joint."""
    return within((angle[0], min(span(angle, w), pi)), allowed, i)[1] >= 0.0


@helper
def linearly_unwound(
    pose: Pose, turns: tuple[Linear, Linear, Linear, Linear], v: Vector, w: Widths
) -> LinearVector:
    """Return a direction of the tip to be reached as joint 5 has it."""
    form, goal, _, _, turn = pose
    a = constant(apply_rotation(goal.rotation, v), turn)
    for i in range(4):
        a = linearly_turned(row(form, FORM_AXES + i), opposite(turns[i]), a, w)
    return a


@helper
def is_box_open(pose: Pose, t1: Interval, t2: Interval, t4: Interval) -> bool:
    """Return whether the equations may have a common solution in a box, to first order."""
    form, goal, allowed, e, _ = pose
    h3, h5, h6 = row(form, FORM_AXES + 2), row(form, FORM_AXES + 4), row(form, FORM_AXES + 5)
    q1, q2 = (t1[0], 1.0, 0.0, 0.0, 0.0), (t2[0], 0.0, 1.0, 0.0, 0.0)
    q4, across, w = (t4[0], 0.0, 0.0, 1.0, 0.0), cross(h6, h5), (t1[1], t2[1], t4[1])
    y = linearly_turned(row(form, FORM_AXES), opposite(q1), constant(goal.p, e), w)
    y = shifted(y, -1.0, row(form, FORM_OFFSETS + 1))
    y = linearly_turned(row(form, FORM_AXES + 1), opposite(q2), y, w)
    y = shifted(y, -1.0, row(form, FORM_OFFSETS + 2))
    v = linearly_turned(row(form, FORM_AXES + 3), q4, constant(row(form, FORM_OFFSETS + 4), 0.0), w)
    v = shifted(v, 1.0, row(form, FORM_OFFSETS + 3))
    q3 = linear_turn(h3, v, y, w)
    if q3[4] == inf:
        return True
    if not is_allowed(q3, w, allowed, 2):
        return False
    turns = q1, q2, q3, q4
    a = linearly_unwound(pose, turns, h6, w)
    far = difference(half_square(y, w), half_square(v, w))
    height = difference(height_of(y, h3), height_of(v, h3))
    lean = difference(height_of(a, h5), height_of(constant(h6, 0.0), h5))
    if not may_vanish_together(far, height, lean, w):
        return False
    q5 = linear_turn(h5, constant(h6, 0.0), a, w)
    if q5[4] == inf:
        return True
    if not is_allowed(q5, w, allowed, 4):
        return False
    b = linearly_turned(h5, opposite(q5), linearly_unwound(pose, turns, across, w), w)
    q6 = linear_turn(h6, constant(across, 0.0), b, w)
    return q6[4] == inf or is_allowed(q6, w, allowed, 5)


@helper
def widest_fourth(pose: Pose, end: Ball, t1: Interval, t2: Interval, t4: Interval) -> float:
    """Return the half width of the widest interval of joint 4 with a possible solution in a box.

    It is negative if there is none.
    """
    y, r = turned(back(row(pose.form, FORM_AXES + 1)), t2, end[0], end[1])
    one, other = bends(pose, 2, t4, minus(y, row(pose.form, FORM_OFFSETS + 2)), (r, r))
    widest = EMPTY_INTERVAL
    for k in range(2):
        t3, bent = one if k == 0 else other
        if t3[1] < 0.0 or bent[1] <= widest or not are_last_open(pose, (t1, t2, t3, bent)):
            continue
        if max(t1[1], max(t2[1], bent[1])) > FIRST_ORDER_WIDTH or is_box_open(pose, t1, t2, bent):
            widest = bent[1]
    return widest


@helper
def widest_of_pair(pose: Pose, t1: Interval, t2: Interval, t4: Interval) -> tuple[float, float]:
    """Return the half widths of what is left of joints 2 and 4 in a box with a possible solution.

    They are negative if there is none.
    """
    second, fourth, end = EMPTY_INTERVAL, EMPTY_INTERVAL, from_second(pose, t1)
    one, other = fourth_by_height(pose.form, end)
    for i in range(2):
        bent = in_common(one if i == 0 else other, t4)
        if bent[1] < 0.0:
            continue
        near, far = second_of_pair(pose.form, end, bent)
        for k in range(2):
            upper = in_common(near if k == 0 else far, t2)
            if upper[1] < 0.0:
                continue
            wide = widest_fourth(pose, end, t1, upper, bent)
            if wide >= 0.0:
                second, fourth = max(second, upper[1]), max(fourth, wide)
    return second, fourth


@jit
def excludes_pair(
    form: FloatArray, variables: FloatArray, target: FloatArray, position_error: float,
    rotation_error: float,
) -> bool:  # fmt: skip
    """Do the work of `closed_form_proof_kernel.excludes` for this module.

    Joint 1 cuts the others down, so it is halved unless they are much wider.
    """
    errors = errors_of(form, position_error, rotation_error)
    if slide_excess(form, variables, find_slide_offset(form, target)) > errors[0]:
        return True
    pose = opened_pose(form, variables, target, errors, np.empty((FORM_ROWS, 3)))
    boxes, allowed, left, waiting = np.empty((MOST_WAITING_BOXES, 6)), pose.allowed, MOST_BOXES, 1
    for c in range(2):
        boxes[0, c], boxes[0, 2 + c], boxes[0, 4 + c] = allowed[0, c], allowed[1, c], allowed[3, c]
    while waiting > 0:
        left -= 1
        box, side = boxes[waiting - 1], 0
        t1, t2, t4 = (box[0], box[1]), (box[2], box[3]), (box[4], box[5])
        second, fourth = widest_of_pair(pose, t1, t2, t4)
        if second < 0.0:
            waiting -= 1
            continue
        other = max(second, fourth)
        if left <= 0 or max(t1[1], other) < LEAST_WIDTH or waiting >= MOST_WAITING_BOXES:
            return False
        if other > MUCH_WIDER * t1[1]:
            side = 2 if second >= fourth else 4
        waiting = halve(boxes, waiting, side)
    return True
