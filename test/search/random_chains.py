# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Chains of any axes and offsets."""

from __future__ import annotations

from math import pi

import numpy as np

from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.transforms.rigid import RigidTransform


def random_chain(seed, m=6, slides=(), mimics=()):
    """Return a chain of m joints; `mimics` follow the joint before them."""
    rng = np.random.default_rng(seed)
    origins = np.array(
        [
            RigidTransform.from_rpy(*rng.uniform(-pi, pi, 3), rng.uniform(-0.4, 0.4, 3)).matrix[:3]
            for _ in range(m + 1)
        ]
    )
    variables, multipliers, offsets = [], np.ones(m), np.zeros(m)
    for i in range(m):
        variables.append(variables[-1] if i in mimics else len(set(variables)))
        if i in mimics:
            multipliers[i], offsets[i] = rng.uniform(-2, 2, 2)
    n = len(set(variables))
    prismatic = np.zeros(m, np.int64)
    prismatic[list(slides)] = 1
    return ChainArrays(
        origins[:-1].copy(), prismatic, np.array(variables, np.int64), multipliers, offsets,
        origins[-1].copy(), np.full(n, -2.5), np.full(n, 2.5), np.zeros(n, np.int64),
    )  # fmt: skip
