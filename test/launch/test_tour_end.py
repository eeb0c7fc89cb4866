# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""When and how launches end, with stand-ins for RViz and all programs."""

import os
import signal
import subprocess
import time
from pathlib import Path
from shutil import copytree, which

import pytest

ROOT = Path(__file__).parents[2]
TOURS = {
    "demo.launch.py": "demo_targets",
    "point_head.launch.py": "moving_point",
    "two_arms.launch.py": "demo_targets",
}
# Programs without which a launch ends.
REQUIRED = {
    "demo.launch.py": ["robot_state_publisher", "simulated_arm", "ik_node"],
    "legs.launch.py": ["robot_state_publisher", "frames_node"],
    "point_head.launch.py": ["robot_state_publisher", "simulated_arm", "ik_node"],
    "transform_nodes.launch.py": ["transform_nodes"],
    "two_arms.launch.py": ["robot_state_publisher", "simulated_arm", "ik_node"],
}
PROGRAMS = {
    "basis_ik": [
        *("ik_node", "frames_node", "transform_nodes", "simulated_arm", "legs_motion", "web_view"),
        *TOURS.values(),
    ],
    "robot_state_publisher": ["robot_state_publisher"],
    "tf2_ros": ["static_transform_publisher"],
    "rviz2": ["rviz2"],
}
STAND_IN = """#!/bin/sh
trap 'exit 3' INT TERM
: >'{started}'
until [ -e '{end}' ]; do /bin/sleep 0.05; done
read status <'{end}' && exit $status
"""


class Stage:
    """A launch of programs that run until their exit status is set, for some beforehand.

    They fail if the launch ends them.
    """

    def __init__(self, folder, file, rviz, view, ended):
        for package, programs in PROGRAMS.items():
            marker = folder / "share" / "ament_index" / "resource_index" / "packages" / package
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
            (folder / "lib" / package).mkdir(parents=True)
            for program in programs:
                path = folder / "lib" / package / program
                path.write_text(
                    STAND_IN.format(started=folder / f"{program}.started", end=folder / program)
                )
                path.chmod(0o755)
        for program, status in ended.items():
            (folder / program).write_text(f"{status}\n")
        for room in ("launch", "config", "urdf", "rviz"):
            copytree(ROOT / room, folder / "share" / "basis_ik" / room)
        # Nothing but the stand-ins is found, not even an RViz that is installed here.
        path = [str(folder / "lib" / "rviz2")] if rviz else []
        self._folder = folder
        self._log = folder / "log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [which("ros2"), "launch", "basis_ik", file, "launch_rviz:=true", f"view:={view}"],
                env={
                    **os.environ,
                    "AMENT_PREFIX_PATH": f"{folder}:{os.environ['AMENT_PREFIX_PATH']}",
                    "PATH": ":".join([*path, str(folder / "none")]),
                },
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait_for(self, condition, patience=60.0):
        end = time.monotonic() + patience
        while not condition():
            assert self._process.poll() is None, self.logged()
            assert time.monotonic() < end, self.logged()
            time.sleep(0.05)

    def started(self, program):
        return (self._folder / f"{program}.started").exists()

    def end(self, program, status=0):
        self.wait_for(lambda: self.started(program))
        part = self._folder / f"{program}.part"
        part.write_text(f"{status}\n")
        part.rename(self._folder / program)

    def logged(self):
        return self._log.read_text()

    def status(self):
        """Wait for the end of the launch; return its exit status."""
        return self._process.wait(60.0)

    def close(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60.0)


@pytest.fixture
def stage(tmp_path):
    stages = []

    def start(file, rviz, view="false", **ended):
        stages.append(Stage(tmp_path, file, rviz, view, ended))
        return stages[-1]

    yield start
    stages[-1].close()


@pytest.mark.parametrize("file", TOURS)
@pytest.mark.parametrize("status", [0, 1])
def test_without_rviz_a_launch_ends_with_the_status_of_the_tour(stage, file, status):
    launch = stage(file, rviz=False)
    launch.end(TOURS[file], status)
    assert bool(launch.status()) == bool(status), launch.logged()
    assert "RViz is not installed" in launch.logged()


@pytest.mark.parametrize("file", TOURS)
@pytest.mark.parametrize("status", [0, 1])
def test_the_launch_continues_until_rviz_is_closed(stage, file, status):
    launch = stage(file, rviz=True)
    launch.wait_for(lambda: launch.started("rviz2"))
    launch.end(TOURS[file], status)
    launch.wait_for(lambda: "Close RViz to end the launch." in launch.logged())
    launch.end("rviz2")
    assert bool(launch.status()) == bool(status), launch.logged()


def test_the_page_in_the_browser_outlives_tour_and_rviz(stage):
    launch = stage("point_head.launch.py", rviz=True, view="true")
    launch.wait_for(lambda: launch.started("rviz2") and launch.started("web_view"))
    launch.end("moving_point")
    launch.wait_for(lambda: "Close RViz to end the launch." in launch.logged())
    launch.end("rviz2")
    launch.wait_for(lambda: launch.logged().count("The page in the browser stays") == 2)
    launch.end("web_view")
    assert launch.status() == 0, launch.logged()


def test_without_rviz_too_the_page_stays_when_the_tour_is_over(stage):
    launch = stage("point_head.launch.py", rviz=False, view="true")
    launch.wait_for(lambda: launch.started("web_view"))
    launch.end("moving_point", 1)
    launch.wait_for(lambda: "The page in the browser stays" in launch.logged())
    launch.end("web_view")
    assert launch.status() != 0, launch.logged()


def test_the_tour_continues_if_rviz_ends(stage):
    launch = stage("point_head.launch.py", rviz=True)
    launch.end("rviz2", 1)  # it found no screen
    launch.wait_for(lambda: "process has died" in launch.logged())
    launch.end("moving_point", 1)
    assert launch.status() != 0, launch.logged()  # the launch still waits for the tour


@pytest.mark.parametrize(
    ("file", "program"), [(file, each) for file, needed in REQUIRED.items() for each in needed]
)
def test_a_launch_fails_if_a_program_that_it_requires_dies_at_its_start(stage, file, program):
    launch = stage(file, rviz=True, **{program: 1})
    assert launch.status() != 0, launch.logged()
    assert "which the others require" in launch.logged()


def test_a_required_program_that_was_asked_to_end_is_no_failure(stage):
    launch = stage("legs.launch.py", rviz=True, frames_node=0)
    assert launch.status() == 0, launch.logged()


def test_ctrl_c_is_no_failure(stage):
    launch = stage("demo.launch.py", rviz=True)
    launch.wait_for(lambda: launch.started("rviz2"))
    launch.close()
    assert launch.status() == 0, launch.logged()
