# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK within limits: an independent check of every limit, and verdicts against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basis_ik.fabrik.ball_limits import BallLimit, HingeLimit, LimitError
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.fabrik.skeleton import TreeError
from basis_ik.transforms.checks import NotARotationError, NotFiniteError, ShapeError
from basis_ik.verdict import Verdict

SEEDS = st.integers(0, 10**6)
PI = math.pi


def upright(n):
    """A chain that stands along z."""
    return np.column_stack([np.zeros(n + 1), np.zeros(n + 1), np.arange(n + 1.0)])


# --- the independent check: matrices instead of quaternions, directions instead of tilts


def axis_angle(axis, angle):
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * k @ k


def excess(limit, bone, joint):
    """How far a joint's rotation is beyond its limit [rad]; `bone` is its direction at rest."""
    if isinstance(limit, HingeLimit):
        axis = np.asarray(limit.axis, float) / np.linalg.norm(limit.axis)
        off = np.linalg.norm(joint @ axis - axis)
        across = np.linalg.svd(np.eye(3) - np.outer(axis, axis))[0][:, 0]
        turned = joint @ across
        angle = math.atan2(axis @ np.cross(across, turned), across @ turned)
        beyond = min(
            max(limit.lower - a, a - limit.upper, 0.0)
            for a in (angle, angle + 2 * PI, angle - 2 * PI)
        )
        return max(off, beyond)
    now = joint @ bone
    lean = math.atan2(np.linalg.norm(np.cross(bone, now)), bone @ now)
    swing = np.eye(3)
    if lean > 1e-12:
        swing = axis_angle(np.cross(bone, now), lean)
    twist_matrix = swing.T @ joint
    across = np.linalg.svd(np.eye(3) - np.outer(bone, bone))[0][:, 0]
    turned = twist_matrix @ across
    twist = math.atan2(bone @ np.cross(across, turned), across @ turned)
    lower, upper = limit.twist
    beyond = min(max(lower - a, a - upper, 0.0) for a in (twist, twist + 2 * PI, twist - 2 * PI))
    if lean <= 1e-12:
        return beyond
    up = across if limit.upwards is None else np.asarray(limit.upwards, float)
    up = up - (up @ bone) * bone
    up /= np.linalg.norm(up)
    left = np.cross(up, bone)
    side = now - (now @ bone) * bone
    side *= lean / np.linalg.norm(side)
    x, y = side @ left, side @ up
    a, b = (limit.left if x >= 0 else limit.right), (limit.up if y >= 0 else limit.down)
    # Scale down until inside: how much of the lean is too much.
    size = math.hypot(x / a if a else math.inf * abs(x), y / b if b else math.inf * abs(y))
    if a == 0.0 or b == 0.0:
        return max(beyond, abs(x) - a, abs(y) - b)
    return max(beyond, lean * (1.0 - 1.0 / size) if size > 1.0 else 0.0)


def worst_excess(result, rest, limits):
    worst, parent = 0.0, np.eye(3)
    for j, (bone, rotation) in enumerate(zip(np.diff(rest, axis=0), result.rotations, strict=True)):
        np.testing.assert_allclose(
            rotation @ bone, result.positions[j + 1] - result.positions[j], atol=1e-12
        )
        if j in limits:
            unit = bone / np.linalg.norm(bone)
            worst = max(worst, excess(limits[j], unit, parent.T @ rotation))
        parent = rotation
    return worst


def some_limits(seed, n):
    rng = np.random.default_rng(seed)
    limits = {}
    for bone in range(n):
        kind = rng.integers(5)
        low = rng.uniform(-2.0, 0.5)
        if kind == 0:
            limits[bone] = BallLimit.cone(rng.uniform(0.1, 1.3), (low, low + rng.uniform(0.1, 3)))
        elif kind == 1:
            angles = rng.choice([0.0, 0.3, 1.0, 2.0], 4)
            limits[bone] = BallLimit(*angles, twist=(-0.3, 0.5), upwards=(0.3, 1.0, 0.2))
        elif kind < 4:
            axis = rng.normal(size=3)
            limits[bone] = HingeLimit(axis, low, low + rng.uniform(0.2, 2.5))
    limits.setdefault(0, BallLimit.cone(1.0))
    return limits


def sampled(rest, limits, count, rng):
    """Joint positions of poses within limits, shape (count, n + 1, 3): matrices all the way."""
    parent = np.broadcast_to(np.eye(3), (count, 3, 3))
    joints = [np.broadcast_to(rest[0], (count, 3))]
    for j, bone in enumerate(np.diff(rest, axis=0)):
        limit, unit = limits.get(j), bone / np.linalg.norm(bone)
        local = np.empty((count, 3, 3))
        for k in range(count):
            if isinstance(limit, HingeLimit):
                local[k] = axis_angle(limit.axis, rng.uniform(limit.lower, limit.upper))
                continue
            ball = limit or BallLimit.cone(PI)
            up = np.asarray(ball.upwards if ball.upwards is not None else (1.0, 0.1, 0.0), float)
            up = up - (up @ unit) * unit
            up /= np.linalg.norm(up)
            left, angle, r = np.cross(up, unit), rng.uniform(0, 2 * PI), math.sqrt(rng.random())
            x, y = r * math.cos(angle), r * math.sin(angle)
            x *= ball.left if x >= 0 else ball.right
            y *= ball.up if y >= 0 else ball.down
            lean, way = math.hypot(x, y), x * left + y * up
            swing = axis_angle(np.cross(unit, way), lean) if lean > 1e-12 else np.eye(3)
            local[k] = swing @ axis_angle(unit, rng.uniform(*ball.twist))
        parent = parent @ local
        joints.append(joints[-1] + parent @ bone)
    return np.stack(joints, axis=1)


def test_the_independent_check_sees_a_breach():
    z = np.array([0.0, 0.0, 1.0])
    assert excess(BallLimit.cone(0.5), z, axis_angle((1, 0, 0), 0.6)) == pytest.approx(0.1)
    assert excess(BallLimit.cone(0.5, (0, 0)), z, axis_angle(z, 0.2)) == pytest.approx(0.2)
    assert excess(HingeLimit((1, 0, 0), -1, 1), z, axis_angle((1, 0, 0), 1.3)) == pytest.approx(0.3)
    assert excess(HingeLimit((1, 0, 0)), z, axis_angle((0, 1, 0), 0.3)) > 0.1
    narrow = BallLimit(1.0, 0.2, 1.0, 0.2, upwards=(0, 1, 0))
    assert excess(narrow, z, axis_angle((0, 1, 0), 0.9)) == 0.0  # to the left
    assert excess(narrow, z, axis_angle((1, 0, 0), -0.9)) > 0.5  # upwards


# --- properties


@given(SEEDS, st.integers(2, 5), st.booleans())
def test_a_pose_within_limits_is_found_again(seed, n, oriented):
    rest, limits = upright(n), some_limits(seed, n)
    pose = sampled(rest, limits, 1, np.random.default_rng(seed))[0]
    found = solve_chain(rest, pose[-1], limits=limits, tolerance=1e-6)
    assert found.success
    assert worst_excess(found, rest, limits) <= 1e-9
    assert np.linalg.norm(found.positions[-1] - pose[-1]) <= 1e-6
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(found.positions, axis=0), axis=1), 1.0, rtol=1e-12
    )
    if oriented:
        again = solve_chain(rest, pose[-1], limits=limits, orientation=found.rotations[-1])
        assert again.success
        assert again.turn <= 1e-6
        assert worst_excess(again, rest, limits) <= 1e-9
        between = again.rotations[-1].T @ found.rotations[-1]
        assert math.acos(min(1.0, (np.trace(between) - 1) / 2)) <= 2e-6


@settings(max_examples=10)
@given(SEEDS, st.integers(1, 3))
def test_no_pose_within_limits_comes_nearer_than_the_answer(seed, n):
    rest, limits = upright(n), some_limits(seed, n)
    rng = np.random.default_rng(seed)
    tips = sampled(rest, limits, 1500, rng)[:, -1]
    for reach in (0.3, 1.0):
        target = tips[0] + reach * rng.normal(size=3)
        result = solve_chain(rest, target, limits=limits, tolerance=1e-6)
        assert worst_excess(result, rest, limits) <= 1e-9
        assert result.residual == pytest.approx(
            np.linalg.norm(result.positions[-1] - target), abs=1e-12
        )
        assert result.residual <= np.linalg.norm(tips - target, axis=1).min() + 1e-6
        assert result.success == (result.residual <= 1e-6)
        d = np.linalg.norm(target)
        if not result.success:
            by_length = d > n + 1e-5 or (n == 1 and d < 1 - 1e-5)
            assert (result.verdict in (Verdict.TOO_FAR, Verdict.TOO_NEAR)) == by_length
            if not by_length:
                assert result.verdict is Verdict.LIMIT


@given(SEEDS)
def test_a_start_beyond_its_limits_is_brought_within(seed):
    rest, n = upright(4), 4
    limits = {bone: BallLimit.cone(0.4, (-0.2, 0.2)) for bone in range(n)}
    start = np.vstack(
        [np.zeros((1, 3)), np.cumsum(np.random.default_rng(seed).normal(size=(4, 3)), 0)]
    )
    v = np.diff(start, axis=0)
    start[1:] = np.cumsum(v / np.linalg.norm(v, axis=1, keepdims=True), axis=0)
    for budget in (0, 3, 200):
        result = solve_chain(
            start, (1.0, 1.0, 3.0), limits=limits, rest=rest, max_iterations=budget
        )
        assert worst_excess(result, rest, limits) <= 1e-9
        assert result.iterations <= budget


@given(SEEDS)
def test_within_limits_too_a_small_move_stays_small(seed):
    rest, n = upright(5), 5
    limits = {bone: BallLimit.cone(0.8, (-0.3, 0.3)) for bone in range(n)}
    pose = sampled(rest, limits, 1, np.random.default_rng(seed))[0]
    here = solve_chain(rest, pose[-1], limits=limits, tolerance=1e-8)
    step = 1e-3 * np.random.default_rng(seed).normal(size=3)
    there = solve_chain(
        here.positions, here.positions[-1] + step,
        limits=limits, rest=rest, rotations=here.rotations, tolerance=1e-8,
    )  # fmt: skip
    if there.success:
        assert np.linalg.norm(there.positions - here.positions, axis=1).max() <= 0.1


# --- constructed cases


def test_a_locked_elbow_keeps_the_hand_at_a_known_distance():
    """Law of cosines: an elbow that bends 1 rad at most keeps the hand 2 cos(1/2) away."""
    limits = {1: HingeLimit((1, 0, 0), 0.0, 1.0)}
    result = solve_chain(upright(2), (0.0, 0.3, 0.4), limits=limits, tolerance=1e-9)
    assert result.verdict is Verdict.LIMIT
    assert result.held == (1,)
    assert result.residual == pytest.approx(2.0 * math.cos(0.5) - 0.5, abs=1e-6)
    joint = result.rotations[0].T @ result.rotations[1]
    np.testing.assert_allclose(joint, axis_angle((1, 0, 0), 1.0), atol=1e-6)


def test_a_cone_stops_the_bone_at_its_rim():
    result = solve_chain(upright(1), (1.0, 0.0, 0.0), limits={0: BallLimit.cone(0.5)})
    assert result.verdict is Verdict.LIMIT
    assert result.residual == pytest.approx(2.0 * math.sin(0.5 * (PI / 2 - 0.5)), abs=1e-6)
    np.testing.assert_allclose(result.positions[-1], [math.sin(0.5), 0.0, math.cos(0.5)], atol=1e-5)


def test_lengths_alone_are_told_apart_from_limits():
    limits = {1: BallLimit.cone(0.5)}
    far = solve_chain(upright(2), (0.0, 3.0, 0.0), limits=limits)
    assert far.verdict is Verdict.TOO_FAR
    assert far.residual == pytest.approx(1.0, abs=1e-6)
    uneven = np.array([[0.0, 0, 0], [0, 0, 3], [0, 0, 4]])
    near = solve_chain(uneven, (0.0, 0.5, 0.0), limits={1: HingeLimit((1, 0, 0))})
    assert near.verdict is Verdict.TOO_NEAR
    assert near.residual == pytest.approx(1.5, abs=1e-6)


def test_a_position_within_reach_with_an_orientation_that_is_not():
    rest = upright(2)
    result = solve_chain(
        rest, (2.0, 0.0, 0.0), orientation=np.eye(3)
    )  # the last bone stays upright
    assert result.verdict is Verdict.ORIENTATION_NOT_FOUND
    assert result.residual <= 1e-6
    assert result.turn == pytest.approx(PI / 2, abs=1e-2)
    reached = solve_chain(rest, (1.0, 0.0, 1.0), orientation=np.eye(3))
    assert reached.success
    np.testing.assert_allclose(reached.positions[1], (1.0, 0.0, 0.0), atol=1e-5)


def test_twist_alone_can_stand_in_the_way_of_an_orientation():
    quarter = axis_angle((0, 0, 1), 1.0)
    narrow = {bone: BallLimit.cone(0.0, (-0.2, 0.2)) for bone in range(2)}
    result = solve_chain(upright(2), (0, 0, 2), limits=narrow, orientation=quarter)
    assert result.verdict is Verdict.ORIENTATION_NOT_FOUND
    assert result.turn == pytest.approx(0.6, abs=1e-6)
    wide = {bone: BallLimit.cone(0.0, (-0.6, 0.6)) for bone in range(2)}
    assert solve_chain(upright(2), (0, 0, 2), limits=wide, orientation=quarter).success


def test_a_long_chain_of_narrow_cones_is_solved():
    n = 200
    limits = {bone: BallLimit.cone(0.03, (-0.01, 0.01)) for bone in range(n)}
    result = solve_chain(upright(n), (90.0, 60.0, -20.0), limits=limits, tolerance=1e-3)
    assert result.success
    assert worst_excess(result, upright(n), limits) <= 1e-9


def test_at_a_target_out_of_reach_the_best_pose_stays_as_it_is():
    limits = {bone: BallLimit.cone(0.5, (-0.2, 0.2)) for bone in range(4)}
    rest, target = upright(4), (0.0, 0.0, -1.0)  # behind: every way round is as good
    first = solve_chain(rest, target, limits=limits)
    assert first.verdict is Verdict.LIMIT
    again = solve_chain(
        first.positions, target, limits=limits, rest=rest, rotations=first.rotations
    )
    np.testing.assert_allclose(again.positions, first.positions, atol=1e-2)


def test_joints_that_are_all_locked_are_told_in_the_end():
    limits = {bone: BallLimit.cone(0.0, (0.0, 0.0)) for bone in range(3)}
    result = solve_chain(upright(3), (0.0, 2.0, 0.0), limits=limits)
    assert result.verdict is Verdict.LIMIT
    np.testing.assert_allclose(result.positions, upright(3), atol=1e-12)


def test_a_record_is_kept():
    limits = {0: BallLimit.cone(0.5), 1: BallLimit.cone(0.5)}
    result = solve_chain(upright(2), (0.5, 0.3, 1.7), limits=limits, record=True)
    assert 1 < len(result.record) <= result.iterations + 1
    assert result.record[-1] == result.residual
    assert np.isfinite(result.record).all()


def test_the_budget_is_kept_and_its_end_reported():
    limits = {bone: HingeLimit((1, 0, 0), -0.1, 0.1) for bone in range(4)}
    result = solve_chain(upright(4), (0.0, 3.0, 0.0), limits=limits, max_iterations=25)
    assert result.iterations == 25
    assert result.verdict is Verdict.BUDGET_SPENT  # too few starts to claim more
    assert solve_chain(upright(4), (0.0, 3.0, 0.0), limits=limits).verdict is Verdict.LIMIT


def test_the_budget_holds_for_orientations_too():
    result = solve_chain(upright(4), (2.0, 0, 3.3), orientation=np.eye(3), max_iterations=9)
    assert result.iterations <= 9


def test_a_hinge_that_turns_freely_stands_in_the_way_by_its_axis():
    limits = {bone: HingeLimit((1, 0, 0)) for bone in range(2)}
    result = solve_chain(upright(2), (1.0, 1.0, 0.0), limits=limits)
    assert (result.verdict, result.held) == (Verdict.LIMIT, ())
    assert result.residual == pytest.approx(1.0, abs=1e-6)


def test_same_inputs_give_the_same_bits_within_limits():
    limits = some_limits(7, 4)
    one, two = (solve_chain(upright(4), (3.0, 3.0, 0.0), limits=limits) for _ in range(2))
    assert one.positions.tobytes() == two.positions.tobytes()
    assert one.rotations.tobytes() == two.rotations.tobytes()


# --- what is refused


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: BallLimit.cone(-0.1), "angle from 0 to π"),
        (lambda: BallLimit.cone(4.0), "angle from 0 to π"),
        (lambda: BallLimit.cone(math.nan), "angle from 0 to π"),
        (lambda: BallLimit.cone(1.0, (1.0, 0.0)), "lower ≤ upper"),
        (lambda: BallLimit.cone(1.0, (math.nan, 0.0)), "lower ≤ upper"),
        (lambda: BallLimit(0.1, 0.2, 0.3, 0.4), "needs `upwards`"),
        (lambda: HingeLimit((1, 0, 0), 1.0, 0.0), "lower ≤ upper"),
        (lambda: HingeLimit((1, 0, 0), -math.inf, 0.0), "lower ≤ upper"),
    ],
)
def test_limits_that_bound_nothing_are_refused(make, text):
    with pytest.raises(LimitError, match=text):
        make()


def test_limits_that_do_not_fit_their_bone_are_refused():
    along = BallLimit(0.1, 0.2, 0.3, 0.4, upwards=(0, 0, 1))
    with pytest.raises(LimitError, match="limit of bone 1: `upwards` lies along"):
        solve_chain(upright(2), (1, 1, 0), limits={1: along})
    with pytest.raises(LimitError, match="limit of bone 0: a bone without length"):
        solve_chain([[0, 0, 0], [0, 0, 0], [0, 0, 1]], (0, 1, 0), limits={0: BallLimit.cone(1.0)})
    with pytest.raises(TreeError, match="limits must be between 0 and 1, got 2"):
        solve_chain(upright(2), (1, 1, 0), limits={2: along})
    with pytest.raises(TreeError, match="bone 1 is 1 m at rest and 2 m"):
        solve_chain(
            [[0, 0, 0], [0, 0, 1], [0, 0, 3]], (1, 1, 0), limits={0: BallLimit.cone(1.0)},
            rest=upright(2),
        )  # fmt: skip
    with pytest.raises(TreeError, match="rest has 4 joints"):
        solve_chain(upright(2), (1, 1, 0), limits={0: BallLimit.cone(1.0)}, rest=upright(3))


@pytest.mark.parametrize(
    ("orientation", "error"),
    [
        (np.zeros((3, 3)), NotARotationError),
        (np.eye(2), ShapeError),
        (np.nan * np.eye(3), NotFiniteError),
    ],
)
def test_orientations_that_are_none_are_refused(orientation, error):
    with pytest.raises(error):
        solve_chain(upright(2), (1, 1, 0), orientation=orientation)
    with pytest.raises(error):
        solve_chain(upright(1), (1, 1, 0), orientation=np.eye(3), rotations=[orientation])
