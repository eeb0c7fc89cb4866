# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lookup over arrays of parents, depths and transforms."""

import numpy as np
import pytest

from basis_ik.transforms.rigid_kernel import exp
from basis_ik.transforms.tree_kernel import common_ancestor, lookup


@pytest.mark.parametrize("seed", range(10))
def test_lookup_agrees_with_products_from_the_root(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 12
    parents, depths, pool = np.zeros(size, int), np.zeros(size, int), np.zeros((size, 4, 4))
    root_T = np.zeros((size, 4, 4))
    root_T[0] = np.eye(4)
    for i in range(1, size):
        parents[i] = rng.integers(0, i)
        depths[i] = depths[parents[i]] + 1
        exp(rng.uniform(-2, 2, 6), pool[i])
        root_T[i] = root_T[parents[i]] @ pool[i]
    above = [{0} for _ in range(size)]
    for i in range(1, size):
        above[i] = above[parents[i]] | {i}
    out = np.empty((4, 4))
    for target in range(size):
        for source in range(size):
            lookup(parents, depths, pool, target, source, out)
            expected = np.linalg.inv(root_T[target]) @ root_T[source]
            np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)
            assert out[3].tolist() == [0, 0, 0, 1]
            lowest = max(above[target] & above[source], key=lambda i: depths[i])
            assert common_ancestor(parents, depths, target, source) == lowest
