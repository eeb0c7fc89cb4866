# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a dragged handle makes of a node's fields; and that nothing of it is compiled too late."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.numerics import jit
from basis_ik.ros.frames.node_handles import dragged, place_of
from basis_ik.transforms.combine import combine
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.warm_up import transform_nodes_steps


def random_node(rng):
    turns = [RigidTransform.from_rpy(*rng.uniform(-3, 3, 3)).rotation for _ in range(2)]
    return TransformNode(
        center=rng.normal(size=3),
        rotation=turns[0],
        scale=np.exp(rng.uniform(-0.7, 0.7, 3)),
        scale_orientation=turns[1],
        translation=rng.normal(size=3),
    )


def random_tree(rng):
    tree = TransformTree("world")
    tree.add("a", "world", random_node(rng))
    tree.add("b", "a", random_node(rng))
    tree.add("c", "b", random_node(rng))
    return tree


@given(st.integers(0, 2**32 - 1), st.sampled_from("abc"))
def test_a_dragged_handle_stays_at_its_new_pose(seed, name):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    wanted = RigidTransform.from_rpy(*rng.uniform(-3, 3, 3), rng.normal(size=3))
    before = tree.basis(name)
    changed = dragged(tree, name, wanted)
    tree.move(name, TransformNode.from_fields(before.as_fields() | changed))
    np.testing.assert_allclose(place_of(tree, name).matrix, wanted.matrix, rtol=0, atol=1e-9)
    after = tree.basis(name)
    np.testing.assert_allclose(after.scale, before.scale, rtol=1e-12)
    assert set(changed) == {"rotation", "translation"}


def test_an_unmoved_handle_changes_nothing():
    tree = random_tree(np.random.default_rng(1))
    before = tree.basis("c")
    changed = dragged(tree, "c", place_of(tree, "c"))
    after = TransformNode.from_fields(before.as_fields() | changed)
    np.testing.assert_allclose(after.matrix, before.matrix, rtol=0, atol=1e-12)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_the_node_compiles_nothing_after_its_steps():
    for step in transform_nodes_steps():
        step.run()
    before = [(kernel, len(kernel.overloads)) for kernel in jit._kernels]
    tree = random_tree(np.random.default_rng(3))
    combine("ab", [tree.basis("a"), tree.basis("b")]).node.as_fields()
    dragged(tree, "c", place_of(tree, "b"))
    late = [kernel.py_func.__name__ for kernel, n in before if len(kernel.overloads) != n]
    assert late == []
