# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot on the bench for the rows of the catalogue: what each must hold at its end."""

import contextlib
from pathlib import Path

import numpy as np
from bench import CYCLE, HOME, PERIOD, Robot, down
from std_srvs.srv import SetBool
from world import SECOND

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
ASIDE = np.array([0.1, 0.05, -0.05, 0.0, 0.0, 0.1])  # rad, to a good target
# rad: top speed for 0.25 s and the jerk's 0.05 s, and what is settled until the node can brake.
SAFE = 0.05  # s: in motion, nothing changes earlier
BRAKING_WAY = np.pi * (0.5 * 0.3 + SAFE + 5 * PERIOD)
HOMING = ("-p", f"home:={HOME.tolist()}")


@contextlib.contextmanager
def robot_of(*words, kind=Robot, ready=True, **how):
    """Yield a robot; at the end it follows a good target, and nothing unsafe was commanded.

    Args:
        words: Arguments of ROS.
        kind: Its class.
        ready: Whether it is ready first; otherwise it has only just begun.
        how: Of the robot.
    """
    robot = kind(*HOMING, *words, **how)
    try:
        if ready:
            robot.factor = 1.0  # of a simulation
            robot.wait_status(state="READY")
            robot.run(0.5)  # it learns the controller's rule
        yield robot
        follows_again(robot)
        assert not any("Traceback" in line for line in robot.log.lines())
    finally:
        robot.end()


def follows_again(robot):
    """Send a good target to the arm at rest: it is commanded at once, and reached."""
    robot.wait(lambda: stands(robot, 0.3), "rest")
    held, first = robot.positions, len(robot.arm.outputs)
    robot.reach(robot.chain.forward(robot.positions + ASIDE), 1e-6)
    moved = [np.abs(output - held).max() > 1e-4 for _, output in robot.arm.outputs[first:]]
    assert moved.index(True) * CYCLE <= 5 * SECOND * PERIOD
    robot.wait(lambda: stands(robot, 0.3), "rest")


def stands(robot, seconds=0.5):
    """Return whether no command is sent and nothing moves for a while, in which time passes."""
    count, before = len(robot.commands), robot.positions
    robot.run(seconds)
    return len(robot.commands) == count and np.abs(robot.positions - before).max() < 1e-9


def moving(robot, first):
    """Return whether each output from a number on differs from the one before."""
    outputs = np.array([output for _, output in robot.arm.outputs[first - 1 :]])
    return np.abs(np.diff(outputs, axis=0)).max(axis=1) > 1e-9


def brakes(robot):
    """Let the arm come to rest, short of its target; return how far it goes meanwhile [rad]."""
    here = robot.positions
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert not robot.at(FAR, 1e-2), "it went on to the end"
    way = np.abs(robot.positions - here).max()
    assert way <= BRAKING_WAY
    return way


def arrives(robot, root_T_target, tolerance=1e-6):
    """Hold that the arm arrives at a pose that was sent."""
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert robot.at(root_T_target, tolerance)


def refusals(robot, reason):
    """Return how often the node has refused something for a reason."""
    return int(robot.statuses[-1].get(f"refused.{reason}", 0))


def enable(robot):
    """Enable targets again after a stop."""
    assert robot.call(SetBool, "enable", data=True).success
    robot.wait(lambda: robot.statuses[-1]["state"] in ("READY", "HOLDING", "ARRIVED"), "enabled")


def memory():
    """Return the memory of this process [MB]."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1e3
