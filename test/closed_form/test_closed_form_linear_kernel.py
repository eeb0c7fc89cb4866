# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forms of first order: they contain all vectors and numbers of a box."""

from __future__ import annotations

from math import pi

import numpy as np
import transforms3d
from from_python import from_python, sample
from numpy.linalg import norm

from basis_ik.closed_form import closed_form_linear_kernel as kernel

linearly_turned, linear_turn = (
    from_python(kernel.linearly_turned),
    from_python(kernel.linear_turn),
)
half_square, height_of = from_python(kernel.half_square), from_python(kernel.height_of)
may_vanish_together, span = from_python(kernel.may_vanish_together), from_python(kernel.span)
shifted, opposite = from_python(kernel.shifted), from_python(kernel.opposite)


def turn(axis, angle):
    return transforms3d.axangles.axangle2mat(axis, angle)


def vector(rng, scale):
    """Return a random form, and the vectors it has at a point x (3,) of the box."""
    v, d1, d2, d3, off = rng.normal(size=(5, 3))
    d1, d2, d3 = scale * d1, scale * d2, scale * d3
    rest = 10.0 ** rng.uniform(-6, -1)
    off *= rest / norm(off)
    form = (*(tuple(each.tolist()) for each in (v, d1, d2, d3)), rest)
    return form, lambda x: v + x[0] * d1 + x[1] * d2 + x[2] * d3 + off


def number(rng, rest):
    """Return a random form, and the numbers it has at a point x (3,) of the box."""
    c, *g = rng.normal(size=4).tolist()
    off = rest * rng.uniform(-1.0, 1.0)
    return (c, *g, rest), lambda x: c + np.dot(g, x) + off


def value(form, x):
    """Return what a form is at a point, without its rest."""
    return np.array(form[0]) + sum(each * np.array(d) for each, d in zip(x, form[1:4], strict=True))


def test_a_turned_vector_is_within_its_form():
    rng, tight = np.random.default_rng(10), []
    for _ in range(sample(400)):
        w = tuple(10.0 ** rng.uniform(-4, -0.3, 3))
        form, at = vector(rng, 1.0)
        angle, angle_at = number(rng, 10.0 ** rng.uniform(-5, -1))
        axis = rng.normal(size=3)
        axis /= norm(axis)
        found = linearly_turned(tuple(axis), angle, form, w)
        moved = opposite(angle), shifted(found, -1.0, (1.0, 2.0, 3.0))
        for _ in range(20):
            x = rng.uniform(-1.0, 1.0, 3) * w
            there = turn(axis, angle_at(x)) @ at(x)
            off = norm(there - value(found, x))
            assert off <= found[4]
            assert norm(there - (1.0, 2.0, 3.0) - value(moved[1], x)) <= moved[1][4]
            assert abs(-angle_at(x) - value(moved[0], x)) <= moved[0][4] + 1e-15
            tight.append(off / found[4])
    assert max(tight) > 0.5


def test_lengths_and_heights_are_within_their_forms():
    rng = np.random.default_rng(11)
    for _ in range(sample(400)):
        w = tuple(10.0 ** rng.uniform(-4, 0.3, 3))
        form, at = vector(rng, 1.0)
        axis = rng.normal(size=3)
        axis /= norm(axis)
        half, height = half_square(form, w), height_of(form, tuple(axis))
        for _ in range(20):
            x = rng.uniform(-1.0, 1.0, 3) * w
            assert abs(0.5 * at(x) @ at(x) - value(half, x)) <= half[4]
            assert abs(axis @ at(x) - value(height, x)) <= height[4]
            assert abs(axis @ at(x) - height[0]) <= span(height, w)


def test_turns_from_a_vector_onto_another_are_within_their_form():
    rng, seen = np.random.default_rng(12), 0
    for _ in range(sample(400)):
        w = tuple(10.0 ** rng.uniform(-4, -0.3, 3))
        (a, a_at), (b, b_at) = vector(rng, 0.5), vector(rng, 0.5)
        axis = rng.normal(size=3)
        axis /= norm(axis)
        found = linear_turn(tuple(axis), a, b, w)
        if not np.isfinite(found[4]):
            continue
        seen += 1
        for _ in range(20):
            x = rng.uniform(-1.0, 1.0, 3) * w
            u, v = np.cross(axis, a_at(x)), np.cross(axis, b_at(x))
            angle = np.arctan2(np.cross(u, v) @ axis, u @ v)
            assert abs((angle - value(found, x) + pi) % (2 * pi) - pi) <= found[4]
    assert seen > sample(100)


def test_a_vector_that_may_reach_the_axis_has_no_turn():
    a = ((1e-3, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)
    b = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)
    axis, w = (0.0, 0.0, 1.0), (2e-3, 0.0, 0.0)
    assert linear_turn(axis, a, b, w)[4] == np.inf
    assert linear_turn(axis, b, a, w)[4] == np.inf
    assert linear_turn(axis, a, b, (1e-4, 0.0, 0.0))[4] < 0.1


def test_what_vanishes_together_is_not_excluded():
    """Three numbers that are zero at a point of the box; most that are zero elsewhere are not."""
    rng, excluded = np.random.default_rng(13), 0
    for _ in range(sample(2000)):
        w = tuple(10.0 ** rng.uniform(-3, 0, 3))
        x = rng.uniform(-1.0, 1.0, 3) * w
        forms, far = [], []
        for _ in range(3):
            form, at = number(rng, 10.0 ** rng.uniform(-12, -4))
            forms.append((form[0] - at(x), *form[1:]))
            far.append((form[0] - at(rng.choice([-1.0, 1.0], 3) * 1.5 * np.array(w)), *form[1:]))
        assert may_vanish_together(*forms, w)
        excluded += not may_vanish_together(*far, w)
    assert excluded > sample(1500)


def test_parallel_slopes_exclude_nothing_that_is_zero():
    rng = np.random.default_rng(14)
    for _ in range(sample(500)):
        g, x = rng.normal(size=(2, 3))
        w = tuple(np.abs(x) * 1.01)
        forms = [(-k * float(g @ x), *(k * g).tolist(), 1e-13) for k in rng.normal(size=3).tolist()]
        assert may_vanish_together(*forms, w)
