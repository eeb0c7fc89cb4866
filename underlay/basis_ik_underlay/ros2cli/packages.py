# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""ros2 pkg, run and launch: what is installed. None of them imports rclpy."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from ament_index_python import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)

from ros2cli import Command


def pkg(command: Command) -> None:
    """Add the verb of `ros2 pkg`."""
    add = command.verb("prefix", print_prefix, "Print where a package is")
    add("package_name")
    add("--share", action="store_true", help="its share directory instead")


def run(command: Command) -> None:
    """Add the arguments of `ros2 run`."""
    command.parser.set_defaults(main=run_executable)
    add = command.parser.add_argument
    add("package_name")
    add("executable_name")
    add("argv", nargs=argparse.REMAINDER, help="passed on as they are")


def launch(command: Command) -> None:
    """Add the arguments of `ros2 launch`."""
    command.parser.set_defaults(main=run_launch_file)
    add = command.parser.add_argument
    add("-s", "--show-args", action="store_true", help="list the arguments")
    add("package_name")
    add("launch_file_name")
    add("launch_arguments", nargs="*", metavar="name:=value")


def print_prefix(args: argparse.Namespace) -> None:
    """Print the prefix or the share directory."""
    print(_share(args.package_name) if args.share else _prefix(args.package_name))


def run_executable(args: argparse.Namespace) -> None:
    """Become the executable, so that signals and the exit status are its own."""
    path = _prefix(args.package_name) / "lib" / args.package_name / args.executable_name
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise RuntimeError(f"No executable found: '{path}'")
    os.execv(path, [str(path), *args.argv])


def run_launch_file(args: argparse.Namespace) -> int:
    """Run the launch file until all that it started has ended, or list its arguments."""
    path = _launch_file(args.package_name, args.launch_file_name)
    pairs = [_pair(text) for text in args.launch_arguments]

    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    source = PythonLaunchDescriptionSource(path)
    include = IncludeLaunchDescription(source, launch_arguments=pairs)
    if args.show_args:
        return _show_arguments(include)
    service = LaunchService(noninteractive=not sys.stdin.isatty())
    service.include_launch_description(LaunchDescription([include]))
    return service.run()


def _prefix(package: str) -> Path:
    try:
        return Path(get_package_prefix(package))
    except (PackageNotFoundError, ValueError):
        raise RuntimeError(f"Package '{package}' not found") from None


def _share(package: str) -> Path:
    _prefix(package)
    return Path(get_package_share_directory(package))


def _launch_file(package: str, name: str) -> str:
    share = _share(package)
    found = [str(file) for file in share.rglob(name) if file.is_file()]
    if not found:
        raise RuntimeError(
            f"file '{name}' was not found in the share directory of package '{package}' "
            f"which is at '{share}'"
        )
    return found[0]


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not separator or not name:
        raise RuntimeError(f"malformed launch argument '{text}', expected format '<name>:=<value>'")
    return name, value


def _show_arguments(include: Any) -> int:
    from launch.substitutions import describe

    print("Arguments (pass arguments as '<name>:=<value>'):")
    for argument in include.get_launch_arguments():
        print(f"\n    '{argument.name}':\n        {argument.description}")
        if argument.default_value is not None:
            print(f"        (default: {describe(argument.default_value)})")
    return 0
