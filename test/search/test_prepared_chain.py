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

"""The precomputed data of a chain."""

from __future__ import annotations

import numpy as np
import pytest

from basis_ik.pose.solve import solve
from basis_ik.search.pose_search_kernel import COLUMNS
from basis_ik.search.precomputed_starts import KEPT, MOST_VARIABLES
from basis_ik.search.prepare import prepare


@pytest.mark.parametrize(("joints", "kept"), [(MOST_VARIABLES, KEPT), (MOST_VARIABLES + 1, 0)])
def test_only_chains_of_moderate_length_have_own_starts(arm, joints, kept):
    axes = ("0 0 1", "0 1 0", "1 0 0")
    rows = [("revolute", "0 0 0.1", "0 0 0", axes[i % 3], -1.5, 1.5) for i in range(joints)]
    chain = arm(rows)
    assert prepare(chain.arrays).variables.shape == (joints, COLUMNS + kept)
    rng = np.random.default_rng(0)
    for q in rng.uniform(-1.5, 1.5, (5, joints)):
        assert solve(chain, chain.forward(q)).success
