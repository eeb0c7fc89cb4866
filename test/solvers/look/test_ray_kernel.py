# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parts of points-at on chains, one by one, against plain NumPy."""

from __future__ import annotations

from functools import cache
from math import atan2, cos, pi, sin, sqrt

import numpy as np
import pytest
from from_python import from_python, sample
from hypothesis import given
from hypothesis import strategies as st
from random_chains import random_chain

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.pose_search_kernel import LIMITS, set_bounds
from basis_ik.descent.tables_kernel import ASIDE, LOWER, SCALE, STEP, TOWARDS, UPPER
from basis_ik.search.prepare import prepare
from basis_ik.solvers.look.look_kernel import begin_aside, begin_well, relate_to_point
from basis_ik.solvers.look.pan_tilt_kernel import admits_pan_tilt, pan_tilt
from basis_ik.solvers.look.ray_kernel import (
    NO_RAY_LENGTH,
    descend_to_point,
    exact_miss,
    pull_to_seed,
    ray_miss,
    ray_step,
)
from basis_ik.transforms.rigid import RigidTransform

(
    ray_step,
    descend_to_point,
    exact_miss,
    pull_to_seed,
    ray_miss,
    begin_aside,
    begin_well,
    relate_to_point,
) = map(
    from_python,
    (
        ray_step,
        descend_to_point,
        exact_miss,
        pull_to_seed,
        ray_miss,
        begin_aside,
        begin_well,
        relate_to_point,
    ),
)


CHAINS = {
    "hinges": random_chain(1, 5),
    "slides": random_chain(2, slides=(1, 4)),
    "mimics": random_chain(3, slides=(4,), mimics=(2, 5)),
}


@cache  # a search for starts is part of it
def ready_chain(name):
    return prepare(CHAINS[name])


def related(ready, point):
    work = ready.new_work()
    relate_to_point(ready.ends[0], point, work, len(ready.variables) + len(ready.joints))
    from_python(set_bounds)(ready.variables, LIMITS, work)
    return work


def miss(ready, q, point):
    return exact_miss(ready.exact, q, point, np.empty((3, 4)))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-12, 1e-6, 1e-3, 1.0, 3.0, pi - 1e-6]))
def test_the_miss_is_an_angle_about_k(seed, angle):
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    a, k = frame[:, 0], frame[:, 1]
    d = cos(angle) * a - sin(angle) * np.cross(k, a)  # turning d by the angle about k gives a
    length = 10 ** rng.uniform(-3, 3)
    found = ray_miss(*d, *(-length * a))
    assert found[0] == pytest.approx(angle, abs=2e-15 + 1e-12 * angle)
    assert found[1] == pytest.approx(1 / length)
    assert np.allclose(found[5:], a, atol=1e-15)
    if 1e-6 < angle < 3.1:
        assert np.allclose(found[2:5], k, atol=1e-9 / angle)


def test_where_there_is_no_direction_the_miss_is_half_a_turn_and_k_is_zero():
    assert ray_miss(1.0, 0.0, 0.0, 0.0, 0.0, 0.0) == (pi, *[0.0] * 7)
    assert ray_miss(1.0, 0.0, 0.0, 0.5 * NO_RAY_LENGTH, 0.0, 0.0)[0] == pi
    assert ray_miss(1.0, 0.0, 0.0, -2 * NO_RAY_LENGTH, 0.0, 0.0)[0] == 0.0
    for x, angle in ((-1.0, 0.0), (1.0, pi)):
        assert ray_miss(1.0, 0.0, 0.0, x, 0.0, 0.0)[0] == angle
        assert ray_miss(1.0, 0.0, 0.0, x, 0.0, 0.0)[2:5] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", CHAINS)
def test_the_first_row_is_the_gradient_of_the_angle(name):
    ready = ready_chain(name)
    n = len(ready.variables)
    rng = np.random.default_rng(0)
    for _ in range(sample(10)):
        q, point = rng.uniform(-2.0, 2.0, n), rng.uniform(-1, 1, 3)
        work = related(ready, point)
        angle, _ = ray_step(ready.packed, q, work, q, 0.0, 0.0)
        assert angle == pytest.approx(miss(ready, q, point), abs=1e-12)
        for k in range(n):
            more, less = q.copy(), q.copy()
            more[k] += 1e-6
            less[k] -= 1e-6
            slope = (miss(ready, more, point) - miss(ready, less, point)) / 2e-6
            assert work[k, TOWARDS] == pytest.approx(-ready.variables[k, SCALE] * slope, abs=2e-7)


def test_a_joint_at_its_limit_leaves_the_step_to_the_others():
    ready = ready_chain("hinges")
    q, point = np.array([0.1, 0.3, -0.4, 0.2, 0.5]), np.array([0.4, 0.9, -0.3])
    work = related(ready, point)
    ray_step(ready.packed, q, work, q, 0.0, 0.0)
    free = work[:5, STEP].copy()
    k = int(np.argmax(np.abs(free)))
    bound = ready.variables.copy()
    bound[k, UPPER if free[k] > 0 else LOWER] = q[k]
    ray_step(ready.packed._replace(variables=bound), q, work, q, 0.0, 0.0)
    held, rows = work[:5, STEP].copy(), work[:5, TOWARDS : ASIDE + 1]
    assert held[k] == 0.0
    angle = miss(ready, q, point)
    assert np.allclose(rows.T @ held, [angle, 0.0], atol=1e-9)  # the whole error all the same


def test_a_descent_converges_quadratically():
    ready = ready_chain("hinges")
    rng = np.random.default_rng(1)
    for _ in range(15):
        q = rng.uniform(-2.0, 2.0, 5)
        frame = np.empty((3, 4))
        exact_miss(ready.exact, q, np.zeros(3), frame)
        point = frame[:, 3] + 0.8 * frame[:, 2]
        q += rng.uniform(-0.05, 0.05, 5)
        status, steps, angle = descend_to_point(ready.packed, q, related(ready, point), 1e-9, 50)
        assert status == DESCENT_REACHED
        assert steps <= 6
        assert angle == pytest.approx(miss(ready, q, point), abs=1e-14)


def test_a_pull_shortens_the_way_and_keeps_the_ray_on_the_point():
    ready = ready_chain("hinges")
    rng = np.random.default_rng(3)
    shorter = 0
    for _ in range(15):
        q, seed = rng.uniform(-2.0, 2.0, (2, 5))
        frame = np.empty((3, 4))
        exact_miss(ready.exact, q, np.zeros(3), frame)
        point = frame[:, 3] + 0.8 * frame[:, 2]
        before = np.linalg.norm(q - seed)
        pull_to_seed(ready.packed, seed, q, related(ready, point), 1e-8, 99)
        assert miss(ready, q, point) < 2e-8
        assert np.linalg.norm(q - seed) <= before
        shorter += np.linalg.norm(q - seed) < 0.9 * before
    assert shorter > 8


def test_early_starts_are_near_the_seed_and_later_ones_point_well():
    ready = ready_chain("hinges")
    rng = np.random.default_rng(4)
    seed, point = rng.uniform(-2, 2, 5), np.array([0.3, 0.2, 0.4])
    q, work = np.empty(5), related(ready, point)
    for start in range(1, 5):
        begin_aside(ready.variables, seed, start, q)
        assert 0 < np.abs(q - seed).max() <= 5.0 * 0.5 ** (5 - start)
    wide = np.median([miss(ready, rng.uniform(-2.5, 2.5, 5), point) for _ in range(200)])
    angles = []
    for start in range(5, 45):
        begin_well(ready.packed, seed, start, q, work)
        assert (np.abs(q) <= 2.5).all()
        angles.append(miss(ready, q, point))
    assert np.median(angles) < 0.3 * wide


def head(eye, ray, twist=(0.0, 0.0, 0.0), tilt=(0.1, 0.02, 0.3)):
    """A pan about z, a tilt about the twisted frame's y, an eye at `eye` looking along `ray`."""
    exact = np.zeros((3, 16))
    base = RigidTransform.from_rpy(0.1, -0.2, 0.3, (0.5, -0.1, 0.2))
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0.0]])  # z of the joint is y of the head
    second = np.array(RigidTransform.from_rpy(*twist, tilt).matrix[:3])
    second[:, :3] = second[:, :3] @ turn
    z = np.array(ray) / np.linalg.norm(ray)
    x = np.cross(z, [0.3, 0.5, 0.8])
    x /= np.linalg.norm(x)
    last = turn.T @ np.column_stack([x, np.cross(z, x), z, eye])
    exact[:, :12] = base.matrix[:3].reshape(12), second.reshape(12), last.reshape(12)
    exact[:2, 13], exact[1, 15] = 1.0, 1
    return exact


def test_the_closed_form_is_that_of_the_text_book():
    """Pan about z, tilt about y at p, eye o, direction d: DESIGN's formula, term by term."""
    p, o, d = np.array([0.02, 0.01, 0.1]), np.array([0.03, 0.04, 0.05]), np.array([0.8, 0.0, -0.6])
    exact = np.zeros((3, 16))
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0.0]])  # z of the joint is y of the head
    ray = np.column_stack([np.cross([0, 1, 0], d), [0, 1, 0], d, o])
    exact[0, :12] = np.eye(3, 4).reshape(12)
    exact[1, :12] = np.column_stack([turn, p]).reshape(12)
    exact[2, :12] = (turn.T @ ray).reshape(12)
    exact[:2, 13], exact[1, 15] = 1.0, 1
    target = np.array([0.7, -0.4, 0.5])
    found = np.empty((4, 2))
    count, missing = pan_tilt(exact, target, np.zeros(2), found)
    expected = []
    c, rho = p[1] + o[1], np.hypot(*target[:2])
    for x in (sqrt(rho**2 - c**2), -sqrt(rho**2 - c**2)):
        pan = atan2(target[1], target[0]) - atan2(c, x)
        r = np.array([x - p[0], target[2] - p[2]])
        b = o[0] * d[0] + o[2] * d[2]
        for sign in (1, -1):
            s = -b + sign * sqrt(b * b - o[0] ** 2 - o[2] ** 2 + r @ r)
            if s > 0:
                v = (o + s * d)[[0, 2]]
                expected.append((pan, atan2(v[1], v[0]) - atan2(r[1], r[0])))
    assert missing == 0.0
    assert count == len(expected) == 2
    assert np.allclose(np.exp(1j * found[:count]), np.exp(1j * np.array(expected)), atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.floats(-1.4, 1.4), st.floats(0.01, 100.0))
def test_every_branch_meets_the_point_and_the_truth_is_among_them(seed, slant, distance):
    rng = np.random.default_rng(seed)
    eye = rng.uniform(-0.1, 0.1, 3)
    exact = head(eye, (rng.normal(), 0.0, rng.normal()), (slant, rng.uniform(-3, 3), 0.0))
    assert admits_pan_tilt(exact, 2)
    truth, frame = rng.uniform(-pi, pi, 2), np.empty((3, 4))
    exact_miss(exact, truth, np.zeros(3), frame)
    point = frame[:, 3] + distance * frame[:, 2]
    found = np.empty((4, 2))
    count, missing = pan_tilt(exact, point, np.zeros(2), found)
    assert missing == 0.0
    assert 1 <= count <= 4
    for q in found[:count]:
        assert exact_miss(exact, q, point, frame) < 1e-6
    near = np.abs(np.exp(1j * found[:count]) - np.exp(1j * truth)).max(axis=1)
    assert near.min() < 1e-5


def test_up_to_four_branches():
    """An eye that looks back across its own tilt axis sees near points four ways."""
    rng = np.random.default_rng(5)
    counts, found, frame = set(), np.empty((4, 2)), np.empty((3, 4))
    for _ in range(300):
        exact = head((-0.1, 0.01, 0.02), (1.0, 0.0, 0.0), tilt=(0.0, 0.02, 0.3))
        exact_miss(exact, rng.uniform(-pi, pi, 2), np.zeros(3), frame)
        point = frame[:, 3] + rng.uniform(0.001, 0.3) * frame[:, 2]
        counts.add(pan_tilt(exact, point, np.zeros(2), found)[0])
    assert 4 in counts


def test_what_is_not_of_this_form_is_not_taken_for_it():
    exact = head((0.1, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert admits_pan_tilt(exact, 2)
    assert admits_pan_tilt(head((0.1, 0.0, 0.0), (1.0, 5e-5, 0.0)), 2)  # a URDF's rounding
    assert not admits_pan_tilt(head((0.1, 0.0, 0.0), (1.0, 1e-3, 0.0)), 2)
    assert not admits_pan_tilt(head((0.1, 0.0, 0.0), (1.0, 0.0, 0.0), (pi / 2, 0, 0)), 2)
    assert not admits_pan_tilt(exact, 1)
    assert not admits_pan_tilt(np.vstack([exact, exact[:1]]), 2)
    for column, value in ((12, 1.0), (13, 2.0), (14, 0.1), (15, 1.0)):
        other = exact.copy()
        other[0, column] = value
        assert not admits_pan_tilt(other, 2)
