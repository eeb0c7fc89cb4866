# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interactive markers of the page, beside a server as RViz knows it."""

import time
from types import SimpleNamespace

import pytest
import rclpy
from interactive_markers import InteractiveMarkerServer, MenuHandler
from rclpy.executors import SingleThreadedExecutor
from rclpy.service import Service
from viser import ViserServer
from visualization_msgs.msg import InteractiveMarker

from basis_ik.ros.web_view import gizmos
from basis_ik.ros.web_view.gizmos import Gizmos

PATIENCE = 60.0  # s


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
    menu.apply(server, "target")
    server.applyChanges()
    shown = Gizmos(node, scene, SimpleNamespace(path=lambda frame: f"/{frame}"), "target", print)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + PATIENCE
    while not shown.menu and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.02)
        shown.update(time.monotonic())
    assert list(shown.menu) == ["home"]
    assert len(answered) > 1
    shown.destroy()
    server.shutdown()
