# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest

from basis_ik.simulation.trajectory_command import (
    ErrorCode,
    TrajectoryCommand,
    Waypoint,
    refuse_trajectory,
)

JOINTS = ("a", "b")
NOW = 100.0
GOAL, JOINT, OLD = (
    ErrorCode.INVALID_GOAL,
    ErrorCode.INVALID_JOINTS,
    ErrorCode.OLD_HEADER_TIMESTAMP,
)


def point(time=1.0, positions=(0.1, 0.2), velocities=(), accelerations=(), effort=()):
    return Waypoint(
        time, *(np.array(x, float) for x in (positions, velocities, accelerations, effort))
    )


def command(*points, names=JOINTS, start=None):
    return TrajectoryCommand(tuple(names), points, start)


def refusal(*points, names=JOINTS, start=None, **rules):
    return refuse_trajectory(command(*points, names=names, start=start), JOINTS, NOW, **rules)


@pytest.mark.parametrize(
    "fit",
    [
        command(point()),
        command(point(), names=("b", "a")),
        command(point(0.0)),
        command(point(-1.0), point(-0.5)),
        command(point(1.0), point(2.0, velocities=(0.0, 0.0))),
        command(point(1.0, velocities=(9.0, 9.0)), point(2.0, velocities=(0.0, 5e-8))),
        command(point(1.0, velocities=(0, 0), accelerations=(0, 0))),
        command(point(), start=NOW + 5.0),
        command(point(1.0), point(2.0), start=NOW - 1.5),
        command(point(positions=(1e9, -1e9))),
    ],
)
def test_valid_commands_are_accepted(fit):
    assert refuse_trajectory(fit, JOINTS, NOW) is None


@pytest.mark.parametrize(
    ("unfit", "code", "reason"),
    [
        (command(), GOAL, "no points"),
        (command(names=()), JOINT, "no joint names"),
        (command(point(), names=()), JOINT, "no joint names"),
        (command(point(), names=("a", "c")), JOINT, "unknown joint 'c'; the joints are 'a', 'b'"),
        (command(point(positions=(0.1,)), names=("a",)), JOINT, "'b' is missing"),
        (command(point(), names=("a", "a")), JOINT, "'a' is named more than once"),
        (command(point(positions=())), GOAL, "point 0: 0 positions for 2 joint names"),
        (command(point(positions=(1, 2, 3))), GOAL, "point 0: 3 positions for 2 joint names"),
        (command(point(velocities=(0,))), GOAL, "point 0: 1 velocities for 2"),
        (command(point(velocities=(0, 0), accelerations=(0,))), GOAL, "1 accelerations for 2"),
        (command(point(accelerations=(0, 0))), GOAL, "accelerations without velocities"),
        (command(point(effort=(1, 1))), GOAL, "effort is not supported"),
        (
            command(point(), point(2, (0, math.nan))),
            GOAL,
            "point 1: positions of joint 'b' are not fin",
        ),
        (command(point(positions=(math.inf, 0))), GOAL, "joint 'a' are not finite (inf)"),
        (command(point(velocities=(0, -math.inf))), GOAL, "velocities of joint 'b' are not finite"),
        (command(point(velocities=(0, 0), accelerations=(math.nan, 0))), GOAL, "accelerations of"),
        (command(point(positions=(0, 1e200))), GOAL, "joint 'b' are beyond 1e9"),
        (command(point(math.inf)), GOAL, "point 0: time_from_start inf s is not finite"),
        (command(point(math.nan)), GOAL, "point 0: time_from_start nan s is not finite"),
        (
            command(point(1.0), point(1.0)),
            GOAL,
            "point 1: time_from_start 1 s is not after the 1 s",
        ),
        (command(point(1.0), point(2.0), point(1.5)), GOAL, "point 2: time_from_start 1.5 s"),
        (command(point(1.0), start=NOW - 3.0), OLD, "ended 2.000 s ago"),
        (command(point(velocities=(0, 0.1))), GOAL, "joint 'b' has velocity 0.1 at the last point"),
    ],
)
def test_invalid_commands_are_refused_with_a_reason(unfit, code, reason):
    refused = refuse_trajectory(unfit, JOINTS, NOW)
    assert refused is not None
    assert refused.code == code
    assert reason in refused.reason
    assert "\n" not in refused.reason


def test_partial_joints_are_accepted_only_if_allowed():
    assert refusal(point(positions=(1.0,)), names=("b",)) is not None
    assert refusal(point(positions=(1.0,)), names=("b",), allow_partial_joints=True) is None
    assert refusal(point(), names=("a", "c"), allow_partial_joints=True).code == JOINT
    assert refusal(names=(), allow_partial_joints=True).reason == "no joint names"


def test_a_final_velocity_is_zero_up_to_the_epsilon_of_single_precision():
    epsilon = 2.0**-23
    for velocity in (epsilon, -epsilon):
        assert refusal(point(velocities=(0, velocity))) is None
        fault = refusal(point(velocities=(0, 1.001 * velocity)))
        assert "at the last point instead of zero" in fault.reason


def test_a_final_velocity_is_accepted_only_if_allowed():
    moving = point(velocities=(0.0, 0.1))
    assert refusal(moving) is not None
    assert refusal(moving, allow_final_velocity=True) is None


def test_hostile_joint_names_leave_the_reason_short_and_on_one_line():
    names = ["x\n\x1b[2J" * 100_000] * 100_000
    refused = refusal(point(), names=names)
    assert len(refused.reason) < 2000
    assert refused.reason.isprintable()


def test_the_codes_are_those_of_the_action():
    assert [int(code) for code in ErrorCode] == [0, -1, -2, -3, -4, -5]
