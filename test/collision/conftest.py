# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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
