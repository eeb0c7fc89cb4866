# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How programs end that cannot start: by one line and status 1."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import rclpy
from std_msgs.msg import String

from basis_ik import programs

ROOT = Path(__file__).parents[1]
PROGRAMS = (
    "ik_node", "frames_node", "simulated_arm", "demo_targets", "moving_point", "legs_motion",
    "transform_nodes", "teleop_keyboard", "web_view", "record_dataset",
)  # fmt: skip
CONFIGS = {"frames_node": "legs.yaml", "transform_nodes": "transform_nodes.yaml"}


def run(program, *arguments, lacking=(), options=()):
    """Run a program as `pip install` makes it start; some packages cannot be imported."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({list(lacking)!r}));"
        f"from basis_ik.programs import {program}; sys.exit({program}())"
    )
    done = subprocess.run(
        [sys.executable, *options, "-c", code, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("program", [*PROGRAMS, "replay", "reach_map", "go", "play_dataset"])
def test_without_ros_the_requirement_is_printed(program):
    """Python's own packages only; even numpy is missing."""
    code, error = run(program, options=["-S"])
    assert code == 1
    assert error.startswith(f"{program}: needs ROS 2, which this Python does not have")
    assert "source /opt/ros/jazzy/setup.bash" in error
    assert "make shell" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("program", "package"),
    [
        ("ik_node", "moveit_msgs"),
        ("frames_node", "tf2_ros"),
        ("simulated_arm", "control_msgs"),
        ("demo_targets", "diagnostic_msgs"),
        ("moving_point", "geometry_msgs"),
        ("legs_motion", "sensor_msgs"),
        ("transform_nodes", "interactive_markers"),
        ("teleop_keyboard", "std_srvs"),
        ("ik_node", "numba"),
    ],
)
def test_a_missing_package_is_named(program, package):
    code, error = run(program, lacking=[package])
    assert code == 1
    assert error.startswith(f"{program}: needs {package}, which is not installed")
    assert "rosdep install" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("package", ["viser", "trimesh"])
def test_packages_without_a_rosdep_key_are_named(package):
    code, error = run("web_view", lacking=[package])
    assert code == 1
    assert error.startswith(f"web_view: needs the Python package {package}, which is not installed")
    assert "python3 -m pip install 'viser>=1.1,<1.2' pycollada" in error
    assert error.count("\n") == 1


def test_a_missing_module_of_the_package_raises():
    code, error = run("ik_node", lacking=["basis_ik.ros.loaded_robot"])
    assert code == 1
    assert "Traceback" in error
    assert "needs" not in error


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_unknown_parameter_is_reported(complaint, program):
    file = ("--params-file", str(ROOT / "config" / CONFIGS[program])) if program in CONFIGS else ()
    line = complaint(program, "rat:=5.0", more=file)
    assert line.startswith(f"{program}: parameter 'rat' does not exist; ")


def test_an_unknown_ros_argument_is_reported(domain, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    code, error = run("ik_node", "--ros-args", "--bogus")
    assert code == 1
    words = "ik_node: ROS 2 refuses its arguments or the environment: ['--bogus']"
    assert error.splitlines()[-1] == words


CHECKS_ONLY = """
import os, signal, sys, threading
from types import SimpleNamespace
from basis_ik import programs

def check(stop):
    threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGTERM]).start()
    while not stop.wait(0.0):
        pass
    return 0

programs.PROGRAM_TIMEOUT = 3600.0
programs.importlib = SimpleNamespace(import_module=lambda _: SimpleNamespace(main=check))
sys.exit(any([programs.ik_node() for _ in range(20)]))
"""


def test_a_signal_ends_a_program_that_is_just_checking_for_one(domain, monkeypatch):
    """Each check holds the lock of the event that a signal sets."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    command = [sys.executable, "-c", CHECKS_ONLY]
    assert subprocess.run(command, cwd=ROOT, timeout=120, check=False).returncode == 0


HANGS = """
import ctypes, os, signal, sys, threading
from types import SimpleNamespace
from basis_ik import programs

def hang(stop):
    threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGTERM]).start()
    stop.wait()
    ctypes.PyDLL(None).sleep(3600)  # it holds Python's lock

programs.importlib = SimpleNamespace(import_module=lambda _: SimpleNamespace(main=hang))
sys.exit(programs.ik_node())
"""
HANGS_LATER = HANGS.replace(
    "ctypes.PyDLL(None).sleep(3600)", "atexit.register(hang_later); return 0"
).replace("def hang", """import atexit
programs.INTERPRETER_TIMEOUT = 1.0

def hang_later():
    ctypes.PyDLL(None).sleep(3600)

def hang""", 1)  # fmt: skip


@pytest.mark.parametrize("program", [HANGS, HANGS_LATER], ids=["in main", "at exit"])
def test_a_signal_ends_a_program_that_hangs_in_a_library_and_says_where(
    domain, monkeypatch, program
):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, timeout=120, check=False, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"in hang" in done.stderr


@pytest.fixture
def stand_in(monkeypatch, domain):
    """Put a main in the place of ik_node's."""

    def stand_in(main):
        found = SimpleNamespace(import_module=lambda _: SimpleNamespace(main=main))
        monkeypatch.setattr(programs, "importlib", found)
        monkeypatch.setattr(sys, "argv", ["ik_node"])
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))

    return stand_in


def test_only_errors_of_rcl_are_one_line(stand_in, capsys):
    def rcl(_):
        rclpy.create_node("a").create_publisher(String, "a" * 300, 1)

    def ours(_):
        raise RuntimeError("dictionary changed size")

    stand_in(rcl)
    assert programs.ik_node() == 1
    error = capsys.readouterr().err
    assert error.startswith("ik_node: Invalid topic name: topic length")
    assert error.count("\n") == 1
    stand_in(ours)
    with pytest.raises(RuntimeError, match="dictionary"):
        programs.ik_node()
