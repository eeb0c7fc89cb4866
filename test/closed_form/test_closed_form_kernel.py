# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The equations of the closed form, and the branches of one arm."""

from math import atan2, cos, pi, sin

import numpy as np
import pytest
from from_python import from_python

from basis_ik.closed_form import closed_form_kernel as kernel
from basis_ik.closed_form.closed_form_search_kernel import OUTSIDE_LIMITS, branch_starts
from basis_ik.descent.pose_search_kernel import COLUMNS

subproblem_1, subproblem_4 = (from_python(f) for f in (kernel.subproblem_1, kernel.subproblem_4))
angle_of = from_python(kernel.angle_of)


def rodrigues(axis, angle, v):
    axis, v = np.array(axis), np.array(v)
    c, s = np.cos(angle), np.sin(angle)
    return c * v + s * np.cross(axis, v) + (1 - c) * (axis @ v) * axis


def drawn(rng):
    axis = rng.normal(size=3)
    return tuple((axis / np.linalg.norm(axis)).tolist()), tuple(rng.normal(size=3).tolist())


def test_angle_of_equals_the_arctangent():
    rng = np.random.default_rng(8)
    for angle in [*np.linspace(-pi, pi, 17), *rng.uniform(-pi, pi, 200)]:
        turn = cos(angle), sin(angle)
        assert angle_of(turn) == pytest.approx(atan2(turn[1], turn[0]), abs=1e-15)
    assert np.isnan(angle_of((np.nan, np.nan)))


def test_subproblem_1_recovers_the_turn():
    rng = np.random.default_rng(0)
    for angle in rng.uniform(-pi, pi, 50):
        axis, v = drawn(rng)
        turned = tuple(rodrigues(axis, angle, v).tolist())
        found, error = subproblem_1(axis, v, turned, 1e-6, 9.0)
        assert found == pytest.approx((cos(angle), sin(angle)), abs=1e-12)
        across = np.linalg.norm(np.cross(axis, v))
        assert error == pytest.approx(1e-6 / across)


def test_subproblem_1_returns_the_default_along_the_axis():
    z, nothing = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    for a, b in (((0.0, 0.0, 2.0), (0.3, 0.0, 2.0)), ((1.0, 0.0, 0.0), z), (nothing, nothing)):
        found, error = subproblem_1(z, a, b, 1e-6, 0.7)
        assert (angle_of(found), error) == (pytest.approx(0.7), np.inf)


def test_subproblem_4_solves_its_equation_and_bounds_errors():
    rng = np.random.default_rng(1)
    for angle in rng.uniform(-pi, pi, 50):
        axis, v = drawn(rng)
        normal = tuple(rng.normal(size=3).tolist())
        height = float(np.dot(normal, rodrigues(axis, angle, v)))
        count, *turns, margin, error = subproblem_4(normal, axis, v, height, 1e-6, 1e-9, 9.0)
        assert count == 2
        one, two = map(angle_of, turns)
        for each in (one, two):
            assert np.dot(normal, rodrigues(axis, each, v)) == pytest.approx(height, abs=1e-12)
        # The top of the wave is where the two become one.
        heights = rodrigues(axis, np.linspace(-pi, pi, 4001)[:, None], v) @ normal
        gap = min(heights.max() - height, height - heights.min())
        assert margin == pytest.approx(gap / 1e-6, rel=1e-3, abs=10.0)
        moved = subproblem_4(normal, axis, v, height + 1e-6, 1e-6, 1e-9, 9.0)
        if margin > 1e3:
            away = angle_of(moved[1])
            shift = min(abs(np.remainder(away - x + pi, 2 * pi) - pi) for x in (one, two))
            assert shift <= 1.1 * error


def test_subproblem_4_has_no_solution_beyond_its_slack():
    z, x = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    assert subproblem_4(x, z, x, 1.1, 1e-3, 1e-9, 9.0)[:1] == (0,)
    count, top, _, margin, error = subproblem_4(x, z, x, 1.1, 1e-3, 0.2, 9.0)
    assert (count, top, error) == (1, (1.0, 0.0), np.inf)
    assert margin == pytest.approx(100.0)
    assert subproblem_4(x, z, x, -1.1, 1e-3, 0.2, 9.0)[:2] == (1, (-1.0, 0.0))
    count, one, two, margin, _ = subproblem_4(z, z, x, 0.0, 1e-3, 1e-9, 0.7)
    assert (count, margin) == (1, 0.0)
    assert [angle_of(one), angle_of(two)] == pytest.approx([0.7, 0.7])
    assert subproblem_4(z, z, x, 0.5, 1e-3, 1e-9, 0.7)[0] == 0


@pytest.fixture
def arm():
    """Return a UR-like arm in its own frame, and variables with limits."""
    form = np.zeros((kernel.FORM_ROWS, 3))
    form[:6] = [[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    form[6:12] = [[0, 0, 0.1], [0, 0.1, 0], [0.4, 0, 0], [0.4, 0, 0], [0, 0.1, -0.1], [0, 0, 0]]
    form[kernel.FORM_TIP], form[kernel.FORM_REST : kernel.FORM_KIND] = [0, 0.08, 0], np.eye(3)
    form[kernel.FORM_KIND], form[kernel.FORM_SIZE] = [kernel.PARALLEL_2_3_4, 0.0, 1e-9], 1.0
    form[kernel.FORM_DRIVES : kernel.SLIDE_AXIS] = [(1.0, 0.0, k) for k in range(6)]
    variables = np.zeros((6, COLUMNS))
    variables[:, 0], variables[:, 1], variables[:, 2], variables[:, 5] = -3.0, 3.0, 1.0, 1.0
    return form, variables


def placed(form, q):
    rotation, place = np.eye(3), np.zeros(3)
    for i in range(6):
        place = place + rotation @ form[kernel.FORM_OFFSETS + i]
        turn = np.array([rodrigues(form[i], q[i], e) for e in np.eye(3)]).T
        rotation = rotation @ turn
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = rotation, place + rotation @ form[kernel.FORM_TIP]
    return target


def test_branches_within_the_limits_come_first_by_distance(arm):
    form, variables = arm
    rng, outside = np.random.default_rng(2), 0
    for q, seed in rng.uniform(-2.9, 2.9, (30, 2, 6)):
        starts = np.empty((6, COLUMNS + kernel.MAX_FORM_BRANCHES))
        inside, count, margin = branch_starts(form, variables, placed(form, q), seed, starts)
        assert 0 < inside <= count <= kernel.MAX_FORM_BRANCHES
        assert margin > 0.0
        assert np.array_equal(starts[:, :COLUMNS], variables)
        found = starts[:, COLUMNS : COLUMNS + count].T
        for each in found:
            off = np.abs(placed(form, each) - placed(form, q)).max()
            assert off < 1e-8 or (off < OUTSIDE_LIMITS and np.abs(each).max() == 3.0)
        assert (np.abs(found[:inside]) <= 3.0).all()
        assert (np.diff(np.linalg.norm(found[:inside] - seed, axis=1)) >= 0.0).all()
        assert (np.abs(found[inside:]).max(axis=1) > 3.0 + OUTSIDE_LIMITS).all()
        outside += count - inside
        assert np.abs(found[:inside] - q).max(axis=1).min() < 1e-8
    assert outside > 5


def test_a_branch_slightly_outside_the_limits_is_clamped(arm):
    form, variables = arm
    q = np.array([0.3, -1.0, 1.2, 0.4, 0.9, 0.5])
    variables[0, 1] = q[0] - 0.5 * OUTSIDE_LIMITS
    starts = np.empty((6, COLUMNS + kernel.MAX_FORM_BRANCHES))
    inside, _, _ = branch_starts(form, variables, placed(form, q), q, starts)
    found = starts[:, COLUMNS : COLUMNS + inside].T
    assert np.abs(found - q).max(axis=1).min() == pytest.approx(0.5 * OUTSIDE_LIMITS)
    assert (found[:, 0] <= variables[0, 1]).all()
