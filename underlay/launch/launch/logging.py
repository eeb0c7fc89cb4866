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
from logging import DEBUG, INFO, getLevelName
from pathlib import Path
from typing import TextIO

from ._upstream import upstream_names

__all__ = ["DEBUG", "INFO", "getLevelName", "get_logger", "get_output_loggers", "launch_config"]

_MESSAGE = "[%(levelname)s] [%(name)s]: %(message)s"
_OUTPUT = "%(message)s"

# Where stdout and stderr go, by the value of `output`.
_PLACES = {
    "screen": ("screen", "screen"),
    "log": ("log", "log screen"),
    "both": ("log screen", "log screen"),
}


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


class _LaunchConfig:
    """The level and the directory of the logs of this process."""

    def __init__(self) -> None:
        self.level = INFO
        self._loggers: dict[str, logging.Logger] = {}
        self._log_dir: Path | None = None

    @property
    def log_dir(self) -> str:
        """The directory of this run, made at first use below ROS_LOG_DIR or ROS_HOME/log."""
        if self._log_dir is None:
            home = Path(os.environ.get("ROS_HOME") or "~/.ros")
            base = Path(os.environ.get("ROS_LOG_DIR") or home / "log").expanduser()
            stamp = datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
            self._log_dir = base / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
            self._log_dir.mkdir(parents=True)
            latest = base / f"latest-{os.getpid()}"
            latest.symlink_to(self._log_dir.name)
            latest.replace(base / "latest")
        return str(self._log_dir)

    def logger(self, name: str, places: str, style: str) -> logging.Logger:
        if name not in self._loggers:
            logger = self._loggers[name] = logging.Logger(name)
            if "screen" in places:
                logger.addHandler(_Screen())
                logger.handlers[-1].setFormatter(logging.Formatter(style))
            if "log" in places:
                file = os.path.join(self.log_dir, "launch.log")
                logger.addHandler(logging.FileHandler(file))
                logger.handlers[-1].setFormatter(logging.Formatter(f"%(created).7f {style}"))
        for handler in self._loggers[name].handlers:  # the logger itself remembers its own level
            handler.setLevel(self.level)
        return self._loggers[name]


launch_config = _LaunchConfig()


def get_logger(name: str | None = None) -> logging.Logger:
    """Return a logger that writes to the screen and to launch.log."""
    return launch_config.logger(name or "launch", "log screen", _MESSAGE)


def get_output_loggers(
    process_name: str, output_config: str
) -> tuple[logging.Logger, logging.Logger]:
    """Return the loggers for the stdout and the stderr of a process.

    Args:
        process_name: Names the loggers.
        output_config: 'screen'; 'log': launch.log, and stderr to the screen as well; 'both'.

    Raises:
        ValueError: It is none of these.
    """
    if output_config not in _PLACES:
        raise ValueError(
            f'{output_config} is not a valid standard output config i.e. "screen", "log" or '
            '"both" ("own_log", "full" and dicts are part of upstream launch, but not of this '
            "underlay)"
        )
    stdout, stderr = _PLACES[output_config]
    return (
        launch_config.logger(f"{process_name}-stdout", stdout, _OUTPUT),
        launch_config.logger(f"{process_name}-stderr", stderr, _OUTPUT),
    )


__getattr__ = upstream_names(
    __name__, "LaunchConfig LaunchLogger get_log_file_path get_output_log_file_paths reset handlers"
)
