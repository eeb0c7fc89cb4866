# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method to the nearest pose: its derivatives, and where it ends."""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np
import pytest
from from_python import IS_PLAIN, from_python, sample
from random_chains import random_chain

from basis_ik.descent.descent_kernel import place
from basis_ik.descent.pose_search_kernel import relate_to_target
from basis_ik.descent.tables_kernel import (
    BEFORE,
    BOUND_LOWER,
    BOUND_UPPER,
    DRIVER,
    GRADIENT,
    HELD,
    MOTION_X,
    MOTION_Z,
    P0,
    P1,
    P2,
    SCALE,
    STEP,
)
from basis_ik.robot.chain_kernel import forward_frames
from basis_ik.search.prepare import prepare
from basis_ik.solvers.pose.newton_kernel import (
    LEAST_NEWTON_GAIN,
    Ends,
    correct,
    factor,
    gradient_and_hessian,
    minimise,
    minimise_each,
    newton_step,
    squared_errors,
    step_inside,
)
from basis_ik.transforms.rigid import RigidTransform

(
    forward_frames,
    place,
    relate_to_target,
    gradient_and_hessian,
    factor,
    squared_errors,
    newton_step,
) = map(
    from_python,
    (
        forward_frames,
        place,
        relate_to_target,
        gradient_and_hessian,
        factor,
        squared_errors,
        newton_step,
    ),
)
minimise, step_inside = from_python(minimise), from_python(step_inside)
correct = from_python(correct)

WEIGHTS = {
    "pose": [1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "position": [2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "orientation": [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "axis": [1.0, 1.0, 1.0, 0.4, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "box": [1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.0, np.inf, 0.0, 0.0, 0.0],
    "rotation box": [1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.0, 0.0, 0.0, 0.2, 0.0, np.inf],
    "tilt": [1.0, 1.0, 1.0, 0.4, 0.4, 0.0, 0.0, 0.0, 0.0, 0.1, 0.3, 0.0],
}


CHAINS = {
    "hinges": random_chain(1),
    "slides": random_chain(2, slides=(0, 3)),
    "mimic": random_chain(3, slides=(5,), mimics=(2,)),
}


@cache  # a search for starts is part of it
def ready_chain(name):
    return prepare(CHAINS[name])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", CHAINS)
def test_slope_and_curvature_are_the_derivatives_of_the_error(name, weights):
    ready, w = ready_chain(name), np.array(WEIGHTS[weights])
    n, m = len(ready.variables), len(ready.joints)
    work, hessian, scales = ready.new_work(), np.empty((n, n)), ready.variables[:, SCALE]
    rng = np.random.default_rng(0)

    def frame_at(x):
        return place(ready.joints, ready.ends[1], x * scales, work, n)

    def left(x):
        return sum(squared_errors(w, work, n + m + 1, frame_at(x)))

    def slope(x):
        gradient_and_hessian(ready.packed, w, work, hessian, frame_at(x))
        return work[:n, GRADIENT].copy()

    for _ in range(sample(10)):
        target = RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), rng.uniform(-0.5, 0.5, 3))
        relate_to_target(ready.ends[0], target.matrix.copy(), work, n + m)
        x, steps = rng.uniform(-2.0, 2.0, n), 1e-6 * np.eye(n)
        ups = [0.5 * left(x + h) for h in steps]
        downs = [0.5 * left(x - h) for h in steps]
        assert np.allclose(slope(x), (np.array(ups) - downs) / 2e-6, atol=1e-8)
        bends = np.array([slope(x + h) - slope(x - h) for h in steps]) / 2e-6
        slope(x)
        if not w[9:].any():  # of a rotation with tolerances the first derivatives must do
            assert np.allclose(np.tril(hessian), np.tril(bends), atol=1e-7)


def test_a_step_solves_the_damped_system_and_promises_what_the_model_says():
    rng = np.random.default_rng(1)
    for _ in range(20):
        root, work, factors = rng.normal(size=(5, 5)), np.zeros((9, 12)), np.empty((5, 5))
        hessian = root @ root.T
        work[:5, GRADIENT], work[2, HELD] = rng.normal(size=5), 1.0  # variable 2 is held
        assert factor(hessian, work, 0.1, factors)
        largest, gain = newton_step(factors, work, np.empty(5))
        free, step = [0, 1, 3, 4], work[:5, STEP]
        damped = hessian[np.ix_(free, free)] + 0.1 * np.eye(4)
        assert np.allclose(damped @ step[free], -work[free, GRADIENT])
        assert step[2] == 0.0
        assert largest == np.abs(step).max()
        assert gain == pytest.approx(0.5 * step[free] @ damped @ step[free])
    assert not factor(-np.eye(5), work, 0.1, factors)  # no bottom in sight


def test_a_step_to_bounds_is_the_best_one_for_the_other_variables():
    """Of the damped model: what stops at a bound stops there, and the others are at its minimum."""
    rng, n, stopped = np.random.default_rng(7), 5, 0
    variables = np.zeros((n, 8))
    variables[:, SCALE] = 1.0, 1.0, 2.0, 1.0, 0.5
    for _ in range(sample(200)):
        root, work, square = rng.normal(size=(n, n)), np.zeros((9, 12)), np.empty((2, n, n))
        square[0], q, step = root @ root.T, rng.uniform(-1.0, 1.0, n), np.empty(n)
        work[:n, BOUND_LOWER], work[:n, BOUND_UPPER] = -1.0, 1.0
        gradient, damped = 0.3 * rng.normal(size=n), square[0] + 0.1 * np.eye(n)
        work[:n, GRADIENT] = gradient
        assert factor(square[0], work, 0.1, square[1])
        largest, gain = step_inside(variables, q, work, square, 0.1, step)
        assert (work[:n, STEP] == step).all()
        assert largest == np.abs(step).max()
        share = min(1.0, 1.0 / largest)
        assert (np.abs(q + share * variables[:, SCALE] * step) <= 1.0 + 1e-12).all()
        free = work[:n, HELD] == 0.0
        assert np.allclose((damped @ step + gradient)[free], 0.0, atol=1e-9)
        assert gain == pytest.approx(-step @ gradient - 0.5 * step @ damped @ step, abs=1e-12)
        stopped += not free.all()
    assert stopped > 0


def test_a_descent_along_a_limit_takes_few_steps():
    """Where a step is only cut at a limit, the tip leaves its position, and steps become tiny."""
    ready, weights = ready_chain("hinges"), np.array(WEIGHTS["pose"])
    weights[3:6] *= 0.01
    rng, steps = np.random.default_rng(8), []
    for _ in range(sample(100)):
        # At a position within reach, whatever the orientation, with limits near by.
        truth, low = rng.uniform(-1.0, 1.0, 6), -1.0 - 0.1 * rng.random(6)
        work, n, q = ready.new_work(), 6, truth.copy()
        target = RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), tip_position(truth))
        work[:n, BOUND_LOWER], work[:n, BOUND_UPPER] = low, -low
        relate_to_target(ready.ends[0], target.matrix.copy(), work, 2 * n)
        square = np.empty((2, n, n))
        ends = Ends(300, LEAST_NEWTON_GAIN)
        steps.append(minimise(ready.packed, weights, q, work, square, (0.0, 0.0), ends))
    assert np.mean(steps) < (300 if IS_PLAIN else 130)


@pytest.mark.parametrize("name", CHAINS)
def test_a_corrected_step_changes_the_position_as_its_linear_model_says(name):
    ready, weights = ready_chain(name), np.array(WEIGHTS["pose"])
    weights[3:6] *= 0.01
    n, m, rng, shares, held = (
        len(ready.variables),
        len(ready.joints),
        np.random.default_rng(3),
        [],
        0,
    )
    square, drivers = np.empty((2, n, n)), ready.joints[:, DRIVER].astype(int)
    for _ in range(sample(100)):
        work, q = ready.new_work(), rng.uniform(-1.0, 1.0, n)
        work[:n, BOUND_LOWER], work[:n, BOUND_UPPER] = q - 1.0, q + 1.0
        relate_to_target(ready.ends[0], np.eye(4), work, n + m)
        tip = place(ready.joints, ready.ends[1], q, work, n)
        place_near = np.array([tip[i] for i in (P0, P1, P2)]) + rng.uniform(-1e-3, 1e-3, 3)
        target = RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), place_near)
        relate_to_target(ready.ends[0], target.matrix.copy(), work, n + m)
        begin = place(ready.joints, ready.ends[1], q, work, n)
        gradient_and_hessian(ready.packed, weights, work, square[0], begin)
        work[:n, HELD] = rng.random(n) < 0.1
        if not factor(square[0], work, 1e-3, square[1]):
            continue
        work[:n, BEFORE] = q
        step = rng.uniform(-0.02, 0.02, n) * (work[:n, HELD] == 0.0)
        q += ready.variables[:, SCALE] * step
        straight = q.copy()
        motions = work[n : n + m, MOTION_X : MOTION_Z + 1]
        wanted = np.array([begin[i] for i in (P0, P1, P2)]) + step[drivers] @ motions
        ends = []
        for _ in range(2):
            frame = place(ready.joints, ready.ends[1], q, work, n)
            there = np.array([frame[P0], frame[P1], frame[P2]])
            ends.append(np.linalg.norm(there - wanted))
            correct(ready.packed, weights, q, work, square[1], (begin, frame), np.empty(n))
        still = work[:n, HELD] != 0.0
        held += still.sum()
        assert (q[still] == straight[still]).all()
        assert (np.abs(q - work[:n, BEFORE]) <= 1.0).all()
        shares.append(ends[1] / ends[0])
    assert held > 0 or IS_PLAIN
    assert np.median(shares) < 0.2


def test_a_position_within_its_box_is_not_corrected():
    ready, weights = ready_chain("hinges"), np.array(WEIGHTS["pose"])
    weights[6:9] = 9.0
    n, m, rng, work = 6, len(ready.joints), np.random.default_rng(3), ready.new_work()
    q, square = rng.uniform(-1.0, 1.0, n), np.empty((2, n, n))
    work[:n, BOUND_LOWER], work[:n, BOUND_UPPER] = q - 1.0, q + 1.0
    relate_to_target(ready.ends[0], np.eye(4), work, n + m)
    begin = place(ready.joints, ready.ends[1], q, work, n)
    gradient_and_hessian(ready.packed, weights, work, square[0], begin)
    work[:n, HELD], work[:n, BEFORE] = 0.0, q
    assert factor(square[0], work, 1.0, square[1])
    q += 0.1
    moved = q.copy()
    frame = place(ready.joints, ready.ends[1], q, work, n)
    correct(ready.packed, weights, q, work, square[1], (begin, frame), np.empty(n))
    assert (q == moved).all()


def test_in_a_curved_valley_corrected_steps_are_few():
    """It takes 47 without corrections."""
    ready, weights = ready_chain("hinges"), np.array(WEIGHTS["pose"])
    weights[3:6] *= 0.03
    rng, steps = np.random.default_rng(4), []
    for _ in range(sample(300)):
        target = RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), rng.uniform(-0.7, 0.7, 3))
        _, taken = left_by(ready, weights, target, rng.uniform(-2.5, 2.5, 6), np.inf)
        steps.append(taken)
    assert np.mean(steps) < 40


def tip_position(q):
    frame, frames = np.empty((3, 4)), np.empty((len(q), 3, 4))
    forward_frames(CHAINS["hinges"], q, frames, frame)
    return frame[:, 3]


def minimised(ready, weights, target, starts, steps=60, budget=10_000):
    n = len(ready.variables)
    q, figures = np.empty_like(starts), np.empty((len(starts), 2))
    taken = minimise_each(
        ready.fields, (weights[0], target.matrix.copy(), 1e-6, 1e-6), weights, starts,
        (q, figures), (ready.new_work(), np.empty((2, n, n))), (steps, budget),
    )  # fmt: skip
    return q, figures, taken


@pytest.mark.parametrize("weights", ["pose", "position", "axis", "rotation box", "tilt"])
def test_it_ends_where_no_small_motion_comes_nearer(weights):
    ready, w = ready_chain("hinges"), np.array(WEIGHTS[weights])
    rng, n = np.random.default_rng(2), 6
    starts = rng.uniform(-2.5, 2.5, (20, n))
    target = RigidTransform.from_rpy(0.3, 0.4, 0.5, (1.5, 1.0, -1.2))
    q, _, taken = minimised(ready, w[None], target, starts)
    # And not by creeping; slower without the curvature of a rotation's tolerances.
    assert taken < (40 if w[9:].any() else 25) * len(starts)
    assert (np.abs(q) <= 2.5).all()
    work = ready.new_work()
    relate_to_target(ready.ends[0], target.matrix.copy(), work, 2 * n)

    def left(q):
        return sum(
            squared_errors(w, work, 2 * n + 1, place(ready.joints, ready.ends[1], q, work, n))
        )

    for end in q:
        for moved in np.clip(end + 1e-3 * rng.normal(size=(sample(50), n)), -2.5, 2.5):
            assert left(moved) >= left(end) - 1e-10


def test_what_can_be_reached_is_reached_and_proven():
    chain = CHAINS["hinges"]
    ready = ready_chain("hinges")
    truth = np.array([0.3, -0.8, 1.0, 0.4, -0.6, 0.9])
    frame = np.eye(4)
    frames = np.empty((len(truth), 3, 4))
    forward_frames(chain, truth, frames, frame[:3])
    target, full = RigidTransform.from_matrix(frame), np.array([WEIGHTS["pose"]])
    q, figures, _ = minimised(ready, full, target, (truth + 0.1)[None])
    assert figures.max() <= 1e-6
    found = np.empty((3, 4))
    forward_frames(chain, q[0], frames, found)
    assert np.abs(found - frame[:3]).max() < 2e-6


def test_steps_are_counted_and_bounded():
    ready = ready_chain("slides")
    target = RigidTransform.from_rpy(0.3, 0.4, 0.5, (5.0, 1.0, -1.2))
    starts = np.random.default_rng(3).uniform(-2.0, 2.0, (4, 6))
    full = np.array([WEIGHTS["pose"]] * 2)
    assert minimised(ready, full, target, starts, budget=7)[2] == 7
    assert minimised(ready, full, target, starts, steps=2)[2] == 2 * 2 * 4


def left_by(ready, weights, target, start, least_gain=LEAST_NEWTON_GAIN):
    """Return the squared errors where a descent ends."""
    n, m = len(ready.variables), len(ready.joints)
    work, q = ready.new_work(), start.copy()
    work[:n, BOUND_LOWER], work[:n, BOUND_UPPER] = -2.5, 2.5
    relate_to_target(ready.ends[0], target.matrix.copy(), work, n + m)
    ends = Ends(60, least_gain)
    minimise(ready.packed, weights, q, work, np.empty((2, n, n)), (0.0, 0.0), ends)
    frame = place(ready.joints, ready.ends[1], q, work, n)
    return squared_errors(weights, work, n + m + 1, frame)


def test_a_rotation_of_little_weight_converges_beside_a_large_distance():
    ready, weights = ready_chain("hinges"), np.array(WEIGHTS["pose"])
    weights[3:6] *= 1e-3
    rng = np.random.default_rng(5)
    for _ in range(sample(10)):
        target = RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), (5.0, 4.0, -3.2))
        start = rng.uniform(-2.0, 2.0, 6)
        end = left_by(ready, weights, target, start)
        least = left_by(ready, weights, target, start, least_gain=1e-15)
        assert sum(end) - sum(least) <= 1e-4 * weights[3] ** 2
