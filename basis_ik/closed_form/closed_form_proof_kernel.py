# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The proof that no positions within the limits reach a pose: a closed form in intervals.

The angle of a form's first joint is divided into intervals. Within each, the equations of the form
give an interval for every other joint, which contains all solutions of all poses within the
tolerances. An interval without any within the limits is done with; the others are halved. If none
is left, there is no solution. All bounds are of the functions themselves and not of their
derivatives at a point, so the proof holds near singularities too; there it may fail, after more
halvings than are worthwhile.
"""

from __future__ import annotations

from math import pi

import numpy as np

from basis_ik.closed_form.closed_form_interval_kernel import (
    INTERVAL_ROUNDING,
    Interval,
    Pose,
    bends,
    both_within,
    turned,
    turns_onto,
    turns_to_height,
    within,
)
from basis_ik.closed_form.closed_form_kernel import (
    AXIS_COUPLED,
    AXIS_FREE,
    AXIS_HELD,
    FACTOR,
    FORM_AXES,
    FORM_DRIVES,
    FORM_KIND,
    FORM_OFFSETS,
    FORM_ROWS,
    FORM_SIZE,
    FORM_TIP,
    KIND_BACKWARD,
    KIND_NAME,
    LOOP_START,
    MEET_2_3,
    NUMBER,
    PARALLEL_2_3_4,
    SHIFT,
    SLIDE_AXIS,
    Vector,
    apply_rotation,
    back,
    cross,
    dot,
    find_slide_offset,
    form_goal,
    length,
    minus,
    plus,
    rotate_about,
    row,
    turn_by,
)
from basis_ik.closed_form.closed_form_loop_kernel import open_loop
from basis_ik.closed_form.closed_form_quartic_kernel import PARALLELS
from basis_ik.descent.tables_kernel import LOWER, UPPER
from basis_ik.numerics.angles_kernel import whole_turns
from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper, jit
from basis_ik.robot.safety_kernel import LIMIT_ROUNDING

LEAST_WIDTH = 1e-8  # [rad] below which no interval is halved
MOST_INTERVALS = 2000  # after which the proof is given up
MOST_WAITING_BOXES = 128  # intervals or boxes that may wait


@helper
def is_wrist_open(pose: Pose, a: Vector, ra: float, b: Vector, rb: float) -> bool:
    """Return whether joints 4 to 6 may bring axis 6 and its side, seen from joint 4, to balls."""
    form, allowed = pose.form, pose.allowed
    h4, h5, h6 = row(form, FORM_AXES + 3), row(form, FORM_AXES + 4), row(form, FORM_AXES + 5)
    across = cross(h6, h5)
    for t5 in both_within(turns_to_height(h4, h5, h6, dot(h4, a), ra), allowed, 4):
        if t5[1] < 0.0:
            continue
        bent, r = turned(h5, t5, h6, 0.0)
        t4 = within(turns_onto(h4, bent, r, a, ra), allowed, 3)
        if t4[1] < 0.0:
            continue
        side, r = turned(h4, (-t4[0], t4[1]), b, rb)
        side, r = turned(h5, (-t5[0], t5[1]), side, r)
        if within(turns_onto(h6, across, 0.0, side, r), allowed, 5)[1] >= 0.0:
            return True
    return False


@helper
def is_hand_open(pose: Pose, t1: Interval, t2: Interval, t3: Interval) -> bool:
    """Return whether the wrist may reach its orientation within intervals of joints 1 to 3."""
    form, goal, _, _, turn = pose
    if form[FORM_DRIVES + 3, NUMBER] == AXIS_FREE:  # and so are joints 5 and 6
        return True
    h1, h2, h3, h6 = (
        row(form, FORM_AXES),
        row(form, FORM_AXES + 1),
        row(form, FORM_AXES + 2),
        row(form, FORM_AXES + 5),
    )
    across = cross(h6, row(form, FORM_AXES + 4))
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
    h1, h2, a1 = row(form, FORM_AXES), row(form, FORM_AXES + 1), row(form, FORM_OFFSETS + 1)
    p, rp = turned(back(h1), t1, goal.p, e)
    far = length(goal.p)
    rounding = INTERVAL_ROUNDING * (far + length(a1))
    errors = rp + rounding, e + t1[1] * length(cross(h1, h2)) * far + rounding
    for t2, t3 in bends(pose, 1, (allowed[2, 0], allowed[2, 1]), minus(p, a1), errors):
        if t2[1] >= 0.0 and is_hand_open(pose, t1, t2, t3):
            return True
    return False


@helper
def is_ball_open(pose: Pose, t1: Interval) -> bool:
    """Do the work of `is_arm_open` where axes 2 and 3 meet: joint 3 moves nothing to axis 2."""
    form, goal, allowed, e, _ = pose
    h1, h2, h3 = row(form, FORM_AXES), row(form, FORM_AXES + 1), row(form, FORM_AXES + 2)
    a1, a2, a3 = (
        row(form, FORM_OFFSETS + 1),
        row(form, FORM_OFFSETS + 2),
        row(form, FORM_OFFSETS + 3),
    )
    p, rw = turned(back(h1), t1, goal.p, e)
    w, back2, rw = minus(p, a1), back(h2), rw + INTERVAL_ROUNDING * (length(p) + length(a1))
    found = turns_to_height(h3, back2, w, dot(h3, plus(a2, a3)), rw)
    for t2 in both_within(found, allowed, 1):
        if t2[1] < 0.0:
            continue
        y, ry = turned(back2, t2, w, rw + INTERVAL_ROUNDING * length(a2))
        t3 = within(turns_onto(h3, a3, 0.0, minus(y, a2), ry), allowed, 2)
        if t3[1] >= 0.0 and is_hand_open(pose, t1, t2, t3):
            return True
    return False


@helper
def is_triangle_open(pose: Pose, t1: Interval, t5: Interval) -> bool:
    """Return whether an arm with parallel axes 2 to 4 may have a solution with joints 1 and 5."""
    form, goal, allowed, e, turn = pose
    h1, h2, h3, h4 = (
        row(form, FORM_AXES),
        row(form, FORM_AXES + 1),
        row(form, FORM_AXES + 2),
        row(form, FORM_AXES + 3),
    )
    h5, h6, a5 = row(form, FORM_AXES + 4), row(form, FORM_AXES + 5), row(form, FORM_OFFSETS + 5)
    back1, across = back(h1), cross(h6, h5)
    a, ra = turned(back1, t1, apply_rotation(goal.rotation, h6), turn)
    b, rb = turned(back1, t1, apply_rotation(goal.rotation, across), turn)
    bent, r = turned(h5, t5, h6, 0.0)
    t234 = turns_onto(h2, bent, r, a, ra)
    if t234[1] < 0.0:
        return False
    side, r = turned(h2, (-t234[0], t234[1]), b, rb)
    side, r = turned(h5, (-t5[0], t5[1]), side, r)
    if within(turns_onto(h6, across, 0.0, side, r), allowed, 5)[1] < 0.0:
        return False
    p, rw = turned(back1, t1, goal.p, e)
    last, r = turned(h5, t5, a5, 0.0)
    last, r = turned(h2, t234, plus(row(form, FORM_OFFSETS + 4), last), r)
    w = minus(minus(p, row(form, FORM_OFFSETS + 1)), last)
    rw += r + INTERVAL_ROUNDING * (length(p) + length(row(form, FORM_OFFSETS + 1)) + length(last))
    sign3, sign4 = dot(h2, h3), dot(h2, h4)
    for t2, t3 in bends(pose, 1, (allowed[2, 0], allowed[2, 1]), w, (rw, rw)):
        if t2[1] < 0.0:
            continue
        t4 = sign4 * (t234[0] - t2[0] - sign3 * t3[0])
        if within((t4, min(t234[1] + t2[1] + t3[1], pi)), allowed, 3)[1] >= 0.0:
            return True
    return False


@helper
def is_parallel_open(pose: Pose, t1: Interval) -> bool:
    """Return whether an arm with parallel axes 2 to 4 may have a solution within an interval."""
    form, goal, allowed, e, turn = pose
    h1, h2, h5, h6 = (
        row(form, FORM_AXES),
        row(form, FORM_AXES + 1),
        row(form, FORM_AXES + 4),
        row(form, FORM_AXES + 5),
    )
    a5, back1, tilt = row(form, FORM_OFFSETS + 5), back(h1), t1[1] * length(cross(h1, h2))
    a = rotate_about(back1, turn_by(t1[0]), apply_rotation(goal.rotation, h6))
    p = rotate_about(back1, turn_by(t1[0]), goal.p)
    still = plus(row(form, FORM_OFFSETS + 1), row(form, FORM_OFFSETS + 2))
    still = plus(still, plus(row(form, FORM_OFFSETS + 3), row(form, FORM_OFFSETS + 4)))
    rise = e + (tilt + INTERVAL_ROUNDING) * length(p) + INTERVAL_ROUNDING * length(still)
    for t5 in both_within(turns_to_height(h2, h5, h6, dot(h2, a), turn + tilt), allowed, 4):
        if t5[1] < 0.0:
            continue
        last = rotate_about(h5, turn_by(t5[0]), a5)
        lift = (min(t5[1], 2.0) * length(cross(h2, h5)) + INTERVAL_ROUNDING) * length(a5)
        if abs(dot(h2, minus(p, plus(still, last)))) > rise + lift:
            continue
        if is_triangle_open(pose, t1, t5):
            return True
    return False


@helper
def is_form_open(pose: Pose, t1: Interval) -> bool:
    """Return whether a pose may have a solution within an interval of joint 1."""
    kind = pose.form[FORM_KIND, KIND_NAME]
    if kind == MEET_2_3:
        return is_ball_open(pose, t1)
    if kind in (PARALLELS, PARALLEL_2_3_4):
        return is_parallel_open(pose, t1)
    return is_arm_open(pose, t1)


@helper
def fill_allowed(form: FloatArray, first: int, variables: FloatArray, allowed: FloatArray) -> None:
    """Write the intervals (6, 2) that limits leave to the joints of a form opened at one."""
    for i in range(6):
        k = (i + first) % 6
        j = FORM_DRIVES + (5 - k if form[FORM_KIND, KIND_BACKWARD] != 0.0 else k)
        number = form[j, NUMBER]
        allowed[i, 0], allowed[i, 1] = 0.0, pi
        if number == AXIS_HELD:
            allowed[i, 1] = INTERVAL_ROUNDING
        elif number != AXIS_FREE:
            v = int(number) if number >= 0.0 else int(AXIS_COUPLED - number)
            low, high = variables[v, LOWER], variables[v, UPPER]
            half = abs(form[j, FACTOR]) * (
                0.5 * (high - low) + LIMIT_ROUNDING + INTERVAL_ROUNDING * (abs(low) + abs(high))
            )
            if half < pi:
                middle = 0.5 * form[j, FACTOR] * (low + high) + form[j, SHIFT]
                allowed[i, 0], allowed[i, 1] = middle - whole_turns(middle), half


@helper
def halve(boxes: FloatArray, waiting: int, side: int) -> int:
    """Replace the last of the waiting boxes by its halves; return their number.

    Args:
        boxes: (k, 2 or more) middle and half width of each joint [rad].
        waiting: Number of boxes.
        side: Column of the joint whose interval is halved.
    """
    last = waiting - 1
    half = 0.5 * boxes[last, side + 1]
    for c in range(boxes.shape[1]):
        boxes[waiting, c] = boxes[last, c]
    boxes[last, side] -= half
    boxes[waiting, side] += half
    boxes[last, side + 1] = half * (1.0 + 1e-12)
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
    size = length(row(form, FORM_TIP))
    for i in range(6):
        size += length(row(form, FORM_OFFSETS + i))
    error, turn = (
        position_error + 10.0 * INTERVAL_ROUNDING * size,
        rotation_error + INTERVAL_ROUNDING,
    )
    if form[FORM_DRIVES + 3, NUMBER] == AXIS_FREE and form[FORM_DRIVES + 4, NUMBER] == AXIS_FREE:
        return error, 0.0  # the orientation is free, and the wrist is at the tip
    return error + turn * (size + error), turn


@helper
def opened_pose(
    form: FloatArray, variables: FloatArray, target: FloatArray, errors: tuple[float, float],
    opened: FloatArray,
) -> Pose:  # fmt: skip
    """Write an opened form; return its pose.

    Args:
        form: (27, 3), see `closed_form_kernel.find_branches`.
        variables: See `excludes`.
        target: See `excludes`.
        errors: Of any point of the arm [m] and of the rotation [rad], see `errors_of`.
        opened: (27, 3) result.
    """
    goal = form_goal(form, target, find_slide_offset(form, target), np.zeros(variables.shape[0]))
    goal, allowed = open_loop(form, goal, opened), np.empty((6, 2))
    fill_allowed(form, int(form[FORM_SIZE, LOOP_START]), variables, allowed)
    return Pose(opened, goal, allowed, errors[0], errors[1])


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
    errors = errors_of(form, position_error, rotation_error)
    if slide_excess(form, variables, find_slide_offset(form, target)) > errors[0]:
        return True
    pose = opened_pose(form, variables, target, errors, np.empty((FORM_ROWS, 3)))
    parts, left, waiting = np.empty((MOST_WAITING_BOXES, 2)), MOST_INTERVALS, 1
    parts[0, 0], parts[0, 1] = pose.allowed[0, 0], pose.allowed[0, 1]
    while waiting > 0:
        left -= 1
        t1 = parts[waiting - 1, 0], parts[waiting - 1, 1]
        if not is_form_open(pose, t1):
            waiting -= 1
            continue
        if left <= 0 or t1[1] < LEAST_WIDTH or waiting >= MOST_WAITING_BOXES:
            return False
        waiting = halve(parts, waiting, 0)
    return True
