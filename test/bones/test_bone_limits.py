# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from basis_ik.bones.bone_limits import (
    BoneLimit,
    BoneLimitError,
    Cone,
    Hinge,
    SwingTwist,
)
from basis_ik.bones.points_at import PointsAt, Up, points_at
from basis_ik.numerics.angles_kernel import nearest_angle
from basis_ik.transforms.checks import ZeroLengthError
from basis_ik.transforms.directions_kernel import twist_angle
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict

SEEDS = st.integers(0, 2**32 - 1)
REST = RigidTransform.from_rpy(0.4, -0.3, 0.8, (0.1, 0.2, 0.3))
BONE = np.array([0.0, 0.0, 0.5])  # joint to tail, in the bone's own coordinates


def pose(joint: RigidTransform, target: object) -> TransformTree:
    """A bone turned by `joint` from rest, and a target given in rest coordinates."""
    tree = TransformTree("base")
    tree.add("bone", "base", REST @ joint)
    tree.add("tail", "bone", RigidTransform.from_rpy(0, 0, 0, BONE))
    tree.add("target", "base", REST @ RigidTransform.from_rpy(0, 0, 0, target))
    return tree


def aimed(tree: TransformTree, limit: BoneLimit, up: Up | None = None) -> PointsAt:
    return points_at(tree, "bone", "tail", "target", limit=limit, up=up)


def joint_of(result: PointsAt) -> RigidTransform:
    return REST.inverse() @ result.parent_T_bone


def angle(a: object, b: object) -> float:
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(np.dot(a, b)))


def random_pose(rng: np.random.Generator) -> tuple[TransformTree, np.ndarray]:
    joint = RigidTransform.exp(np.concatenate([np.zeros(3), rng.uniform(-2, 2, 3)]))
    target = rng.normal(size=3)
    assert np.linalg.norm(target) > 1e-3
    return pose(joint, target), target


@given(SEEDS, st.sampled_from([0.0, 0.3, 1.0, 2.5, math.pi]))
def test_cone_points_exactly_inside_and_to_its_nearest_edge_outside(
    seed: int, half_angle: float
) -> None:
    tree, target = random_pose(np.random.default_rng(seed))
    result = aimed(tree, Cone(REST, half_angle))
    reached = joint_of(result).apply_vector(BONE)
    wanted = angle(BONE, target)
    assert angle(BONE, reached) <= half_angle + 1e-9
    assert result.angle == pytest.approx(angle(BONE, reached), abs=1e-9)
    # On the way from rest to the target nothing within the cone is nearer than its edge.
    assert result.miss == pytest.approx(max(0.0, wanted - half_angle), abs=1e-9)
    assert result.miss == pytest.approx(angle(reached, target), abs=1e-9)
    assert result.verdict is (Verdict.REACHED if wanted <= half_angle else Verdict.LIMIT)


@given(SEEDS)
def test_within_the_cone_the_pose_is_the_one_without_a_limit(seed: int) -> None:
    tree, _ = random_pose(np.random.default_rng(seed))
    free = points_at(tree, "bone", "tail", "target")
    limited = aimed(tree, Cone(REST, math.pi))
    assert limited.parent_T_bone.is_close(free.parent_T_bone, 1e-12)


def test_opposite_to_the_cone_is_deterministic() -> None:
    for off in (0.0, 1e-16, -1e-12):
        result = aimed(pose(RigidTransform.identity(), (off, 0, -1)), Cone(REST, 0.5))
        assert result.angle == pytest.approx(0.5)
        assert result.miss == pytest.approx(math.pi - 0.5)
        # To the same side, whatever rounding says.
        np.testing.assert_allclose(
            joint_of(result).apply_vector(BONE),
            (0, 0.5 * math.sin(0.5), 0.5 * math.cos(0.5)),
            rtol=0,
            atol=1e-9,
        )


@given(SEEDS, st.floats(0.0, math.pi), st.floats(-3.0, 3.0), st.floats(0.0, 3.0))
def test_swing_twist_keeps_both_within_bounds(
    seed: int, half_angle: float, lower: float, width: float
) -> None:
    tree, target = random_pose(np.random.default_rng(seed))
    assume(angle(BONE, target) < math.pi - 1e-3)  # twist after a half turn of swing is undefined
    limit = SwingTwist(REST, half_angle, lower, lower + width)
    result = aimed(tree, limit)
    joint = joint_of(result)
    reached = joint.apply_vector(BONE)
    assert angle(BONE, reached) <= half_angle + 1e-9
    assert limit.lower <= result.twist <= limit.upper
    measured = twist_angle(joint.rotation.copy(), BONE / 0.5)
    assert abs(math.remainder(measured - result.twist, 2 * math.pi)) < 1e-9
    # Twisting does not change where the bone points: the miss is the cone's.
    assert result.miss == pytest.approx(max(0.0, angle(BONE, target) - half_angle), abs=1e-9)


def test_a_twist_that_is_allowed_is_left_alone() -> None:
    tree, _ = random_pose(np.random.default_rng(4))
    free = points_at(tree, "bone", "tail", "target")
    limited = aimed(tree, SwingTwist(REST, math.pi, -math.pi, math.pi))
    assert limited.parent_T_bone.is_close(free.parent_T_bone, 1e-12)


def test_up_beyond_the_twist_limit_is_reported() -> None:
    tree = pose(RigidTransform.identity(), (0, 0, 1))  # pointing already: only the roll is asked
    up = Up((1, 0, 0), "base", REST.apply_vector((0, 1, 0)))  # a quarter turn of roll
    result = aimed(tree, SwingTwist(REST, 0.1, -0.2, 0.3), up)
    assert result.twist == pytest.approx(0.3)
    assert result.miss < 1e-9
    assert result.roll_miss == pytest.approx(math.pi / 2 - 0.3)
    assert result.verdict is Verdict.LIMIT
    allowed = aimed(tree, SwingTwist(REST, 0.1, -2.0, 2.0), up)
    assert allowed.twist == pytest.approx(math.pi / 2)
    assert allowed.verdict is Verdict.REACHED


@given(SEEDS, st.floats(-3.0, 3.0), st.floats(0.0, 4.0))
def test_no_angle_within_a_hinge_points_nearer(seed: int, lower: float, width: float) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    tree, target = random_pose(rng)
    limit = Hinge(REST, axis, lower, lower + width)
    result = aimed(tree, limit)
    assert limit.lower <= result.angle <= limit.upper
    expected = RigidTransform.from_axis_angle(axis, result.angle)
    assert np.abs(joint_of(result).rotation - expected.rotation).max() < 1e-12
    assert result.miss == pytest.approx(angle(expected.apply(BONE), target), abs=1e-9)
    for other in np.linspace(limit.lower, limit.upper, 200):
        turned = RigidTransform.from_axis_angle(axis, other).apply(BONE)
        assert angle(turned, target) >= result.miss - 1e-9


def test_a_hinge_points_at_targets_in_its_plane() -> None:
    for wanted in (-1.2, -0.1, 0.7, 1.9):
        target = RigidTransform.from_axis_angle((1, 0, 0), wanted).apply(BONE)
        tree = pose(RigidTransform.identity(), 3 * target)
        result = aimed(tree, Hinge(REST, (2, 0, 0), -2.0, 2.0))
        assert result.angle == pytest.approx(wanted)
        assert result.verdict is Verdict.REACHED
        stopped = aimed(tree, Hinge(REST, (2, 0, 0), -0.5, 0.5))
        assert stopped.angle == pytest.approx(np.clip(wanted, -0.5, 0.5))
        assert stopped.miss == pytest.approx(max(0.0, abs(wanted) - 0.5), abs=1e-9)


def test_a_knee_does_not_bend_backwards() -> None:
    """Left calf points at something in front of the thigh; the knee bends to the back only."""
    tree = TransformTree("hip")
    tree.add("thigh", "hip", RigidTransform.identity())
    knee = RigidTransform.from_rpy(0, 0, 0, (0, 0, -0.4))
    tree.add("calf", "thigh", knee)
    tree.add("ankle", "calf", RigidTransform.from_rpy(0, 0, 0, (0, 0, -0.4)))
    limit = Hinge(knee, (0, 1, 0), 0.0, 2.4)  # about y from −z: positive angles lead to −x
    front = points_at(tree, "calf", "ankle", ("hip", (1.0, 0.0, -0.6)), limit=limit)
    assert front.angle == 0.0
    assert front.verdict is Verdict.LIMIT
    assert front.miss == pytest.approx(math.atan2(1.0, 0.2))
    back = points_at(tree, "calf", "ankle", ("hip", (-1.0, 0.0, -0.6)), limit=limit)
    assert back.angle == pytest.approx(math.atan2(1.0, 0.2))
    assert back.verdict is Verdict.REACHED


def test_a_target_on_the_hinge_axis_keeps_the_angle() -> None:
    tree = pose(RigidTransform.from_axis_angle((1, 0, 0), 0.6), (1, 0, 0))
    result = aimed(tree, Hinge(REST, (1, 0, 0), -1.0, 1.0))
    assert result.angle == pytest.approx(0.6)
    assert result.miss == pytest.approx(math.pi / 2)
    assert aimed(tree, Hinge(REST, (1, 0, 0), -1.0, 0.5)).angle == 0.5


def test_a_bone_along_its_hinge_keeps_the_angle() -> None:
    tree = pose(RigidTransform.from_axis_angle((0, 0, 1), 0.6), (1, 2, 3))
    assert aimed(tree, Hinge(REST, (0, 0, 1), -1.0, 1.0)).angle == pytest.approx(0.6)


def test_a_continuous_hinge_turns_the_short_way_round() -> None:
    free = Hinge(REST, (1, 0, 0), -math.inf, math.inf)
    for wanted in (3.0, -3.0):
        target = RigidTransform.from_axis_angle((1, 0, 0), wanted).apply(BONE)
        tree = pose(RigidTransform.from_axis_angle((1, 0, 0), math.copysign(2.9, -wanted)), target)
        assert aimed(tree, free).angle == pytest.approx(wanted - math.copysign(2 * math.pi, wanted))


@pytest.mark.skipif(not hasattr(nearest_angle, "signatures"), reason="plain Python")
def test_bounds_that_are_integers_compile_nothing_again() -> None:
    for one in (1.0, 1):
        for limit in (Hinge(REST, (1, 0, 0), -one, one), SwingTwist(REST, one, -one, one)):
            aimed(pose(RigidTransform.identity(), (1, 2, 3)), limit)
    assert len(nearest_angle.signatures) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 3.2])
def test_bad_half_angles_are_refused(bad: float) -> None:
    with pytest.raises(BoneLimitError, match="cone"):
        Cone(REST, bad)
    with pytest.raises(BoneLimitError, match="swing"):
        SwingTwist(REST, bad, 0.0, 1.0)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (1.0, 0.0), (math.nan, 0.0), (0.0, math.nan), (math.inf, math.inf), (-math.inf, -math.inf),
        (-math.inf, 0.5), (0.0, math.inf), (-3.2, 3.2), (0.0, 1e300),  # every angle keeps these
    ],
)  # fmt: skip
def test_bad_ranges_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(BoneLimitError, match="twist") as caught:
        SwingTwist(REST, 1.0, lower, upper)
    assert caught.value.name == "twist"
    with pytest.raises(BoneLimitError, match="hinge"):
        Hinge(REST, (1, 0, 0), lower, upper)


def test_a_whole_turn_is_a_range() -> None:
    for lower, upper in ((-math.pi, math.pi), (-3.142, 3.142), (-math.inf, math.inf)):
        assert Hinge(REST, (1, 0, 0), lower, upper).upper == upper
    with pytest.raises(BoneLimitError, match="a turn wide at most"):
        Hinge(REST, (1, 0, 0), -math.pi, math.pi + 2e-3)


def test_a_hinge_without_an_axis_is_refused() -> None:
    with pytest.raises(ZeroLengthError, match="axis"):
        Hinge(REST, (0, 0, 0), -1.0, 1.0)


@pytest.mark.parametrize(("sine", "is_along"), [(0.8e-9, True), (1.2e-9, False)])
def test_a_direction_is_along_a_hinge_within_a_billionth(sine: float, is_along: bool) -> None:
    """The angle is then kept; beyond, it is that to the target. Of bone and target alike."""
    hinge = Hinge(REST, (0.0, 0.0, 1.0), -math.inf, math.inf)
    near, far = np.array([0.0, sine, 1.0]), np.array([1.0, 0.0, 0.0])
    for bone, desired, angle in ((near, far, -math.pi / 2), (far, near, math.pi / 2)):
        found = hinge.allow(np.eye(3), bone, desired, lambda _: np.eye(3)).angle
        assert found == pytest.approx(0.0 if is_along else angle, abs=1e-6)


@pytest.mark.parametrize(("sine", "is_opposite"), [(0.8e-9, True), (1.2e-9, False)])
def test_a_target_is_opposite_to_a_cone_within_a_billionth(sine: float, is_opposite: bool) -> None:
    """Beyond, the bone leans to the target's side."""
    side, seen = np.array([math.cos(2.0), math.sin(2.0), 0.0]), []
    Cone(REST, 0.5).allow(
        np.eye(3), np.array([0.0, 0.0, 1.0]), sine * side - [0.0, 0.0, 1.0],
        lambda direction: seen.append(direction) or np.eye(3),
    )  # fmt: skip
    assert seen[0][2] == pytest.approx(math.cos(0.5))
    assert (seen[0] @ side == pytest.approx(math.sin(0.5), abs=1e-6)) is not is_opposite
