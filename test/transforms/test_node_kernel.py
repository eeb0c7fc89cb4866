# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Packed transform nodes, compared with products of matrices."""

import math

import numpy as np
import pytest

from basis_ik.transforms import node_kernel as kernels
from basis_ik.transforms.node_kernel import (
    CENTER,
    LINEAR,
    ORIENTATION,
    ROTATION,
    ROWS,
    SCALE,
    TRANSLATION,
)
from basis_ik.transforms.rigid_kernel import exp


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    m = np.empty((4, 4))
    exp(np.concatenate([np.zeros(3), rng.uniform(-2, 2, 3)]), m)
    return m[:3, :3]


def random_node(rng: np.random.Generator, scale: object) -> np.ndarray:
    n = np.empty((ROWS, 3))
    n[CENTER], n[TRANSLATION] = rng.normal(size=(2, 3))
    n[SCALE] = scale
    n[ROTATION:ORIENTATION], n[ORIENTATION:LINEAR] = random_rotation(rng), random_rotation(rng)
    assert kernels.finish(n)
    return n


def matrix(n: np.ndarray) -> np.ndarray:
    m = np.eye(4)
    SR = n[ORIENTATION:LINEAR]
    m[:3, :3] = n[ROTATION:ORIENTATION] @ SR @ np.diag(n[SCALE]) @ SR.T
    m[:3, 3] = n[CENTER] + n[TRANSLATION] - m[:3, :3] @ n[CENTER]
    return m


SCALES = [(1, 1, 1), (2, 2, 2), (1, 2, 2), (0.5, 3, 1.2)]


@pytest.mark.parametrize("outer", SCALES)
@pytest.mark.parametrize("inner", SCALES)
def test_combine_is_the_product(outer: object, inner: object) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, out = random_node(rng, outer), random_node(rng, inner), np.full((ROWS, 3), math.nan)
        assert kernels.combine(a, b, out)
        np.testing.assert_allclose(matrix(out), matrix(a) @ matrix(b), rtol=0, atol=1e-13)
        np.testing.assert_allclose(out[LINEAR:], matrix(out)[:3, :3], rtol=0, atol=1e-14)
        assert (out[CENTER] == b[CENTER]).all()


@pytest.mark.parametrize("scale", SCALES)
def test_invert_and_apply(scale: object) -> None:
    rng = np.random.default_rng(1)
    a, out, points = random_node(rng, scale), np.empty((ROWS, 3)), rng.normal(size=(9, 3))
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
    a, out = random_node(rng, (1e200, 1, 1)), np.empty((ROWS, 3))
    assert not kernels.combine(a, a, out)
    b = random_node(rng, (1e-200, 1e-200, 1e-200))
    assert not kernels.combine(b, b, out)
    assert kernels.combine(a, b, out)
    b[TRANSLATION] = 1e200
    assert not kernels.invert(b, out)
    for bad in (math.nan, math.inf):
        a[CENTER, 1] = bad
        assert not kernels.finish(a)
