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

import pytest
from from_python import IS_PLAIN

from basis_ik.solvers import own_starts


@pytest.fixture(scope="session", autouse=IS_PLAIN)
def _few_starts_are_tried():
    """As plain Python the search for a chain's own starts, 8192 descents, takes six seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_starts, "CANDIDATES", own_starts.KEPT)
        patch.setattr(own_starts, "TARGETS", 4)
        yield
