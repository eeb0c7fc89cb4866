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

"""A server and a client in contexts of their own, over DDS; the client does what RViz does."""

import socket
import time
from types import SimpleNamespace

import pytest
import rclpy
from geometry_msgs.msg import Point, Pose
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.time import Time
from std_msgs.msg import Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

PATIENCE = 20.0


@pytest.fixture(scope="module")
def domain():
    """A ROS_DOMAIN_ID of its own, claimed as upstream's domain_coordinator does it."""
    for number in range(1, 101):
        with socket.socket() as claim:
            try:
                claim.bind(("", 32768 + number))
            except OSError:
                continue
            yield number
            return


class World:
    """A node with a server, and a client in another context."""

    def __init__(self, domain):
        self._made = []
        self.node = self._make("server", domain)
        # The server asks the node for the time; here it passes only when a test says so.
        self.now = Time(seconds=1000)
        self.node.get_clock = lambda: SimpleNamespace(now=lambda: self.now)
        self.server = InteractiveMarkerServer(self.node, "~/drag")
        viewer = self._make("viewer", domain)
        self.updates = []
        viewer.create_subscription(
            InteractiveMarkerUpdate, "/server/drag/update", self.updates.append, 10
        )
        self._feedback = viewer.create_publisher(
            InteractiveMarkerFeedback, "/server/drag/feedback", 10
        )
        self._ask = viewer.create_client(
            GetInteractiveMarkers, "/server/drag/get_interactive_markers"
        )
        self.spin_until(
            lambda: (
                self.server.update_pub.get_subscription_count()
                and self._feedback.get_subscription_count()
                and self._ask.service_is_ready()
            )
        )

    def _make(self, name, domain):
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        node = rclpy.create_node(name, context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        self._made.append((node, executor, context))
        return node

    def spin_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            for _, executor, _ in self._made:
                executor.spin_once(timeout_sec=0.01)

    def pass_time(self, seconds):
        self.now += Duration(seconds=seconds)

    def ask(self):
        future = self._ask.call_async(GetInteractiveMarkers.Request())
        self.spin_until(future.done)
        return future.result()

    def say(self, **fields):
        self._feedback.publish(feedback(**fields))

    def close(self):
        for node, executor, context in self._made:
            executor.shutdown()
            node.destroy_node()
            context.try_shutdown()


@pytest.fixture
def world(domain):
    world = World(domain)
    yield world
    world.close()


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
    world.server.insert(marker(x=1.0))
    assert world.ask().markers == []
    world.server.applyChanges()
    world.spin_until(lambda: world.updates)
    update = world.updates[0]
    assert (update.type, update.seq_num) == (InteractiveMarkerUpdate.UPDATE, 1)
    assert update.markers == [marker(x=1.0)]
    answer = world.ask()
    assert (answer.sequence_number, answer.markers) == (1, [marker(x=1.0)])


def test_without_changes_nothing_is_sent(world):
    world.server.applyChanges()
    assert world.server.seq_num == 0
    world.server.insert(marker())
    world.server.applyChanges()
    world.server.applyChanges()
    assert world.server.seq_num == 1


def test_moving_and_erasing(world):
    world.server.insert(marker())
    world.server.insert(marker("other"))
    assert not world.server.setPose("cube", Pose())  # as upstream: not before it is applied
    assert not world.server.erase("none")
    world.server.applyChanges()
    assert world.server.setPose("cube", Pose(position=Point(x=2.0)))
    assert world.server.erase("other")
    world.server.applyChanges()
    world.spin_until(lambda: len(world.updates) == 2)
    update = world.updates[1]
    assert [(p.name, p.header.frame_id, p.pose.position.x) for p in update.poses] == [
        ("cube", "base", 2.0)
    ]
    assert update.erases == ["other"]
    assert [m.pose.position.x for m in world.ask().markers] == [2.0]


def applied(world, made=None, **callbacks):
    """Insert a marker, apply it, and let the time pass in which it is nobody's."""
    world.server.insert(made or marker(), **callbacks)
    world.server.applyChanges()
    world.pass_time(1.0)


def test_feedback_moves_the_marker_is_passed_on_and_told_to_all_clients(world):
    heard = []
    applied(world, feedback_callback=heard.append)
    world.say(name="unknown")
    world.say(x=3.0, frame="base")
    world.spin_until(lambda: len(heard) == 1)
    world.spin_until(lambda: len(world.updates) == 2)
    assert world.server.get("cube").pose.position.x == 3.0
    assert [(p.name, p.pose.position.x) for p in world.updates[1].poses] == [("cube", 3.0)]
    assert world.updates[1].seq_num == 2
    world.say(event="MOUSE_UP", x=9.0)
    world.spin_until(lambda: len(heard) == 2)
    assert heard[1].event_type == InteractiveMarkerFeedback.MOUSE_UP
    assert world.server.get("cube").pose.position.x == 3.0  # only a POSE_UPDATE moves it
    assert world.server.seq_num == 2


def test_feedback_applies_what_others_and_its_callback_have_asked_for(world):
    applied(world, feedback_callback=lambda _: world.server.insert(marker("second")))
    world.server.insert(marker("first"))
    world.server.processFeedback(feedback(event="MOUSE_UP"))
    assert [m.name for m in world.ask().markers] == ["cube", "first", "second"]


def test_feedback_moves_the_marker_that_is_about_to_take_the_place(world):
    applied(world)
    world.server.insert(marker(x=1.0))
    world.server.processFeedback(feedback(x=3.0))
    world.spin_until(lambda: len(world.updates) == 2)
    assert [m.pose.position.x for m in world.updates[1].markers] == [3.0]


def test_a_marker_without_stamp_stays_in_its_frame(world):
    applied(world)
    world.server.processFeedback(feedback(frame="camera"))
    assert world.server.get("cube").header.frame_id == "base"
    stamped = marker("stamped")
    stamped.header.stamp.sec = 1
    applied(world, stamped)
    world.server.processFeedback(feedback("stamped", frame="camera"))
    assert world.server.get("stamped").header.frame_id == "camera"


def test_of_two_clients_that_pull_at_once_the_first_has_it(world):
    heard = []
    applied(world, feedback_callback=heard.append)
    world.server.processFeedback(feedback(client="one", x=1.0))
    world.pass_time(0.9)
    world.server.processFeedback(feedback(client="one", x=1.0))
    world.pass_time(0.9)
    world.server.processFeedback(feedback(client="two", x=2.0))
    assert [h.client_id for h in heard] == ["one", "one"]
    assert world.server.get("cube").pose.position.x == 1.0
    world.pass_time(0.1)
    world.server.processFeedback(feedback(client="two", x=2.0))
    assert [h.client_id for h in heard] == ["one", "one", "two"]


def test_a_new_marker_is_nobodys_for_a_second(world):
    heard = []
    world.server.insert(marker(), feedback_callback=heard.append)
    world.server.applyChanges()
    world.pass_time(0.9)
    world.server.processFeedback(feedback())
    assert heard == []
    world.server.insert(marker(x=1.0))  # takes the place of the other, and is no new one
    world.server.applyChanges()
    world.pass_time(0.1)
    world.server.processFeedback(feedback())
    assert len(heard) == 1


def test_a_marker_of_a_name_used_before_starts_without_callbacks(world):
    heard = []
    applied(world, feedback_callback=heard.append)
    world.server.erase("cube")
    world.server.applyChanges()
    applied(world)
    world.server.processFeedback(feedback())
    assert heard == []


def test_shutdown_takes_the_markers_and_the_topics_away(world):
    world.server.insert(marker())
    world.server.applyChanges()
    world.server.shutdown()
    world.spin_until(lambda: len(world.updates) == 2)
    assert world.updates[1].erases == ["cube"]
    assert not any(p.topic_name.endswith("/update") for p in world.node.publishers)
    assert not any(s.topic_name.endswith("/feedback") for s in world.node.subscriptions)
    assert not any(s.srv_name.endswith("/get_interactive_markers") for s in world.node.services)


def titles(world):
    return [entry.title for entry in world.server.get("cube").menu_entries]


def test_a_menu(world):
    chosen, menu = [], MenuHandler()
    pose = menu.insert("pose", callback=chosen.append)
    hidden = menu.insert("hidden", callback=chosen.append)
    menu.setVisible(hidden, False)
    menu.setCheckState(pose, MenuHandler.CHECKED)
    with pytest.raises(KeyError):
        menu.apply(world.server, "cube")
    world.server.insert(marker())
    assert menu.apply(world.server, "cube")
    world.server.applyChanges()
    world.pass_time(1.0)
    assert titles(world) == ["[x] pose"]
    for entry in (pose, 99):
        world.server.processFeedback(feedback(event="MENU_SELECT", entry=entry))
    assert [c.menu_entry_id for c in chosen] == [pose]
    menu.setCheckState(pose, MenuHandler.UNCHECKED)
    menu.setVisible(hidden, True)
    assert menu.reApply(world.server)
    world.server.applyChanges()
    assert titles(world) == ["[ ] pose", "hidden"]
    world.server.erase("cube")
    assert not menu.reApply(world.server)
    assert menu.reApply(world.server)  # what is gone is forgotten
