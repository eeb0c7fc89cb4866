# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Collected where ROS 2's linters are installed, as the other files of this folder."""

from pathlib import Path

import pytest
from ament_flake8.main import main_with_errors

ROOT = Path(__file__).parents[2]
RULES = Path(__file__).with_name("flake8.ini")


@pytest.mark.flake8
@pytest.mark.linter
def test_flake8(monkeypatch):
    monkeypatch.chdir(ROOT)
    status, errors = main_with_errors(
        argv=["--config", str(RULES), "basis_ik", "launch", "benchmark", "docs", "setup.py"]
    )
    assert status == 0, "\n".join(errors)
