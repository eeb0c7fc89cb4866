# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where launch descriptions come from: Python launch files."""

from __future__ import annotations

import runpy
from typing import Any

from .entities import LaunchContext, LaunchDescription
from .substitutions import evaluate


class PythonLaunchDescriptionSource:
    """A Python launch file, given by its path, a text or what makes one."""

    def __init__(self, launch_file_path: Any) -> None:
        self._path = launch_file_path
        self._description: LaunchDescription | None = None

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return what the file's `generate_launch_description` returned at the first call."""
        if self._description is None:
            file = runpy.run_path(evaluate(context, self._path))
            self._description = file["generate_launch_description"]()
        return self._description
