# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The FABRIK kernels: classic sweeps, even bending, sharing, and the step that joins them."""

import math

import numpy as np
import pytest
from from_python import from_python
from hypothesis import example, given
from hypothesis import strategies as st

from basis_ik.fabrik.arc_kernel import arc_half_angle, lay_on_arc
from basis_ik.fabrik.ball_chain_kernel import bone_lengths, sweep_ball_chain
from basis_ik.fabrik.free_reach_kernel import (
    CHAIN_NOT_FINITE,
    CHAIN_REACHED,
    CHAIN_TOO_FAR,
    CHAIN_TOO_NEAR,
    CHAIN_UNFINISHED,
    reach_chain,
)
from basis_ik.fabrik.lean_kernel import descent, lean, slope

lay_on_arc, arc_half_angle, descent, lean, slope = map(
    from_python, (lay_on_arc, arc_half_angle, descent, lean, slope)
)

NOTHING = np.empty(0)


def chain(lengths, seed, bend=3.0):
    """A chain of given lengths; bend 0 is straight along x."""
    rng = np.random.default_rng(seed)
    v = np.array([1.0, 0.0, 0.0]) + bend * rng.normal(size=(len(lengths), 3))
    v *= (np.asarray(lengths, float) / np.linalg.norm(v, axis=1))[:, None]
    return np.vstack([np.zeros((1, 3)), np.cumsum(v, axis=0)])


def lengths_of(p):
    return np.linalg.norm(np.diff(p, axis=0), axis=1)


def guides_of(p):
    """Directions and relative lengths, as the kernels take them."""
    lengths = lengths_of(p)
    return np.column_stack([np.diff(p, axis=0) / lengths[:, None], lengths / lengths.sum()])


def tip_of(guides):
    return (guides[:, :3] * guides[:, 3:]).sum(axis=0)


def direction(seed):
    v = np.random.default_rng(seed).normal(size=3)
    return v / np.linalg.norm(v)


LENGTHS = st.lists(
    st.one_of(st.floats(0.01, 100.0), st.sampled_from([0.0, 1.0])), min_size=1, max_size=8
).filter(lambda lengths: sum(lengths) > 0.0)
SEEDS = st.integers(0, 10**6)


# --- the classic iteration


def textbook_sweep(p, lengths, target):
    p, root = p.copy(), p[0].copy()
    p[-1] = target
    for i in reversed(range(len(lengths))):
        p[i] = p[i + 1] + lengths[i] * (p[i] - p[i + 1]) / np.linalg.norm(p[i] - p[i + 1])
    p[0] = root
    for i in range(len(lengths)):
        p[i + 1] = p[i] + lengths[i] * (p[i + 1] - p[i]) / np.linalg.norm(p[i + 1] - p[i])
    return p


@given(SEEDS)
def test_a_sweep_is_the_papers(seed):
    lengths = np.random.default_rng(seed).uniform(0.1, 2.0, 5)
    p, target = chain(lengths, seed), 2.0 * direction(seed)
    expected = textbook_sweep(textbook_sweep(p, lengths, target), lengths, target)
    residual, used = sweep_ball_chain(p, lengths, target, 1e-300, 2, NOTHING)
    assert used == 2
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert residual == pytest.approx(np.linalg.norm(expected[-1] - target), abs=1e-12)


@given(SEEDS)
def test_sweeps_never_lose_ground_and_keep_the_bones(seed):
    lengths = np.random.default_rng(seed).uniform(0.1, 2.0, 5)
    p, target = chain(lengths, seed), 0.9 * lengths.sum() * direction(seed)
    record = np.full(31, np.nan)
    residual, used = sweep_ball_chain(p, lengths, target, 1e-9, 30, record)
    seen = record[: used + 1]
    assert np.all(np.diff(seen) <= 1e-12)
    assert seen[-1] == residual
    np.testing.assert_allclose(lengths_of(p), lengths, rtol=1e-12)
    np.testing.assert_array_equal(p[0], 0.0)


@pytest.mark.parametrize("inside", [0.2, 0.5, 0.9, -0.3])
@pytest.mark.parametrize("n", [2, 5])
def test_a_straight_chain_leaves_the_line_that_holds_it(n, inside):
    p = chain(np.ones(n), 0, bend=0.0)
    target, most = np.array([inside * n, 0.0, 0.0]), 100 if n == 2 else 6
    residual, passes = sweep_ball_chain(p, np.ones(n), target, 1e-5, 5000, NOTHING)
    assert residual <= 1e-5
    assert passes <= most, "it leaves the line far enough"


def test_coincident_joints_do_not_divide_by_zero():
    p = np.zeros((4, 3))
    residual, _ = sweep_ball_chain(p, np.ones(3), np.array([0.5, 1.0, 0.2]), 1e-6, 500, NOTHING)
    assert np.isfinite(p).all()
    assert residual <= 1e-6
    np.testing.assert_allclose(lengths_of(p), 1.0, rtol=1e-12)


def test_a_target_on_an_inner_joint_does_not_divide_by_zero():
    p = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]])
    residual, _ = sweep_ball_chain(p, lengths_of(p), np.array([1.0, 1.0, 0.0]), 1e-6, 500, NOTHING)
    assert residual <= 1e-6
    assert np.isfinite(p).all()


def test_sweeps_stop_when_nothing_more_is_won():
    # Two bones that cannot come nearer than 1 m to a target in their void.
    p = chain([2.0, 1.0], 3)
    residual, used = sweep_ball_chain(
        p, np.array([2.0, 1.0]), np.array([0.1, 0.0, 0.0]), 1e-9, 10**6, NOTHING
    )
    assert used < 5000
    assert residual == pytest.approx(0.9, abs=1e-3)


def test_the_budget_is_kept():
    p = chain(np.ones(50), 0, bend=0.0)
    _, used = sweep_ball_chain(p, np.ones(50), np.array([49.0, 5.0, 0.0]), 1e-12, 7, NOTHING)
    assert used == 7


# --- even bending


@given(st.floats(0.0, math.pi))
def test_arc_half_angle_inverts_the_chord_of_an_arc(angle):
    chord = math.sin(angle) / angle if angle > 1e-4 else 1.0 - angle * angle / 6.0
    assert arc_half_angle(chord) == pytest.approx(angle, abs=2e-8 + 1e-15 / (angle + 1e-9))


@pytest.mark.parametrize(
    ("ratio", "angle"), [(1.0, 0.0), (1.5, 0.0), (0.0, math.pi), (-1.0, math.pi)]
)
def test_arc_half_angle_at_the_ends(ratio, angle):
    assert arc_half_angle(ratio) == angle


@given(LENGTHS.filter(lambda lengths: len(lengths) > 1), st.floats(0.0, 1.0))
@example([1.0, 1.0], 0.0)
@example([1.0] * 5, 1.0)
@example([100.0, 0.0, 0.01, 0.01], 0.5)
@example([1.0, 1.0, 1.0], 1.0 / 3.0)
def test_an_arc_ends_at_its_chord_with_all_joints_on_one_circle(lengths, share):
    guides = np.zeros((len(lengths), 4))
    guides[:, 3] = np.array(lengths) / sum(lengths)
    least = max(0.0, 2.0 * guides[:, 3].max() - 1.0)
    chord = least + share * (1.0 - least)
    passes = lay_on_arc(guides, chord)
    assert passes <= 60
    np.testing.assert_allclose(np.linalg.norm(guides[:, :3], axis=1), 1.0, rtol=1e-14)
    # Flat and folded arcs hang on square roots: half the digits there, all of them elsewhere.
    accuracy = 1e-12 if 0.01 < share < 0.99 and least < 0.9 else 2e-7
    np.testing.assert_allclose(tip_of(guides), [chord, 0.0, 0.0], atol=accuracy)
    joints = np.vstack([np.zeros((1, 3)), np.cumsum(guides[:, :3] * guides[:, 3:], axis=0)])
    assert np.all(joints[:, 2] == 0.0)
    if 0.1 < share < 0.9 and least < 0.9:
        system = np.column_stack([2.0 * joints[:, :2], np.ones(len(joints))])
        squares = (joints[:, :2] ** 2).sum(axis=1)
        solution, *_ = np.linalg.lstsq(system, squares, rcond=None)
        np.testing.assert_allclose(system @ solution, squares, atol=1e-9)


# --- sharing


@given(SEEDS)
def test_slope_and_hessian_are_derivatives_of_f(seed):
    guides = guides_of(chain(np.ones(4), seed))
    at = 0.3 * direction(seed + 1)
    hessian, other = np.empty((3, 3)), np.empty((3, 3))
    _, *gradient = slope(guides, *at, 0.4, hessian)
    full = np.tril(hessian) + np.tril(hessian, -1).T
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-6
        above = slope(guides, *(at + step), 0.4, other)
        below = slope(guides, *(at - step), 0.4, other)
        assert (above[0] - below[0]) / 2e-6 == pytest.approx(gradient[k], abs=1e-7)
        rise = (np.array(above[1:4]) - np.array(below[1:4])) / 2e-6
        np.testing.assert_allclose(rise, full[k], atol=1e-5 * (1.0 + abs(full).max() ** 2))


@given(SEEDS)
def test_descent_solves_newtons_equation(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3, 3))
    h = a @ a.T + 0.1 * np.eye(3)
    gradient = rng.normal(size=3)
    step = gradient.copy()
    descent(np.tril(h), step)
    np.testing.assert_allclose(h @ step, -gradient, atol=1e-10)


@given(SEEDS, st.floats(0.2, 0.999999))
def test_sharing_turns_the_bones_least(seed, chord):
    p = chain(np.random.default_rng(seed).uniform(0.5, 2.0, 9), seed, bend=0.4)
    guides = guides_of(p)
    before = guides.copy()
    left, passes = lean(guides, chord, 1e-12, NOTHING)
    if left == math.inf:  # a bone lost its direction: allowed, and then nothing is touched
        np.testing.assert_array_equal(guides, before)
        return
    assert left <= 1e-12
    assert passes <= 24
    np.testing.assert_allclose(tip_of(guides), [chord, 0.0, 0.0], atol=1e-11)
    # Any other chain with the same ends, here one swept there by FABRIK, has turned further.
    other = np.vstack([np.zeros((1, 3)), np.cumsum(before[:, :3] * before[:, 3:], axis=0)])
    sweep_ball_chain(other, before[:, 3].copy(), np.array([chord, 0.0, 0.0]), 1e-12, 3000, NOTHING)
    swept = guides_of(other)[:, :3]
    ours = (before[:, 3] * ((guides - before)[:, :3] ** 2).sum(axis=1)).sum()
    theirs = (before[:, 3] * ((swept - before[:, :3]) ** 2).sum(axis=1)).sum()
    if np.linalg.norm(other[-1] - [chord, 0.0, 0.0]) < 1e-9:
        assert ours <= theirs + 1e-9


def test_sharing_gives_up_where_a_bone_must_shrink_through_zero():
    guides = np.zeros((2, 4))
    guides[:, 0], guides[:, 3] = 1.0, 0.5  # straight, and to be shortened
    assert lean(guides, 0.5, 1e-9, NOTHING)[0] == math.inf


def test_a_bone_whose_lean_vanishes_is_given_a_direction():
    guides = np.array([[0.0, 0.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.5]])
    lean(guides, 0.5, 1e-9, NOTHING)
    np.testing.assert_array_equal(np.linalg.norm(guides[:, :3], axis=1), 1.0)


# --- the whole step


@given(LENGTHS, SEEDS, st.floats(0.0, 1.3), st.sampled_from([0.0, 0.3, 3.0]))
@example([1.0] * 4, 0, 0.5, 0.0)
@example([1.0, 0.0, 1.0], 0, 0.7, 0.0)
@example([1.0], 0, 1.0, 3.0)
def test_the_verdict_is_the_annulus_and_bones_keep_their_lengths(lengths, seed, share, bend):
    p = chain(lengths, seed, bend)
    expected, reach = lengths_of(p), lengths_of(p).sum()
    target = share * reach * direction(seed + 1)
    status, residual, passes = reach_chain(p, target, 1e-9 * reach, NOTHING)
    inner = max(0.0, 2.0 * expected.max() - reach)
    d = np.linalg.norm(target)
    tolerance = 1e-9 * reach
    nearest = max(d - reach, inner - d, 0.0)
    assert residual == pytest.approx(nearest, abs=2.0 * tolerance)
    assert residual == pytest.approx(np.linalg.norm(p[-1] - target), abs=1e-14 * reach)
    if nearest > 2.0 * tolerance:
        assert status == (CHAIN_TOO_FAR if d > reach else CHAIN_TOO_NEAR)
    elif nearest == 0.0:
        assert status == CHAIN_REACHED
    assert passes <= 90
    np.testing.assert_array_equal(p[0], 0.0)
    np.testing.assert_allclose(lengths_of(p), expected, rtol=1e-12, atol=1e-15 * reach)


def test_a_pose_that_has_arrived_is_left_alone():
    p = chain(np.ones(5), 4)
    before = p.copy()
    status, _, passes = reach_chain(p, p[-1] + 1e-4, 1e-3, NOTHING)
    assert (status, passes) == (CHAIN_REACHED, 0)
    np.testing.assert_array_equal(p, before)


@pytest.mark.parametrize("target", [[0.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
@pytest.mark.parametrize("n", [3, 4])
def test_targets_on_the_line_and_on_the_root_of_a_straight_chain(n, target):
    p = chain(np.ones(n), 0, bend=0.0)
    assert reach_chain(p, np.array(target), 1e-9, NOTHING)[0] == CHAIN_REACHED
    np.testing.assert_allclose(p[-1], target, atol=1e-9)


@given(SEEDS)
def test_a_chain_straight_but_for_rounding_keeps_its_bones_when_it_turns_back(seed):
    p = chain(np.ones(4), seed, bend=3e-8)
    reach_chain(p, -0.5 * p[-1], 1e-9, NOTHING)
    np.testing.assert_allclose(lengths_of(p), 1.0, rtol=1e-13)


@given(st.floats(-9.0, -1.0), st.floats(-0.99, 0.99))
def test_a_long_and_a_tiny_bone_meet_targets_in_the_thin_shell_between(power, share):
    p = chain([1.0, 10.0**power], 0, bend=0.0)
    target = (1.0 + share * 10.0**power) * direction(6)
    status, residual, _ = reach_chain(p, target, 1e-14, NOTHING)
    assert residual <= 1e-14
    assert status == CHAIN_REACHED


@given(SEEDS, st.integers(2, 9))
def test_nearness_to_full_reach_costs_nothing(seed, nines):
    p = chain(np.ones(8), seed, bend=0.5)
    target = 8.0 * (1.0 - 10.0**-nines) * direction(seed)
    status, _, passes = reach_chain(p, target, 1e-9, NOTHING)
    assert status == CHAIN_REACHED
    assert passes <= 12


def test_a_closed_chain_opens():
    p = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
    assert reach_chain(p, np.array([0.0, 0.0, 3.5]), 1e-9, NOTHING)[0] == CHAIN_REACHED


def test_out_of_reach_is_straight_and_the_void_is_folded():
    p = chain([1.0, 3.0, 0.5], 1)
    reach_chain(p, np.array([0.0, 9.0, 0.0]), 1e-9, NOTHING)
    np.testing.assert_allclose(p[1:, 1], [1.0, 4.0, 4.5], rtol=1e-14)
    reach_chain(p, np.array([0.0, 0.2, 0.0]), 1e-9, NOTHING)
    np.testing.assert_allclose(p[1:, 1], [-1.0, 2.0, 1.5], rtol=1e-14)
    np.testing.assert_allclose(p[:, [0, 2]], 0.0, atol=1e-15)


def test_a_tolerance_below_rounding_is_answered_as_well_as_rounding_allows():
    p = chain(np.ones(7), 2)
    status, residual, passes = reach_chain(p, np.array([1.1, 2.3, 0.7]), 1e-30, NOTHING)
    assert status in (CHAIN_REACHED, CHAIN_UNFINISHED)
    assert residual < 1e-12
    assert passes < 90


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e200])
def test_what_cannot_be_computed_with_is_reported(bad):
    p = chain(np.ones(3), 0)
    target = np.array([bad, 0.0, 0.0])
    assert reach_chain(p, target, 1e-9, NOTHING)[0] == CHAIN_NOT_FINITE
    assert (
        reach_chain(np.vstack([p, target[None]]), np.zeros(3), 1e-9, NOTHING)[0] == CHAIN_NOT_FINITE
    )


def test_passes_do_not_grow_with_the_number_of_bones():
    for n in (10, 300):
        for seed in range(5):
            p = chain(np.ones(n), 0, bend=0.0)
            target = 0.95 * n * direction(seed) * np.random.default_rng(seed).random() ** (1 / 3)
            status, _, passes = reach_chain(p, target, 1e-2, NOTHING)
            assert status == CHAIN_REACHED
            assert passes <= 10


def test_bone_lengths_and_their_sum():
    p, out = chain([1.0, 2.0, 0.0, 4.0], 3), np.empty(4)
    assert bone_lengths(p, out) == pytest.approx(7.0)
    np.testing.assert_allclose(out, [1.0, 2.0, 0.0, 4.0], atol=1e-15)
