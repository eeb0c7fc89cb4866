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

"""The keys: what strokes mean, and a terminal that moves an arm, over DDS."""

import contextlib
import os
import pty
import subprocess
import sys
import termios
import time

import numpy as np
import pytest
from robot_bench import PATIENCE, down, running
from std_srvs.srv import SetBool

from basis_ik.ros.teleop_keyboard import DIRECTIONS, FASTER, FASTEST, SLOWEST, STROKE, Keys

READY = down(0.40, 0.20, 0.40)
PROGRAM = [sys.executable, "-m", "basis_ik.ros.programs", "teleop_keyboard"]


def test_a_stroke_moves_briefly_and_a_held_key_continuously():
    keys = Keys(0.1, 0.3)
    assert keys.twist(0.0) is None
    for now in np.arange(0.0, 1.0, 0.03):
        keys.press("r", now)
        assert keys.twist(now + 0.029) == ((0.0, 0.0, 0.1), (0.0, 0.0, 0.0))
    assert keys.twist(now + 0.99 * STROKE) is not None
    assert keys.twist(now + STROKE) is None


def test_every_direction_has_a_key_and_its_opposite():
    reported = {(*linear, *angular) for linear, angular in DIRECTIONS.values()}
    assert reported == {tuple(row) for row in np.vstack([np.eye(6), -np.eye(6)]).tolist()}


@pytest.mark.parametrize("key", [" ", "t", "e", "x"])
def test_a_key_without_a_direction_ends_the_motion(key):
    keys = Keys(0.1, 0.3)
    keys.press("w", 0.0)
    keys.press(key, 0.01)
    assert keys.twist(0.02) is None
    assert keys.in_tip == (key == "t")


def test_speeds_change_by_keys_within_bounds():
    keys = Keys(0.1, 0.3)
    keys.press("+", 0.0)
    assert keys.speeds == pytest.approx((FASTER * 0.1, FASTER * 0.3))
    for key, factor in (("+", FASTEST), ("-", SLOWEST)):
        for _ in range(100):
            keys.press(key, 0.0)
        assert keys.speeds == pytest.approx((factor * 0.1, factor * 0.3))
    keys.press("o", 0.0)
    assert keys.twist(0.0)[1] == pytest.approx((0.0, 0.0, SLOWEST * 0.3))


class Terminal:
    """A teleop_keyboard in a terminal of its own."""

    def __init__(self, domain):
        self._master, slave = pty.openpty()
        self.before = self.attributes()
        os.set_blocking(self._master, False)
        self.logged = ""
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        self.process = subprocess.Popen(
            PROGRAM, stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)

    def attributes(self):
        return termios.tcgetattr(self._master)

    def listen(self):
        with contextlib.suppress(OSError):  # nothing there
            while text := os.read(self._master, 4096).decode(errors="replace"):
                self.logged += text
        return self.logged

    def press(self, key):
        os.write(self._master, key.encode())

    def hold(self, robot, key, until, what):
        """Press a key as one that is held repeats, until something holds."""

        def repeated():
            self.press(key)
            self.listen()
            time.sleep(0.03)
            return until()

        robot.wait(repeated, what)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        yield robot


@pytest.fixture
def terminal(robot, domain):
    robot.call(SetBool, "enable", data=True)
    robot.reach(READY, "the arm is ready")
    robot.wait(robot.no_commands, "silence")
    terminal = Terminal(domain)
    robot.wait(lambda: "base_link: 0.100 m/s" in terminal.listen(), "it is ready")
    assert "along x" in terminal.logged
    yield terminal
    terminal.close()


def moved(robot):
    return robot.tip().translation - READY.translation


def test_a_held_key_moves_the_tip_and_its_release_stops_it(robot, terminal):
    terminal.hold(robot, "r", lambda: moved(robot)[2] > 0.05, "the tip rises")
    robot.wait(robot.no_commands, "it stops")
    assert moved(robot)[2] < 0.15
    assert np.abs(moved(robot)[:2]).max() < 1e-3
    assert robot.statuses[-1]["state"] == "READY"


def test_the_axes_of_the_tip_can_be_selected(robot, terminal):
    terminal.press("t")
    robot.wait(lambda: "tool0: 0.100 m/s" in terminal.listen(), "the frame is shown")
    terminal.hold(robot, "r", lambda: moved(robot)[2] < -0.05, "the tool, pointing down, sinks")
    robot.wait(robot.no_commands, "it stops")


def test_space_stops_the_arm_until_it_is_enabled(robot, terminal):
    terminal.hold(robot, "o", lambda: not robot.at(READY, 1e-2), "the tip turns")
    terminal.press(" ")
    robot.wait_status(state="STOPPED")
    robot.wait(robot.no_commands, "it stops")
    robot.wait(lambda: "stopped" in terminal.listen(), "the status is shown")
    terminal.press("e")
    robot.wait_status(state="READY")


@pytest.mark.parametrize("how", ["q", "\x03"])
def test_the_terminal_is_restored_at_the_end(terminal, how):
    assert terminal.attributes() != terminal.before
    terminal.press(how)
    if how == "\x03":  # the terminal is not the program's controlling one
        terminal.process.terminate()
    assert terminal.process.wait(PATIENCE) == 0
    assert terminal.attributes() == terminal.before


def test_a_missing_terminal_is_reported(domain):
    done = subprocess.run(
        PROGRAM,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
    )
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith("teleop_keyboard: standard input is no terminal: run `ros2 run")
    assert "Traceback" not in done.stderr
