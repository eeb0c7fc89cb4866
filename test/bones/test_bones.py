# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.bones.bones import (
    BoneChainError,
    SolvedPositionsError,
    bones_in_object,
    bones_in_world,
    chain_positions,
)
from basis_ik.transforms.checks import NotFiniteError, ShapeError
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree, UnknownFrameError

SEEDS = st.integers(0, 2**32 - 1)
BOTH = [bones_in_object, bones_in_world]


def random_chain(rng: np.random.Generator, bones: int) -> tuple[TransformTree, list[str]]:
    """Return a chain below two frames, with fixed frames between some of its bones."""
    tree = TransformTree("world")
    tree.add("base", "world", RigidTransform.exp(rng.uniform(-2, 2, 6)))
    above, frames = "base", []
    for i in range(bones + 1):
        if rng.random() < 0.3:
            tree.add(f"mount{i}", above, RigidTransform.exp(rng.uniform(-1, 1, 6)))
            above = f"mount{i}"
        tree.add(f"bone{i}", above, RigidTransform.exp(rng.uniform(-1, 1, 6)))
        above = f"bone{i}"
        frames.append(above)
    return tree, frames


def elsewhere(rng: np.random.Generator, positions: np.ndarray) -> np.ndarray:
    """Return other positions with the same lengths and root, as from a position solver."""
    lengths = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    steps = rng.normal(size=(len(lengths), 3))
    steps *= (lengths / np.linalg.norm(steps, axis=1))[:, None]
    return np.vstack([positions[0], positions[0] + np.cumsum(steps, axis=0)])


def move(tree: TransformTree, moved: dict[str, RigidTransform]) -> None:
    for frame, parent_T_frame in moved.items():
        tree.move(frame, parent_T_frame)


@given(SEEDS, st.integers(1, 6), st.sampled_from(["world", "base", "bone0", "bone1"]))
def test_both_routes_reach_the_solved_positions_and_agree(
    seed: int, bones: int, common: str
) -> None:
    rng = np.random.default_rng(seed)
    tree, frames = random_chain(rng, bones)
    solved = elsewhere(rng, chain_positions(tree, frames, common))
    # The common basis may itself be a bone that moves: the positions are where it was.
    world = tree.lookup("world", common).apply(solved)
    moved = bones_in_object(tree, frames, solved, common)
    other = bones_in_world(tree, frames, solved, common)
    assert list(moved) == list(other) == frames[:-1]
    for bone in moved:
        assert moved[bone].is_close(other[bone], 1e-10)
    move(tree, moved)
    np.testing.assert_allclose(chain_positions(tree, frames, "world"), world, rtol=0, atol=1e-10)


@pytest.mark.parametrize("route", BOTH)
def test_each_bone_turns_by_the_smallest_rotation(route: object) -> None:
    """Each bone's rotation, relative to the previous ones, has no component along the bone."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        tree, frames = random_chain(rng, 4)
        solved = elsewhere(rng, chain_positions(tree, frames, "world"))
        moved = route(tree, frames, solved, "world")
        for bone, tail in pairwise(frames):
            turn = tree.lookup(tree.parent(bone), bone).inverse() @ moved[bone]
            before = tree.lookup(bone, tail).translation
            axis, angle = turn.as_axis_angle()
            after = turn.apply(before)
            between = math.atan2(np.linalg.norm(np.cross(before, after)), before @ after)
            assert abs(angle - between) < 1e-10
            assert angle < 1e-10 or abs(axis @ before) < 1e-10


@pytest.mark.parametrize("route", BOTH)
def test_unchanged_positions_turn_nothing(route: object) -> None:
    tree, frames = random_chain(np.random.default_rng(3), 5)
    for common in ("world", "bone2"):
        moved = route(tree, frames, chain_positions(tree, frames, common), common)
        for bone, transform in moved.items():
            assert transform.is_close(tree.lookup(tree.parent(bone), bone), 1e-12)


@pytest.mark.parametrize("route", BOTH)
def test_bones_keep_their_joints_and_the_tree_is_not_changed(route: object) -> None:
    rng = np.random.default_rng(4)
    tree, frames = random_chain(rng, 3)
    before = {f: tree.lookup("world", f) for f in tree.frames}
    moved = route(tree, frames, elsewhere(rng, chain_positions(tree, frames, "world")), "world")
    for bone, transform in moved.items():
        joint = tree.lookup(tree.parent(bone), bone).translation
        np.testing.assert_allclose(transform.translation, joint, rtol=0, atol=1e-12)
    assert before == {f: tree.lookup("world", f) for f in tree.frames}


def test_folding_straight_back_is_the_same_both_ways() -> None:
    tree = TransformTree("world")
    tree.add("a", "world", RigidTransform.from_rpy(0.3, 0.1, -0.4, (1, 2, 3)))
    tree.add("b", "a", RigidTransform.from_rpy(0, 0, 0.5, (1, 0, 0)))
    tree.add("c", "b", RigidTransform.from_rpy(0, 0, -0.5, (0.8, 0, 0)))
    now = chain_positions(tree, ["a", "b", "c"], "world")
    folded = now.copy()
    folded[1] = 2 * now[0] - now[1]  # the first bone, exactly back
    folded[2] = folded[1] + (now[2] - now[1])
    moved = bones_in_object(tree, ["a", "b", "c"], folded, "world")
    other = bones_in_world(tree, ["a", "b", "c"], folded, "world")
    for bone in moved:
        assert moved[bone].is_close(other[bone], 1e-10)
    move(tree, moved)
    np.testing.assert_allclose(
        chain_positions(tree, ["a", "b", "c"], "world"), folded, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("route", BOTH)
def test_a_bone_without_length_stays_as_it_is(route: object) -> None:
    tree = TransformTree("world")
    tree.add("a", "world", RigidTransform.from_rpy(0.3, 0.1, -0.4, (1, 2, 3)))
    tree.add("b", "a", RigidTransform.from_rpy(0.1, 0.2, 0.5))
    tree.add("c", "b", RigidTransform.from_rpy(0, 0, 0, (0.8, 0, 0)))
    solved = chain_positions(tree, ["a", "b", "c"], "world")
    solved[2] = solved[1] + (0, 0, 0.8)
    moved = route(tree, ["a", "b", "c"], solved, "world")
    assert moved["a"].is_close(tree.lookup("world", "a"), 1e-12)
    move(tree, moved)
    np.testing.assert_allclose(
        chain_positions(tree, ["a", "b", "c"], "world"), solved, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("route", BOTH)
def test_positions_that_do_not_belong_to_the_bones_are_refused(route: object) -> None:
    tree, frames = random_chain(np.random.default_rng(5), 3)
    good = chain_positions(tree, frames, "world")
    stretched = good.copy()
    stretched[-1] += 0.01 * (good[-1] - good[-2])
    with pytest.raises(SolvedPositionsError, match="bone3") as caught:
        route(tree, frames, stretched, "world")
    assert caught.value.actual == pytest.approx(1.01 * caught.value.expected)
    with pytest.raises(SolvedPositionsError, match="bone0"):
        route(tree, frames, good + 0.01, "world")
    along = good[-1] - good[-2]
    slight = np.zeros_like(good)
    slight[-1] = along / np.linalg.norm(along) * np.linalg.norm(np.diff(good, axis=0), axis=1).sum()
    route(tree, frames, good + 0.9e-6 * slight, "world")
    with pytest.raises(SolvedPositionsError, match="bone3"):
        route(tree, frames, good + 1.1e-6 * slight, "world")
    with pytest.raises(ShapeError, match="positions"):
        route(tree, frames, good[:-1], "world")
    with pytest.raises(NotFiniteError, match="positions"):
        route(tree, frames, good * math.nan, "world")


@pytest.mark.parametrize("route", BOTH)
def test_frames_that_are_no_chain_are_refused(route: object) -> None:
    tree, frames = random_chain(np.random.default_rng(6), 3)
    tree.add("side", "bone0", RigidTransform.identity())
    for bad in ([], ["bone0"], ["bone1", "bone0"], ["side", "bone1"], ["bone0", "bone0"]):
        with pytest.raises(BoneChainError):
            route(tree, bad, np.zeros((len(bad), 3)), "world")
    whole = ["world", "bone3"]
    with pytest.raises(BoneChainError, match="root"):
        route(tree, whole, chain_positions(tree, whole, "base"), "base")
    with pytest.raises(UnknownFrameError):
        route(tree, ["bone0", "tail"], np.zeros((2, 3)), "world")
    with pytest.raises(UnknownFrameError):
        route(tree, frames, np.zeros((4, 3)), "nowhere")
