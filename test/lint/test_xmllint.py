# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Collected where ROS 2's linters are installed, as the other files of this folder."""

from pathlib import Path

import pytest
from ament_xmllint.main import main

ROOT = Path(__file__).parents[2]


@pytest.mark.linter
@pytest.mark.xmllint
def test_xmllint(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(argv=["package.xml", "config", "urdf", "--extensions", "xml", "urdf"]) == 0
