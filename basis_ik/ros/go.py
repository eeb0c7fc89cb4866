# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves the arm of a running node to a pose, from the shell."""

from __future__ import annotations

import argparse
import sys
import time
from threading import Event

import numpy as np
from rclpy.utilities import remove_ros_args

from basis_ik.ros.arm_client import CLIENT, Arm, Motion, MotionError
from basis_ik.transforms.rigid import RigidTransform


def parse(words: list[str]) -> argparse.Namespace:
    """Return what the words of the command line ask for."""
    parser = argparse.ArgumentParser(
        prog="ros2 run basis_ik go",
        description="Move the arm of a running ik_node to a pose, and wait until it is there.",
        epilog="Exit status: 0 there, 1 not there, with the reason. Ctrl-C stops the arm.",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--to", type=float, nargs=3, metavar=("X", "Y", "Z"), help="position of the tip [m]"
    )
    where.add_argument("--home", action="store_true", help="go to the posture home")
    where.add_argument("--posture", help="go to a posture of the node, by its name")
    where.add_argument("--where", action="store_true", help="only print the pose of the tip")
    turn = parser.add_mutually_exclusive_group()
    turn.add_argument(
        "--rpy", type=float, nargs=3, metavar=("ROLL", "PITCH", "YAW"),
        help="orientation [rad], about the fixed x, y and z axis; without any: as it is",
    )  # fmt: skip
    turn.add_argument(
        "--quaternion", type=float, nargs=4, metavar=("X", "Y", "Z", "W"), help="orientation"
    )
    parser.add_argument("--frame", default="", help="frame of the pose; without: the chain's root")
    parser.add_argument("--degrees", action="store_true", help="angles are in degrees")
    parser.add_argument("--millimetres", action="store_true", help="lengths are in millimetres")
    parser.add_argument("--node", default="basis_ik", help="name of the node (basis_ik)")
    parser.add_argument("--chain", default="", help="name of the chain, if there are several")
    parser.add_argument(
        "--timeout",
        type=float,
        default=CLIENT.motion_timeout,
        help=f"[s] ({CLIENT.motion_timeout:g})",
    )
    return parser.parse_args(words)


def target_of(given: argparse.Namespace) -> RigidTransform | list[float]:
    """Return the pose, or the position without an orientation, in metres and radians."""
    place = [1e-3 * each if given.millimetres else each for each in given.to]
    if given.quaternion is not None:
        return RigidTransform.from_quaternion_xyzw(given.quaternion, place)
    if given.rpy is not None:
        roll, pitch, yaw = np.radians(given.rpy) if given.degrees else given.rpy
        return RigidTransform.from_rpy(roll, pitch, yaw, place)
    return place


def shown(pose: RigidTransform, frame: str, *, degrees: bool) -> str:
    """Return a pose in one line."""
    angles = np.degrees(pose.as_rpy()) if degrees else pose.as_rpy()
    place = " ".join(f"{each:.4f}" for each in pose.translation)
    unit = "deg" if degrees else "rad"
    return f"{place} m, {' '.join(f'{each:.4f}' for each in angles)} {unit} (rpy) in {frame}"


def follow(arm: Arm, motion: Motion, stop: Event) -> None:
    """Wait for a motion; stop the arm if the program is to end before."""
    while not (motion.done or stop.is_set() or motion.is_over):
        arm.wait_for(lambda: motion.done, time.monotonic() + 0.1)
    if stop.is_set() and not motion.done:
        arm.stop()
    motion.wait()


def main(stop: Event) -> int:
    """Run the program; return the exit status.

    Args:
        stop: Ends it.

    Raises:
        BasisIkError: The arm did not arrive, and why.
    """
    given = parse(remove_ros_args(sys.argv)[1:])
    with Arm(given.node, chain=given.chain) as arm:
        if not given.where:
            timeout = given.timeout
            try:
                if given.home:
                    motion = arm.home(timeout=timeout, wait=False)
                elif given.posture:
                    motion = arm.go_to(given.posture, timeout=timeout, wait=False)
                else:
                    motion = arm.move_to(target_of(given), given.frame, timeout=timeout, wait=False)
                follow(arm, motion, stop)
            except MotionError as error:
                print(f"{type(error).__name__.removesuffix('Error')}: {error}", file=sys.stderr)
                return 1
        print(shown(*arm.where(given.frame), degrees=given.degrees))
    return 0
