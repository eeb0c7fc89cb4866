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

"""The pytest plugin: files whose `generate_test_description` is marked `launch_test`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest


class LaunchTestFailure(Exception):  # noqa: N818 (upstream's name)
    """Some tests of a launch test have failed; the text tells which and why."""


class LaunchTestItem(pytest.Item):
    """All launches and tests of one file."""

    def runtest(self) -> None:
        """Run them.

        Raises:
            LaunchTestFailure: Some failed.
        """
        from .runner import failures

        assert isinstance(self.parent, LaunchTestModule)  # see collect
        found = failures(self.parent.obj)
        if found:
            raise LaunchTestFailure("\n\n".join(["some test cases have failed:", *found]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the failed tests instead of the way to them."""
        if isinstance(excinfo.value, LaunchTestFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the file."""
        return self.path, 0, self.name


class LaunchTestModule(pytest.Module):
    """A file that may be a launch test; if it is not, an ordinary test file."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return one item for a launch test."""
        function = getattr(self.obj, "generate_test_description", None)
        marks = getattr(function, "pytestmark", [])
        if not any(mark.name == "launch_test" for mark in marks):
            return super().collect()
        return [LaunchTestItem.from_parent(self, name=self.path.name.removesuffix(".py"))]


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
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
