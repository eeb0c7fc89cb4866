# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The oldest supported versions of dependencies, and checks of optional packages."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from basis_ik.errors import BasisIkError

# Debian 12's, except for Python; `make test DEPENDENCIES=oldest` runs every test with them.
OLDEST_VERSIONS = {"python": "3.10", "numba": "0.56.4", "numpy": "1.24", "transforms3d": "0.4"}


class DependencyError(BasisIkError, ImportError):
    """A dependency is too old."""


class ExtraError(BasisIkError):
    """An option needs a package that is not installed."""


def check_extra(option: str, package: str) -> None:
    """Check that an option's package is installed, without importing it.

    Raises:
        ExtraError: It is not installed.
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
    except ValueError:  # the entry in sys.modules is None
        return False


def check_dependencies() -> None:
    """Check that no dependency is too old, without importing any.

    An old one would fail later, with its own message: on import, or when a kernel is compiled.

    Raises:
        DependencyError: A dependency is older than `OLDEST_VERSIONS`.
    """
    for name, oldest in OLDEST_VERSIONS.items():
        try:
            found = platform.python_version() if name == "python" else version(name)
        except PackageNotFoundError:
            continue  # absent, so that its import fails, or installed without metadata
        if _numbers(found) < _numbers(oldest):
            remedy = "" if name == "python" else f": upgrade it, pip install -U {name}"
            raise DependencyError(
                f"basis_ik needs {name} {oldest} or newer; this is {found}{remedy}"
            )


def _numbers(text: str) -> list[int]:
    """Return the numbers at the beginning of a version: 1.24.2+deb is 1, 24, 2."""
    return [int(number) for number in re.findall(r"\d+", text.split("+")[0])]
