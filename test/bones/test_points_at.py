# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.bones.bone_limits import Cone
from basis_ik.bones.points_at import (
    BoneError,
    Up,
    points_at,
    points_at_in_object,
    points_at_in_world,
)
from basis_ik.transforms.checks import NotFiniteError, ShapeError, ZeroLengthError
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree, UnknownFrameError
from basis_ik.verdict import Verdict

SEEDS = st.integers(0, 2**32 - 1)


def at(*xyz: float) -> RigidTransform:
    return RigidTransform.from_rpy(0, 0, 0, xyz)


def legs(hip: RigidTransform | None = None) -> TransformTree:
    """Hip, two thighs, two calves, two ankles: the text's example, knees a little bent."""
    tree = TransformTree("world")
    tree.add("hip", "world", hip or RigidTransform.from_rpy(0.1, -0.2, 0.7, (3, -2, 0.9)))
    for side, y in (("l", 0.1), ("r", -0.1)):
        tree.add(f"thigh.{side}", "hip", RigidTransform.from_rpy(0.05 * y, 0.3, 2 * y, (0, y, 0)))
        tree.add(f"calf.{side}", f"thigh.{side}", RigidTransform.from_rpy(0, 0.6, 0, (0, 0, -0.4)))
        tree.add(f"ankle.{side}", f"calf.{side}", at(0, 0, -0.38))
    return tree


def random_legs(rng: np.random.Generator) -> TransformTree:
    tree = TransformTree("world")
    tree.add("hip", "world", RigidTransform.exp(rng.uniform(-3, 3, 6)))
    for side in ("l", "r"):
        above = "hip"
        for bone in ("thigh", "calf", "ankle"):
            tree.add(f"{bone}.{side}", above, RigidTransform.exp(rng.uniform(-2, 2, 6)))
            above = f"{bone}.{side}"
    return tree


def direction(tree: TransformTree, bone: str, tail: str, target: str) -> tuple[float, ...]:
    """Return the angle between the bone and the direction to the target [rad]."""
    a, b = tree.lookup(bone, tail).translation, tree.lookup(bone, target).translation
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


LEFT = ("calf.l", "ankle.l", "ankle.r")


# --- the text's example: left calf points at right ankle ---


def test_left_calf_points_at_right_ankle() -> None:
    tree = legs()
    assert direction(tree, *LEFT) > 0.1
    knee = tree.lookup("world", "calf.l").translation
    result = points_at(tree, *LEFT)
    tree.move("calf.l", result.parent_T_bone)
    assert direction(tree, *LEFT) < 1e-12
    assert result.verdict is Verdict.REACHED
    assert result.miss < 1e-12
    # The knee stays, the calf keeps its length, and its end is on the line to the right ankle.
    np.testing.assert_array_equal(tree.lookup("world", "calf.l").translation, knee)
    ankle_l, ankle_r = (tree.lookup("world", f"ankle.{side}").translation for side in "lr")
    assert np.linalg.norm(ankle_l - knee) == pytest.approx(0.38, abs=1e-12)
    line = (ankle_r - knee) / np.linalg.norm(ankle_r - knee)
    np.testing.assert_allclose(ankle_l, knee + 0.38 * line, rtol=0, atol=1e-12)


def test_option_1_step_by_step() -> None:
    """All in world coordinates, with the transforms multiplied out by hand."""
    tree = legs()
    hip = tree.lookup("world", "hip")
    left = hip @ tree.lookup("hip", "thigh.l") @ tree.lookup("thigh.l", "calf.l")
    right = hip @ tree.lookup("hip", "thigh.r") @ tree.lookup("thigh.r", "calf.r")
    right_ankle = (right @ tree.lookup("calf.r", "ankle.r")).translation  # 1
    left_knee = left.translation  # 2
    desired = right_ankle - left_knee  # 3
    left_ankle = (left @ tree.lookup("calf.l", "ankle.l")).translation  # 4
    current = left_ankle - left_knee  # 5
    axis = np.cross(current, desired)
    angle = math.atan2(np.linalg.norm(axis), current @ desired)
    R = RigidTransform.from_axis_angle(axis, angle)  # 6
    knee = at(*left_knee)
    constraint = knee @ R @ knee.inverse()  # 7: about the knee, not about the world's origin
    assert points_at_in_world(tree, *LEFT).is_close(constraint, 1e-12)
    np.testing.assert_allclose(constraint.apply(left_knee), left_knee, rtol=0, atol=1e-14)


def test_option_2_step_by_step() -> None:
    """All in object coordinates: the hip cancels out of the product."""
    tree = legs()
    calf_l_T_hip = tree.lookup("thigh.l", "calf.l").inverse() @ (
        tree.lookup("hip", "thigh.l").inverse()
    )
    hip_T_ankle_r = (
        tree.lookup("hip", "thigh.r")
        @ tree.lookup("thigh.r", "calf.r")
        @ tree.lookup("calf.r", "ankle.r")
    )
    desired = (calf_l_T_hip @ hip_T_ankle_r).translation  # 1, 2, 3: the knee is the origin
    current = tree.lookup("calf.l", "ankle.l").translation  # 4
    axis = np.cross(current, desired)
    angle = math.atan2(np.linalg.norm(axis), current @ desired)
    R = RigidTransform.from_axis_angle(axis, angle)  # 5
    found = points_at_in_object(tree, *LEFT)
    assert found.is_close(R, 1e-12)
    assert found.translation.tolist() == [0, 0, 0]
    moved = points_at(tree, *LEFT).parent_T_bone
    assert moved.is_close(tree.lookup("thigh.l", "calf.l") @ R, 1e-12)  # 6


def test_common_ancestors_do_not_matter_at_any_distance() -> None:
    near = points_at(legs(at(0, 0, 0)), *LEFT)
    far = points_at(legs(RigidTransform.from_rpy(1, 2, 3, (1e200, 1e300, -1e250))), *LEFT)
    assert far == near


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3)], ids=["x", "y", "z", "-x", "-y", "-z"])
def test_no_axis_of_a_bone_is_forward(axis: np.ndarray) -> None:
    """The tail determines the direction, wherever it is in the bone's own basis."""
    tree = TransformTree("root")
    tree.add("bone", "root", RigidTransform.from_rpy(0.3, -0.8, 2.0, (1, 2, 3)))
    tree.add("tail", "bone", at(*0.7 * axis))
    tree.add("target", "root", at(-2, 1, 5))
    tree.move("bone", points_at(tree, "bone", "tail", "target").parent_T_bone)
    wanted = np.array((-3.0, -1.0, 2.0)) / math.sqrt(14)
    np.testing.assert_allclose(tree.basis("bone").rotation @ axis, wanted, rtol=0, atol=1e-14)


# --- both ways are one ---


def test_both_ways_are_equal_on_thousands_of_random_trees() -> None:
    rng = np.random.default_rng(11)
    for _ in range(3000):
        tree = random_legs(rng)
        world_T_calf = tree.lookup("world", "calf.l")
        left = points_at_in_world(tree, *LEFT) @ world_T_calf
        right = world_T_calf @ points_at_in_object(tree, *LEFT)
        assert np.abs(left.matrix - right.matrix).max() < 1e-12
        tree.move("calf.l", tree.lookup("thigh.l", "calf.l") @ points_at_in_object(tree, *LEFT))
        assert direction(tree, *LEFT) < 1e-12


@given(SEEDS, st.sampled_from(["world", "hip", "thigh.l", "ankle.r"]))
def test_any_common_basis_can_be_the_world(seed: int, world: str) -> None:
    rng = np.random.default_rng(seed)
    tree = random_legs(rng)
    up = Up(rng.normal(size=3), "thigh.r", rng.normal(size=3))
    for roll in (None, up):
        world_T_calf = tree.lookup(world, "calf.l")
        left = points_at_in_world(tree, *LEFT, up=roll, world=world) @ world_T_calf
        right = world_T_calf @ points_at_in_object(tree, *LEFT, up=roll)
        assert left.is_close(right, 1e-10)


@given(SEEDS)
def test_the_rotation_is_the_smallest(seed: int) -> None:
    """It turns by the angle between the directions, which is the least possible."""
    tree = random_legs(np.random.default_rng(seed))
    before = direction(tree, *LEFT)
    _, angle = points_at_in_object(tree, *LEFT).as_axis_angle()
    assert abs(angle - before) < 1e-12
    assert abs(points_at(tree, *LEFT).angle - before) < 1e-12


@given(SEEDS)
def test_pointing_again_turns_nothing(seed: int) -> None:
    tree = random_legs(np.random.default_rng(seed))
    tree.move("calf.l", points_at(tree, *LEFT).parent_T_bone)
    assert points_at(tree, *LEFT).angle < 1e-14


@given(SEEDS)
def test_points_within_frames_serve_as_tail_and_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_legs(rng)
    tail, target = ("ankle.l", rng.normal(size=3)), ("thigh.r", rng.normal(size=3))
    tree.move("calf.l", points_at(tree, "calf.l", tail, target).parent_T_bone)
    a = tree.lookup("calf.l", "ankle.l").apply(tail[1])
    b = tree.lookup("calf.l", "thigh.r").apply(target[1])
    np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), rtol=0, atol=1e-12)


# --- up ---


@given(SEEDS)
def test_the_axis_leans_towards_up_as_far_as_pointing_lets_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_legs(rng)
    axis, towards = rng.normal(size=(2, 3))
    result = points_at(tree, *LEFT, up=Up(axis, "hip", towards))
    tree.move("calf.l", result.parent_T_bone)
    assert direction(tree, *LEFT) < 1e-11
    d = tree.lookup("hip", "calf.l").apply_vector(tree.lookup("calf.l", "ankle.l").translation)
    leaning = tree.lookup("hip", "calf.l").apply_vector(axis)
    d /= np.linalg.norm(d)
    across = [v - (v @ d) * d for v in (leaning, towards)]
    across = [v / np.linalg.norm(v) for v in across]
    np.testing.assert_allclose(across[0], across[1], rtol=0, atol=1e-9)
    assert result.verdict is Verdict.REACHED
    assert result.roll_miss < 1e-9


def test_up_along_the_bone_leaves_the_smallest_rotation() -> None:
    tree = legs()
    along = tree.lookup("calf.l", "ankle.l").translation
    expected = points_at(tree, *LEFT)
    assert points_at(tree, *LEFT, up=Up(along, "hip", (0, 0, 1))) == expected
    knee, ankle = (tree.lookup("hip", f).translation for f in ("calf.l", "ankle.r"))
    assert points_at(tree, *LEFT, up=Up((1, 0, 0), "hip", ankle - knee)) == expected


# --- degenerate ---


def straight(target: RigidTransform, tail: RigidTransform) -> TransformTree:
    tree = TransformTree("world")
    tree.add("base", "world", RigidTransform.from_rpy(0.3, 0.4, 0.5, (1, 2, 3)))
    tree.add("bone", "base", RigidTransform.from_rpy(-0.2, 0.1, 0.9, (0.5, 0, 0)))
    tree.add("tail", "bone", tail)
    tree.add("target", "base", tree.lookup("base", "bone") @ target)
    return tree


AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (1, 1, 1), (0.1, -0.7, 0.2)]


@pytest.mark.parametrize("axis", AXES)
def test_antiparallel_is_a_half_turn_the_same_both_ways_and_every_time(
    axis: tuple[float, float, float],
) -> None:
    tail = np.array(axis, float)
    for scale in (-1.0, -0.3, -20.0):
        tree = straight(at(*(scale * tail)), at(*tail))
        R = points_at_in_object(tree, "bone", "tail", "target")
        assert R.as_axis_angle()[1] == pytest.approx(math.pi, abs=1e-12)
        turned = R.apply(tail)
        np.testing.assert_allclose(turned, -tail, rtol=0, atol=1e-12)
        C = points_at_in_world(tree, "bone", "tail", "target")
        world_T_bone = tree.lookup("world", "bone")
        assert (C @ world_T_bone).is_close(world_T_bone @ R, 1e-12)
        again = straight(at(*(scale * tail)), at(*tail))
        assert points_at_in_object(again, "bone", "tail", "target") == R


@pytest.mark.parametrize("off", [1e-15, 1e-12, 1e-10, 1e-8, 1e-4])
def test_next_to_antiparallel_it_still_points_exactly(off: float) -> None:
    tree = straight(at(-1.0, off, 0.0), at(1, 0, 0))
    R = points_at_in_object(tree, "bone", "tail", "target")
    np.testing.assert_allclose(
        R.apply((1, 0, 0)), np.array([-1, off, 0]) / math.hypot(1, off), rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(
    ("target", "tail"), [((0, 0, 0), (1, 0, 0)), ((1, 0, 0), (0, 0, 0)), ((0, 0, 1e-14), (1, 0, 0))]
)
def test_no_direction_is_degenerate_and_leaves_the_bone(
    target: tuple[float, ...], tail: tuple[float, ...]
) -> None:
    tree = straight(at(*target), at(*tail))
    result = points_at(tree, "bone", "tail", "target", up=Up((0, 0, 1), "base", (0, 0, 1)))
    assert result.verdict is Verdict.DEGENERATE
    assert result.parent_T_bone == tree.lookup("base", "bone")
    assert math.isnan(result.miss)
    assert result.angle == 0.0
    for way in (points_at_in_world, points_at_in_object):
        assert way(tree, "bone", "tail", "target") == RigidTransform.identity()


@pytest.mark.parametrize("far", [1e160, 1e300])
def test_a_target_at_the_largest_distances(far: float) -> None:
    tree = legs()
    result = points_at(tree, "calf.l", "ankle.l", ("hip", (far, far, -far)))
    assert result.verdict is Verdict.REACHED
    tree.move("calf.l", result.parent_T_bone)
    shin = tree.lookup("hip", "calf.l").apply_vector(tree.lookup("calf.l", "ankle.l").translation)
    np.testing.assert_allclose(shin / 0.38, np.array([1, 1, -1]) / math.sqrt(3), rtol=0, atol=1e-12)


def test_aligned_already_turns_nothing() -> None:
    result = points_at(straight(at(2, 4, 6), at(1, 2, 3)), "bone", "tail", "target")
    assert result.angle < 1e-15
    assert result.verdict is Verdict.REACHED


# --- the door ---


def test_tails_and_targets_that_do_not_fit_are_refused() -> None:
    tree = legs()
    for way in (points_at, points_at_in_world, points_at_in_object):
        with pytest.raises(BoneError, match=r"does not move its tail 'ankle\.r'"):
            way(tree, "calf.l", "ankle.r", "ankle.r")
        with pytest.raises(BoneError, match=r"moves its target 'ankle\.l'"):
            way(tree, "thigh.l", "calf.l", "ankle.l")
        with pytest.raises(BoneError, match="up direction"):
            way(tree, *LEFT, up=Up((1, 0, 0), "ankle.l", (0, 0, 1)))
        with pytest.raises(UnknownFrameError, match="tail"):
            way(tree, "calf.l", "tail", "ankle.r")
        with pytest.raises(ZeroLengthError, match="up"):
            way(tree, *LEFT, up=Up((0, 0, 0), "hip", (0, 0, 1)))
        with pytest.raises(NotFiniteError, match="up"):
            way(tree, *LEFT, up=Up((1, 0, 0), "hip", (0, math.nan, 1)))
        with pytest.raises(NotFiniteError, match="point"):
            way(tree, "calf.l", "ankle.l", ("hip", (0, 0, math.inf)))
        with pytest.raises(ShapeError, match="point"):
            way(tree, "calf.l", ("ankle.l", (0, 0)), "hip")


@pytest.mark.parametrize(("left", "verdict"), [(0.8e-9, "REACHED"), (1.2e-9, "LIMIT")])
def test_a_bone_points_at_its_target_to_a_nanoradian(left: float, verdict: str) -> None:
    tree = legs()
    needed = points_at(tree, *LEFT).angle
    rest = tree.basis("calf.l")
    assert isinstance(rest, RigidTransform)
    limit = Cone(rest, needed - left)
    found = points_at(tree, *LEFT, limit=limit)
    assert found.miss == pytest.approx(left, abs=1e-12)
    assert found.verdict is Verdict[verdict]


def test_the_root_cannot_turn() -> None:
    tree = legs()
    with pytest.raises(BoneError, match="root"):
        points_at(tree, "world", "hip", "ankle.r")


def test_a_world_that_moves_with_the_bone_is_refused() -> None:
    with pytest.raises(BoneError, match="cannot be its world"):
        points_at_in_world(legs(), *LEFT, world="ankle.l")
