# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arms from published kinematics, as short URDF texts; programs that must fail.

And what plain Python spares itself.
"""

from __future__ import annotations

import signal
import sys
import threading
from functools import cache
from math import pi

import pytest
from from_python import IS_PLAIN

from basis_ik import programs
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.search import precomputed_starts

H = pi / 2
PATIENCE = 30.0  # s, for what must end by itself
Row = tuple[str, str, str, str, float, float]


def arm(rows: list[Row], tip: str = "0 0 0", extra: str = "") -> Chain:
    """Build a chain: rows of (kind, xyz, rpy, axis, lower, upper), and the tip's offset."""
    text = "<robot name='arm'><link name='l0'/>"
    for i, (kind, xyz, rpy, axis, lower, upper) in enumerate(rows, 1):
        bounds = "" if kind == "continuous" else f"lower='{lower}' upper='{upper}'"
        limit = f"<limit {bounds} velocity='2' effort='9'/>"
        text += f"<link name='l{i}'/><joint name='j{i}' type='{kind}'>"
        text += f"<parent link='l{i - 1}'/><child link='l{i}'/><origin xyz='{xyz}' rpy='{rpy}'/>"
        text += f"<axis xyz='{axis}'/>{limit}</joint>"
    n = len(rows)
    text += f"<link name='tip'/><joint name='end' type='fixed'><parent link='l{n}'/>"
    text += f"<child link='tip'/><origin xyz='{tip}'/></joint>{extra}</robot>"
    return RobotModel.from_urdf(text).chain("l0", "tip")


def turning(xyz: str, rpy: str, lower: float, upper: float, axis: str = "0 0 1") -> Row:
    return ("revolute", xyz, rpy, axis, lower, upper)


def _ur5() -> Chain:
    return arm(
        [
            turning("0 0 0.089159", "0 0 0", -2 * pi, 2 * pi),
            turning("0 0.13585 0", f"0 {H} 0", -2 * pi, 2 * pi, "0 1 0"),
            turning("0 -0.1197 0.425", "0 0 0", -pi, pi, "0 1 0"),
            turning("0 0 0.39225", f"0 {H} 0", -2 * pi, 2 * pi, "0 1 0"),
            turning("0 0.093 0", "0 0 0", -2 * pi, 2 * pi),
            turning("0 0 0.09465", "0 0 0", -2 * pi, 2 * pi, "0 1 0"),
        ],
        "0 0.0823 0",
    )


def _puma560() -> Chain:
    return arm(
        [
            turning("0 0 0.672", "0 0 0", -2.79, 2.79),
            turning("0 0.2435 0", "0 0 0", -3.93, 0.79, "0 1 0"),
            turning("0.4318 -0.0934 0", "0 0 0", -0.92, 4.01, "0 1 0"),
            turning("-0.0203 0 0.4331", "0 0 0", -1.92, 2.97),
            turning("0 0 0", "0 0 0", -1.75, 1.75, "0 1 0"),
            turning("0 0 0", "0 0 0", -4.64, 4.64),
        ],
        "0 0 0.0563",
    )


def _panda() -> Chain:
    return arm(
        [
            turning("0 0 0.333", "0 0 0", -2.8973, 2.8973),
            turning("0 0 0", f"{-H} 0 0", -1.7628, 1.7628),
            turning("0 -0.316 0", f"{H} 0 0", -2.8973, 2.8973),
            turning("0.0825 0 0", f"{H} 0 0", -3.0718, -0.0698),
            turning("-0.0825 0.384 0", f"{-H} 0 0", -2.8973, 2.8973),
            turning("0 0 0", f"{H} 0 0", -0.0175, 3.7525),
            turning("0.088 0 0", f"{H} 0 0", -2.8973, 2.8973),
        ],
        "0 0 0.107",
    )


def _iiwa() -> Chain:
    return arm(
        [
            turning("0 0 0.36", "0 0 0", -2.96, 2.96),
            turning("0 0 0", "0 0 0", -2.09, 2.09, "0 1 0"),
            turning("0 0 0.42", "0 0 0", -2.96, 2.96),
            turning("0 0 0", "0 0 0", -2.09, 2.09, "0 -1 0"),
            turning("0 0 0.4", "0 0 0", -2.96, 2.96),
            turning("0 0 0", "0 0 0", -2.09, 2.09, "0 1 0"),
            turning("0 0 0.126", "0 0 0", -3.05, 3.05),
        ],
    )


def _jaco() -> Chain:
    """A wrist without a common centre, and three joints without limits."""
    return arm(
        [
            ("continuous", "0 0 0.2755", "0 0 0", "0 0 1", 0, 0),
            turning("0 0.0016 0", f"{-H} 0 0", -2.3, 2.3),
            turning("0 -0.41 0", "0 0 0", -2.6, 2.6),
            ("continuous", "0 -0.2073 -0.0114", f"{H} 0 0", "0 0 1", 0, 0),
            ("continuous", "0 0 0.0741", f"{-pi / 3} 0 0", "0 0 1", 0, 0),
            ("continuous", "0 0 0.0741", f"{pi / 3} 0 0", "0 0 1", 0, 0),
        ],
        "0 0 0.16",
    )


def _gantry() -> Chain:
    return arm(
        [
            ("prismatic", "0 0 1", "0 0 0", "1 0 0", -1.0, 1.0),
            ("prismatic", "0 0 0", "0 0 0", "0 1 0", -0.5, 0.5),
            ("prismatic", "0 0 0", "0 0 0", "0 0 1", -0.6, 0.0),
            turning("0 0 -0.1", "0 0 0", -3.0, 3.0),
            turning("0 0 -0.1", "0 0 0", -1.9, 1.9, "0 1 0"),
            turning("0 0 -0.05", "0 0 0", -3.0, 3.0),
        ],
        "0 0 -0.1",
    )


def _lift_arm() -> Chain:
    """A lifting column under a shoulder: a slide in the chain, seven variables."""
    return arm(
        [
            ("prismatic", "0 0 0.4", "0 0 0", "0 0 1", 0.0, 0.4),
            turning("0.1 0 0", "0 0 0", -1.6, 1.6),
            turning("0.12 0 0", "0 0 0", -1.2, 1.5, "0 1 0"),
            ("continuous", "0.22 0 0", "0 0 0", "1 0 0", 0, 0),
            turning("0.13 0 0", "0 0 0", -2.2, 2.2, "0 1 0"),
            ("continuous", "0.2 0 0", "0 0 0", "1 0 0", 0, 0),
            turning("0.12 0 0", "0 0 0", -2.1, 2.1, "0 1 0"),
        ],
        "0.16 0 0",
    )


def _scara() -> Chain:
    return arm(
        [
            turning("0 0 0.3", "0 0 0", -2.2, 2.2),
            turning("0.3 0 0", "0 0 0", -2.5, 2.5),
            ("prismatic", "0.25 0 0", "0 0 0", "0 0 1", -0.2, 0.0),
            turning("0 0 0", "0 0 0", -6.2, 6.2),
        ],
    )


MAKERS = {
    "ur5": _ur5,
    "puma560": _puma560,
    "panda": _panda,
    "iiwa": _iiwa,
    "jaco": _jaco,
    "gantry": _gantry,
    "lift_arm": _lift_arm,
    "scara": _scara,
}


@cache
def robot(name: str) -> Chain:
    return MAKERS[name]()


@pytest.fixture(params=list(MAKERS))
def chain(request: pytest.FixtureRequest) -> Chain:
    return robot(request.param)


@pytest.fixture(name="arm", scope="session")
def _arm() -> object:
    return arm


@pytest.fixture(name="robot", scope="session")
def _robot() -> object:
    return robot


@pytest.fixture(scope="session", autouse=IS_PLAIN)
def _few_starts_are_tried():
    """As plain Python the search for a chain's own starts, 8192 descents, takes six seconds."""
    with pytest.MonkeyPatch.context() as patch:
        few = precomputed_starts.OWN_STARTS
        few = few._replace(candidates=few.kept, targets=4)
        patch.setattr(precomputed_starts, "OWN_STARTS", few)
        yield


@pytest.fixture
def complaint(capfd, monkeypatch):
    """Run a program that must fail, in this process; return its one line."""
    # A guard that is gone lets it run: then it is stopped, and the end of pytest must not follow.
    monkeypatch.setattr(programs, "PROGRAM_TIMEOUT", 3600.0)

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
