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

"""The head action of an arm: any chain points, with any frame on its hand."""

import pytest
from point_head_client import SUCCEEDED, Client, miss
from robot_bench import running

AT = (0.9, -0.5, 0.7)


@pytest.mark.parametrize(("frame", "axis"), [("", (0.0, 0.0, 1.0)), ("ft_frame", (1.0, 0.0, 0.0))])
def test_an_arm_points_at_a_point(domain, frame, axis):
    with running(domain) as arm:
        assert Client(arm).run(AT, pointing_frame=frame) == SUCCEEDED
        assert miss(arm, AT, frame or "tool0", axis) <= 0.01
    assert "head goal succeeded" in arm.output
