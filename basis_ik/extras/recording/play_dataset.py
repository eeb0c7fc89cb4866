# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plays an episode of a LeRobotDataset: its actions are chunks for a running node."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np
from rclpy.utilities import remove_ros_args

from basis_ik.extras.recording.dataset import DatasetError, Recorded, read_episode
from basis_ik.extras.recording.record_dataset import GRIPPER_ACTION
from basis_ik.ros.arm_client import CLIENT, Arm, Motion, MotionError
from basis_ik.ros.go import follow


class PlayTuning(NamedTuple):
    """Tuning of the playing of actions."""

    look_ahead: float = 1.0  # [s] of actions that are sent at a time, at least
    fewest_actions: int = 8  # that are sent at a time
    approach_speed: float = 0.2  # [rad/s or m/s]
    gripper_step: float = 0.01  # of the opening; smaller ones are not sent
    look_period: float = 0.05  # [s]
    peak_ratio: float = 1.5  # largest speed of an approach over its mean one
    rest_time: float = 0.5  # [s] in which the arm rests before the first action


PLAYING = PlayTuning()


def parse(words: list[str]) -> argparse.Namespace:
    """Return what the words of the command line ask for."""
    parser = argparse.ArgumentParser(
        prog="ros2 run basis_ik play_dataset",
        description="Move the arm of a running ik_node through the actions of an episode.",
        epilog="Exit status: 0 played, 1 not played to its end, with the reason. Ctrl-C stops the "
        "arm.",
    )
    parser.add_argument("root", type=Path, help="folder of the LeRobotDataset")
    parser.add_argument("--episode", type=int, default=0, help="its number (0)")
    parser.add_argument("--speed", type=float, default=1.0, help="times that of the recording (1)")
    parser.add_argument(
        "--approach", type=float, default=PLAYING.approach_speed, metavar="SPEED",
        help="largest speed of a joint on the way to the first action [rad/s, m/s] "
        f"({PLAYING.approach_speed:g})",
    )  # fmt: skip
    parser.add_argument("--python", default="", help="the Python that has LeRobot (this one)")
    parser.add_argument("--node", default="basis_ik", help="name of the node (basis_ik)")
    parser.add_argument("--chain", default="", help="name of the chain, if there are several")
    given = parser.parse_args(words)
    if not (given.speed > 0.0 and given.approach > 0.0):
        parser.error("speeds must be above 0")
    return given


def check(recorded: Recorded, robot: str, joints: Mapping[str, float]) -> None:
    """Refuse a recording of another robot, or one that cannot be played.

    Args:
        recorded: The recording.
        robot: The robot's name.
        joints: Its joints.

    Raises:
        DatasetError: It is one, has joints that the robot does not have, or no finite actions.
    """
    if recorded.robot != robot:
        raise DatasetError(f"it was recorded of '{recorded.robot}', and this is '{robot}'")
    others = [name for name in recorded.names if name not in joints and name != GRIPPER_ACTION]
    if others:
        raise DatasetError(f"'{robot}' has no joints {', '.join(others)}")
    if not recorded.rows or not np.isfinite(recorded.rows).all():
        raise DatasetError("it has no actions, or some that are not numbers")


def play(arm: Arm, recorded: Recorded, stop: Event, speed: float, approach: float) -> None:
    """Move an arm to the first action and through all, and wait until it rests at the last.

    Args:
        arm: The arm.
        recorded: Its recording.
        stop: Stops the arm.
        speed: Times that of the recording.
        approach: Largest speed of a joint on the way to the first action [rad/s or m/s].

    Raises:
        DatasetError: It was recorded of another robot.
        MotionError: The motion was refused, stopped or replaced.
    """
    robot, joints = arm.joints()
    check(recorded, robot, joints)
    names = [name for name in recorded.names if name != GRIPPER_ACTION]
    rows = np.array(recorded.rows)
    moves = [name != GRIPPER_ACTION for name in recorded.names]
    actions, openings = rows[:, moves], rows[:, [not each for each in moves]]
    way = np.abs(actions[0] - [joints[name] for name in names]).max()
    period = 1.0 / (recorded.fps * speed)
    arrives = PLAYING.peak_ratio * float(way) / approach
    lead = arrives + PLAYING.rest_time
    times = lead + period * np.arange(len(rows))
    ahead = max(PLAYING.look_ahead, PLAYING.fewest_actions * period)
    begin, sent, grip = arm.time, 0, np.inf
    motion: Motion | None = None
    while (elapsed := arm.time - begin) < times[-1] and not stop.is_set():
        if sent < len(times) and (not sent or elapsed > times[sent - 1] - 0.5 * ahead):
            if motion is not None:
                arm.forget(motion)
            first = int(np.searchsorted(times, elapsed))
            sent = int(np.searchsorted(times, max(elapsed, lead) + ahead, side="right"))
            when, places = times[first:sent], actions[first:sent]
            if first == 0:
                when, places = np.append(arrives, when), np.concatenate([places[:1], places])
            later, timeout = when - elapsed, CLIENT.motion_timeout + times[sent - 1]
            motion = arm.chunk(names, later, places, timeout=timeout, wait=False)
        now = int(np.searchsorted(times, elapsed, side="right")) - 1
        if now >= 0 and openings.size and abs(openings[now, 0] - grip) > PLAYING.gripper_step:
            grip = openings[now, 0]
            arm.grip(grip, wait=False)
        arm.wait_for(stop.is_set, time.monotonic() + PLAYING.look_period)
        if motion is not None and (motion.done or motion.is_over):
            motion.wait()
    if motion is not None:
        follow(arm, motion, stop)


def main(stop: Event) -> int:
    """Run the program; return the exit status.

    Args:
        stop: Ends it.

    Raises:
        BasisIkError: The recording, or the node, is not there.
    """
    given = parse(remove_ros_args(sys.argv)[1:])
    recorded = read_episode(given.python, given.root, given.episode)
    with Arm(given.node, chain=given.chain) as arm:
        try:
            play(arm, recorded, stop, given.speed, given.approach)
        except MotionError as error:
            print(f"{type(error).__name__.removesuffix('Error')}: {error}", file=sys.stderr)
            return 1
    lasts = len(recorded.rows) / recorded.fps / given.speed
    print(f"{len(recorded.rows)} actions in {lasts:.1f} s")
    return 0
