# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The client of an arm beside a robot on the bench: its thread, its clock and DDS are the world's.

All of `basis_ik.client.Arm` is there. Whatever waits lets the robot's time pass.
"""

import contextlib
from concurrent.futures import Future
from types import SimpleNamespace
from unittest import mock

from world import Link

from basis_ik.ros import arm_client
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.world.world_server import WorldServer


class _Condition:
    """A condition of one thread: who waits lets time pass, until there is news."""

    def __init__(self, robot):
        self._robot, self._news = robot, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nobody else waits."""

    def notify_all(self):
        self._news = True

    def wait(self, seconds):
        self._news, end = False, self._robot.time + seconds
        while not self._news and self._robot.time < end:
            self._robot.loop.turn()


class _Node:
    """What the client takes from rclpy's node, each topic and service by a link of its own."""

    def __init__(self, robot, statuses):
        self._robot, self._statuses = robot, statuses
        self._side = {
            each.srv_name: each
            for served in robot.node._robot._plug_ins
            if isinstance(served, (KinematicsServices, WorldServer))
            for each in served._side.node.services
        }

    def create_subscription(self, kind, topic, callback, depth):
        heard = self._robot.boundary.publish_to

        def hear(name, message):
            heard(name, message)
            if name == f"/{topic}":
                self._statuses.send(lambda: callback(message))

        self._robot.boundary.publish_to = hear

    def create_publisher(self, kind, topic, depth):
        publisher = self._robot.topic(f"/{topic}")
        publisher.get_subscription_count = lambda: 1
        return publisher

    def create_client(self, kind, name):
        def call(request):
            service = self._side.get(f"/{name}")
            if service is None:
                return self._robot.loop.spinner.request(f"/{name}", request)
            answer = Future()
            answer.set_result(service.callback(request, kind.Response()))
            return answer

        node = self._robot.node
        served = {*self._side, *(node.resolve_service_name(s.srv_name) for s in node.services)}
        return SimpleNamespace(
            srv_name=name, service_is_ready=lambda: f"/{name}" in served, call_async=call
        )

    def get_clock(self):
        return SimpleNamespace(
            now=lambda: SimpleNamespace(nanoseconds=self._robot.boundary.system())
        )

    def resolve_topic_name(self, topic):
        return f"/{topic}"

    def destroy_node(self):
        """Its links are the robot's."""


@contextlib.contextmanager
def beside(robot):
    """Yield a client of a robot's arm, and the link by which statuses come to it."""
    statuses = Link(robot.world)
    context = SimpleNamespace(init=lambda **_: None, try_shutdown=lambda: None)
    nothing = mock.MagicMock()
    stand_ins = {
        "rclpy": SimpleNamespace(
            Context=lambda: context, create_node=lambda *_, **__: _Node(robot, statuses)
        ),
        "SingleThreadedExecutor": nothing,
        "threading": SimpleNamespace(Thread=nothing, Condition=lambda: _Condition(robot)),
        "time": SimpleNamespace(
            monotonic=lambda: robot.time,
            monotonic_ns=lambda: robot.world.now,
            sleep=lambda seconds: robot.run(seconds) if seconds else None,
        ),
    }
    with mock.patch.multiple(arm_client, **stand_ins), arm_client.Arm() as arm:
        yield arm, statuses
