# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trees with transform nodes, compared with products of 4×4 matrices of the fields."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.transforms.node import SingularMatrixError, TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import ScaledFrameError, TransformTree

SEEDS = st.integers(0, 2**32 - 1)


def rotation(rng: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def fields(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "center": rng.normal(size=3),
        "rotation": rotation(rng),
        "scale": np.exp(rng.uniform(-1.0, 1.0, 3)),
        "scale_orientation": rotation(rng),
        "translation": rng.normal(size=3),
    }


def matrix(
    center: np.ndarray,
    rotation: np.ndarray,
    scale: np.ndarray,
    scale_orientation: np.ndarray,
    translation: np.ndarray,
) -> np.ndarray:
    def shift(v: np.ndarray) -> np.ndarray:
        return np.block([[np.eye(3), v[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

    def linear(m: np.ndarray) -> np.ndarray:
        return np.block([[m, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])

    along = linear(scale_orientation) @ linear(np.diag(scale)) @ linear(scale_orientation.T)
    return shift(translation) @ shift(center) @ linear(rotation) @ along @ shift(-center)


def random_tree(rng: np.random.Generator, size: int) -> tuple[TransformTree, dict[str, np.ndarray]]:
    """Return a tree whose every other frame is a node with scale, and all frames in the root."""
    tree, root_T = TransformTree("f0"), {"f0": np.eye(4)}
    for i in range(1, size):
        name, parent = f"f{i}", f"f{rng.integers(max(0, i - 4), i)}"
        if i % 2:
            given = fields(rng)
            tree.add(name, parent, TransformNode(**given))
            m = matrix(**given)
        else:
            rigid = RigidTransform.exp(rng.uniform(-2.0, 2.0, 6))
            tree.add(name, parent, rigid)
            m = rigid.matrix
        root_T[name] = root_T[parent] @ m
    return tree, root_T


def assert_close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@given(SEEDS, st.integers(2, 12))
def test_lookup_node_is_the_product_of_matrices(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    tree, root_T = random_tree(rng, size)
    for _ in range(5):
        a, b = rng.choice(tree.frames, 2).tolist()
        expected = np.linalg.solve(root_T[a], root_T[b])
        error = 1e-13 * np.linalg.cond(root_T[a]) * np.abs(root_T[b]).max()
        node = tree.lookup_node(a, b)
        np.testing.assert_allclose(node.matrix, expected, rtol=0, atol=1e-12 + error)
        assert node.center.tolist() == [0, 0, 0]


def test_a_point_under_a_scaled_frame_is_where_the_scale_puts_it() -> None:
    tree = TransformTree("w")
    tree.add("a", "w", TransformNode(scale=[2, 1, 1], translation=[1, 0, 0]))
    assert tree.lookup_node("a", "w").apply((5, 0, 0)).tolist() == [2, 0, 0]
    assert tree.lookup_node("w", "a").apply((2, 0, 0)).tolist() == [5, 0, 0]


def test_lookup_refuses_and_names_the_scaled_frame_and_the_remedy() -> None:
    tree = TransformTree("world")
    tree.add("table", "world", RigidTransform.identity())
    tree.add("cloth", "table", TransformNode(scale=(1, 1, 2)))
    tree.add("cup", "cloth", RigidTransform.identity())
    for target, source in (("world", "cup"), ("cup", "world"), ("cloth", "table")):
        with pytest.raises(ScaledFrameError, match="'cloth' on the way is scaled") as caught:
            tree.lookup(target, source)
        error = caught.value
        assert (error.frame, error.target, error.source) == ("cloth", target, source)
        assert "lookup_node" in str(error)
        assert not tree.is_rigid(target, source)


def test_scale_that_is_not_on_the_way_does_not_matter() -> None:
    tree = TransformTree("world")
    tree.add("cloth", "world", TransformNode(scale=(1, 1, 2)))
    cup = RigidTransform.from_rpy(0.1, 0.2, 0.3, (1, 2, 3))
    tree.add("cup", "cloth", cup)
    tree.add("lamp", "world", cup)
    assert tree.lookup("cloth", "cup") == cup
    assert tree.lookup("world", "lamp") == cup
    assert tree.is_rigid("cloth", "cup")


@given(SEEDS)
def test_nodes_without_scale_are_rigid_bases_about_a_centre(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, expected = TransformTree("f0"), np.eye(4)
    for i in range(4):
        given = fields(rng) | {"scale": np.ones(3)}
        tree.add(f"f{i + 1}", f"f{i}", TransformNode(**given))
        expected = expected @ matrix(**given)
    assert_close(tree.lookup("f0", "f4").matrix, expected, 1e-13)


@pytest.mark.parametrize(("off", "rigid"), [(5e-13, True), (1e-9, False)])
def test_scale_of_rounding_is_none(off: float, rigid: bool) -> None:
    tree = TransformTree("world")
    tree.add("a", "world", TransformNode(scale=(1.0, 1.0 + off, 1.0)))
    assert tree.is_rigid("world", "a") is rigid


def test_a_move_changes_whether_a_frame_is_scaled() -> None:
    tree = TransformTree("world")
    tree.add("a", "world", RigidTransform.identity())
    scaled = TransformNode(scale=(2, 2, 2))
    tree.move("a", scaled)
    assert tree.basis("a") is scaled
    assert not tree.is_rigid("world", "a")
    tree.move("a", TransformNode(translation=(1, 0, 0)))
    assert tree.lookup("world", "a").translation.tolist() == [1, 0, 0]


def test_a_large_tree_with_scale_keeps_its_bases() -> None:
    tree = TransformTree("0")
    for i in range(1, 20):
        tree.add(str(i), str(i - 1), TransformNode(scale=(2, 2, 2)))
    assert tree.lookup_node("0", "19").scale.tolist() == [2.0**19] * 3
    assert tree.lookup_node("19", "0").scale.tolist() == [2.0**-19] * 3


@pytest.mark.parametrize("small", [1e-8, 1e-200])
def test_what_flattens_is_refused(small: float) -> None:
    tree = TransformTree("0")
    for i in range(1, 4):
        tree.add(str(i), str(i - 1), TransformNode(scale=(1, 1, small)))
    for target, source in (("0", "3"), ("3", "0")):
        with pytest.raises(SingularMatrixError):
            tree.lookup_node(target, source)


def test_a_node_turned_otherwise_keeps_its_other_fields() -> None:
    rng = np.random.default_rng(1)
    given = fields(rng)
    turn = rotation(rng)
    node = TransformNode(**given).with_rotation(turn)
    assert_close(node.matrix, matrix(**(given | {"rotation": turn})), 1e-14)


def test_stretch_is_what_comes_before_the_turn() -> None:
    given = fields(np.random.default_rng(2))
    axes = given["scale_orientation"]
    expected = axes @ np.diag(given["scale"]) @ axes.T
    assert_close(TransformNode(**given).stretch, expected, 1e-14)
