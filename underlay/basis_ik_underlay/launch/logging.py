# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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
