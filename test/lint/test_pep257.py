# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Collected where ROS 2's linters are installed, as the other files of this folder."""

from pathlib import Path

import pytest
from ament_pep257.main import main

ROOT = Path(__file__).parents[2]


@pytest.mark.linter
@pytest.mark.pep257
def test_pep257(monkeypatch):
    monkeypatch.chdir(ROOT)
    # As in pyproject.toml: Google's convention, which `ruff` holds the same code to.
    assert main(argv=["basis_ik", "--convention", "google", "--add-ignore", "D105", "D107"]) == 0
