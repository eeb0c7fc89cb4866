# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How much faster than time the engine with masses is, on one core.

    python benchmark/real_time_factor.py

Processor time of one cycle of a controller, in motion and with closed brakes.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from basis_ik.robot.dynamics import read_dynamics
from basis_ik.robot.robot import RobotModel
from basis_ik.simulation.mujoco_joints import MujocoJoints
from basis_ik.simulation.mujoco_scene import build_scene
from basis_ik.simulation.simulated_robot import SimulatedRobot

PERIOD, CYCLES = 0.008, 1000
URDFS = Path(__file__).parents[1] / "urdf"


def cycle_time(drives: MujocoJoints) -> float:
    """Return the processor time of a cycle in which every joint moves, or is commanded to [s]."""
    start = drives.positions
    begin = time.process_time()
    for cycle in range(CYCLES):
        drives.step(start + 0.1 * np.sin(2.0 * PERIOD * cycle), PERIOD)
    return (time.process_time() - begin) / CYCLES


def main() -> None:
    print("| robot | moving joints | cycle | with closed brakes | real-time factor |")
    print("|---|---|---|---|---|")
    for name in ("pan_tilt", "ur5e", "panda", "two_arms"):
        text = (URDFS / f"{name}.urdf").read_text()
        model = RobotModel.from_urdf(text)
        robot = SimulatedRobot(model)
        start = robot.joints.positions
        drives = MujocoJoints(build_scene(model, read_dynamics(text), robot, start), robot, start)
        moving = cycle_time(drives)
        drives.stopped = True
        braked = cycle_time(drives)
        print(
            f"| {name} | {len(robot.names)} | {1e6 * moving:.0f} µs | {1e6 * braked:.0f} µs "
            f"| {PERIOD / max(moving, braked):.0f} |"
        )


if __name__ == "__main__":
    main()
