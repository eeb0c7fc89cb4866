# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated controller against recordings of the real one when messages or updates are late."""

import late_messages
import numpy as np
import pytest
from late_messages import HOME, LIVE, NAMES, PERIOD, RECORDINGS, WINDOWS

from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.simulated_joints import SimulatedJoints
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint, refuse_trajectory
from basis_ik.simulation.trajectory_controller import TrajectoryController

START = 77777.7  # s on the clock of stamps at the first update: no binary fraction
UNBOUNDED = np.full(1, np.inf)


def command(window):
    stamp, points = window
    waypoints = [
        Waypoint(1e-9 * time, *np.array(state).reshape(3, 1), np.zeros(0))
        for time, *state in points
    ]
    return TrajectoryCommand(("j",), tuple(waypoints), START + 1e-9 * stamp)


def controller_at(home, path=0.0, **rules):
    tolerances = Tolerances(np.array([path]), np.zeros(1), 0.0)
    return TrajectoryController(
        ("j",), np.zeros(1, bool), home, tolerances, period=1e-9 * PERIOD, **rules
    )


def replayed(case, *, blends):
    """Return what was recorded, of the simulated controller, and how often it has held."""
    controller = controller_at(
        HOME,
        case["path"],
        interpolate_from_desired_state=case["desired"],
        allow_trajectory_replacement=blends,
    )
    joints = SimulatedJoints(-UNBOUNDED, UNBOUNDED, UNBOUNDED, HOME, time_constant=case["lag"])
    loop = ControlLoop(joints, np.arange(1), controller, 1e-9 * PERIOD)
    loop.cycle(START - 1e-9 * PERIOD)
    taken, scaling = list(case["taken"]), list(case["scaling"])
    last, rows, held = -PERIOD, [], 0
    for now in late_messages.updates(case):
        while scaling and scaling[0][0] <= now:
            controller.speed_scaling = scaling.pop(0)[1]
        while taken and taken[0][0] <= now:
            at, index = taken.pop(0)
            new = command(WINDOWS[case["windows"]][index])
            if refuse_trajectory(new, ("j",), START + 1e-9 * at) is None:
                controller.follow(new)
        update = loop.cycle(START + 1e-9 * now, 1e-9 * (now - last))
        last, held = now, held + bool(update.violation)
        reference = update.reference
        rows.append((update.output.positions, reference.positions, reference.velocities))
    return np.array(rows)[:, :, 0].T, held


@pytest.mark.parametrize(("case", "rule"), RECORDINGS, ids=NAMES)
def test_the_simulation_does_what_the_real_controller_did(case, rule):
    rows, held = replayed(case, blends=rule == "true")
    np.testing.assert_allclose(rows, late_messages.recorded(case, rule), rtol=0, atol=1e-6)
    assert bool(held) == bool(case["path"])


@pytest.mark.parametrize("case", LIVE, ids=[case["case"] for case in LIVE])
def test_the_simulation_does_what_a_running_controller_did(case):
    recorded = late_messages.unpacked([case["reference"], case["output"]])
    controller, zero = controller_at(recorded[0, :1]), np.zeros(1)
    controller.update(START - 1e-9 * PERIOD, recorded[0, :1], zero)
    taken = {update: rest for update, *rest in case["taken"]}
    scaling, rows = dict(case["scaling"]), []
    for index, elapsed in enumerate(case["elapsed"]):
        controller.speed_scaling = scaling.get(index, controller.speed_scaling)
        now = START
        if index in taken:
            after, window = taken[index]
            now += 1e-9 * after
            controller.follow(command(case["windows"][window]))
        update = controller.update(now, zero, zero, 1e-9 * elapsed)
        if index not in case["unrecorded"]:
            rows.append((update.reference.positions[0], update.output.positions[0]))
    np.testing.assert_allclose(np.transpose(rows), recorded, rtol=0, atol=1e-6)
