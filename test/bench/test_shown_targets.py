# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`~/markers`: what RViz shows of a target, and of what becomes of it."""

import numpy as np
import pytest
from bench import down, running
from visualization_msgs.msg import Marker

NEAR = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def robot():
    with running("-p", "markers_rate:=50.0") as robot:
        robot.run(0.1)
        yield robot


def seen(robot):
    """Return what is shown now, by its name."""
    markers = robot.heard["markers"].markers
    return {each.ns: each for each in markers if each.action == Marker.ADD}


def xyz(point):
    return np.array([point.x, point.y, point.z])


def test_without_a_target_the_text_says_so(robot):
    shown = seen(robot)
    assert shown["state"].text == "no target"
    assert shown["state"].header.frame_id == "base_link"
    assert "target" not in shown


def test_a_target_and_its_arrival_are_shown(robot):
    robot.send("base_link", NEAR)
    robot.run(0.1)
    shown = seen(robot)
    assert {"ghost", "target"} <= set(shown)
    assert shown["state"].text == "on the way"
    robot.wait(robot.rests, "silence")
    shown = seen(robot)
    assert shown["state"].text == "reached"
    assert robot.at(NEAR, 1e-9)
    assert np.allclose(xyz(shown["target"].pose.position), NEAR.translation, rtol=0.0, atol=1e-12)
    assert not {"miss", "ghost"} & set(shown)


def test_a_miss_is_shown(robot):
    robot.send("base_link", down(2.0, 0.0, 0.4))
    robot.run(0.1)
    assert np.allclose(xyz(seen(robot)["miss"].points[-1]), [2.0, 0.0, 0.4], rtol=0.0, atol=1e-12)
    robot.wait(robot.rests, "silence")
    assert seen(robot)["state"].text.startswith("as near as it gets: too far by")


def test_a_point_to_look_at_is_shown_with_the_ray(robot):
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.run(0.1)
    ends = [xyz(point) for point in seen(robot)["ray"].points]
    assert np.allclose(ends[1], [0.9, -0.5, 0.7], rtol=0.0, atol=1e-6)
