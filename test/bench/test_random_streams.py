# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Leader arms, chunks and a device at random, to the controller's twin on exact and lagging drives.

`robot.end` judges what the controller puts out; test/arm has many more sequences of one arm alone.
"""

import numpy as np
import pytest
from bench import HOME, PERIOD, Robot
from test_chunks import joints, poses
from test_clutch import RATE, Hand, shifted
from test_joint_target import lead


def play(robot, rng, seconds):
    """Send what comes to mind for a while."""
    hand, phase = Hand(robot), rng.uniform(0.0, 6.0, 6)
    speed, until = rng.normal(0.0, 0.2, 3), 0.0

    def way(t):
        return HOME + 0.3 * np.sin(2.0 * np.asarray(t)[..., np.newaxis] + phase)

    kind = "device"
    for k in range(round(seconds / PERIOD)):
        if robot.time > until:
            kind, until = rng.choice(["leader", "joints", "poses", "device"]), robot.time + 0.7
            hand.held, hand.tracked = kind == "device", True
            speed = rng.normal(0.0, 0.2, 3)
        if kind == "leader" and k % 2 == 0 and rng.random() < 0.9:
            lead(robot, way(robot.time) + (rng.random() < 0.1) * rng.normal(0.0, 0.2, 6))
        elif kind in ("joints", "poses") and rng.random() < 0.15:
            later = rng.choice([-1.0, -0.2, 0.0, 0.1]) + 0.1 * np.arange(rng.integers(1, 17))
            rows = way(robot.time + later) + (rng.random() < 0.2) * rng.normal(0.0, 0.2, 6)
            if kind == "joints":
                joints(robot, later, rows)
            else:
                poses(robot, later, [robot.chain.forward(row) for row in rows])
        elif kind == "device" and k % (100 // RATE) == 0:
            jump = (rng.random() < 0.03) * rng.normal(0.0, 0.5, 3)
            hand.at = shifted(hand.at, speed / RATE + jump)
            hand.tracked = rng.random() > 0.1
            hand.held ^= rng.random() < 0.03
        robot.run(PERIOD)


@pytest.mark.parametrize("lag", [0.0, 0.05])
def test_no_limit_is_exceeded_at_the_controller(lag):
    robot = Robot(lag=lag)
    try:
        robot.wait_status(state="READY")
        play(robot, np.random.default_rng(1), 4.0)
        places = np.array([output for _, output in robot.arm.outputs])
        assert np.ptp(places, axis=0).max() > 0.5, "it moves"
        assert (places >= robot.chain.lower).all()
        assert (places <= robot.chain.upper).all()
    finally:
        robot.end()
