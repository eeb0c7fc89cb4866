# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The handle in RViz: the arm follows feedback as RViz sends it."""

from pathlib import Path

import numpy as np
import pytest
from bench import down, running
from std_srvs.srv import Trigger
from viewer import SHOWN, Viewer, xyz

from basis_ik.arm.goals import PointGoal, Ray
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.rviz.drag import HANDLE, ahead, handle_size
from basis_ik.transforms.rigid import RigidTransform

HOME = [0.1, -1.5, 1.5, -1.5, -1.5, 0.1]
LOCKED = 1.0  # s for which the server ignores feedback after a new marker
RELEASED = 0.3  # s after the release, for which it stays
QUIET = 1.0  # s in which the same line is not logged again
HELD = 1.0  # s after its last feedback, for which it counts as held
NEAR = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def started():
    with running("-p", f"home:={HOME}") as robot:
        yield robot


@pytest.fixture
def robot(started):
    """A robot that rests near its home with the handle for a pose there."""
    started.reach(NEAR, 1e-9)
    started.wait(started.rests, "silence")
    started.run(LOCKED)
    yield started
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []


@pytest.fixture
def viewer(robot):
    return Viewer(robot)


def test_the_handle_is_at_the_tip(robot, viewer):
    marker = viewer.marker()
    assert marker.header.frame_id == "base_link"
    assert np.allclose(viewer.place(), NEAR.translation, rtol=0.0, atol=1e-9)
    assert viewer.checked() == ["drag the tip's pose", "follow: live"]
    assert viewer.turns() == 3


@pytest.mark.parametrize("lag", [0.0, 1.0])
def test_the_arm_follows_it(robot, viewer, lag):
    assert robot.set_parameter("filter.target_pose.lag", lag).successful
    for x in (0.40, 0.42, 0.44):
        viewer.say("POSE_UPDATE", down(x, 0.20, 0.40))
    robot.wait(robot.rests, "silence")
    assert robot.at(down(0.44, 0.20, 0.40), 1e-9)
    viewer.say("MOUSE_UP", down(0.44, 0.20, 0.40))
    assert robot.set_parameter("filter.target_pose.lag", 0.0).successful


@pytest.mark.parametrize("y", [0.15, 0.17998])
def test_a_release_sets_the_target_even_if_the_last_update_is_lost(robot, viewer, y):
    viewer.say("POSE_UPDATE", down(0.40, 0.18, 0.40))
    viewer.say("MOUSE_UP", down(0.40, y, 0.40))
    assert np.allclose(viewer.place(), [0.40, y, 0.40], rtol=0.0, atol=1e-12)
    robot.wait(robot.rests, "silence")
    assert robot.at(down(0.40, y, 0.40), 1e-6)


def test_a_second_release_over_another_control_moves_nothing(robot, viewer):
    viewer.drag(down(0.40, 0.22, 0.40))
    viewer.say("MOUSE_UP", down(0.45, 0.10, 0.40), control="turn_x")
    robot.wait(robot.rests, "silence")
    assert robot.at(down(0.40, 0.22, 0.40), 1e-9)


@pytest.mark.parametrize("event", ["POSE_UPDATE", "MOUSE_UP", "MOUSE_DOWN"])
@pytest.mark.parametrize("control", ["turn", "move_w", "x" * 1000], ids=["0", "1", "2"])
def test_a_control_that_the_handle_does_not_have_moves_nothing(robot, viewer, control, event):
    count = len(robot.commands)
    robot.run(QUIET)
    viewer.say(event, down(0.45, 0.10, 0.40), control=control)
    robot.run(SHOWN)
    assert np.allclose(viewer.place(), NEAR.translation, rtol=0.0, atol=1e-9)
    assert len(robot.commands) == count
    line = robot.log.lines()[-1]
    assert line.startswith(f"the handle is not moved: it has no control '{control[:9]}")
    assert line.endswith(", but ball, move_x, move_y, move_z, turn_x, turn_y, turn_z")


def test_a_handle_held_by_a_control_that_it_does_not_have_follows_other_targets(robot, viewer):
    viewer.say("MOUSE_DOWN", NEAR, control="turn")
    robot.send("base_link", down(0.45, 0.10, 0.40))
    robot.run(SHOWN)
    assert np.allclose(viewer.place(), [0.45, 0.10, 0.40], rtol=0.0, atol=1e-12)


def test_a_viewer_without_controls_moves_the_handle(robot, viewer):
    viewer.say("POSE_UPDATE", down(0.42, 0.20, 0.40), control="")
    robot.wait(robot.rests, "silence")
    assert robot.at(down(0.42, 0.20, 0.40), 1e-9)
    viewer.say("MOUSE_UP", down(0.42, 0.20, 0.40), control="")


def test_a_handle_for_a_point_has_no_rings(robot, pointing):
    before = robot.positions
    pointing.say("POSE_UPDATE", down(0.9, -0.5, 0.7), control="turn_x")
    robot.run(SHOWN)
    assert (robot.positions == before).all()
    assert robot.log.lines()[-1].endswith("no control 'turn_x', but ball, move_x, move_y, move_z")


def test_after_the_release_other_viewers_see_the_handle(robot, viewer):
    viewer.drag(down(0.40, 0.25, 0.40))
    (moved,) = robot.heard["target/update"].poses
    assert np.allclose(xyz(moved.pose.position), [0.40, 0.25, 0.40], rtol=0.0, atol=1e-12)


def test_the_menu_brings_the_handle_to_the_tip(robot, viewer):
    viewer.drag(down(1.0, 0.25, 0.40))  # out of reach: the arm stays behind
    robot.wait_status(verdict="TOO_FAR", state="ARRIVED")
    robot.wait(robot.rests, "silence")
    assert np.allclose(viewer.place(), [1.0, 0.25, 0.40], rtol=0.0, atol=1e-12)
    here = robot.positions
    viewer.choose("bring it back to the tip")
    assert np.allclose(viewer.place(), robot.tip().translation, rtol=0.0, atol=1e-9)
    robot.wait(robot.rests, "silence")
    assert np.allclose(robot.positions, here, rtol=0.0, atol=1e-6)


def test_the_handle_stays_in_view_for_a_distant_target(robot, viewer):
    robot.send("base_link", down(10.0, 0.25, 0.40))
    robot.wait_status(verdict="TOO_FAR", state="ARRIVED")
    robot.run(SHOWN)
    assert np.allclose(viewer.place(), robot.tip().translation, rtol=0.0, atol=1e-3)


@pytest.fixture
def pointing(robot, viewer):
    """A viewer that drags a point to look at."""
    tip = robot.tip()
    viewer.choose("drag a point to look at")
    place = tip.translation + HANDLE.point_distance * robot.chain.reach * tip.rotation[:, 2]
    place[2] = max(place[2], 0.0)  # not below the grid
    assert np.allclose(viewer.place(), place, rtol=0.0, atol=1e-6)
    assert viewer.checked() == ["drag a point to look at", "follow: live"]
    assert viewer.turns() == 0
    robot.run(LOCKED)
    yield viewer
    viewer.choose("drag the tip's pose")
    assert viewer.checked() == ["drag the tip's pose", "follow: live"]


def looks(robot, point):
    line = point - robot.tip().translation
    return np.linalg.norm(np.cross(robot.tip().rotation[:, 2], line)) < 1e-6 * np.linalg.norm(line)


def test_a_point_is_dragged_that_the_arm_looks_at(robot, pointing):
    point = np.array([0.9, -0.5, 0.7])
    pointing.drag(RigidTransform.from_rpy(0.0, 0.0, 0.0, point))
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "silence")
    assert looks(robot, point)


def test_a_point_is_dragged_from_its_present_position(robot, viewer):
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.run(0.1)
    viewer.choose("drag a point to look at")
    assert np.allclose(viewer.place(), [0.9, -0.5, 0.7], rtol=0.0, atol=1e-12)
    robot.run(LOCKED)
    viewer.choose("drag the tip's pose")


def test_the_handle_follows_other_targets(robot, viewer):
    robot.send("base_link", down(0.45, 0.10, 0.40))
    robot.run(SHOWN)
    assert np.allclose(viewer.place(), [0.45, 0.10, 0.40], rtol=0.0, atol=1e-12)


def test_a_held_handle_is_not_moved_by_other_targets(robot, viewer):
    held, other = down(0.40, 0.22, 0.40), down(0.45, 0.10, 0.40)
    viewer.say("POSE_UPDATE", held)
    robot.send("base_link", other)
    for _ in range(4):
        viewer.say("KEEP_ALIVE", held)  # as RViz does while the mouse is down
        robot.run(HELD - 0.1)
        assert np.allclose(viewer.place(), held.translation, rtol=0.0, atol=1e-12)
    assert robot.at(other, 1e-9)
    viewer.say("MOUSE_UP", held)
    robot.run(RELEASED - 0.1)
    assert np.allclose(viewer.place(), held.translation, rtol=0.0, atol=1e-12)
    robot.run(0.1 + SHOWN)
    assert np.allclose(viewer.place(), other.translation, rtol=0.0, atol=1e-12), "a mere click"


def test_a_handle_whose_viewer_is_gone_is_not_held(robot, viewer):
    viewer.say("POSE_UPDATE", down(0.40, 0.22, 0.40))
    robot.send("base_link", down(0.45, 0.10, 0.40))
    robot.run(HELD + SHOWN)
    assert np.allclose(viewer.place(), [0.45, 0.10, 0.40], rtol=0.0, atol=1e-12)


def test_the_menu_has_entries_that_have_an_effect(robot, viewer):
    works = {"home", "stop", "bring it back to the tip"}
    assert works <= set(viewer.entries())
    assert "enable" not in viewer.entries()
    viewer.choose("stop")
    assert "enable" in viewer.entries()
    assert not works & set(viewer.entries())
    viewer.choose("enable")
    assert "stop" in viewer.entries()


def test_the_menu_changes_after_the_handle_was_held(robot, viewer):
    viewer.say("POSE_UPDATE", NEAR)
    assert robot.call(Trigger, "stop").success
    robot.run(HELD - 0.3)
    assert "stop" in viewer.entries(), "a new menu would let it go"
    robot.run(0.3 + SHOWN)
    viewer.choose("enable")


def test_home_stop_and_enable_work_by_menu(robot, viewer):
    viewer.choose("home")
    robot.wait(lambda: np.allclose(robot.positions, HOME, rtol=0.0, atol=1e-9), "home")
    robot.wait(robot.rests, "silence")
    click, place = viewer.marker().pose, viewer.place()  # RViz computes in single precision
    click.position.x = float(np.float32(click.position.x))
    viewer.say("MOUSE_DOWN", click)
    viewer.say("MOUSE_UP", click)
    assert robot.rests()
    assert np.array_equal(viewer.place(), place)
    viewer.choose("stop")
    robot.wait_status(state="STOPPED")
    viewer.drag(down(0.40, 0.20, 0.40))
    assert robot.rests()
    viewer.choose("enable")
    viewer.drag(down(0.40, 0.22, 0.40))  # elsewhere: let go where it stands, it is only clicked
    robot.wait(robot.rests, "silence")
    assert robot.at(down(0.40, 0.22, 0.40), 1e-9)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 2.0), (1.0, 0.0, 0.0)])
def test_the_initial_point_is_not_below_the_grid(axis):
    looks_down = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.3, 0.2, 0.1])
    place = ahead(looks_down, Ray(axis), 1.5).translation
    assert np.allclose(place, [0.3, 0.2, 0.0] if axis[2] else [0.9, 0.2, 0.1])
    below = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.3, 0.2, -0.1])  # it hangs from a ceiling
    assert ahead(below, Ray((0.0, 0.0, 1.0)), 1.5).translation[2] == -0.1


def test_the_handle_is_as_large_as_what_is_around_the_arm():
    urdf = Path(__file__).parents[2] / "urdf"
    arm = RobotModel.from_urdf((urdf / "ur5e.urdf").read_text()).chain()
    assert handle_size(arm, None) == 0.25 * arm.reach
    head = RobotModel.from_urdf((urdf / "pan_tilt.urdf").read_text()).chain(
        "base_link", "camera_optical_frame"
    )
    assert head.reach < 0.3
    assert handle_size(head, None) == pytest.approx(0.15)
    point = PointGoal((4.0, 0.0, 3.0), Ray((0.0, 0.0, 1.0)))
    assert handle_size(head, point) == pytest.approx(0.25 * 2.5)
