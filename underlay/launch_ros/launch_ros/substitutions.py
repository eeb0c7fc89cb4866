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

"""Texts from the ament index."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch import LaunchContext, SomeSubstitutionsType
from launch._upstream import upstream_names
from launch.substitutions import SubstitutionFailure, _OfTexts


class FindPackage(_OfTexts):
    """A path of a package; subclasses say which in `find`."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        super().__init__(package)

    def find(self, package_name: str) -> str:
        """Return the path."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it finds a package")

    def _of(self, context: LaunchContext, *texts: str) -> str:
        return self.find(texts[0])


class FindPackagePrefix(FindPackage):
    """The install prefix of a package."""

    def find(self, package_name: str) -> str:
        """Return it."""
        return str(get_package_prefix(package_name))


class FindPackageShare(FindPackage):
    """The share directory of a package."""

    def find(self, package_name: str) -> str:
        """Return it."""
        return str(get_package_share_directory(package_name))


class ExecutableInPackage(_OfTexts):
    """The path of an executable in lib/<package> of the prefix of the package."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        super().__init__(executable, package)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        executable, package = texts
        prefix = get_package_prefix(package)
        libexec = Path(prefix, "lib", package)
        if not libexec.is_dir():
            raise SubstitutionFailure(
                f"package '{package}' found at '{prefix}', but libexec directory '{libexec}' does "
                "not exist"
            )
        path = libexec / executable
        if not (path.is_file() and os.access(path, os.X_OK)):
            there = sorted(file.name for file in libexec.iterdir() if os.access(file, os.X_OK))
            raise SubstitutionFailure(
                f"executable '{executable}' not found on the libexec directory '{libexec}'; "
                f"there are: {', '.join(there)}"
            )
        return str(path)


__getattr__ = upstream_names(
    __name__, "AmentIndex FindPackageFile Parameter RewrittenYaml YamlLikeSubstitution"
)
