# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The handle in RViz: the arm follows feedback as RViz sends it."""

import time
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Pose
from robot_bench import down, running
from visualization_msgs.msg import (
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

from basis_ik.motion.goals import PointGoal, Ray
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.ros.rviz.drag import AHEAD, SMALLEST, ahead, handle_size
from basis_ik.transforms.rigid import RigidTransform


class Viewer:
    """A stand-in for RViz's side of an interactive marker."""

    def __init__(self, robot):
        self.robot, self.updates = robot, []
        node = robot.node
        node.create_subscription(
            InteractiveMarkerUpdate, "basis_ik/target/update", self.updates.append, 10
        )
        self.feedback = node.create_publisher(
            InteractiveMarkerFeedback, "basis_ik/target/feedback", 10
        )
        robot.wait(self.feedback.get_subscription_count, "somebody hears feedback")
        robot.wait(lambda: self.marker() is not None, "the marker is there")
        time.sleep(1.1)  # the server ignores feedback for this time after a new marker

    def marker(self):
        answer = self.robot.call(GetInteractiveMarkers, "target/get_interactive_markers")
        return answer.markers[0] if answer.markers else None

    def say(self, event, pose=None, entry=0, control="move"):
        message = InteractiveMarkerFeedback(
            client_id="viewer",
            marker_name="target",
            control_name=control,
            event_type=getattr(InteractiveMarkerFeedback, event),
            menu_entry_id=entry,
        )
        message.header.frame_id = "base_link"
        if pose is not None:
            message.pose = pose if isinstance(pose, Pose) else pose_message(pose)
        self.feedback.publish(message)

    def drag(self, pose):
        self.say("POSE_UPDATE", pose)
        self.say("MOUSE_UP", pose)

    def entries(self):
        return {
            e.title.removeprefix("[x] ").removeprefix("[ ] "): e.id
            for e in self.marker().menu_entries
        }

    def choose(self, title):
        self.robot.wait(lambda: title in self.entries(), f"the menu has '{title}'")
        self.say("MENU_SELECT", entry=self.entries()[title])

    def place(self):
        return xyz(self.marker().pose.position)

    def checked(self):
        return [e.title[4:] for e in self.marker().menu_entries if e.title.startswith("[x] ")]

    def turns(self):
        turn = InteractiveMarkerControl.ROTATE_AXIS
        return sum(c.interaction_mode == turn for c in self.marker().controls)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "home:=[0.1, -1.5, 1.5, -1.5, -1.5, 0.1]") as robot:
        yield robot


@pytest.fixture(scope="module")
def viewer(robot):
    return Viewer(robot)


def xyz(point):
    return np.array([point.x, point.y, point.z])


def test_the_handle_appears_at_the_tip(robot, viewer):
    marker = viewer.marker()
    assert marker.header.frame_id == "base_link"
    assert np.allclose(xyz(marker.pose.position), robot.tip().translation, atol=1e-6)
    assert viewer.checked() == ["drag the tip's pose"]
    assert viewer.turns() == 3


def test_the_arm_follows_it(robot, viewer):
    for x in (0.40, 0.42, 0.44):
        viewer.say("POSE_UPDATE", down(x, 0.20, 0.40))
    robot.wait(lambda: robot.at(down(0.44, 0.20, 0.40)), "the arm is where it was dragged")


def test_a_release_sets_the_target_even_if_the_last_update_is_lost(robot, viewer):
    viewer.say("POSE_UPDATE", down(0.40, 0.20, 0.40))
    robot.wait(lambda: robot.at(down(0.40, 0.20, 0.40)), "the arm is where it was dragged")
    viewer.say("MOUSE_UP", down(0.40, 0.15, 0.40))
    robot.wait(lambda: robot.at(down(0.40, 0.15, 0.40)), "the arm is where it was let go")
    assert np.allclose(xyz(viewer.marker().pose.position), [0.40, 0.15, 0.40])


def test_a_second_release_over_another_control_moves_nothing(robot, viewer):
    dragged = down(0.40, 0.22, 0.40)
    viewer.drag(dragged)
    robot.wait(lambda: np.allclose(viewer.place(), dragged.translation), "it was heard")
    viewer.say("MOUSE_UP", down(0.45, 0.10, 0.40), control="turn")
    robot.wait(lambda: robot.at(down(0.40, 0.22, 0.40)), "the arm is where it was let go")
    robot.wait(robot.no_commands, "silence")
    assert robot.at(down(0.40, 0.22, 0.40))


def test_after_the_release_other_viewers_see_the_handle(robot, viewer):
    count = len(viewer.updates)
    viewer.drag(down(0.40, 0.25, 0.40))
    robot.wait(lambda: len(viewer.updates) > count, "an update")
    assert np.allclose(xyz(viewer.updates[-1].poses[0].pose.position), [0.40, 0.25, 0.40])
    robot.wait(lambda: robot.at(down(0.40, 0.25, 0.40)), "the arm is there, too")


def test_the_menu_brings_the_handle_to_the_tip(robot, viewer):
    viewer.drag(down(2.0, 0.25, 0.40))  # out of reach: the arm stays behind
    robot.wait_status(verdict="TOO_FAR", state="ARRIVED")
    robot.wait(robot.no_commands, "silence")
    viewer.choose("bring it back to the tip")

    def back():
        return np.allclose(xyz(viewer.marker().pose.position), robot.tip().translation, atol=1e-4)

    robot.wait(back, "the marker is at the tip")


def test_a_point_is_dragged_that_the_arm_looks_at(robot, viewer):
    viewer.choose("drag a point to look at")
    robot.wait(lambda: viewer.checked() == ["drag a point to look at"], "the other kind")
    assert viewer.turns() == 0
    tip = robot.tip()
    place = tip.translation + AHEAD * robot.chain.reach * tip.rotation[:, 2]
    place[2] = max(place[2], 0.0)  # not below the grid
    assert np.allclose(viewer.place(), place, atol=1e-3)

    point = np.array([0.9, -0.5, 0.7])
    viewer.drag(RigidTransform.from_rpy(0.0, 0.0, 0.0, point))

    def looks():
        line = point - robot.tip().translation
        return robot.tip().rotation[:, 2] @ line > (1.0 - 1e-8) * np.linalg.norm(line)

    robot.wait(looks, "the arm looks at the point")
    viewer.choose("drag the tip's pose")
    robot.wait(lambda: viewer.turns() == 3, "the first kind again")


def test_the_handle_follows_other_targets(robot, viewer):
    target = down(0.45, 0.10, 0.40)
    robot.send("base_link", target)
    robot.wait(lambda: np.allclose(viewer.place(), target.translation), "the handle is there")


def test_a_dragged_handle_is_not_moved_by_other_targets(robot, viewer):
    held = down(0.40, 0.22, 0.40)
    viewer.say("POSE_UPDATE", held)
    robot.wait(lambda: np.allclose(viewer.place(), held.translation), "it is held")
    other = down(0.45, 0.10, 0.40)
    robot.send("base_link", other)

    def there():
        viewer.say("KEEP_ALIVE", held)  # as RViz does while the mouse is down
        return robot.at(other)

    robot.wait(there, "the arm is at the other target")
    assert np.allclose(viewer.place(), held.translation)
    viewer.say("MOUSE_UP", held)
    robot.wait(lambda: np.allclose(viewer.place(), other.translation), "it was a mere click")


def test_the_handle_stays_in_view_for_a_distant_target(robot, viewer):
    robot.send("base_link", down(10.0, 0.25, 0.40))
    robot.wait_status(verdict="TOO_FAR", state="ARRIVED")

    def at_tip():
        return np.allclose(viewer.place(), robot.tip().translation, atol=0.01)

    robot.wait(at_tip, "the handle is at the tip")


def test_a_point_is_dragged_from_its_present_position(robot, viewer):
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.wait_status(state="ARRIVED")
    viewer.choose("drag a point to look at")
    robot.wait(lambda: np.allclose(viewer.place(), [0.9, -0.5, 0.7]), "the handle is there")
    viewer.choose("drag the tip's pose")
    robot.wait(lambda: viewer.turns() == 3, "the first kind again")


def test_the_menu_has_entries_that_have_an_effect(robot, viewer):
    works = {"home", "stop", "bring it back to the tip"}
    assert works <= set(viewer.entries())
    assert "go on" not in viewer.entries()
    viewer.choose("stop")
    robot.wait(lambda: "go on" in viewer.entries(), "the menu has 'go on'")
    assert not works & set(viewer.entries())
    viewer.choose("go on")
    robot.wait(lambda: "stop" in viewer.entries(), "the menu has 'stop'")


def test_home_stop_and_enable_work_by_menu(robot, viewer):
    viewer.choose("home")
    home = [0.1, -1.5, 1.5, -1.5, -1.5, 0.1]
    robot.wait(lambda: np.allclose(robot.positions, home), "the arm is at home")
    robot.wait(robot.no_commands, "silence")
    click = viewer.marker().pose  # the handle is elsewhere; RViz computes in single precision
    click.position.x = float(np.float32(click.position.x))
    viewer.say("MOUSE_UP", click)
    assert robot.no_commands()
    viewer.choose("stop")
    robot.wait_status(state="STOPPED")
    robot.wait(robot.no_commands, "silence")
    viewer.drag(down(0.40, 0.20, 0.40))
    assert robot.no_commands()
    viewer.choose("go on")
    robot.wait(lambda: robot.statuses[-1]["state"] != "STOPPED", "the arm is free")
    viewer.drag(down(0.40, 0.22, 0.40))  # elsewhere: let go where it stands, it is only clicked
    robot.wait(lambda: robot.at(down(0.40, 0.22, 0.40)), "the arm follows again")


@pytest.mark.parametrize("axis", [(0.0, 0.0, 2.0), (1.0, 0.0, 0.0)])
def test_the_initial_point_is_not_below_the_grid(axis):
    looks_down = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.3, 0.2, 0.1])
    place = ahead(looks_down, Ray(axis), 1.5).translation
    assert np.allclose(place, [0.3, 0.2, 0.0] if axis[2] else [0.9, 0.2, 0.1])
    below = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.3, 0.2, -0.1])  # it hangs from a ceiling
    assert ahead(below, Ray((0.0, 0.0, 1.0)), 1.5).translation[2] == -0.1


def test_the_handle_of_a_small_arm_has_a_minimum_size():
    urdf = Path(__file__).parents[2] / "urdf" / "pan_tilt.urdf"
    head = RobotModel.from_urdf(urdf.read_text()).chain("base_link", "camera_optical_frame")
    assert handle_size(head, None) == SMALLEST
    point = PointGoal((4.0, 0.0, 3.0), Ray((0.0, 0.0, 1.0)))
    assert handle_size(head, point) == pytest.approx(0.25 * 2.5)
