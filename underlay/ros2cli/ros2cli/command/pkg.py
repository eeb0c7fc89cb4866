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

"""ros2 pkg, and what `run` and `launch` share with it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ament_index_python import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
    get_packages_with_prefixes,
)

from ros2cli.cli import Command


def add_to(command: Command) -> None:
    """Add the verbs."""
    command.verb("list", list_packages, "List the installed packages", graph=False)
    add = command.verb("prefix", print_prefix, "Print where a package is", graph=False).add_argument
    add("package_name")
    add("--share", action="store_true", help="its share directory instead")
    add = command.verb(
        "executables", list_executables, "List the executables of one or all packages", graph=False
    ).add_argument
    add("package_name", nargs="?")
    add("--full-path", action="store_true", help="the files themselves")


def executables(package: str) -> list[Path]:
    """Return the executables of a package, sorted.

    Raises:
        RuntimeError: there is no such package.
    """
    try:
        folder = Path(get_package_prefix(package), "lib", package)
    except (PackageNotFoundError, ValueError):
        raise RuntimeError(f"Package '{package}' not found") from None
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in files if os.access(file, os.X_OK))


def list_packages(_: argparse.Namespace) -> None:
    """List them."""
    print(*sorted(get_packages_with_prefixes()), sep="\n")


def print_prefix(args: argparse.Namespace) -> str | None:
    """Print the prefix or the share directory."""
    look_up = get_package_share_directory if args.share else get_package_prefix
    try:
        print(look_up(args.package_name))
    except (PackageNotFoundError, ValueError):
        return "Package not found"
    return None


def list_executables(args: argparse.Namespace) -> None:
    """List them, each after its package."""
    for package in (
        [args.package_name] if args.package_name else sorted(get_packages_with_prefixes())
    ):
        for file in executables(package):
            name = file if args.full_path else file.name
            print(name if args.package_name and args.full_path else f"{package} {name}")
