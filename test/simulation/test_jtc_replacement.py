# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated controller against recordings of the real one's two rules of replacement.

data/jtc_replacement.json was recorded at 500 Hz from the sources of joint_trajectory_controller,
compiled against stand-ins for ROS and driven in virtual time: 4.42.1 (Jazzy) for
`allow_trajectory_replacement` false, which 5.17.0 (Kilted) equals bit for bit, and ros2_controllers
94e74de (master, after 6.9.0) for true.

- messages: when each arrives [s], its stamp [s] or none, its joints, its points: time, positions,
  velocities, accelerations.
- lag [s]: time constant of the drives; 0: a command is executed in the next cycle.
- scaling: when the speed scaling becomes what. partial: allow_partial_joints_goal.
- output: the commands of all cycles, by rule and joint.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint, refuse_trajectory
from basis_ik.simulation.trajectory_controller import TrajectoryController

RECORDED = json.loads((Path(__file__).parent / "data" / "jtc_replacement.json").read_text())
PERIOD = 0.002
START = 1.0  # s on the clock of stamps at cycle 0
NONE = np.zeros(0)


def command(message):
    _, stamp, joints, points = message
    waypoints = []
    for time, *values in points:
        states = [np.array(each) for each in values] + [NONE] * (4 - len(values))
        waypoints.append(Waypoint(time, *states))
    start = None if stamp is None else START + stamp
    return TrajectoryCommand(tuple(f"j{joint}" for joint in joints), tuple(waypoints), start)


def replayed(case, *, blends):
    """The simulated controller's commands (joints, cycles)."""
    count = case["joints"]
    names, zero = tuple(f"j{joint}" for joint in range(count)), np.zeros(count)
    controller = TrajectoryController(
        names,
        np.zeros(count, bool),
        zero,
        Tolerances(zero, zero, 0.0),
        period=PERIOD,
        interpolate_from_desired_state=case["desired"],
        allow_trajectory_replacement=blends,
    )
    controller.update(START - PERIOD, zero, zero)
    part = 1.0 - math.exp(-PERIOD / case["lag"]) if case["lag"] else 1.0
    messages, scaling = list(case["messages"]), list(case["scaling"])
    positions, velocities, outputs = zero, zero, []
    for cycle in range(case["cycles"]):
        now = cycle * PERIOD
        while scaling and scaling[0][0] <= now:
            controller.speed_scaling = scaling.pop(0)[1]
        while messages and messages[0][0] <= now:
            new = command(messages.pop(0))
            assert refuse_trajectory(new, names, now, allow_partial_joints=case["partial"]) is None
            controller.follow(new)
        output = controller.update(START + now, positions, velocities).output.positions
        outputs.append(output)
        moved = positions + part * (output - positions)
        positions, velocities = moved, (moved - positions) / PERIOD
    return np.array(outputs).T


@pytest.mark.parametrize("rule", ["false", "true"])
@pytest.mark.parametrize("case", RECORDED, ids=[str(count) for count in range(len(RECORDED))])
def test_the_simulation_moves_like_the_real_controller(case, rule):
    output = replayed(case, blends=rule == "true")
    np.testing.assert_allclose(
        output, case["output"][rule], rtol=0, atol=1e-6, err_msg=case["case"]
    )


# A running trajectory of one point is not blended; the other is what the node sends.
ALIKE = ("windows from the past with a stamp ahead", "a point at its start")


@pytest.mark.parametrize("case", RECORDED, ids=[str(count) for count in range(len(RECORDED))])
def test_the_rules_differ_except_for_what_both_follow_alike(case):
    difference = np.abs(np.subtract(case["output"]["true"], case["output"]["false"])).max()
    assert (difference < 1e-6) == (case["case"] in ALIKE), difference


def test_an_empty_message_is_refused_and_the_motion_goes_on():
    empty = TrajectoryCommand(("j0",), (), None)
    assert refuse_trajectory(empty, ("j0",), 0.0).reason == "the trajectory has no points"
