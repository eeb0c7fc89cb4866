# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
