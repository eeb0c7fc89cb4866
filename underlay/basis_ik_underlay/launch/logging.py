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

"""Where log messages and the output of processes go: the screen and launch.log."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TextIO


@cache
def log_dir() -> Path:
    """Return the directory of this run, made at first use below ROS_LOG_DIR or ROS_HOME/log."""
    home = Path(os.environ.get("ROS_HOME") or "~/.ros")
    base = Path(os.environ.get("ROS_LOG_DIR") or home / "log").expanduser()
    stamp = datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
    path = base / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
    path.mkdir(parents=True)
    return path


@cache
def _file() -> TextIO:
    return (log_dir() / "launch.log").open("a", buffering=1)


def write(text: str, *, screen: bool = True, file: bool = True) -> None:
    """Write a line."""
    if screen:
        with contextlib.suppress(BrokenPipeError):  # nobody reads any more
            print(text, flush=True)
    if file:
        _file().write(f"{time.time():.7f} {text}\n")


def log(name: str, message: str, level: str = "INFO") -> None:
    """Write a message with its level and the name of who says it."""
    write(f"[{level}] [{name}]: {message}")
