# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math
from functools import reduce
from operator import matmul

import numpy as np
import pytest

from basis_ik.transforms.combine import NotOneNodeError, combine
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform

QUARTER = RigidTransform.from_rpy(0, 0, math.pi / 4).rotation


def random_node(rng: np.random.Generator, spread: float = 1.0) -> TransformNode:
    turns = [RigidTransform.from_rpy(*rng.uniform(-3, 3, 3)).rotation for _ in range(2)]
    return TransformNode(
        center=rng.normal(size=3),
        rotation=turns[0],
        scale=np.exp(rng.uniform(-spread, spread, 3)),
        scale_orientation=turns[1],
        translation=rng.normal(size=3),
    )


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_it_is_the_product_of_the_matrices(length: int) -> None:
    rng = np.random.default_rng(length)
    for _ in range(50):
        nodes = [random_node(rng) for _ in range(length)]
        combined = combine([str(i) for i in range(length)], nodes)
        product = reduce(matmul, [node.matrix for node in nodes])
        error = np.abs(combined.node.matrix - product).max() / np.abs(product).max()
        assert combined.residual == pytest.approx(error, abs=1e-16)
        assert error < 1e-12
        assert combined.node.center.tolist() == nodes[-1].center.tolist()


def test_shear_is_told() -> None:
    """A stretch by two along x, rotated by 45 degrees, shears squares."""
    long, turned = TransformNode(scale=(2, 1, 1)), TransformNode(rotation=QUARTER)
    assert combine(["a", "b"], [turned, long]).shear == pytest.approx(0.0, abs=1e-15)
    # x goes to (√2, √½), y to (−√2, √½): cosine −1.5 / 2.5
    assert combine(["a", "b"], [long, turned]).shear == pytest.approx(0.6)


@pytest.mark.parametrize("count", [2, 3, 60])
def test_what_floating_point_does_not_hold_is_refused_by_name(count: int) -> None:
    flat = TransformNode(scale=(1.0, 1.0, 1e-8), rotation=QUARTER)
    names = [f"n{i}" for i in range(count)]
    with pytest.raises(NotOneNodeError, match=r"n0 → n1.* cannot be combined into one") as caught:
        combine(names, [flat] * count)
    assert caught.value.names == tuple(names)
    assert caught.value.ratio <= 1e-14


def test_a_node_that_is_off_is_refused_with_its_residual() -> None:
    """Distant centres cancel: the product of matrices has lost the remaining digits."""
    far = TransformNode(center=(1e14, 0, 0), rotation=QUARTER)
    back = TransformNode(center=(1e14, 0, 0), rotation=QUARTER.T)
    with pytest.raises(NotOneNodeError) as caught:
        combine(["there", "back"], [far, back])
    assert caught.value.residual > 1e-12
    assert caught.value.names == ("there", "back")


def test_twelve_digits_of_the_product_are_promised() -> None:
    def swing(far: float) -> list[TransformNode]:
        return [TransformNode(center=(far, 0, 0), rotation=each) for each in (QUARTER, QUARTER.T)]

    assert combine(["there", "back"], swing(1e2)).residual < 1e-13
    with pytest.raises(NotOneNodeError) as caught:
        combine(["there", "back"], swing(1e6))
    assert 1e-12 < caught.value.residual < 1e-8
