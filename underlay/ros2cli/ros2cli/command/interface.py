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

"""ros2 interface."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_share_directory

from ros2cli.cli import Command


def add_to(command: Command) -> None:
    """Add the verbs."""
    add = command.verb("show", show, "Print an interface's definition", graph=False).add_argument
    add("type", help="such as geometry_msgs/msg/Pose")
    add("--no-comments", action="store_true", help="leave comments and blank lines out")


def show(args: argparse.Namespace) -> None:
    """Print it, with the messages that it contains below their fields."""
    parts = args.type.split("/")
    if len(parts) != 3 or parts[1] not in ("msg", "srv", "action"):
        raise ValueError(f"Invalid name '{args.type}': expected <package>/<msg|srv|action>/<Type>")
    for line in _lines(*parts):
        if not args.no_comments:
            print(line)
        elif code := line.split("#")[0].rstrip():
            print(code)


def _lines(package: str, kind: str, name: str, depth: int = 0) -> list[str]:
    try:
        file = Path(get_package_share_directory(package), kind, f"{name}.{kind}")
        text = file.read_text()
    except (PackageNotFoundError, ValueError, OSError):
        raise RuntimeError(f"Could not find the interface '{package}/{kind}/{name}'") from None
    lines = []
    for line in text.splitlines():
        if depth and not line.split("#")[0].strip():
            continue
        lines.append("\t" * depth + line)
        if match := re.match(r"\s*(?:(\w+)/)?([A-Z]\w*)(?:\[.*?\])?\s+\w", line):
            inner = match[1] or ("std_msgs" if match[2] == "Header" else package)
            lines += _lines(inner, "msg", match[2], depth + 1)
    return lines
