# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interactive markers of the page, beside a server as RViz knows it."""

import asyncio
import time
from types import SimpleNamespace

import pytest
import rclpy
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.executors import SingleThreadedExecutor
from rclpy.service import Service
from viser import ViserServer
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerUpdate

from basis_ik.extras.web_view import gizmos
from basis_ik.extras.web_view.gizmos import Gizmos

PATIENCE = 60.0  # s
FRAMES = SimpleNamespace(path=lambda frame: f"/{frame}")


@pytest.fixture
def node(own_domain):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=own_domain)
    node = rclpy.create_node("gizmos", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture
def scene():
    server = ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield server.scene
    server.stop()


def test_markers_are_requested_again_when_an_answer_is_lost(node, scene, monkeypatch):
    answered, send = [], Service.send_response

    def lose_the_first(service, response, header):
        answered.append(response)
        if len(answered) > 1:
            send(service, response, header)

    monkeypatch.setattr(Service, "send_response", lose_the_first)
    monkeypatch.setattr(gizmos, "REQUEST_TIMEOUT", 0.5)
    server = InteractiveMarkerServer(node, "target")
    marker = InteractiveMarker(name="target", scale=0.2)
    marker.header.frame_id = "world"
    server.insert(marker, feedback_callback=lambda feedback: None)
    menu = MenuHandler()
    menu.insert("home", callback=lambda feedback: None)
    below = menu.insert("postures", callback=lambda feedback: None)
    menu.insert("go to ready", parent=below, callback=lambda feedback: None)
    menu.apply(server, "target")
    server.applyChanges()
    shown = Gizmos(node, scene, FRAMES, "target", print, frozenset)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + PATIENCE
    while not shown.menu and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.02)
        shown.update(time.monotonic())
    assert list(shown.menu) == ["home", "go to ready"], "what has entries below it is none itself"
    assert len(answered) > 1
    shown.destroy()
    server.shutdown()


class StandInNode:
    """What gizmos ask of a node; `sent` has the feedback."""

    def __init__(self):
        self.sent = []

    def create_subscription(self, kind, topic, take, depth):
        self.take = take

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(publish=self.sent.append)

    def create_client(self, kind, name):
        return SimpleNamespace(service_is_ready=lambda: False)


def test_a_second_browser_does_not_drag_what_the_first_holds():
    node, drag, here = StandInNode(), [], {1, 2}
    handle = SimpleNamespace(on_update=drag.append, remove=lambda: None)
    scene = SimpleNamespace(add_transform_controls=lambda *_, **__: handle)
    shown = Gizmos(node, scene, FRAMES, "target", lambda do: do(), lambda: frozenset(here))
    marker = InteractiveMarker(name="target", scale=0.2)
    node.take(InteractiveMarkerUpdate(type=1, markers=[marker]))

    def moves(browser, phase, x):
        target = SimpleNamespace(position=(x, 0.0, 0.0), wxyz=(1.0, 0.0, 0.0, 0.0))
        event = SimpleNamespace(target=target, phase=phase, client_id=browser)
        asyncio.run(drag[0](event))
        shown.update(0.0)

    moves(1, "start", 0.0)
    moves(2, "start", 0.5)
    moves(2, "update", 0.6)
    moves(1, "update", 0.1)
    moves(2, "end", 0.7)
    moves(1, "end", 0.1)
    moves(2, "start", 0.8)
    assert [each.pose.position.x for each in node.sent] == [0.0, 0.1, 0.1, 0.8]
    here.remove(2)  # in mid-drag
    shown.update(0.0)
    moves(1, "start", 0.2)
    assert node.sent[-1].pose.position.x == 0.2
