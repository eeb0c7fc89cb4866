# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pytest plugin: files whose `generate_test_description` is marked `launch_test`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest


class LaunchTestItem(pytest.Item):
    """All launches and tests of one file."""

    def runtest(self) -> None:
        """Run them."""
        from .runner import failures

        found = failures(self.parent.obj)
        if found:
            pytest.fail("\n\n".join(["some test cases have failed:", *found]), pytrace=False)


class LaunchTestModule(pytest.Module):
    """A file that may be a launch test; if it is not, an ordinary test file."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return one item for a launch test."""
        function = getattr(self.obj, "generate_test_description", None)
        if all(mark.name != "launch_test" for mark in getattr(function, "pytestmark", [])):
            return super().collect()
        return [LaunchTestItem.from_parent(self, name=self.path.stem)]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers", "launch_test: mark a generate_test_description function as a launch test"
    )


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Take charge of files that mention the marker."""
    if b"launch_test" not in module_path.read_bytes():
        return None
    module: pytest.Module = LaunchTestModule.from_parent(parent, path=module_path)
    return module
