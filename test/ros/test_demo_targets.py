# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""demo_targets with a node that drops a target: what it sends, and its table."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from tf2_ros import TransformBroadcaster
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik import RobotModel, solve, solve_all
from basis_ik.collision.collision_scene import Scene
from basis_ik.collision.shape import Shape
from basis_ik.errors import BasisIkError
from basis_ik.ros.convert import pose_value, transform_message
from basis_ik.ros.demo import demo_targets
from basis_ik.ros.demo.demo_targets import TOUR, DemoTargets, Target, read_objects, read_targets
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
TARGETS = """targets:
  - {name: first, frame: root, xyz: [0.4, 0.2, 0.3], rpy: [180, 0, 0]}
  - {name: second, frame: root, xyz: [0.1, 0.2, 0.3], rpy: [180, 0, 0], kind: position}
  - {name: third, frame: root, xyz: [0.3, 0.2, 0.3], rpy: [180, 0, 0]}
"""


class StandIn:
    """A node `basis_ik` whose arm is at once where it is told.

    Args:
        domain: ROS domain.
        fates: What becomes of each target: `dropped` after a moment, or `reached`.
    """

    def __init__(self, domain, fates):
        self._fates, self.received = list(fates), []
        self._tip, self._target, self._state = RigidTransform.identity(), None, "READY"
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("basis_ik", context=self.context)
        self.node.declare_parameter("position_only_ik", False)
        self._tf = TransformBroadcaster(self.node)
        self._status = self.node.create_publisher(DiagnosticStatus, "basis_ik/status", 10)
        self.node.create_subscription(PoseStamped, "basis_ik/target_pose", self._on_target, 1)
        self.shown = []
        self.node.create_subscription(
            MarkerArray, "demo_targets/markers", lambda m: self.shown.append(m.markers), 10
        )
        self.node.create_timer(0.05, self._publish)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def _on_target(self, message):
        fate = self._fates.pop(0)
        self.received.append(self.node.get_parameter("position_only_ik").value)
        self._target, self._state = message, "MOVING"
        if fate == "reached":
            self._state, self._tip = "ARRIVED", pose_value(message.pose)

    def _publish(self):
        now = self.node.get_clock().now().to_msg()
        self._tf.sendTransform(transform_message("base_link", "tool0", self._tip, now))
        values = {"state": self._state, "verdict": "REACHED"}
        if self._target is not None:
            stamp = self._target.header.stamp
            values["target_frame"] = self._target.header.frame_id
            values["target_stamp"] = f"{stamp.sec}.{stamp.nanosec:09}"
        self._status.publish(
            DiagnosticStatus(values=[KeyValue(key=k, value=v) for k, v in values.items()])
        )
        if self._state == "MOVING":
            self._target, self._state = None, "READY"

    def close(self):
        self._executor.shutdown()
        self._thread.join(PATIENCE)
        self.node.destroy_node()
        self.context.shutdown()


def test_each_target_is_sent_once_and_the_table_comes_in_one_piece(own_domain, tmp_path):
    path = tmp_path / "targets.yaml"
    path.write_text(TARGETS)
    node = StandIn(own_domain, ["reached", "dropped", "reached"])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        try:
            tour = subprocess.run(
                [
                    sys.executable, "-m", "basis_ik.programs", "demo_targets",
                    "--ros-args", "-p", f"targets_file:={path}",
                ],
                env={**os.environ, "ROS_DOMAIN_ID": str(own_domain)},
                stdout=theirs,
                stderr=subprocess.STDOUT,
                timeout=PATIENCE,
                check=False,
            )  # fmt: skip
        finally:
            node.close()
        theirs.close()
        # Each is what the program wrote at once.
        written = [each.decode() for each in iter(lambda: ours.recv(1 << 16), b"")]
    *log, table = written
    assert [f"target {n} of 3: " in "".join(log) for n in (1, 2, 3)] == [True] * 3, written
    header, first, second, third, summary = table.splitlines()
    assert header.startswith("target ")
    assert first.startswith("first ")
    assert second.startswith("second ")
    assert second.endswith("<-- FAILED")
    assert third.startswith("third ")
    assert summary.startswith("2 of 3 targets as expected")
    assert tour.returncode == 1
    assert node.received == [False, True, False], "free orientation is set before"
    # What names the targets in the scene: the present one differs, the last invites to drag.
    *named, invitation = [[m for m in each if m.action == Marker.ADD] for each in node.shown]
    names = ["first", "second", "third"]
    assert {tuple(marker.text for marker in markers) for markers in named} == {
        tuple(names[present:]) for present in range(3)
    }
    for markers in named:
        yellow = [marker.text for marker in markers if marker.color.r > marker.color.b + 0.1]
        assert yellow in ([], [markers[0].text])
        at = dict(zip(names, (0.4, 0.1, 0.3), strict=True))
        assert all(marker.pose.position.x == at[marker.text] for marker in markers)
    assert yellow == ["third"]
    (drag,) = invitation
    assert (drag.text, drag.header.frame_id) == ("drag me", "base_link")
    assert drag.pose.position.x == 0.3
    assert drag.lifetime.sec >= 60


def test_the_objects_are_shown_with_the_names_and_stay():
    """RViz shows no planning scene without a plug-in of MoveIt."""
    tour, file = object.__new__(DemoTargets), ROOT / "config" / "demo_targets.yaml"
    shown = []
    tour._markers, tour._drawing = SimpleNamespace(publish=shown.append), Drawing(0.5)
    tour._current, tour._objects = 1, read_objects(file, "base_link")
    tour.targets = read_targets(file, "base_link")
    for _ in range(2):
        tour._name_targets()
    for message in shown:
        table, post = (each for each in message.markers if each.ns == "objects")
        assert (table.type, table.header.frame_id) == (Marker.CUBE, "table")
        assert (table.scale.x, table.scale.y, table.scale.z) == (0.5, 0.5, 0.02)
        assert table.pose.position.z == -0.01
        assert (post.type, post.header.frame_id) == (Marker.CYLINDER, "base_link")
        assert (post.scale.x, post.scale.y, post.scale.z) == (0.08, 0.08, 0.6)
        assert table.id != post.id
        for each in table, post:
            assert each.frame_locked
            assert each.color.a == 1.0
            assert each.lifetime.sec == each.lifetime.nanosec == 0
        texts = [each for each in message.markers if each.ns == "targets"]
        assert len(texts) == len(tour.targets)


@pytest.mark.parametrize("robot", ["ur5e", "panda"])
def test_the_post_is_in_the_straight_way_to_the_second_target(robot):
    """As the tutorial says; straight for the joints, by their positions alone."""
    model = RobotModel.from_urdf_file(ROOT / "urdf" / f"{robot}.urdf")
    chain, file = model.chain(), ROOT / "config" / "demo_targets.yaml"
    (demo,) = yaml.safe_load((ROOT / "config" / f"demo_{robot}.yaml").read_text()).values()
    begins = demo["ros__parameters"]["initial_positions"]
    first, second = read_targets(file, chain.root)[:2]
    (post,) = (each for each in read_objects(file, chain.root) if each.id == "post")
    height, radius = post.primitives[0].dimensions
    scene = Scene(model, chain, padding=0.0)
    scene.add("post", Shape.cylinder(radius, height), pose_value(post.pose))

    def is_free(goal):
        return all(scene.is_free(q) for q in np.linspace(start, goal, 400))

    start = np.array([begins[name] for name in chain.joint_names])
    start = solve(chain, first.frame_T_target, start).positions
    nearest = solve(chain, second.frame_T_target, start, scene=scene)
    assert nearest.success
    assert not is_free(nearest.positions)
    others = [each.positions for each in solve_all(chain, second.frame_T_target, start)]
    if robot == "ur5e":  # round the other side
        others = [each - 2.0 * np.pi * np.eye(len(start))[0] for each in others]
    assert any(map(is_free, others))


@pytest.mark.parametrize(
    ("verdict", "message", "distance", "good"),
    [
        ("COLLISION", "held by wrist and table, 10.0 mm", 0.2, True),
        ("COLLISION", "on the way", 0.2, False),
        ("REACHED", "held by wrist and table, 10.0 mm", 0.2, False),
        ("COLLISION", "held by wrist and table, 10.0 mm", 0.0, False),
        ("COLLISION", "held by wrist and table, 10.0 mm", float("nan"), False),
        ("REACHED", "reached", 0.0, False),
    ],
)
def test_a_blocked_target_is_as_expected_if_something_holds_the_arm(
    verdict, message, distance, good, monkeypatch
):
    tour = object.__new__(DemoTargets)
    tour.status = {"verdict": verdict, "message": message}
    monkeypatch.setattr(DemoTargets, "errors", lambda *_: (distance, 0.5))
    target = Target("in it", "table", RigidTransform.identity(), "blocked")
    as_expected, line = tour._check(target, None)
    assert as_expected == good
    assert line.endswith(message)


def tour_with(scene, monkeypatch):
    """Return a tour with an object, and with a service; it waits for nothing."""
    tour = object.__new__(DemoTargets)
    tour._objects, tour._scene = ["post"], scene
    monkeypatch.setattr(demo_targets, "TOUR", TOUR._replace(scene_timeout=0.0))
    monkeypatch.setattr(DemoTargets, "spin", lambda *_: None)
    monkeypatch.setattr(demo_targets, "PlanningScene", lambda **_: SimpleNamespace(
        world=SimpleNamespace()))  # fmt: skip
    monkeypatch.setattr(
        demo_targets, "ApplyPlanningScene", SimpleNamespace(Request=lambda scene: scene)
    )
    return tour


def test_a_node_without_a_planning_scene_is_told_of(monkeypatch):
    tour = tour_with(SimpleNamespace(service_is_ready=lambda: False), monkeypatch)
    with pytest.raises(BasisIkError, match="set basis_ik's parameter planning_scene to serve"):
        tour._place_objects()


@pytest.mark.parametrize("done", [False, True])
def test_objects_that_are_not_taken_end_the_tour(done, monkeypatch):
    answer = SimpleNamespace(done=lambda: done, result=lambda: SimpleNamespace(success=False))
    scene = SimpleNamespace(service_is_ready=lambda: True, call_async=lambda _: answer)
    with pytest.raises(BasisIkError, match="the objects of the tour were not taken"):
        tour_with(scene, monkeypatch)._place_objects()
