# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0


"""A stream of stamped poses is followed without lag or distortion, by the stamps' clock."""

import numpy as np
import pytest
from bench import CYCLE, down, running
from moving_poses import circle, eight, line, measure_errors, pose_of
from world import MILLISECOND, SECOND

from basis_ik.transforms.rigid import RigidTransform

START = down(0.45, 0.10, 0.40)
INTERVAL = 20 * MILLISECOND
DURATION = 4 * SECOND
PUNCTUAL, LATE = (0, 0), (5 * MILLISECOND, 15 * MILLISECOND)


@pytest.fixture(scope="module")
def robot():
    with running() as robot:
        yield robot


@pytest.mark.parametrize(
    ("path", "delay", "most_lag", "bound"),
    [
        (circle, PUNCTUAL, 7e-4, 4e-4),
        (line, PUNCTUAL, 7e-4, 4e-4),
        (eight, PUNCTUAL, 1.5e-3, 7e-4),
        (circle, LATE, 1e-3, 5e-4),
    ],
)
def test_a_moving_pose_is_followed_without_lag_or_distortion(robot, path, delay, most_lag, bound):
    robot.reach(START)
    robot.wait(robot.rests, "silence")
    begin, seen = robot.world.now, len(robot.arm.outputs)
    robot.targets.link.delay = delay

    def pose(elapsed):
        pose = pose_of(START.matrix, path, 1e-9 * elapsed)
        return RigidTransform.from_rotation_translation(*pose)

    def send():
        robot.send("base_link", pose(robot.world.now - begin))

    for elapsed in range(0, DURATION, INTERVAL):
        robot.world.at(begin + elapsed, send)
    robot.run(1e-9 * DURATION)
    outputs = robot.arm.outputs[seen:]
    # The drives are at an output at the end of its cycle.
    times = np.array([1e-9 * (time + CYCLE - begin) for time, _ in outputs])
    tips = np.array([robot.chain.forward(positions).translation for _, positions in outputs])
    late = times > 1.0  # from rest it has to catch up
    lag, shape = measure_errors(
        times[late], tips[late], lambda t: pose_of(START.matrix, path, t)[1]
    )
    assert abs(lag) <= most_lag
    assert shape < bound
    robot.wait_status(state="ARRIVED")
    robot.wait(robot.rests, "silence")
    assert robot.at(pose(DURATION - INTERVAL), 1e-9), "it goes back to the last"
    assert robot.arm.refused == []


def test_a_stream_that_stands_for_a_while_is_followed_at_once_when_it_goes_on(robot):
    """Where it stands its estimate may change by less than anybody sees: that is no motion."""
    robot.reach(START)
    robot.wait(robot.rests, "silence")
    begin = robot.world.now

    def pose(elapsed):
        """To and fro, with 0.8 s between."""
        part = min(elapsed, 0.5) if elapsed < 1.3 else 1.8 - min(elapsed, 1.8)
        way = (0.5 - 0.5 * np.cos(2.0 * np.pi * part)) * np.array([0.05, -0.04, 0.06])
        translation = START.translation + way
        return RigidTransform.from_rotation_translation(START.rotation, translation)

    for elapsed in range(0, 2 * SECOND, INTERVAL):
        robot.world.at(
            begin + elapsed, lambda: robot.send("base_link", pose(1e-9 * (robot.world.now - begin)))
        )
    robot.run(1.2)
    assert robot.at(pose(1.2), 1e-4)
    robot.run(0.5)
    assert robot.at(pose(1.7), 0.02)
