# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""teleop.launch.py with stand-ins for a joystick's nodes, and without."""

import os
import signal
import subprocess
import time
from shutil import which

import pytest

PATIENCE = 600.0  # s: only ends what hangs
PROGRAMS_OF_JOY = ("joy_node", "teleop_node")
PROGRAMS = {"joy": "joy_node", "teleop_twist_joy": "teleop_node", "spacenav": "spacenav_node"}


@pytest.fixture
def with_joystick(tmp_path, own_domain):
    """An environment with packages whose programs write down their arguments and parameters."""
    for package, name in PROGRAMS.items():
        program = tmp_path / "lib" / package / name
        marker = tmp_path / "share" / "ament_index" / "resource_index" / "packages" / package
        for path in (program, marker):
            path.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
        written = f"{tmp_path}/{name}"
        told = f'for a in "$@"; do echo "$a"; test -f "$a" && cat "$a"; done > {written}.part'
        program.write_text(f"#!/bin/sh\n{told}\nmv {written}.part {written}\n")
        program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}"
    return {**os.environ, "AMENT_PREFIX_PATH": path, "ROS_DOMAIN_ID": str(own_domain)}


def launch(environment, until, tmp_path, **arguments):
    """Launch until a condition holds; return the output."""
    command = [which("ros2"), "launch", "basis_ik", "teleop.launch.py", "launch_rviz:=false"]
    command += [f"{key}:={value}" for key, value in arguments.items()]
    said = tmp_path / "said"
    with said.open("w") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        end = time.monotonic() + PATIENCE
        while not until(said.read_text()):
            assert time.monotonic() < end, said.read_text()
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    return said.read_text()


@pytest.mark.parametrize(
    ("robot", "frame", "words"),
    [
        ("ur5e", "base_link", "ready: ur5e"),
        ("real", "base_link", "waiting for a robot description"),
    ],
)
def test_an_arm_and_a_joystick_are_started(with_joystick, tmp_path, robot, frame, words):
    def all_there(said):
        started = (tmp_path / name for name in PROGRAMS_OF_JOY)
        return words in said and all(each.exists() for each in started)

    launch(with_joystick, all_there, tmp_path, robot=robot, linear_speed="0.2")
    given = (tmp_path / "teleop_node").read_text()
    assert "cmd_vel:=basis_ik/twist" in given
    assert all("joy:=basis_ik/joy" in (tmp_path / each).read_text() for each in PROGRAMS_OF_JOY)
    found = dict(line.strip().split(": ", 1) for line in given.splitlines() if ": " in line)
    assert found["publish_stamped_twist"] == "true"
    assert found["frame"].strip("'\"") == frame
    assert float(found["scale_linear.z"]) == 0.2
    assert float(found["scale_angular.yaw"]) == 0.3
    numbers = [value for name, value in found.items() if name.startswith("axis_")]
    assert len(numbers) == len(set(numbers)) == 6, "each direction has an axis of its own"


def test_a_spacemouse_moves_the_arm_by_its_plain_twists(with_joystick, tmp_path):
    told = tmp_path / "spacenav_node"
    ask = [which("ros2"), "topic", "info", "/basis_ik/twist"]

    def all_there(said):
        return "ready: ur5e" in said and told.exists() and "msg/Twist\n" in asked()

    def asked():
        return subprocess.run(
            ask, env=with_joystick, capture_output=True, text=True, timeout=PATIENCE, check=False
        ).stdout

    launch(with_joystick, all_there, tmp_path, device="spacemouse", linear_speed="0.2")
    given = told.read_text()
    assert "spacenav/twist:=basis_ik/twist" in given
    assert "spacenav/joy:=basis_ik/joy" in given
    found = dict(line.strip().split(": ", 1) for line in given.splitlines() if ": " in line)
    assert float(found["linear_scale/z"]) == 0.2
    assert float(found["angular_scale/x"]) == 0.3


def test_keys_are_named(tmp_path, own_domain):
    environment = {**os.environ, "ROS_DOMAIN_ID": str(own_domain)}
    words = "Keys move the arm, in a terminal of their own: ros2 run basis_ik teleop_keyboard"
    assert words in launch(
        environment, lambda said: words in said, tmp_path, robot="real", device="keyboard"
    )


def test_without_a_spacemouses_package_the_arm_takes_the_keys_twists(tmp_path, own_domain):
    environment = {**os.environ, "ROS_DOMAIN_ID": str(own_domain)}
    ask = [which("ros2"), "topic", "info", "/basis_ik/twist"]
    asked = []

    def known(said):
        if "ready: ur5e" not in said:
            return False
        found = subprocess.run(
            ask, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        asked.append(found.stdout)
        return "msg/Twist" in found.stdout

    said = launch(environment, known, tmp_path, device="spacemouse")
    assert "The spacemouse is not read" in said
    assert "msg/TwistStamped\n" in asked[-1]


def test_missing_packages_are_logged_in_one_line(tmp_path, own_domain):
    environment = {**os.environ, "ROS_DOMAIN_ID": str(own_domain)}
    words = "The joystick is not read"
    said = launch(environment, lambda said: words in said, tmp_path, robot="real")
    (line,) = [line for line in said.splitlines() if words in line]
    assert "apt install ros-$ROS_DISTRO-joy ros-$ROS_DISTRO-teleop-twist-joy;" in line
    assert "ros2 run basis_ik teleop_keyboard" in line
