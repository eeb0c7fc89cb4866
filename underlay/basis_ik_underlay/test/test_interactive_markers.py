# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The server without DDS, over which the handles of basis_ik are tested; a test is the client."""

from types import SimpleNamespace

import pytest
from geometry_msgs.msg import Point, Pose
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.duration import Duration
from rclpy.time import Time
from std_msgs.msg import Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers


class World:
    """A node that keeps what the server sends; its time passes only when a test says so."""

    def __init__(self):
        self.now, self.updates, self.destroyed = Time(seconds=1000), [], []
        self.context = SimpleNamespace(ok=lambda: True)
        self.destroy_service = self.destroy_publisher = self.destroyed.append
        self.destroy_subscription = self.destroyed.append
        self.server = InteractiveMarkerServer(self, "~/drag")

    def get_clock(self):
        return SimpleNamespace(now=lambda: self.now)

    def create_service(self, kind, name, callback):
        self.ask = lambda: callback(kind.Request(), kind.Response())
        return name

    def create_publisher(self, kind, name, depth):
        return SimpleNamespace(publish=self.updates.append)

    def create_subscription(self, kind, name, callback, depth):
        self.say = lambda **fields: callback(feedback(**fields))
        return name

    def insert(self, made, callback=lambda _: None):
        self.server.insert(made, feedback_callback=callback)

    def apply(self, *inserted):
        """Insert a marker, apply it, and let the time pass in which it is nobody's."""
        self.insert(*inserted)
        self.server.applyChanges()
        self.pass_time(1.0)

    def pass_time(self, seconds):
        self.now += Duration(seconds=seconds)

    def x(self):
        return self.server.get("cube").pose.position.x


@pytest.fixture
def world():
    return World()


def marker(name="cube", x=0.0):
    made = InteractiveMarker(name=name, pose=Pose(position=Point(x=x)))
    made.header.frame_id = "base"
    return made


def feedback(name="cube", event="POSE_UPDATE", client="rviz", x=0.0, frame="", entry=0):
    return InteractiveMarkerFeedback(
        header=Header(frame_id=frame),
        marker_name=name,
        client_id=client,
        event_type=getattr(InteractiveMarkerFeedback, event),
        pose=Pose(position=Point(x=x)),
        menu_entry_id=entry,
    )


def test_clients_hear_of_markers_when_changes_are_applied(world):
    world.insert(marker(x=1.0))
    assert world.ask() == GetInteractiveMarkers.Response()
    world.server.applyChanges()
    world.server.applyChanges()  # without changes nothing is sent
    (update,) = world.updates
    assert (update.type, update.seq_num) == (InteractiveMarkerUpdate.UPDATE, 1)
    assert update.markers == [marker(x=1.0)]
    assert (world.ask().sequence_number, world.ask().markers) == (1, [marker(x=1.0)])


def test_moving_and_erasing(world):
    world.insert(marker())
    world.insert(marker("other"))
    world.server.setPose("cube", Pose(position=Point(x=9.0)))  # as upstream: not before
    world.server.applyChanges()
    assert world.x() == 0.0
    world.server.setPose("cube", Pose(position=Point(x=2.0)))
    world.server.erase("other")
    world.server.erase("none")
    world.server.applyChanges()
    (pose,) = world.updates[1].poses
    assert (pose.name, pose.header.frame_id, pose.pose.position.x) == ("cube", "base", 2.0)
    assert world.updates[1].erases == ["other"]
    assert [m.pose.position.x for m in world.ask().markers] == [2.0]


def test_feedback_moves_the_marker_is_passed_on_and_applies_all_changes(world):
    heard = []
    world.apply(marker(), heard.append)
    world.insert(marker("waiting"))
    world.say(name="unknown")
    world.say(x=3.0, frame="camera")
    world.say(event="MOUSE_UP", x=9.0)  # only a POSE_UPDATE moves it
    assert [each.pose.position.x for each in heard] == [3.0, 9.0]
    assert world.x() == 3.0
    assert world.server.get("cube").header.frame_id == "base"  # it stays in its frame
    (update,) = world.updates[1:]
    assert [m.name for m in update.markers] == ["waiting"]
    assert [p.pose.position.x for p in update.poses] == [3.0]


def test_of_two_clients_that_pull_at_once_the_first_has_it(world):
    heard = []
    world.apply(marker(), heard.append)
    for seconds, client in ((0.0, "one"), (0.9, "one"), (0.9, "two"), (0.1, "two")):
        world.pass_time(seconds)
        world.say(client=client)
    assert [each.client_id for each in heard] == ["one", "one", "two"]


def test_a_new_marker_is_nobodys_for_a_second(world):
    heard = []
    world.insert(marker(), heard.append)
    world.server.applyChanges()
    world.pass_time(0.9)
    world.say()
    assert heard == []
    world.insert(marker(x=1.0), heard.append)  # takes the place of the other, and is no new one
    world.server.applyChanges()
    world.pass_time(0.1)
    world.say()
    assert len(heard) == 1


def test_a_marker_of_a_name_used_before_is_new(world):
    world.apply(marker())
    world.server.erase("cube")
    world.server.applyChanges()
    heard = []
    world.insert(marker(), heard.append)
    world.server.applyChanges()
    world.say()
    assert heard == []


def test_shutdown_takes_the_markers_and_the_topics_away(world):
    world.apply(marker())
    world.server.shutdown()
    assert world.updates[1].erases == ["cube"]
    assert len(world.destroyed) == 3


def test_a_menu(world):
    chosen, menu = [], MenuHandler()
    pose = menu.insert("pose", callback=chosen.append)
    hidden = menu.insert("hidden", callback=chosen.append)
    menu.setVisible(hidden, False)
    menu.setCheckState(pose, MenuHandler.CHECKED)
    with pytest.raises(KeyError, match="cube"):
        menu.apply(world.server, "cube")
    world.insert(marker())
    menu.apply(world.server, "cube")
    world.apply(world.server.get("cube"))

    def titles():
        return [entry.title for entry in world.server.get("cube").menu_entries]

    assert titles() == ["[x] pose"]
    for entry in (pose, 99):
        world.say(event="MENU_SELECT", entry=entry)
    assert [c.menu_entry_id for c in chosen] == [pose]
    menu.setCheckState(pose, MenuHandler.UNCHECKED)
    menu.setVisible(hidden, True)
    menu.reApply(world.server)
    world.server.applyChanges()
    assert titles() == ["[ ] pose", "hidden"]
    below = menu.insert("below", parent=hidden, callback=chosen.append)
    menu.reApply(world.server)
    world.apply(world.server.get("cube"))
    entries = {each.id: each.parent_id for each in world.server.get("cube").menu_entries}
    assert entries == {pose: 0, hidden: 0, below: hidden}
    world.say(event="MENU_SELECT", entry=below)
    assert [c.menu_entry_id for c in chosen] == [pose, below]
    menu.setVisible(hidden, False)
    menu.reApply(world.server)
    world.server.applyChanges()
    assert titles() == ["[ ] pose"]
