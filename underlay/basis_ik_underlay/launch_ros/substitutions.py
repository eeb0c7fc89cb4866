# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paths from the ament index."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch import LaunchContext
from launch.substitutions import SubstitutionOfTexts


class FindPackageShare(SubstitutionOfTexts):
    """The share directory of a package."""

    def __init__(self, package: str) -> None:
        super().__init__(package)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        return str(get_package_share_directory(texts[0]))


class ExecutableInPackage(SubstitutionOfTexts):
    """The path of an executable in lib/<package> of the prefix of the package."""

    def __init__(self, executable: str, package: str) -> None:
        super().__init__(executable, package)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        executable, package = texts
        path = Path(get_package_prefix(package), "lib", package, executable)
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise RuntimeError(
                f"executable '{executable}' not found on the libexec directory '{path.parent}'"
            )
        return str(path)
