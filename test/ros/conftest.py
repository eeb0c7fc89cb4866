# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixtures for the tests of the programs' start."""

import signal
import sys
import threading

import pytest

from basis_ik.ros import programs

PATIENCE = 30.0  # s, for what must end by itself


@pytest.fixture
def complaint(capfd, monkeypatch):
    """Run a program that must fail, in this process; return its one line."""
    # A guard that is gone lets it run: then it is stopped, and the end of pytest must not follow.
    monkeypatch.setattr(programs, "PATIENCE", 3600.0)

    # A node of this process that is not freed at once is still in the graph, under the name of the
    # program; so none is discovered.
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")

    def complain(program, *parameters, more=()):
        given = [word for parameter in parameters for word in ("-p", parameter)]
        monkeypatch.setattr(sys, "argv", [program, "--ros-args", *more, *given])
        rescue = threading.Timer(PATIENCE, signal.raise_signal, [signal.SIGINT])
        rescue.start()
        try:
            assert getattr(programs, program)() == 1
        finally:
            rescue.cancel()
        logged = capfd.readouterr().err
        assert "Traceback" not in logged
        (line,) = [line for line in logged.splitlines() if line.startswith(program)]
        return line

    return complain
