"""Collected where ROS 2's linters are installed, as the other files of this folder."""

from pathlib import Path

import pytest
from ament_copyright.main import main

ROOT = Path(__file__).parents[2]


@pytest.mark.copyright
@pytest.mark.linter
def test_copyright(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(argv=["."]) == 0
