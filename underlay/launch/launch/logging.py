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

import logging
import os
import socket
import sys
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TextIO

_MESSAGE = "[%(levelname)s] [%(name)s]: %(message)s"
_OUTPUT = "%(message)s"


class _Screen(logging.StreamHandler):  # type: ignore[type-arg]  # Python 3.10 takes none
    """Writes to what is `sys.stdout` at that moment, so that capturing it works."""

    @property
    def stream(self) -> TextIO:
        return sys.stdout

    @stream.setter
    def stream(self, _: TextIO) -> None:
        pass

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], BrokenPipeError):  # else nobody reads any more
            super().handleError(record)


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
def _logger(name: str, style: str, screen: bool, file: bool) -> logging.Logger:
    logger = logging.Logger(name, logging.INFO)
    if screen:
        logger.addHandler(_Screen())
        logger.handlers[-1].setFormatter(logging.Formatter(style))
    if file:
        logger.addHandler(logging.FileHandler(log_dir() / "launch.log"))
        logger.handlers[-1].setFormatter(logging.Formatter(f"%(created).7f {style}"))
    return logger


def get_logger(name: str) -> logging.Logger:
    """Return a logger that writes to the screen and to launch.log."""
    return _logger(name, _MESSAGE, screen=True, file=True)


def get_output_loggers(output: str) -> tuple[logging.Logger, logging.Logger]:
    """Return the loggers for the stdout and the stderr of a process.

    Args:
        output: 'screen', or 'log': launch.log, and stderr to the screen as well.

    Raises:
        ValueError: It is none of these.
    """
    if output not in ("screen", "log"):
        raise ValueError(f"output must be 'screen' or 'log' here, not '{output}'")
    file = output == "log"
    return (
        _logger("stdout", _OUTPUT, screen=not file, file=file),
        _logger("stderr", _OUTPUT, screen=True, file=file),
    )
