# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Caps on speeds and a margin at limits: they are kept, and used fully."""

import bench
import numpy as np
import pytest
from bench import CYCLE, HOME, PERIOD, down, running
from control_msgs.msg import JointJog

NEAR, FAR = down(0.40, 0.20, 0.40), down(0.40, -0.35, 0.25)
FOLDED = np.array([0.0, -1.57, 2.7, -1.57, -1.57, 0.0])  # the tip is nearer to the base
CAP, LOWER = 0.25, 0.1  # m/s
USED = 0.999  # fraction of a cap: between the node's instants a controller is a little faster
JOGGED = 0.98 * USED * CAP  # another part of the cap is a reserve


def jog_joint(robot, joint, velocity, seconds):
    end = robot.time + seconds
    while robot.time < end:
        robot.jogs.publish(JointJog(joint_names=[joint], velocities=[velocity]))
        robot.run(0.02)


def test_a_margin_limits_the_joint():
    with running("-p", "joint_limit_margin:=[0.0, 0.0, 0.0, 0.0, 0.0, 5.5]") as robot:
        bound = robot.chain.upper[5] - 5.5
        jog_joint(robot, "wrist_3_joint", 1.0, 2.0)
        assert robot.statuses[-1]["joint"] == "wrist_3_joint"
        assert float(robot.statuses[-1]["bound"]) == pytest.approx(bound, abs=1e-9)
        assert HOME[5] < bound - 5e-5 < max(q[5] for _, q in robot.arm.outputs) <= bound


# Before the module's robot: there is one at a time.
@pytest.mark.parametrize(
    ("rate", "interface"),
    [(100.0, "joint_trajectory"), (250.0, "joint_trajectory"), (100.0, "follow_joint_trajectory")],
)
def test_what_the_controller_interpolates_keeps_the_caps(rate, interface, monkeypatch):
    """It sends a position every 0.1 ms: hundreds of them between two samples."""
    monkeypatch.setattr(bench, "CYCLE", 100_000)
    words = f"max_linear_speed:={CAP}", f"update_rate:={rate}", f"command_interface:={interface}"
    with running(*(word for each in words for word in ("-p", each))) as robot:
        robot.grain = 1
        for cap, target in ((CAP, NEAR), (LOWER, down(0.40, 0.15, 0.38))):
            assert robot.set_parameter("max_linear_speed", cap).successful
            begun = len(robot.arm.outputs)
            robot.reach(target, 1e-9)
            tip, _ = speeds(robot, begun)
            assert (USED - 2e-3) * cap < tip <= cap


@pytest.fixture(scope="module", params=["joint_trajectory", "position"])
def robot(request):
    words = (
        f"max_linear_speed:={CAP}",
        "capped_links:=[forearm_link]",
        f"command_interface:={request.param}",
    )
    with running(*(word for each in words for word in ("-p", each))) as robot:
        interpolated = request.param == "joint_trajectory"
        # Cycles from one position to the next, and how exactly the speed is held.
        robot.grain = 1 if interpolated else round(1e9 * PERIOD / CYCLE)
        robot.exact = 1e-4 if interpolated else 1e-6
        yield robot


@pytest.fixture
def begun(robot):
    """Return the number of the first output after the arm has come to NEAR."""
    robot.reach(NEAR, 1e-9)
    robot.wait(robot.rests, "silence")
    yield len(robot.arm.outputs)
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []


def speeds(robot, begun):
    """Let the arm come to rest; return the largest speeds of its tip and its elbow [m/s]."""
    robot.wait(robot.rests, "silence")
    way = [positions for _, positions in robot.arm.outputs[begun :: robot.grain]]
    duration = 1e-9 * robot.grain * bench.CYCLE
    for link in (robot.chain.tip, "forearm_link"):
        chain = robot.model.chain(robot.chain.root, link)
        places = [chain.forward(q[: len(chain.joint_names)]).translation for q in way]
        yield np.linalg.norm(np.diff(places, axis=0), axis=1).max() / duration


def test_motion_to_a_pose_keeps_the_cap(robot, begun):
    robot.reach(FAR, 1e-9)
    tip, elbow = speeds(robot, begun)
    assert (USED - 3e-4) * CAP < tip <= CAP
    assert elbow < tip


def test_a_twist_keeps_the_cap(robot, begun):
    for _ in range(50):
        robot.jog("base_link", linear=(0.0, 0.9, 0.0))
        robot.run(0.02)
    tip, elbow = speeds(robot, begun)
    assert tip == pytest.approx(JOGGED, rel=robot.exact)
    assert elbow < tip


def test_an_elbow_that_is_faster_than_the_tip_keeps_the_cap(robot, begun):
    robot.positions = FOLDED
    robot.run(1.0)
    begun = len(robot.arm.outputs)
    jog_joint(robot, "shoulder_lift_joint", -1.0, 1.0)
    tip, elbow = speeds(robot, begun)
    assert elbow == pytest.approx(JOGGED, rel=1e-5)
    assert tip < elbow


def test_a_lowered_cap_is_kept(robot, begun):
    assert robot.set_parameter("max_linear_speed", LOWER).successful
    robot.reach(FAR, 1e-9)
    tip, _ = speeds(robot, begun)
    assert (USED - 1e-4) * LOWER < tip <= LOWER
    assert robot.set_parameter("max_linear_speed", CAP).successful
