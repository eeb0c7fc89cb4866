# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parts of the pose solver, one by one, against plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import pi

import numpy as np
import pytest
from from_python import IS_PLAIN, from_python, sample
from random_chains import random_chain

from basis_ik.descent.descent_kernel import (
    DESCENT_REACHED,
    DESCENT_SPENT,
    begin_descent,
    descend,
    place,
)
from basis_ik.descent.fabrik_sweep_kernel import sweep
from basis_ik.descent.hinge_fit_kernel import rough_angle
from basis_ik.descent.pose_error_kernel import axis_error, excess, rotation_error, sine_cosine
from basis_ik.descent.pose_search_kernel import (
    COLUMNS,
    FREE_TURNS,
    GO_ON,
    LIMITS,
    UNBOUNDED,
    attempt_pose,
    attempt_poses,
    begin_inside,
    relate_to_target,
    search,
    set_bounds,
    take_shortest_turns,
    write_start,
)
from basis_ik.descent.proof_kernel import distance_and_angle, place_exactly
from basis_ik.descent.tables_kernel import (
    BOUND_LOWER,
    BOUND_UPPER,
    LOWER,
    LOWER_UPPER,
    PERIODIC,
    UPPER,
    Effort,
)
from basis_ik.numerics import jit
from basis_ik.numerics.normal_equations_kernel import solve_symmetric_6
from basis_ik.robot.chain_kernel import forward_frames
from basis_ik.search.precomputed_starts import OWN_STARTS
from basis_ik.search.prepare import prepare
from basis_ik.transforms.rigid import RigidTransform

(
    forward_frames,
    begin_descent,
    descend,
    place,
    rough_angle,
    sweep,
    relate_to_target,
    set_bounds,
    solve_symmetric_6,
    axis_error,
    excess,
    rotation_error,
    sine_cosine,
) = map(
    from_python,
    (
        forward_frames,
        begin_descent,
        descend,
        place,
        rough_angle,
        sweep,
        relate_to_target,
        set_bounds,
        solve_symmetric_6,
        axis_error,
        excess,
        rotation_error,
        sine_cosine,
    ),
)

TOLERANCES = 1e-6, 1e-6
FREE = np.array([1.0] * 6 + [0.0] * 6)


CHAINS = {
    "hinges": random_chain(1),
    "slides": random_chain(2, 7, slides=(0, 4)),
    "mimics": random_chain(3, 7, slides=(5,), mimics=(2, 3, 6)),
    "one": random_chain(4, 1),
    "parallel": random_chain(5)._replace(
        origins=np.array(
            # parallel up to the rounding of a URDF: no common normal to speak of
            [
                RigidTransform.from_rpy(3.7e-6 * i, 0, 0.1, (0.4, 0.1, 0)).matrix[:3]
                for i in range(6)
            ]
        )
    ),
}


@cache  # a search for starts is part of it
def ready_chain(name):
    return prepare(CHAINS[name])


@pytest.mark.parametrize("name", CHAINS)
def test_reduced_chain_and_proof_agree_with_the_chain(name):
    chain, ready = CHAINS[name], ready_chain(name)
    n, m = len(ready.variables), len(ready.joints)
    rng = np.random.default_rng(0)
    expected, proven = np.empty((3, 4)), np.empty((3, 4))
    work = ready.new_work()
    relate_to_target(ready.ends[0], np.eye(4), work, n + m)
    for _ in range(sample(50)):
        q = rng.uniform(-2.5, 2.5, n)
        forward_frames(chain, q, np.empty((m, 3, 4)), expected)
        place_exactly(ready.exact, q, proven)
        assert np.abs(proven - expected).max() < 1e-14
        reduced = np.array(place(ready.joints, ready.ends[1], q, work, n)).reshape(3, 4)
        assert np.abs(reduced - expected).max() < 3e-15 * m + 1e-14


def test_sine_and_cosine_agree_with_the_library():
    x = np.concatenate([np.linspace(-40, 40, 20001), np.linspace(-1e5, 1e5, 20001)])
    pairs = np.array([sine_cosine(float(v)) for v in x])
    assert np.abs(pairs[:, 0] - np.sin(x)).max() < 3e-15 + 1e-16 * 1e5
    near = np.abs(x) <= 40
    assert np.abs(pairs[near, 0] - np.sin(x[near])).max() < 4e-16
    assert np.abs(pairs[near, 1] - np.cos(x[near])).max() < 4e-16


def test_solve_symmetric_6_solves_a_system():
    rng = np.random.default_rng(0)
    for _ in range(200):
        j = rng.normal(size=(6, 8))
        a, b = j @ j.T, rng.normal(size=6)
        lower = a[np.tril_indices(6)]
        x = np.array(solve_symmetric_6(tuple(lower), tuple(b)))
        assert np.allclose(a @ x, b, atol=1e-8)


def test_rotation_error_increases_up_to_half_a_turn():
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-9, 1e-3, 1.0, 3.0, pi - 1e-3, pi - 1e-9, pi):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        r = RigidTransform.from_axis_angle(axis, angle).rotation
        error = np.array(rotation_error(tuple(np.hstack([r, np.zeros((3, 1))]).ravel())))
        assert np.linalg.norm(error) == pytest.approx(2 * np.sin(angle / 2), abs=1e-9)
        if 0 < angle < pi - 1e-6:
            assert np.allclose(error, -2 * np.sin(angle / 2) * axis, atol=1e-7)


def test_axis_error_rotates_an_axis_onto_z():
    for angle in (0.0, 1e-6, 1.0, 3.0, pi):
        error = np.array(axis_error(np.sin(angle), 0.0, np.cos(angle)))
        assert np.linalg.norm(error) == pytest.approx(2 * np.sin(angle / 2), abs=1e-6)
        if 0 < angle < pi:
            assert error[1] < 0.0 == error[0]


def test_the_angle_of_the_proof_is_exact_at_both_ends():
    for angle in (0.0, 1e-12, 1e-6, 1.0, pi - 1e-6, pi):
        frame = RigidTransform.from_axis_angle((0.3, 0.5, -0.2), angle, (0.0, 3e-9, 4e-9)).matrix
        away, turned = distance_and_angle(frame[:3].copy(), np.eye(4), FREE)
        assert turned == pytest.approx(angle, abs=1e-15 + 1e-7 * (angle > 3))
        assert away == pytest.approx(5e-9, rel=1e-9)


@pytest.mark.parametrize("turn", [-3, -1, 0, 1, 3])
def test_starts_lie_inside_and_turns_are_the_shortest(turn):
    variables = np.zeros((3, 8))
    variables[:, LOWER], variables[:, UPPER] = (-np.inf, -6.0, -1.0), (np.inf, 6.0, 1.0)
    variables[:, PERIODIC] = 1
    q = np.array([0.5, 0.5, 0.5])
    take_shortest_turns(variables, q + 2 * pi * turn, q)
    assert q[0] == pytest.approx(0.5 + 2 * pi * turn)
    assert -6.0 <= q[1] <= 6.0
    assert q[1] == pytest.approx(0.5 - 2 * pi * (turn < 0), abs=1e-12)
    assert q[2] == 0.5
    begin_inside(variables, np.array([99.0, 99.0, 99.0]), q)
    assert q[0] == 99.0
    assert -6.0 <= q[1] <= 6.0
    assert -1.0 <= q[2] <= 1.0


@pytest.mark.parametrize("half", [pi, 1.2 * pi])
def test_a_full_turn_of_range_ends_inside_despite_rounding(half):
    variables = np.zeros((1, 8))
    variables[0, LOWER_UPPER], variables[0, PERIODIC] = (-half, half), 1
    q = np.empty(1)
    for value in (half, -half, np.nextafter(half, 9), np.nextafter(-half, -9), 40.0, -1e4):
        for seed in (0.0, half, -half, 3.0 * half):
            q[0] = value
            take_shortest_turns(variables, np.array([seed]), q)
            assert -half <= q[0] <= half
            assert np.cos(q[0] - value) == pytest.approx(1.0)


def test_only_a_joint_with_a_full_turn_of_range_is_unbounded():
    variables = np.zeros((4, 8))
    variables[:, LOWER], variables[:, UPPER] = (-4.0, -3.0, -4.0, -np.inf), (4.0, 3.0, 4.0, 1.0)
    variables[:, PERIODIC] = (1, 1, 0, 0)  # room; too little; no hinge; a limit on one side
    work = np.zeros((10, 12))
    set_bounds(variables, FREE_TURNS, work)
    assert work[:4, BOUND_LOWER].tolist() == [-np.inf, -3.0, -4.0, -np.inf]
    assert work[:4, BOUND_UPPER].tolist() == [np.inf, 3.0, 4.0, 1.0]
    set_bounds(variables, LIMITS, work)
    assert (work[:4, BOUND_LOWER : BOUND_UPPER + 1] == variables[:, LOWER_UPPER]).all()
    set_bounds(variables, UNBOUNDED, work)
    assert (work[:4, BOUND_LOWER] == -np.inf).all()
    assert (work[:4, BOUND_UPPER] == np.inf).all()


def test_own_starts_come_first_and_reach_more_than_others():
    chain = random_chain(1)._replace(lower=np.full(6, -1.2), upper=np.full(6, 1.2))
    ready = prepare(chain)
    plain = replace(ready, variables=ready.variables[:, :COLUMNS].copy())
    q, spread = np.empty(6), np.empty(6)
    write_start(ready.variables, OWN_STARTS.kept, q)
    assert (q == ready.variables[:, -1]).all()
    write_start(ready.variables, OWN_STARTS.kept + 1, q)
    write_start(plain.variables, 1, spread)
    assert (q == spread).all()
    rng = np.random.default_rng(0)
    target, used = np.eye(4), []
    for chain in (ready, plain):
        used.append(0)
        for truth in rng.uniform(-1.2, 1.2, (sample(300), 6)):
            place_exactly(ready.exact, truth, target[:3])
            used[-1] += chain.search(
                ready.weights, target, np.zeros(6), q, TOLERANCES, 9999, first=1, last=500
            )[2]
    assert used[0] < 0.9 * used[1] or IS_PLAIN  # few starts are tried there


def test_starts_beyond_the_limits_end_inside_and_help():
    chain = random_chain(3)._replace(lower=np.full(6, -1.5), upper=np.full(6, 1.5))
    ready = prepare(chain)
    rng = np.random.default_rng(1)
    target, q, worst, beyond_limits = np.eye(4), np.empty(6), [0, 0], 0
    for truth in rng.uniform(-1.5, 1.5, (sample(400), 6)):
        place_exactly(ready.exact, truth, target[:3])
        for begin_at in (0, 1):
            # Searches with a single start do not descend beyond the limits.
            first, found = 0, (0,)
            while found[0] != DESCENT_REACHED and first <= 400:
                last = 400 if begin_at == 0 else first
                found = ready.search(
                    ready.weights, target, np.zeros(6), q, TOLERANCES, 9999, first=first, last=last
                )
                assert (np.abs(q) <= 1.5).all()
                first = found[2] + 1
            assert found[0] == DESCENT_REACHED
            worst[begin_at] = max(worst[begin_at], found[2])
            beyond_limits += begin_at == 0 and found[2] > OWN_STARTS.kept
    if not IS_PLAIN:
        assert beyond_limits > 0
        assert worst[0] < 0.6 * worst[1]


@pytest.mark.parametrize("slice_", [1, 2, 7])
def test_a_search_in_slices_equals_one_call(slice_):
    ready = ready_chain("mimics")
    rng = np.random.default_rng(0)
    n = len(ready.variables)
    target, whole, sliced, several = np.eye(4), np.empty(n), np.empty(n), 0
    for restarts in (0, 30):
        for truth, seed in rng.uniform(-2.5, 2.5, (sample(30), 2, n)):
            place_exactly(ready.exact, truth, target[:3])

            def search(q, work, steps, first, restarts=restarts, seed=seed):
                return ready.search(
                    ready.weights, target, seed, q, TOLERANCES, steps,
                    first=first, last=restarts, work=work,
                )  # fmt: skip

            expected = search(whole, ready.new_work(), 9999, 0)
            work = ready.new_work()
            found = search(sliced, work, slice_, 0)
            steps = found[1]
            while found[0] == DESCENT_SPENT:
                assert found[1] == slice_
                found = search(sliced, work, slice_, GO_ON)
                steps += found[1]
            several += found[2] > 1
            assert (found[0], steps, found[2]) == expected[:3]
            if found[0] == DESCENT_REACHED:  # else the end of a slice may be the best that was seen
                assert (sliced == whole).all()
    assert several > 5 or IS_PLAIN


def test_further_starts_are_distinct_fill_the_limits_and_are_constant():
    ready = ready_chain("hinges")
    starts = np.empty((500, 6))
    for i in range(500):
        write_start(ready.variables, OWN_STARTS.kept + i + 1, starts[i])
    assert starts.min() >= -2.5
    assert starts.max() <= 2.5
    assert (np.histogram(starts[:, 5], 10, (-2.5, 2.5))[0] > 40).all()
    assert len(np.unique(starts.round(9), axis=0)) == 500


def test_small_helpers():
    assert excess(0.5, 0.2) == pytest.approx(0.3)
    assert excess(-0.5, 0.2) == pytest.approx(-0.3)
    assert excess(0.1, 0.2) == 0.0
    assert excess(7.0, np.inf) == 0.0
    for y, x in ((0.0, 1.0), (1.0, 0.0), (-1.0, -1.0), (0.3, -0.9), (0.0, 0.0), (-2.0, 0.1)):
        assert rough_angle(y, x) == pytest.approx(np.arctan2(y, x), abs=2e-5)


def test_a_sweep_brings_the_tip_nearer_and_keeps_the_limits():
    chain = random_chain(1, 7)
    ready = prepare(chain)
    rng = np.random.default_rng(0)
    frame, target = np.empty((3, 4)), np.eye(4)
    work, better = ready.new_work(), 0
    set_bounds(ready.variables, LIMITS, work)
    count = sample(200)
    for _ in range(count):
        truth, q = rng.uniform(-2.5, 2.5, (2, 7))
        place_exactly(ready.exact, truth, target[:3])
        place_exactly(ready.exact, q, frame)
        before = distance_and_angle(frame, target, FREE)[0]
        relate_to_target(ready.ends[0], target, work, 14)
        for _ in range(3):
            assert sweep(ready.packed, ready.weights, q, work, 0.01, 0.0)
            assert (np.abs(q) <= 2.5).all()
        place_exactly(ready.exact, q, frame)
        better += distance_and_angle(frame, target, FREE)[0] < before
    assert better > 0.9 * count


def test_a_descent_needs_few_steps_from_nearby():
    ready = ready_chain("hinges")
    rng = np.random.default_rng(0)
    target, work, taken = np.eye(4), ready.new_work(), []
    set_bounds(ready.variables, LIMITS, work)
    count = sample(100)
    for _ in range(count):
        truth = rng.uniform(-2.3, 2.3, 6)
        place_exactly(ready.exact, truth, target[:3])
        q = truth + rng.uniform(-0.05, 0.05, 6)
        relate_to_target(ready.ends[0], target, work, 12)
        begin_descent(work)
        status, steps, _ = descend(
            ready.packed, ready.weights, q, work, (1e-18, 1e-18), Effort(50, 1, careful=False)
        )
        if status == DESCENT_REACHED:
            taken.append(steps)
    assert len(taken) > 0.9 * count
    assert np.median(taken) <= 5


def test_a_careful_descent_reads_no_uninitialised_state():
    ready = ready_chain("hinges")
    truth, target = np.full(6, 0.4), np.eye(4)
    place_exactly(ready.exact, truth, target[:3])
    ends = []
    for garbage in (np.nan, -1.0, 1e-300, 1e300):
        work, q = ready.new_work(), truth + 0.05
        work.fill(garbage)
        set_bounds(ready.variables, LIMITS, work)
        relate_to_target(ready.ends[0], target, work, 12)
        assert descend(
            ready.packed, ready.weights, q, work, (1e-18, 1e-18), Effort(50, 1, careful=True)
        )[0] == DESCENT_REACHED  # fmt: skip
        ends.append(q)
    assert (np.array(ends) == ends[0]).all()


@pytest.mark.skipif(IS_PLAIN, reason="nothing is compiled")
def test_a_search_is_ready_together_with_its_attempts():
    """They are in its closure, not among the names that it calls."""
    assert attempt_pose in jit._callees(attempt_poses)
    assert attempt_poses in jit._callees(search)
