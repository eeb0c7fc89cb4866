# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The keys: what strokes mean, and a terminal with the program."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from robot_bench import PATIENCE, URDF, Robot
from std_msgs.msg import String

from basis_ik.extras.teleop_keyboard import TELEOP, Keys
from basis_ik.ros.keyboard import KEY_TWISTS

# The numbers themselves: with those of the module no change of them would be seen.
FASTER = 1.25
STROKE = 0.15

PROGRAM = [sys.executable, "-m", "basis_ik.programs", "teleop_keyboard"]


def test_a_stroke_moves_briefly_and_a_held_key_continuously():
    keys = Keys(0.1, 0.3)
    assert keys.twist(0.0) is None
    for now in np.arange(0.0, 1.0, 0.03):
        keys.press("r", now)
        assert keys.twist(now + 0.029) == ((0.0, 0.0, 0.1), (0.0, 0.0, 0.0))
    assert keys.twist(now + 0.99 * STROKE) is not None
    assert keys.twist(now + STROKE) is None


def test_every_direction_has_a_key_and_its_opposite():
    reported = {(*linear, *angular) for linear, angular in KEY_TWISTS.values()}
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
    for key, factor in (("+", TELEOP.fastest), ("-", TELEOP.slowest)):
        for _ in range(100):
            keys.press(key, 0.0)
        assert keys.speeds == pytest.approx((factor * 0.1, factor * 0.3))
    keys.press("o", 0.0)
    assert keys.twist(0.0)[1] == pytest.approx((0.0, 0.0, TELEOP.slowest * 0.3))


class Terminal:
    """A program in a terminal of its own, which controls it or not."""

    def __init__(self, domain, program=PROGRAM, *, controls=False):
        self._master, slave = pty.openpty()
        self.before = self.attributes()
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        self.process = subprocess.Popen(
            program, stdin=slave, stdout=slave, stderr=slave, env=environment,
            start_new_session=controls,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if controls else None,
        )  # fmt: skip
        os.close(slave)

    def attributes(self):
        return termios.tcgetattr(self._master)

    def wait_for(self, words):
        """Wait until it shows words; return all that was shown since the last such call."""
        shown = ""
        while words not in shown:
            assert select.select([self._master], [], [], PATIENCE)[0], shown
            shown += os.read(self._master, 4096).decode(errors="replace")
        return shown

    def press(self, key):
        os.write(self._master, key.encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.mark.parametrize("how", ["q", "\x03"])
def test_keys_are_taken_from_a_terminal_which_is_restored_at_the_end(domain, how):
    robot, terminal = Robot(domain), Terminal(domain)
    try:
        terminal.wait_for("along x")
        assert terminal.attributes() != terminal.before
        robot.description.publish(String(data=URDF))
        terminal.wait_for("base_link: 0.100 m/s")
        terminal.press("t")
        terminal.wait_for("tool0: 0.100 m/s")
        status = robot.node.create_publisher(DiagnosticStatus, "basis_ik/status", 1)
        robot.wait(status.get_subscription_count, "it hears the status")
        status.publish(DiagnosticStatus(message="moving"))
        terminal.wait_for("| moving")
        terminal.press(how)
        if how == "\x03":  # the terminal is not the program's controlling one
            terminal.process.terminate()
        assert terminal.process.wait(PATIENCE) == 0
        assert terminal.attributes() == terminal.before
    finally:
        terminal.close()
        robot.close()


def test_a_missing_terminal_is_reported(complaint, monkeypatch):
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        line = complaint("teleop_keyboard")
    assert line.startswith("teleop_keyboard: standard input is no terminal: run `ros2 run")
