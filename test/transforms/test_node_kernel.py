# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Packed transform nodes, compared with products of matrices."""

import math

import numpy as np
import pytest

from basis_ik.transforms import node_kernel as kernels
from basis_ik.transforms.node_kernel import (
    NODE_CENTER,
    NODE_LINEAR,
    NODE_ORIENTATION,
    NODE_ROTATION,
    NODE_ROWS,
    NODE_SCALE,
    NODE_TRANSLATION,
)
from basis_ik.transforms.rigid_kernel import exp


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    m = np.empty((4, 4))
    exp(np.concatenate([np.zeros(3), rng.uniform(-2, 2, 3)]), m)
    return m[:3, :3]


def random_node(rng: np.random.Generator, scale: object) -> np.ndarray:
    n = np.empty((NODE_ROWS, 3))
    n[NODE_CENTER], n[NODE_TRANSLATION] = rng.normal(size=(2, 3))
    n[NODE_SCALE] = scale
    n[NODE_ROTATION:NODE_ORIENTATION], n[NODE_ORIENTATION:NODE_LINEAR] = (
        random_rotation(rng),
        random_rotation(rng),
    )
    assert kernels.finish(n)
    return n


def matrix(n: np.ndarray) -> np.ndarray:
    m = np.eye(4)
    SR = n[NODE_ORIENTATION:NODE_LINEAR]
    m[:3, :3] = n[NODE_ROTATION:NODE_ORIENTATION] @ SR @ np.diag(n[NODE_SCALE]) @ SR.T
    m[:3, 3] = n[NODE_CENTER] + n[NODE_TRANSLATION] - m[:3, :3] @ n[NODE_CENTER]
    return m


SCALES = [(1, 1, 1), (2, 2, 2), (1, 2, 2), (0.5, 3, 1.2)]


@pytest.mark.parametrize("outer", SCALES)
@pytest.mark.parametrize("inner", SCALES)
def test_combine_is_the_product(outer: object, inner: object) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, out = (
            random_node(rng, outer),
            random_node(rng, inner),
            np.full((NODE_ROWS, 3), math.nan),
        )
        assert kernels.combine(a, b, out)
        np.testing.assert_allclose(matrix(out), matrix(a) @ matrix(b), rtol=0, atol=1e-13)
        np.testing.assert_allclose(out[NODE_LINEAR:], matrix(out)[:3, :3], rtol=0, atol=1e-14)
        assert (out[NODE_CENTER] == b[NODE_CENTER]).all()


@pytest.mark.parametrize("scale", SCALES)
def test_invert_and_apply(scale: object) -> None:
    rng = np.random.default_rng(1)
    a, out, points = random_node(rng, scale), np.empty((NODE_ROWS, 3)), rng.normal(size=(9, 3))
    assert kernels.invert(a, out)
    image = points.copy()
    kernels.apply(a, image)
    np.testing.assert_allclose(
        image, points @ matrix(a)[:3, :3].T + matrix(a)[:3, 3], rtol=0, atol=1e-14
    )
    kernels.apply(out, image)
    np.testing.assert_allclose(image, points, rtol=0, atol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, without the compiler
def test_numbers_out_of_range_are_reported() -> None:
    rng = np.random.default_rng(2)
    a, out = random_node(rng, (1e200, 1, 1)), np.empty((NODE_ROWS, 3))
    assert not kernels.combine(a, a, out)
    b = random_node(rng, (1e-200, 1e-200, 1e-200))
    assert not kernels.combine(b, b, out)
    assert kernels.combine(a, b, out)
    b[NODE_TRANSLATION] = 1e200
    assert not kernels.invert(b, out)
    for bad in (math.nan, math.inf):
        a[NODE_CENTER, 1] = bad
        assert not kernels.finish(a)
