# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Look before the move with every interface, and among objects."""

from pathlib import Path

import numpy as np
import pytest
from bench import HOME, running
from test_collisions_in_motion import WORDS, put
from test_planning_scene import Client
from test_preview import BESIDE, NEAR, go, previews
from virtual_node import alone

from basis_ik.ros.rviz.drag import Drag

ROOT = Path(__file__).parents[2]


def test_each_of_several_arms_has_its_own_menu():
    urdf = (ROOT / "urdf" / "two_arms.urdf").read_text()
    config = str(ROOT / "config" / "two_arms.yaml")
    with alone(urdf, "--params-file", config) as node:
        drags = [each for each in node._robot._plug_ins if isinstance(each, Drag)]
        (right,) = [each for each in drags if each.controller.arm.name == "right"]
        assert right._follow("confirm") == ""
        modes = [each.arm.settings.follow_drag for each in node._robot.controllers]
        assert modes == ["live", "confirm"]


@pytest.mark.parametrize("interface", ["joint_trajectory", "follow_joint_trajectory", "position"])
def test_every_interface_does_as_shown(interface):
    words = ("-p", "follow_drag:=confirm", "-p", f"command_interface:={interface}")
    with running(*words, "-p", "path:=straight_or_joint") as robot:
        shown = float(previews(robot)["preview_duration"])
        assert robot.commands == [] or interface == "follow_joint_trajectory"
        robot.run(1.0)
        assert np.array_equal(robot.positions, HOME)
        begun = robot.time
        assert go(robot).success
        robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")
        assert robot.time - begun == pytest.approx(shown, abs=0.25)


def test_what_stands_in_the_way_is_shown():
    """A wall on the nearest way is gone around; with another one beside it no way is left."""
    wall = "wall", (0.3, 0.02, 0.5), (0.5, -0.02, 0.4)
    behind = "behind", (0.6, 0.02, 1.4), (-0.5, -0.02, 0.7)
    with running(*WORDS, "-p", "follow_drag:=confirm") as robot:
        client = Client(robot)
        nearest = float(previews(robot, BESIDE)["preview_duration"])
        put(robot, client, wall)
        robot.wait(
            lambda: float(robot.statuses[-1]["preview_duration"]) > nearest + 0.5, "another way"
        )
        assert robot.statuses[-1]["preview_verdict"] == "REACHED"
        put(robot, client, behind)
        robot.wait(lambda: "held by" in robot.statuses[-1]["preview"], "the wall")
        status = robot.statuses[-1]
        assert " s, held by " in status["preview"]
        assert status["level"] == b"\x01"
        assert np.array_equal(robot.positions, HOME)
        assert go(robot).success
        robot.wait_status(state="MOVING")
        robot.wait(robot.rests, "it stops before the wall")
        assert "wall" in robot.statuses[-1]["message"]
