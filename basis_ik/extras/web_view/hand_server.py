# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page `hand`: what hands on it say becomes poses of a device with a clutch."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from std_msgs.msg import Bool, Float64
from std_srvs.srv import SetBool, Trigger
from websockets.exceptions import ConnectionClosed

from basis_ik.arm.admission import printable
from basis_ik.extras.web_view.hand_rules import (
    ROOT_T_VIEW,
    Grip,
    HandError,
    HandPose,
    Lead,
    read,
)
from basis_ik.extras.web_view.looks import number
from basis_ik.ros.convert import pose_message
from basis_ik.ros.publishers import GRAPH_QUERY_PERIOD
from basis_ik.transforms.rigid import RigidTransform

HAND_PAGE = Path(__file__).with_name("hand.html").read_text(encoding="utf-8")
HAND_NEWS_PERIOD = 0.1  # [s] between two looks at what is new for a page
BAD_DATA = 1007  # https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1


class HandServer:
    """Leads arms by the hands of all connected pages; without one it has no ROS entities.

    Pages are served in viser's thread. Entities are made and destroyed in the node's, and poses
    are published at once, in that of the page.

    Args:
        node: Owns the publishers, subscriptions and clients.

    Attributes:
        views: root_T_view by arm and browser, for those whose camera is known.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._arms: dict[str, _Arm] = {}
        self._gone: list[_Arm] = []
        self._pages, self._numbers = set[str](), itertools.count()
        self._scanned_at = -math.inf
        self._actions: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self.views: Mapping[tuple[str, int], RigidTransform] = {}

    def update(self, now: float) -> None:
        """Find arms, and do what pages have asked for, at a time [s]; in the node's thread."""
        while not self._actions.empty():
            self._actions.get()()
        if now - self._scanned_at < GRAPH_QUERY_PERIOD:
            return
        self._scanned_at = now
        for arm in self._gone:  # a second ago, so that nothing in the other thread is using it
            arm.destroy()
        there = self._prefixes() if self._pages else set()
        self._gone = [arm for prefix, arm in self._arms.items() if prefix not in there]
        self._arms = {
            prefix: self._arms.get(prefix) or _Arm(self._node, prefix) for prefix in sorted(there)
        }

    def _prefixes(self) -> set[str]:
        """Return the prefixes of the arms that a device can lead."""
        return {
            topic.removesuffix("/device_pose")
            for topic, types in self._node.get_topic_names_and_types()
            if topic.endswith("/device_pose")
            and "geometry_msgs/msg/PoseStamped" in types
            and self._node.count_subscribers(topic)
        }

    async def serve(self, connection: Any) -> None:
        """Serve one page until it is gone; in the thread of the pages.

        Args:
            connection: The page's, of websockets.
        """
        page = f"{next(self._numbers)}/"
        self._pages.add(page)
        telling = asyncio.create_task(self._tell(connection))
        try:
            async for text in connection:
                self._take(page, text)
        except HandError as error:
            await connection.close(BAD_DATA, printable(str(error), 100))
        except ConnectionClosed:
            pass
        finally:
            telling.cancel()
            self._pages.discard(page)
            for arm in list(self._arms.values()):
                arm.lose(page)

    async def _tell(self, connection: Any) -> None:
        """Tell a page about the arms whenever that has changed."""
        told = None
        try:
            while True:
                text = json.dumps({prefix: arm.shown for prefix, arm in self._arms.items()})
                if text != told:
                    told = text
                    await connection.send(text)
                await asyncio.sleep(HAND_NEWS_PERIOD)
        except ConnectionClosed:
            pass

    def _take(self, page: str, text: str | bytes) -> None:
        said = read(text)
        arm = self._arms.get(said.arm)
        if arm is None:  # it may come, or has gone
            return
        if isinstance(said, HandPose):
            browser = -1 if said.browser is None else said.browser
            view = self.views.get((said.arm, browser), ROOT_T_VIEW)
            arm.lead(f"{page}{said.hand}", said, view)
        elif isinstance(said, Grip):
            arm.grip(said.opening)
        else:
            self._actions.put(lambda: arm.do(said.name))


class _Arm:
    """What hands send to one arm, and what it says.

    Args:
        node: Owns the publishers, subscription and clients.
        prefix: Of the arm's topics.
    """

    def __init__(self, node: Node, prefix: str) -> None:
        self._node, self._lead = node, Lead()
        self.shown: dict[str, object] = {"text": "no status of this arm"}
        self._poses = node.create_publisher(PoseStamped, f"{prefix}/device_pose", 1)
        self._clutch = node.create_publisher(Bool, f"{prefix}/clutch", 1)
        self._openings = node.create_publisher(Float64, f"{prefix}/gripper", 1)
        self._clients: dict[str, tuple[Any, Any]] = {
            "stop": (node.create_client(Trigger, f"{prefix}/stop"), Trigger.Request()),
            "enable": (node.create_client(SetBool, f"{prefix}/enable"), SetBool.Request(data=True)),
        }
        self._status = node.create_subscription(
            DiagnosticStatus, f"{prefix}/status", self._on_status, 10
        )

    def destroy(self) -> None:
        """Destroy them."""
        self._node.destroy_subscription(self._status)
        for publisher in (self._poses, self._clutch, self._openings):
            self._node.destroy_publisher(publisher)
        for client, _ in self._clients.values():
            self._node.destroy_client(client)

    def _on_status(self, message: DiagnosticStatus) -> None:
        values = {each.key: each.value for each in message.values}
        opening = number(values.get("gripper_opening"))
        self.shown = {
            "text": message.message,
            "clutch": values.get("clutch", ""),
            "gripper": "gripper" in values,
            "open": opening if math.isfinite(opening) else None,
        }

    def lead(self, who: str, said: HandPose, root_T_view: RigidTransform) -> None:
        """Take what a hand says; see `Lead.take`."""
        tells, pose = self._lead.take(who, said, time.monotonic(), root_T_view)
        if tells is not None:
            self._clutch.publish(Bool(data=tells))
        if tells:
            message = PoseStamped(pose=pose_message(pose))
            message.header.frame_id = f"hand/{who}/{said.space}"  # tf need not know it
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._poses.publish(message)

    def lose(self, page: str) -> None:
        """Let go what a page held that is gone."""
        if self._lead.lost(page):
            self._clutch.publish(Bool(data=False))

    def grip(self, opening: float) -> None:
        """Send the gripper to an opening, from 0, closed, to 1, open."""
        self._openings.publish(Float64(data=opening))

    def do(self, name: str) -> None:
        """Stop or enable the arm."""
        client, request = self._clients[name]
        if client.service_is_ready():
            client.call_async(request)
