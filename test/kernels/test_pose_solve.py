"""The parts of the pose solver, one by one, against plain NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from math import pi

import numpy as np
import pytest

from basis_ik.kernels.chain import ChainArrays, forward
from basis_ik.kernels.descent import REACHED, descend, place
from basis_ik.kernels.fabrik_sweep import clamp_turn, rough_angle, sweep
from basis_ik.kernels.normal_equations import solve_symmetric_6
from basis_ik.kernels.pose_error import axis_error, beyond, rotation_error, sine_cosine
from basis_ik.kernels.pose_solve import (
    begin_anew,
    begin_inside,
    relate_to_target,
    take_shortest_turns,
)
from basis_ik.kernels.proof import distance_and_angle, place_exactly
from basis_ik.solvers.prepared import prepare
from basis_ik.transforms.rigid import RigidTransform

FREE = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])


def some_chain(seed, m=6, slides=(), mimics=()):
    """Any axes and offsets; `mimics` follow the joint before them."""
    rng = np.random.default_rng(seed)
    origins = np.array(
        [
            RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), rng.uniform(-0.4, 0.4, 3)).matrix[:3]
            for _ in range(m + 1)
        ]
    )
    variables, multipliers, offsets = [], np.ones(m), np.zeros(m)
    for i in range(m):
        variables.append(variables[-1] if i in mimics else len(set(variables)))
        if i in mimics:
            multipliers[i], offsets[i] = rng.uniform(-2, 2, 2)
    n = len(set(variables))
    prismatic = np.zeros(m, np.int64)
    prismatic[list(slides)] = 1
    return ChainArrays(
        origins[:-1].copy(), prismatic, np.array(variables, np.int64), multipliers, offsets,
        origins[-1].copy(), np.full(n, -2.5), np.full(n, 2.5), np.zeros(n, np.int64),
    )  # fmt: skip


CHAINS = {
    "hinges": some_chain(1),
    "slides": some_chain(2, 7, slides=(0, 4)),
    "mimics": some_chain(3, 7, slides=(5,), mimics=(2, 3, 6)),
    "one": some_chain(4, 1),
    "parallel": some_chain(5)._replace(
        origins=np.array(
            # parallel up to the rounding of a URDF: no common normal to speak of
            [
                RigidTransform.from_rpy(3.7e-6 * i, 0, 0.1, (0.4, 0.1, 0)).matrix[:3]
                for i in range(6)
            ]
        )
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_reduced_chain_and_the_proof_are_the_chain(name):
    chain = CHAINS[name]
    ready = prepare(chain)
    n, m = len(ready.variables), len(ready.joints)
    rng = np.random.default_rng(0)
    expected, proven = np.empty((3, 4)), np.empty((3, 4))
    work = ready.new_work()
    relate_to_target(ready.ends[0], np.eye(4), work, n + m)
    for _ in range(50):
        q = rng.uniform(-2.5, 2.5, n)
        forward(chain, q, expected)
        place_exactly(ready.exact, q, proven)
        assert np.abs(proven - expected).max() < 1e-14
        reduced = np.array(place(ready.joints, ready.ends[1], q, work, n)).reshape(3, 4)
        assert np.abs(reduced - expected).max() < 3e-15 * m + 1e-14


def test_sine_and_cosine_are_those_of_the_library():
    x = np.concatenate([np.linspace(-40, 40, 20001), np.linspace(-1e5, 1e5, 20001)])
    pairs = np.array([sine_cosine(float(v)) for v in x])
    assert np.abs(pairs[:, 0] - np.sin(x)).max() < 3e-15 + 1e-16 * 1e5
    near = np.abs(x) <= 40
    assert np.abs(pairs[near, 0] - np.sin(x[near])).max() < 4e-16
    assert np.abs(pairs[near, 1] - np.cos(x[near])).max() < 4e-16


def test_the_system_of_six_is_solved():
    rng = np.random.default_rng(0)
    for _ in range(200):
        j = rng.normal(size=(6, 8))
        a, b = j @ j.T, rng.normal(size=6)
        lower = a[np.tril_indices(6)]
        x = np.array(solve_symmetric_6(*lower, *b))
        assert np.allclose(a @ x, b, atol=1e-8)


def test_the_rotation_error_turns_back_and_grows_up_to_half_a_turn():
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-9, 1e-3, 1.0, 3.0, pi - 1e-3, pi - 1e-9, pi):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        r = RigidTransform.from_axis_angle(axis, angle).rotation
        error = np.array(rotation_error(*r.ravel()))
        assert np.linalg.norm(error) == pytest.approx(2 * np.sin(angle / 2), abs=1e-9)
        if 0 < angle < pi - 1e-6:
            assert np.allclose(error, -2 * np.sin(angle / 2) * axis, atol=1e-7)


def test_the_axis_error_turns_an_axis_onto_z():
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
    variables[:, 0], variables[:, 1] = (-np.inf, -6.0, -1.0), (np.inf, 6.0, 1.0)
    variables[:, 5] = 1
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


def test_fresh_starts_differ_fill_the_limits_and_never_change():
    ready = prepare(CHAINS["hinges"])
    starts = np.empty((500, 6))
    for i in range(500):
        begin_anew(ready.variables, i + 1, starts[i])
    assert starts.min() >= -2.5
    assert starts.max() <= 2.5
    assert (np.histogram(starts[:, 5], 10, (-2.5, 2.5))[0] > 40).all()
    assert len(np.unique(starts.round(9), axis=0)) == 500


def test_small_helpers():
    assert beyond(0.5, 0.2) == pytest.approx(0.3)
    assert beyond(-0.5, 0.2) == pytest.approx(-0.3)
    assert beyond(0.1, 0.2) == 0.0
    assert beyond(7.0, np.inf) == 0.0
    for y, x in ((0.0, 1.0), (1.0, 0.0), (-1.0, -1.0), (0.3, -0.9), (0.0, 0.0), (-2.0, 0.1)):
        assert rough_angle(y, x) == pytest.approx(np.arctan2(y, x), abs=2e-5)
    assert clamp_turn(0.3, -1.0, 1.0) == 0.3
    assert clamp_turn(1.2, -1.0, 1.0) == 1.0
    assert clamp_turn(-1.2, -1.0, 1.0) == -1.0
    assert clamp_turn(2 * pi + 0.3, -1.0, 1.0) == pytest.approx(0.3)
    assert clamp_turn(4.0, -1.0, 1.0) == -1.0  # on the circle -1 is nearer to 4


def test_a_sweep_brings_the_tip_nearer_and_keeps_the_limits():
    chain = some_chain(1, 7)
    ready = prepare(chain)
    rng = np.random.default_rng(0)
    frame, target = np.empty((3, 4)), np.eye(4)
    work, better = ready.new_work(), 0
    for _ in range(200):
        truth, q = rng.uniform(-2.5, 2.5, (2, 7))
        place_exactly(ready.exact, truth, target[:3])
        place_exactly(ready.exact, q, frame)
        before = distance_and_angle(frame, target, FREE)[0]
        relate_to_target(ready.ends[0], target, work, 14)
        for _ in range(3):
            sweep(ready.joints, ready.variables, ready.ends[1], q, work, ready.full, 0.01, 0.0)
            assert (np.abs(q) <= 2.5).all()
        place_exactly(ready.exact, q, frame)
        better += distance_and_angle(frame, target, FREE)[0] < before
    assert better > 180


def test_a_descent_needs_few_steps_from_nearby():
    ready = prepare(CHAINS["hinges"])
    rng = np.random.default_rng(0)
    target, work, taken = np.eye(4), ready.new_work(), []
    for _ in range(100):
        truth = rng.uniform(-2.3, 2.3, 6)
        place_exactly(ready.exact, truth, target[:3])
        q = truth + rng.uniform(-0.05, 0.05, 6)
        relate_to_target(ready.ends[0], target, work, 12)
        status, steps, _ = descend(
            ready.joints, ready.variables, ready.ends[1], ready.full, q, work,
            1e-18, 1e-18, 50, 1, False,
        )  # fmt: skip
        if status == REACHED:
            taken.append(steps)
    assert len(taken) > 90
    assert np.median(taken) <= 5


PLAIN = """
import numpy as np
from basis_ik.kernels import pose_solve
from basis_ik.kernels.chain import ChainArrays
from basis_ik.kernels.proof import place_exactly
from basis_ik.solvers.prepared import prepare
eye = np.eye(3, 4)
def origin(x, y, z, up):
    o = eye.copy(); o[:, 3] = x, y, z
    if up: o[:, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    return o
origins = np.array([origin(0, 0, .3, i % 2) for i in range(6)])
chain = ChainArrays(origins, np.zeros(6, np.int64), np.arange(6), np.ones(6), np.zeros(6),
    origin(0, .1, .2, 0), np.full(6, -2.5), np.full(6, 2.5), np.zeros(6, np.int64))
p = prepare(chain)
target = np.eye(4); place_exactly(p.exact, np.array([.3, -.5, .9, .2, .7, .1]), target[:3])
q = np.empty(6)
found = pose_solve.solve_pose(p.exact, p.joints, p.variables, p.ends, p.reach, p.full, target,
    np.zeros(6), q, p.new_work(), 1e-9, 1e-9, 2000, 0, 50, 1, False, 0.4)
print(found[0], found[1], *q.round(7))
"""


def test_the_same_source_runs_without_the_compiler():
    runs = [
        subprocess.run(
            [sys.executable, "-c", PLAIN],
            env={**os.environ, **extra},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for extra in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert runs[0][0] == "1"
    assert runs[0][2:] == runs[1][2:]
