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

"""The oldest versions of what basis_ik stands on, and what is needed for an option only."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from basis_ik.errors import BasisIkError

# Debian 12's, all but Python itself; `make test DEPENDENCIES=oldest` runs every test with them.
OLDEST = {"python": "3.10", "numba": "0.56.4", "numpy": "1.24", "transforms3d": "0.4"}


class DependencyError(BasisIkError, ImportError):
    """A package that basis_ik stands on is too old."""


class ExtraError(BasisIkError):
    """An option needs a package that is not installed."""


def check_extra(option: str, package: str) -> None:
    """Check that the package of an option is installed, without importing it.

    Raises:
        ExtraError: It is not.
    """
    if not is_installed(package):
        raise ExtraError(
            f"{option} needs the Python package {package}, which is not installed: "
            f"python3 -m pip install {package}"
        )


def is_installed(package: str) -> bool:
    """Return whether a package can be imported."""
    try:
        return find_spec(package) is not None
    except ValueError:  # what is None among the loaded modules
        return False


def check_dependencies() -> None:
    """See to it that no dependency is too old, without importing any.

    An old one fails, if it does, where it is imported or a kernel is compiled, and in words of its
    own.

    Raises:
        DependencyError: One is older than `OLDEST`.
    """
    for name, oldest in OLDEST.items():
        try:
            found = platform.python_version() if name == "python" else version(name)
        except PackageNotFoundError:
            continue  # absent, which its import tells, or installed in a way that leaves no version
        if _numbers(found) < _numbers(oldest):
            remedy = "" if name == "python" else f": upgrade it, pip install -U {name}"
            raise DependencyError(
                f"basis_ik needs {name} {oldest} or newer; this is {found}{remedy}"
            )


def _numbers(text: str) -> list[int]:
    """Return what a version begins with: 1.24.2+deb is 1, 24, 2."""
    return [int(number) for number in re.findall(r"\d+", text.split("+")[0])]
