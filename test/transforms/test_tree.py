# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.transforms import tree_kernel as kernels
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import (
    CycleError,
    SecondParentError,
    TransformTree,
    UnknownFrameError,
)


def random_transform(rng: np.random.Generator) -> RigidTransform:
    return RigidTransform.exp(rng.uniform(-2.0, 2.0, 6))


def random_tree(rng: np.random.Generator, size: int) -> TransformTree:
    tree = TransformTree("f0")
    for i in range(1, size):
        tree.add(f"f{i}", f"f{rng.integers(max(0, i - 4), i)}", random_transform(rng))
    return tree


def legs(hip: RigidTransform) -> TransformTree:
    rng = np.random.default_rng(5)
    tree = TransformTree("world")
    tree.add("hip", "world", hip)
    for side in ("l", "r"):
        above = "hip"
        for bone in ("thigh", "calf", "ankle"):
            tree.add(f"{bone}.{side}", above, random_transform(rng))
            above = f"{bone}.{side}"
    return tree


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_lookup_is_the_way_up_and_the_inverse_of_the_way_down(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, size)

    def root_T(frame: str) -> RigidTransform:
        transform = RigidTransform.identity()
        while (parent := tree.parent(frame)) is not None:
            transform = tree.lookup(parent, frame) @ transform
            frame = parent
        return transform

    for _ in range(5):
        a, b, c = rng.choice(tree.frames, 3).tolist()
        assert tree.lookup(a, b).is_close(root_T(a).inverse() @ root_T(b), 1e-10)
        assert tree.lookup(b, a).is_close(tree.lookup(a, b).inverse(), 1e-10)
        assert (tree.lookup(a, b) @ tree.lookup(b, c)).is_close(tree.lookup(a, c), 1e-10)
        assert tree.lookup(a, a) == RigidTransform.identity()


def test_a_frame_in_its_parent_is_what_was_added() -> None:
    tree = TransformTree("world")
    hip = RigidTransform.from_rpy(0.1, 0.2, 0.3, (1, 2, 3))
    tree.add("hip", "world", hip)
    assert tree.lookup("world", "hip") == hip


def test_the_parent_takes_its_children_along() -> None:
    tree = legs(RigidTransform.identity())
    before = tree.lookup("calf.l", "ankle.l")
    lift = RigidTransform.from_rpy(0, 0, 0, (0, 0, 1))
    expected = lift @ tree.lookup("world", "ankle.l")
    tree.move("hip", lift)
    assert tree.lookup("world", "ankle.l").is_close(expected, 1e-12)
    assert tree.lookup("calf.l", "ankle.l") == before


@pytest.mark.parametrize("far", [1e9, 1e100, 1.7e308])
def test_shared_ancestors_cancel_out_however_huge(far: float) -> None:
    near = legs(RigidTransform.identity()).lookup("calf.l", "ankle.r")
    turned = RigidTransform.from_rpy(0.4, 0.5, 0.6, (far, -far, far))
    assert legs(turned).lookup("calf.l", "ankle.r") == near


def test_right_to_left_is_the_product_of_the_text() -> None:
    tree = legs(RigidTransform.from_rpy(1, 2, 3, (4, 5, 6)))
    thigh_l, calf_l = tree.lookup("hip", "thigh.l"), tree.lookup("thigh.l", "calf.l")
    thigh_r, calf_r = tree.lookup("hip", "thigh.r"), tree.lookup("thigh.r", "calf.r")
    expected = calf_l.inverse() @ thigh_l.inverse() @ thigh_r @ calf_r
    assert tree.lookup("calf.l", "calf.r").is_close(expected, 1e-12)
    through_the_world = tree.lookup("world", "calf.l").inverse() @ tree.lookup("world", "calf.r")
    assert tree.lookup("calf.l", "calf.r").is_close(through_the_world, 1e-12)


def test_the_common_ancestor_is_the_lowest() -> None:
    tree = legs(RigidTransform.identity())
    assert tree.common_ancestor("ankle.l", "calf.r") == "hip"
    assert tree.common_ancestor("ankle.l", "thigh.l") == "thigh.l"
    assert tree.common_ancestor("hip", "hip") == "hip"
    assert tree.common_ancestor("world", "ankle.r") == "world"


def test_only_the_frames_between_are_touched() -> None:
    """A lookup in a tree of 100 000 frames works with everything else in it unreadable."""
    size = 100_000
    parents = np.full(size, -(10**15))  # following one of these would crash
    depths = np.full(size, 7)
    pool = np.full((size, 4, 4), np.nan)
    path = [99_999, 70_000, 12, 50_000, 3]  # 99 999 → 70 000 → 12 ← 3 ← 50 000
    parents[[path[0], path[1], path[3], path[4]]] = [path[1], path[2], path[4], path[2]]
    depths[path] = [9, 8, 7, 9, 8]
    for frame in (path[0], path[1], path[3], path[4]):
        pool[frame] = random_transform(np.random.default_rng(frame)).matrix
    out = np.empty((4, 4))
    kernels.lookup(parents, depths, pool, path[3], path[0], out)
    expected = np.linalg.inv(pool[path[4]] @ pool[path[3]]) @ pool[path[1]] @ pool[path[0]]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)


def test_a_large_tree_is_built_and_read() -> None:
    step = RigidTransform.from_rpy(0, 0, 0, (1, 0, 0))
    tree = TransformTree("0")
    for i in range(1, 2000):
        tree.add(str(i), str(i - 1), step)
    assert len(tree) == 2000
    assert tree.depth("1999") == 1999
    assert tree.lookup("0", "1999").translation.tolist() == [1999, 0, 0]
    assert tree.frames == tuple(map(str, range(2000)))


def test_membership_parents_and_root() -> None:
    tree = legs(RigidTransform.identity())
    assert "calf.l" in tree
    assert "tail" not in tree
    assert 3 not in tree
    assert (tree.root, tree.parent("world"), tree.parent("hip")) == ("world", None, "world")
    assert (tree.depth("world"), tree.depth("ankle.r")) == (0, 4)


def test_a_second_parent_is_refused() -> None:
    tree = legs(RigidTransform.identity())
    before = tree.lookup("hip", "calf.l")
    with pytest.raises(SecondParentError, match=r"already has parent 'thigh\.l'") as caught:
        tree.add("calf.l", "thigh.r", RigidTransform.identity())
    error = caught.value
    assert (error.frame, error.parent, error.refused) == ("calf.l", "thigh.l", "thigh.r")
    assert tree.lookup("hip", "calf.l") == before


def test_a_cycle_is_refused() -> None:
    tree = legs(RigidTransform.identity())
    for frame, parent in (("world", "ankle.l"), ("thigh.l", "ankle.l"), ("hip", "hip")):
        with pytest.raises(CycleError, match="cycle") as caught:
            tree.add(frame, parent, RigidTransform.identity())
        assert (caught.value.frame, caught.value.parent) == (frame, parent)


def test_the_root_stays_where_it_is() -> None:
    with pytest.raises(SecondParentError, match="root"):
        TransformTree("world").move("world", RigidTransform.identity())


def test_unknown_frames_are_named() -> None:
    tree = legs(RigidTransform.identity())
    for call in (
        lambda: tree.lookup("tail", "hip"),
        lambda: tree.lookup("hip", "tail"),
        lambda: tree.add("tip", "tail", RigidTransform.identity()),
        lambda: tree.move("tail", RigidTransform.identity()),
        lambda: tree.parent("tail"),
        lambda: tree.depth("tail"),
        lambda: tree.common_ancestor("hip", "tail"),
    ):
        with pytest.raises(UnknownFrameError, match=r"^no frame 'tail'") as caught:
            call()
        assert isinstance(caught.value, KeyError)
