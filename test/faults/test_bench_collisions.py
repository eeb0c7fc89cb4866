# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the catalogue: collisions, on the bench."""

import contextlib

import numpy as np
import pytest
from bench import HOME
from bench_arm import BRAKING_WAY, arrives, robot_of, stands
from moveit_msgs.msg import CollisionObject
from scene_client import Camera
from test_clouds_in_motion import BOX_SEEN, NOTHING, seen_of
from test_clouds_in_motion import WORDS as SEEING
from test_clouds_in_motion import check as check_points
from test_collisions_in_motion import INTERFACES, TOLERANCE, WORDS, check, put
from test_planning_scene import Client, at, thing

TURN = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])  # rad
BENT = np.array([0.0, 0.6, -0.6, 0.0, 0.0, 0.0])


@contextlib.contextmanager
def watched(*words, see=lambda robot: NOTHING):
    """Yield a robot of the catalogue that a camera watches, which sees points by the robot."""
    with robot_of(*SEEING, *words, ready=False) as robot:
        robot.wait_status(state="WAITING")
        camera = Camera(Client(robot), lambda: see(robot))
        robot.wait_status(state="READY")
        yield robot, camera


def remove(client, name):
    client.put(thing(name, operation=CollisionObject.REMOVE, primitives=()))


@pytest.mark.parametrize("interface", INTERFACES)
def test_row_106_a_box_is_dropped_on_the_way(observed, interface):
    box = "box", (0.1, 0.4, 0.4), (0.62, -0.15, 0.35)
    with robot_of(*WORDS, "-p", f"command_interface:={interface}") as robot:
        client = Client(robot)
        robot.reach(robot.chain.forward(HOME + TURN))
        target = robot.chain.forward(HOME - TURN + BENT)
        robot.set_off(target, 0.3)
        put(robot, client, box)
        begun = len(robot.arm.outputs)
        robot.wait(lambda: robot.statuses[-1]["message"].startswith("held by "), "held")
        robot.run(1.0)
        nearest = 1e3 * check(robot, box, begun=begun)
        assert "and box" in robot.statuses[-1]["message"]
        remove(client, "box")
        arrives(robot, target)
        observed(f"{interface}: {nearest:.1f} mm before it, and on once it is gone")


def told_at_rest(robot):
    """Wait until the arm has braked and waits; return what its status says."""
    robot.wait_status(state="BRAKING")
    here = robot.positions
    robot.wait(lambda: stands(robot, 0.3), "rest")
    assert np.abs(robot.positions - here).max() <= BRAKING_WAY
    assert robot.statuses[-1]["state"] == "WAITING"
    return robot.statuses[-1]["message"]


def test_row_107_the_frame_of_an_object_is_lost_in_mid_motion(observed):
    with robot_of(*WORDS, "-p", "max_velocity_scaling_factor:=0.05") as robot:
        robot.frames["base_link", "crate"] = lambda: at(5.0)
        robot.run(0.2)
        Client(robot).put(thing("box", frame="crate"))
        robot.set_off(robot.chain.forward(HOME + 2.0 * TURN), 0.3)
        robot.frames.clear()
        told = told_at_rest(robot)
        text, _, _ = told.partition(", and tf")
        assert text == "collisions cannot be checked: the object box stands in crate"
        observed(f"HOLD, WAITING: {text}")
        robot.frames["base_link", "crate"] = lambda: at(5.0)
        robot.wait_status(state="READY")


def test_row_108_an_object_appears_on_the_arm(observed):
    with robot_of(*WORDS) as robot:
        client, height = Client(robot), robot.tip().translation[2]
        put(robot, client, ("box", (0.1, 0.1, 0.1), (*robot.tip().translation[:2], height - 0.03)))
        for speed in (-0.1, 0.2):
            for _ in range(50):
                robot.jog("base_link", linear=(0.0, 0.0, speed))
                robot.run(0.02)
            if speed < 0.0:
                assert robot.tip().translation[2] >= height - TOLERANCE
                told = robot.statuses[-1]["message"]
                assert told.startswith("held by ")
        left = robot.tip().translation[2] - height
        assert left > 0.1
        remove(client, "box")
        observed(f"down: {told}; up: {1e3 * left:.0f} mm")


@pytest.mark.parametrize("interface", INTERFACES)
def test_row_109_a_camera_sees_something_on_the_way_and_the_arm(observed, interface):
    with watched("-p", f"command_interface:={interface}", see=seen_of) as (robot, camera):
        robot.reach(robot.chain.forward(HOME + TURN))
        target = robot.chain.forward(HOME - TURN + BENT)
        robot.set_off(target, 0.3)
        camera.see = lambda: np.append(seen_of(robot), BOX_SEEN, axis=0)
        robot.run(0.1)
        begun = len(robot.arm.outputs)
        robot.wait(lambda: robot.statuses[-1]["message"].startswith("held by "), "held")
        robot.run(1.0)
        nearest = 1e3 * check_points(robot, BOX_SEEN, begun)
        assert "and points" in robot.statuses[-1]["message"]
        camera.see = lambda: seen_of(robot)
        arrives(robot, target)
        observed(f"{interface}: {nearest:.0f} mm before it, and on once it is gone")


def test_row_110_a_camera_falls_silent_in_mid_motion(observed):
    with watched("-p", "max_velocity_scaling_factor:=0.05") as (robot, camera):
        robot.set_off(robot.chain.forward(HOME + 2.0 * TURN), 0.3)
        camera.runs = False
        told = told_at_rest(robot)
        text, _, _ = told.partition(" that is less")
        assert text == "collisions cannot be checked: 'points': no cloud has come on /points"
        observed(f"HOLD, WAITING: {text}")
        camera.runs = True
        robot.wait_status(state="READY")
