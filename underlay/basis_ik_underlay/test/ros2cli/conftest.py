# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command as people call it, and a node that has one of everything."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

os.environ.setdefault("ROS_DOMAIN_ID", "43")
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

from ros2cli import main

ROS2 = [sys.executable, "-c", "import sys; from ros2cli import main; sys.exit(main())"]


class Ros2:
    """Runs `ros2` to its end, or as a process that is interrupted."""

    def __call__(self, *arguments, code=0):
        """Run it here, which spares the imports, and return what it prints: errors if it fails."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                result = main(list(arguments))
        except SystemExit as end:  # of argparse
            result = end.code
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        printed = out.buffer.getvalue().decode()
        errors = err.getvalue() + (f"{result}\n" if isinstance(result, str) else "")
        assert (1 if isinstance(result, str) else result or 0) == code, printed + errors
        return errors if code else printed

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [*ROS2, *arguments],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options},
        )

    def until(self, text, *arguments, number=signal.SIGINT):
        """Send the signal once a line has the text; return the status and all that was printed."""
        process = self.start(*arguments)
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                if text in line:
                    break
            time.sleep(0.2)  # a line is printed before what it tells is known everywhere
            process.send_signal(number)
            rest, _ = process.communicate(timeout=30)
            return process.returncode, "".join(lines) + rest
        finally:
            process.kill()


@pytest.fixture(scope="session")
def ros2():
    return Ros2()


class Zoo:
    """The node of zoo.py and what it prints."""

    def __init__(self, log):
        self.log = log
        script = str(Path(__file__).with_name("zoo.py"))
        with log.open("w") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-u", script], stdout=stream, stderr=stream
            )
        self.wait_for("ready")

    def wait_for(self, text):
        deadline = time.monotonic() + 30
        while text not in self.log.read_text():
            assert time.monotonic() < deadline, f"the zoo has not said '{text}'"
            assert self.process.poll() is None
            time.sleep(0.05)
        return self.log.read_text()


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    it = Zoo(tmp_path_factory.mktemp("zoo") / "log")
    yield it
    it.process.send_signal(signal.SIGINT)
    try:
        it.process.wait(timeout=10)
    finally:
        it.process.kill()
