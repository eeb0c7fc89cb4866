# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on free chains: answers, continuity, determinism, and what is refused."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.errors import BasisIkError
from basis_ik.fabrik.fabrik import solve_chain, sweep_chain
from basis_ik.fabrik.free_reach_kernel import reach_chain
from basis_ik.fabrik.result import (
    BudgetError,
    NoBonesError,
    OutOfRangeError,
    ToleranceError,
)
from basis_ik.fabrik.rotations import bone_rotations
from basis_ik.fabrik.skeleton import TreeError
from basis_ik.transforms.checks import NotFiniteError, ShapeError
from basis_ik.verdict import Verdict

SEEDS = st.integers(0, 10**6)


def straight(n):
    return np.column_stack([np.arange(n + 1.0), np.zeros(n + 1), np.zeros(n + 1)])


def bent(seed, n=12):
    """A chain that meanders, well away from straight and from closed."""
    rng = np.random.default_rng(seed)
    while True:
        v = np.array([1.0, 0.0, 0.0]) + np.cumsum(0.3 * rng.normal(size=(n, 3)), axis=0)
        v *= rng.uniform(0.5, 1.5, (n, 1)) / np.linalg.norm(v, axis=1, keepdims=True)
        p = np.vstack([np.zeros((1, 3)), np.cumsum(v, axis=0)])
        if 0.3 < np.linalg.norm(p[-1]) / lengths(p).sum() < 0.9:
            return p


def lengths(p):
    return np.linalg.norm(np.diff(p, axis=0), axis=1)


def direction(seed):
    v = np.random.default_rng(seed).normal(size=3)
    return v / np.linalg.norm(v)


def test_a_target_in_reach_is_reached_and_reported():
    result = solve_chain(straight(10), (3, 4, 5), tolerance=1e-9)
    assert result.success
    assert result.verdict is Verdict.REACHED
    np.testing.assert_allclose(result.positions[-1], (3, 4, 5), atol=1e-9)
    assert result.residual == np.linalg.norm(result.positions[-1] - (3, 4, 5))
    assert 0 < result.iterations < 12
    assert result.record is None
    assert not result.positions.flags.writeable


@pytest.mark.parametrize("solver", [solve_chain, sweep_chain])
def test_too_far_and_too_near_come_with_the_distance_missing(solver):
    far = solver([[0, 0, 0], [1, 0, 0], [1, 1, 0]], (0, 0, 5))
    assert far.verdict is Verdict.TOO_FAR
    assert far.residual == pytest.approx(3.0)
    near = solver([[0, 0, 0], [3, 0, 0], [3, 1, 0]], (0, 0.5, 0))
    assert near.verdict is Verdict.TOO_NEAR
    assert near.residual == pytest.approx(1.5)


def test_a_start_is_neither_changed_nor_shared():
    start = straight(4)
    result = solve_chain(start, start[-1])
    np.testing.assert_array_equal(start, straight(4))
    assert not np.shares_memory(result.positions, start)


@given(SEEDS)
def test_from_a_bent_pose_a_small_move_stays_small(seed):
    p = bent(seed)
    move = 1e-3 * direction(seed + 1)
    result = solve_chain(p, p[-1] + move, tolerance=1e-9)
    assert result.success
    assert np.linalg.norm(result.positions - p, axis=1).max() <= 20.0 * 1e-3


@given(SEEDS)
def test_nearby_targets_have_nearby_answers(seed):
    p = bent(seed)
    target = p[-1] + 0.3 * direction(seed + 1)
    one = solve_chain(p, target, tolerance=1e-10)
    two = solve_chain(p, target + 1e-5 * direction(seed + 2), tolerance=1e-10)
    if one.success and two.success:
        assert np.linalg.norm(one.positions - two.positions, axis=1).max() <= 30.0 * 1e-5


def test_a_followed_target_folds_nothing_up():
    """In and out a thousand times: an arc stays an arc, where sharing alone would fold it."""
    p = straight(20)
    before, target = p, None
    for k in range(2000):
        distance = 20.0 * (0.6 + 0.3 * math.cos(0.05 * k))
        now = distance * np.array([math.cos(0.01 * k), math.sin(0.01 * k), 0.1])
        result = solve_chain(before, now, tolerance=1e-6)
        assert result.success
        if target is not None:
            moved = np.linalg.norm(result.positions - before, axis=1).max()
            assert moved <= 3.0 * np.linalg.norm(now - target)
        before, target = result.positions, now
    v = np.diff(before, axis=0)
    bends = np.arccos(np.clip((v[1:] * v[:-1]).sum(axis=1), -1, 1))
    assert bends.max() < 1.5 * bends.mean()
    np.testing.assert_allclose(lengths(before), 1.0, rtol=1e-12)


@pytest.mark.parametrize("n", [1000, 10000])
def test_long_chains_are_reached_in_as_few_passes_as_short_ones(n):
    for share in (0.01, 0.5, 0.95, 0.999999):
        target = share * n * direction(n)
        result = solve_chain(straight(n), target, tolerance=1e-2)
        assert result.success
        assert result.iterations <= 12
        assert np.abs(lengths(result.positions) - 1.0).max() <= 1e-12


def test_a_record_tells_the_way():
    result = solve_chain(bent(3), (1.0, 2.0, 0.5), tolerance=1e-9, record=True)
    assert len(result.record) >= 3
    assert result.record[-1] == result.residual
    assert result.record[0] == pytest.approx(np.linalg.norm(bent(3)[-1] - (1.0, 2.0, 0.5)))
    assert np.isfinite(result.record).all()
    swept = sweep_chain(bent(3), (1.0, 2.0, 0.5), tolerance=1e-9, record=True)
    assert len(swept.record) == swept.iterations + 1
    assert np.all(np.diff(swept.record) <= 0.0)


def test_the_published_iteration_is_kept_and_says_when_its_budget_is_spent():
    result = sweep_chain(straight(50), (49.0, 5.0, 0.0), tolerance=1e-9, max_iterations=5)
    assert result.verdict is Verdict.BUDGET_SPENT
    assert result.iterations == 5
    np.testing.assert_allclose(lengths(result.positions), 1.0, rtol=1e-12)
    assert sweep_chain(straight(5), (1.0, 2.0, 1.0), max_iterations=1000).success


def test_no_input_recompiles_the_kernel():
    solve_chain(straight(3), (1.0, 1.0, 1.0))
    before = len(getattr(reach_chain, "signatures", []))
    for start in (
        straight(3).astype(np.float32),
        straight(3).astype(int).tolist(),
        np.asfortranarray(straight(3)),
        straight(6)[::2],
        solve_chain(straight(3), (1.0, 1.0, 1.0)).positions,
    ):
        solve_chain(start, (1, 1, 1), tolerance=1)
        solve_chain(start, np.float32([1, 1, 1]), tolerance=np.float32(0.1))
    assert len(getattr(reach_chain, "signatures", [])) == before


SCRIPT = """
import numpy as np
from basis_ik.fabrik.fabrik import solve_chain
p = np.cumsum(np.random.default_rng(5).normal(size=(30, 3)), axis=0)
print(solve_chain(p, p[0] + (3, 4, 5), tolerance=1e-9).positions.tobytes().hex())
"""


def test_same_inputs_give_the_same_bits_in_every_process_and_thread():
    p = np.cumsum(np.random.default_rng(5).normal(size=(30, 3)), axis=0)
    results = []

    def work():
        for _ in range(50):
            results.append(solve_chain(p, p[0] + (3, 4, 5), tolerance=1e-9).positions.tobytes())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == results[0].hex()


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("positions", "target", "keywords", "error", "text"),
    [
        ([[0, 0, 0], [1, NAN, 0]], (1, 1, 1), {}, NotFiniteError, "positions must be finite"),
        ([[0, 0, 0], [1, 0, 0]], (1, INF, 1), {}, NotFiniteError, "target must be finite"),
        ([[0, 0, 0], [1, 0, 0]], (1, 1e200, 1), {}, OutOfRangeError, "target must stay within"),
        ([[0, 0], [1, 0]], (1, 1, 1), {}, ShapeError, "positions must be"),
        ([], (1, 1, 1), {}, ShapeError, "positions must be"),
        (np.zeros((0, 3)), (1, 1, 1), {}, ShapeError, "positions must be"),
        ("chain", (1, 1, 1), {}, ShapeError, "positions must be"),
        ([[0, 0, 0], [1, 0, 0]], (1, 1), {}, ShapeError, "target must be"),
        ([[0, 0, 0], [1, 0, 0]], None, {}, ShapeError, "target must be"),
        ([[0, 0, 0]], (1, 1, 1), {}, NoBonesError, "at least two joint positions"),
        ([[0, 0, 0], [1, 0, 0]], (1, 1, 1), {"tolerance": -1e-3}, ToleranceError, "above zero"),
        ([[0, 0, 0], [1, 0, 0]], (1, 1, 1), {"tolerance": 0}, ToleranceError, "above zero"),
        ([[0, 0, 0], [1, 0, 0]], (1, 1, 1), {"tolerance": NAN}, ToleranceError, "above zero"),
        ([[0, 0, 0], [1, 0, 0]], (1, 1, 1), {"tolerance": "x"}, ToleranceError, "above zero"),
    ],
)
@pytest.mark.parametrize("solver", [solve_chain, sweep_chain])
def test_bad_input_is_refused_by_name(solver, positions, target, keywords, error, text):
    with pytest.raises(error, match=text) as caught:
        solver(positions, target, **keywords)
    assert isinstance(caught.value, BasisIkError)


@pytest.mark.parametrize("budget", [-1, 1.5, True, None])
def test_a_budget_that_is_none_is_refused(budget):
    with pytest.raises(BudgetError, match="whole number"):
        sweep_chain(straight(2), (1, 1, 0), max_iterations=budget)
    with pytest.raises(BudgetError, match="whole number"):
        solve_chain(straight(2), (1, 1, 0), max_iterations=budget, free_root=True)
    with pytest.raises(BudgetError, match="whole number"):
        solve_chain(straight(2), (1, 1, 0), max_iterations=budget)


def test_a_tolerance_that_a_free_chain_has_no_use_for_is_checked_too():
    with pytest.raises(ToleranceError, match="turn_tolerance"):
        solve_chain(straight(2), (1, 1, 0), turn_tolerance=NAN)


@pytest.mark.parametrize("scale", [1e-60, 1e-9, 1.0, 1e9, 1e60])
def test_size_does_not_matter(scale):
    result = solve_chain(scale * bent(1), scale * np.array([1.0, 2.0, 3.0]), tolerance=1e-9 * scale)
    assert result.success
    np.testing.assert_allclose(lengths(result.positions), scale * lengths(bent(1)), rtol=1e-12)


def test_a_chain_without_any_length_stays_where_it_is():
    result = solve_chain(np.zeros((3, 3)), (0, 0, 1))
    assert result.verdict is Verdict.TOO_FAR
    assert result.residual == 1.0
    assert solve_chain(np.zeros((3, 3)), (0, 0, 0)).success


@given(SEEDS)
def test_rotations_turn_the_bones_at_rest_to_where_they_are(seed):
    rest, now = bent(seed), bent(seed + 1)
    v = np.diff(now, axis=0)
    v *= (lengths(rest) / lengths(now))[:, None]
    now = np.vstack([now[:1], now[0] + np.cumsum(v, axis=0)])
    rotations = bone_rotations(rest, now)
    # Forward kinematics with joints' own rotations, each in its parent's coordinates.
    tip, turn = now[0], np.eye(3)
    parent = np.eye(3)
    for bone, rotation in zip(np.diff(rest, axis=0), rotations, strict=True):
        joint = parent.T @ rotation
        np.testing.assert_allclose(joint @ joint.T, np.eye(3), atol=1e-12)
        # A points-at turns about an axis at right angles to the bone: no twist.
        axis = np.array([joint[2, 1], joint[0, 2], joint[1, 0]]) - [
            joint[1, 2], joint[2, 0], joint[0, 1],
        ]  # fmt: skip
        assert abs(axis @ bone) <= 1e-9 * np.linalg.norm(bone)
        turn = turn @ joint
        tip = tip + turn @ bone
        parent = rotation
    np.testing.assert_allclose(tip, now[-1], atol=1e-11)


def test_rotations_refuse_poses_of_different_size():
    with pytest.raises(TreeError, match="rest has 3 joints"):
        bone_rotations(straight(2), straight(3))
