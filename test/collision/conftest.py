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

import sys
from importlib.util import find_spec

import mujoco_coal
import pytest

from basis_ik.collision import exact


@pytest.fixture(autouse=True)
def no_coal(monkeypatch):
    """Whether coal is installed or not: tests say whether they use it."""
    monkeypatch.setattr(exact, "is_available", lambda: False)


@pytest.fixture
def coal(monkeypatch):
    """Install coal: the package where there is one, otherwise MuJoCo in its place."""
    if find_spec("coal") is None:
        monkeypatch.setitem(sys.modules, "coal", mujoco_coal)
        monkeypatch.setattr(exact, "check_extra", lambda option, package: None)
    monkeypatch.setattr(exact, "is_available", lambda: True)
