# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arms whose axes 5 and 6 meet: a box that contains a solution stays open."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
import transforms3d
from from_python import from_python, sample
from numpy.linalg import norm

from basis_ik.closed_form import closed_form_pair_proof_kernel as kernel
from basis_ik.closed_form.closed_form_interval_kernel import Pose
from basis_ik.closed_form.closed_form_kernel import FORM_AXES, FORM_OFFSETS, FormGoal

is_box_open, widest_of_pair = from_python(kernel.is_box_open), from_python(kernel.widest_of_pair)
second_of_pair, fourth_by_height = (
    from_python(kernel.second_of_pair),
    from_python(kernel.fourth_by_height),
)


def turn(axis, angle):
    return transforms3d.axangles.axangle2mat(axis, angle)


def off(rng, size):
    """Return a vector of this length."""
    v = rng.normal(size=3)
    return size * v / norm(v)


def around(rng, angle, half):
    """Return an interval that contains an angle."""
    return float(angle + rng.uniform(-1.0, 1.0) * half), float(half)


def contains(interval, angle):
    middle, half = interval
    return half >= 0.0 and abs((angle - middle + pi) % (2 * pi) - pi) <= half + 1e-12


def arm(rng, parallel):
    """Return a form (27, 3) whose axes 5 and 6 meet, with axis 2 or 3 parallel to the next."""
    form = np.zeros((27, 3))
    form[FORM_AXES:FORM_OFFSETS] = rng.normal(size=(6, 3))
    form[FORM_AXES:FORM_OFFSETS] /= norm(form[FORM_AXES:FORM_OFFSETS], axis=1)[:, None]
    if parallel:
        form[FORM_AXES + parallel] = rng.choice([-1.0, 1.0]) * form[FORM_AXES + parallel - 1]
    form[FORM_OFFSETS + 1 : FORM_OFFSETS + 5] = rng.normal(size=(4, 3))
    return form


def reached(form, q):
    """Return the end (3,) and the rotation (3, 3) of a form, and the end before joint 1."""
    turns = [turn(axis, angle) for axis, angle in zip(form[FORM_AXES:FORM_OFFSETS], q, strict=True)]
    end = np.zeros(3)
    for i in (3, 2, 1, 0):
        end = (
            turns[i] @ (end + form[FORM_OFFSETS + i + 1])
            if i < 3
            else turns[3] @ form[FORM_OFFSETS + 4]
        )
    rotation = np.linalg.multi_dot(turns)
    return end, rotation, turns[0].T @ end - form[FORM_OFFSETS + 1]


def pose_at(form, q, errors, rng):
    """Return a pose that is off what a form reaches by almost its errors [m], [rad]."""
    end, rotation, _ = reached(form, q)
    rotation = turn(rng.normal(size=3), 0.999 * errors[1]) @ rotation
    place = end + off(rng, 0.999 * errors[0])
    goal = FormGoal(tuple(rotation.ravel().tolist()), tuple(place.tolist()), (0.0,) * 6)
    allowed = np.array([around(rng, angle, 10.0 ** rng.uniform(-8, 0.5)) for angle in q])
    return Pose(form, goal, allowed, float(errors[0]), float(errors[1]))


@pytest.mark.parametrize("parallel", [0, 2, 3])
def test_a_box_with_a_solution_is_open(parallel):
    rng = np.random.default_rng(20 + parallel)
    for _ in range(sample(1500)):
        form, q, errors = (
            arm(rng, parallel),
            rng.uniform(-pi, pi, 6),
            10.0 ** rng.uniform(-9, -1, 2),
        )
        pose, half = pose_at(form, q, errors, rng), 10.0 ** rng.uniform(-9, -0.3, 3)
        box = [around(rng, q[i], half[k]) for k, i in enumerate((0, 1, 3))]
        assert is_box_open(pose, *box)
        second, fourth = widest_of_pair(pose, *box)
        assert second >= 0.0
        assert fourth >= 0.0


def test_a_box_away_from_solutions_is_closed_to_first_order():
    rng, closed = np.random.default_rng(30), 0
    for _ in range(sample(500)):
        form, q = arm(rng, 0), rng.uniform(-pi, pi, 6)
        pose = pose_at(form, q, (1e-9, 1e-9), rng)
        pose.allowed[:] = 0.0, pi
        box = [(float(q[i] + 0.05), 0.02) for i in (0, 1, 3)]
        closed += not is_box_open(pose, *box)
    assert closed > sample(400)


@pytest.mark.parametrize("parallel", [0, 2, 3])
def test_what_cuts_a_joint_down_keeps_all_solutions(parallel):
    rng, narrow = np.random.default_rng(40 + parallel), 0
    for _ in range(sample(1000)):
        form, q, error = arm(rng, parallel), rng.uniform(-pi, pi, 6), 10.0 ** rng.uniform(-6, -1)
        _, _, end = reached(form, q)
        ball = tuple((end + off(rng, 0.999 * error)).tolist()), float(error)
        t4 = around(rng, q[3], 10.0 ** rng.uniform(-4, 0.5))
        fourth, second = fourth_by_height(form, ball), second_of_pair(form, ball, t4)
        assert any(contains(each, q[3]) for each in fourth)
        assert any(contains(each, q[1]) for each in second)
        narrow += max(each[1] for each in (second if parallel == 3 else fourth)) < 0.3
    assert (narrow > sample(500)) == (parallel > 0)
