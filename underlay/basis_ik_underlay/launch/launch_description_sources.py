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
