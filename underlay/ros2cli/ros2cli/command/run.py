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

"""ros2 run."""

from __future__ import annotations

import argparse
import os
import shlex

from ros2cli.cli import Command
from ros2cli.command.pkg import executables


def add_to(command: Command) -> None:
    """Add the arguments."""
    command.parser.set_defaults(main=run)
    add = command.parser.add_argument
    add("--prefix", default="", help="command to run it under, such as 'gdb -ex run --args'")
    add("package_name")
    add("executable_name")
    add("argv", nargs=argparse.REMAINDER, help="passed on as they are")


def run(args: argparse.Namespace) -> str:
    """Become the executable: so its signals and its exit status are nobody else's."""
    found = [file for file in executables(args.package_name) if file.name == args.executable_name]
    if not found:
        return "No executable found"
    if len(found) > 1:
        return "Multiple executables found:" + "".join(f"\n- {file}" for file in found)
    line = [*shlex.split(args.prefix), str(found[0]), *args.argv]
    try:
        os.execvp(line[0], line)
    except OSError as error:
        return f"'{line[0]}' cannot be run: {error.strerror}"
