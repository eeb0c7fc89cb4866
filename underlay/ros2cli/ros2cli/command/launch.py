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

"""ros2 launch."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from ament_index_python import PackageNotFoundError, get_package_share_directory

from ros2cli.cli import Command


def add_to(command: Command) -> None:
    """Add the arguments."""
    command.parser.set_defaults(main=launch)
    add = command.parser.add_argument
    add("-n", "--noninteractive", action="store_true", help="do not expect a terminal")
    add("-d", "--debug", action="store_true", help="log what launch itself does")
    add("-s", "--show-args", "--show-arguments", action="store_true", help="list the arguments")
    add("package_name", metavar="package_or_file", help="a package, or a launch file's path")
    add("launch_file_name", nargs="?", metavar="file_or_argument", help="in the package")
    add("launch_arguments", nargs="*", metavar="name:=value")


def launch(args: argparse.Namespace) -> int | str:
    """Run the launch file until all that it started has ended, or list its arguments."""
    texts = list(args.launch_arguments)
    if os.path.isfile(args.package_name):
        path = args.package_name
        texts[:0] = [args.launch_file_name] if args.launch_file_name else []
    else:
        path = _in_package(args.package_name, args.launch_file_name)
    pairs = [_pair(text) for text in texts]

    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import AnyLaunchDescriptionSource

    source = AnyLaunchDescriptionSource(path)
    if args.show_args:
        return _show_arguments(source, path)
    unattended = args.noninteractive or not sys.stdin.isatty()
    service = LaunchService(argv=texts, noninteractive=unattended, debug=args.debug)
    include = IncludeLaunchDescription(source, launch_arguments=pairs)
    service.include_launch_description(LaunchDescription([include]))
    return service.run()


def _in_package(package: str, name: str | None) -> str:
    try:
        share = Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError):
        if name is None:
            raise RuntimeError(f"'{package}' is neither a launch file nor a package") from None
        raise RuntimeError(f"Package '{package}' not found") from None
    if name is None:
        raise RuntimeError(f"No launch file supplied for package '{package}'")
    found = sorted(str(file) for file in share.rglob(name) if file.is_file())
    if not found:
        raise RuntimeError(
            f"file '{name}' was not found in the share directory of package '{package}' "
            f"which is at '{share}'"
        )
    if len(found) > 1:
        raise RuntimeError(
            f"file '{name}' was found more than once in the share directory of package "
            f"'{package}': {', '.join(found)}"
        )
    return found[0]


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not separator or not name:
        raise RuntimeError(f"malformed launch argument '{text}', expected format '<name>:=<value>'")
    return name, value


def _show_arguments(source: Any, path: str) -> int | str:
    from launch import LaunchContext

    try:
        found = source.get_launch_description(LaunchContext()).get_launch_arguments()
    except Exception as error:  # the launch file is a program and may raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        return f"the launch file '{path}' cannot be read: {reason}"
    print("Arguments (pass arguments as '<name>:=<value>'):")
    if not found:
        print("\n  No arguments.")
    for argument in found:
        print(f"\n    '{argument.name}':\n        {argument.description}")
        if argument.default_value is not None:
            default = " + ".join(token.describe() for token in argument.default_value)
            print(f"        (default: {default})")
    return 0
