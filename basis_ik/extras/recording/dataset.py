# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Datasets of LeRobot, written and read by a process in whose Python that library is."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from basis_ik.errors import BasisIkError
from basis_ik.extras.recording import lerobot_side

# Environment variables that are about this Python.
PYTHON_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
LEROBOT_REMEDY = (
    "make an environment for it, `python3.12 -m venv ~/lerobot && ~/lerobot/bin/pip install "
    "'lerobot[dataset]>=0.6'`, and name its Python, ~/lerobot/bin/python"
)


class DatasetError(BasisIkError):
    """A dataset cannot be read or written."""


class Recorded(NamedTuple):
    """What was commanded in an episode.

    Attributes:
        robot: Name of the robot.
        fps: Rows in a second.
        names: A name for each column.
        rows: The actions.
    """

    robot: str
    fps: int
    names: list[str]
    rows: list[list[float]]


def _start(python: str, what: str, root: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start the process.

    Args:
        python: The Python that has LeRobot; empty: this one.
        what: What it is to do, see `lerobot_side`.
        root: Folder of the dataset.
        words: Other words of its command line.

    Raises:
        DatasetError: There is no such program.
    """
    kept = {
        name: each
        for name, each in os.environ.items()
        if not python or name not in PYTHON_VARIABLES
    }
    program = os.path.expanduser(python) or sys.executable
    try:
        return subprocess.Popen(
            [program, lerobot_side.__file__, what, str(root), *words],
            env={**kept, "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is not meant for it
        )  # fmt: skip
    except OSError as error:
        raise DatasetError(f"cannot run {program}: {error.strerror}") from None


def _checked(answer: dict[str, Any], python: str) -> dict[str, Any]:
    """Return an answer that is no error.

    Raises:
        DatasetError: It is one.
    """
    if "missing" in answer:
        program = python or sys.executable
        raise DatasetError(f"{program} has no LeRobot ({answer['missing']}): {LEROBOT_REMEDY}")
    if "error" in answer:
        raise DatasetError(answer["error"])
    return answer


def read_episode(python: str, root: Path, episode: int) -> Recorded:
    """Return an episode of a dataset; arguments as for `DatasetWriter`.

    Raises:
        DatasetError: It is not there, or LeRobot cannot read it.
    """
    process = _start(python, "read", root, str(episode))
    text, _ = process.communicate()
    if not text:
        raise DatasetError(f"LeRobot has ended with status {process.returncode}")
    return Recorded(**_checked(json.loads(text), python))


class DatasetWriter:
    """Writes episodes.

    Args:
        python: The Python that has LeRobot; empty: this one.
        root: Folder of the dataset, which is made or gets more episodes.
    """

    def __init__(self, python: str, root: Path) -> None:
        self._python, self._process = python, _start(python, "write", root)
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put({"ended": self._process.wait()})

    def send(self, *step: Any) -> None:
        """Send a step, as the name and the arguments of a method of `lerobot_side.Writer`."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # an answer tells that it has ended
            pickle.dump(step, self._process.stdin, protocol=4)
            self._process.stdin.flush()

    def answer(self, timeout: float = 0.0) -> dict[str, Any] | None:
        """Return the next answer, or None if there is none within a time [s].

        Raises:
            DatasetError: It is an error, with which the episode is lost.
        """
        try:
            answer = self._answers.get(timeout=timeout) if timeout else self._answers.get_nowait()
        except queue.Empty:
            return None
        return _checked(answer, self._python)

    def close(self, timeout: float) -> bool:
        """End it; return whether all is written within a time [s], or else later."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._thread.join(timeout)
        return not self._thread.is_alive()
