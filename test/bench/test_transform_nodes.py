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

"""The node transform_nodes: tf, status, markers, handles and parameters.

Every expected value comes from products of 4×4 matrices that are made here from the fields.
"""

import math
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.time import Time
from rotations import rotation_of, turned
from tf2_ros import Buffer, TransformException
from virtual_program import VirtualProgram
from visualization_msgs.msg import (
    InteractiveMarkerFeedback,
    Marker,
)
from visualization_msgs.srv import GetInteractiveMarkers
from world import World

from basis_ik.ros.frames.transform_nodes import TransformNodes

CONFIG = Path(__file__).parents[2] / "config" / "transform_nodes.yaml"
GIVEN = yaml.safe_load(CONFIG.read_text())["transform_nodes"]["ros__parameters"]
DEFAULTS = {
    "center": [0.0, 0.0, 0.0],
    "rotation": [0.0, 0.0, 1.0, 0.0],
    "scale": [1.0, 1.0, 1.0],
    "scaleOrientation": [0.0, 0.0, 1.0, 0.0],
    "translation": [0.0, 0.0, 0.0],
}
CHAIN = ("turntable", "arm", "leaf")


def turn(x, y, z, angle):
    m = np.eye(4)
    m[:3, :3] = turned((x, y, z), angle)
    return m


def shift(v, sign=1.0):
    m = np.eye(4)
    m[:3, 3] = sign * np.array(v)
    return m


def matrix(fields):
    """The text's R(SR(S × SR′(P − C))) + T + C, as a product of matrices."""
    f = DEFAULTS | {key: value for key, value in fields.items() if key in DEFAULTS}
    along = turn(*f["scaleOrientation"])
    scaled = along @ np.diag([*f["scale"], 1.0]) @ along.T
    moved = shift(f["translation"]) @ shift(f["center"])
    return moved @ turn(*f["rotation"]) @ scaled @ shift(f["center"], -1.0)


def product(nodes, chain=CHAIN):
    m = np.eye(4)
    for name in chain:
        m = m @ matrix(nodes[name])
    return m


def parts(m):
    """Place, nearest rotation, and what is left in its frame: by singular values."""
    u, s, vt = np.linalg.svd(m[:3, :3])
    return m[:3, 3], u @ vt, vt.T @ np.diag(s) @ vt


def xyz(p):
    return np.array((p.x, p.y, p.z))


class Nodes(VirtualProgram):
    """The node, and what RViz and `ros2 param` would do with it."""

    def __init__(self):
        super().__init__(World(), TransformNodes, "--params-file", str(CONFIG))
        self.buffer = Buffer()
        while not self.sent["/tf"]:
            time.sleep(0.01)  # another thread loads kernels
            self.run(0.1)
        self.refresh()

    def refresh(self):
        """Let the node apply what has changed, and keep only what it publishes then."""
        self.sent.clear()
        self.run(1.1)
        for message in self.sent["/tf"]:
            for frame in message.transforms:
                self.buffer.set_transform(frame, "transform_nodes")

    @property
    def statuses(self):
        """The newest status of each combined node."""
        sent = self.sent["/transform_nodes/status"]
        return {message.name.removeprefix("transform_nodes: "): message for message in sent}

    @property
    def markers(self):
        """The newest markers by namespace and number."""
        newest = self.sent["/transform_nodes/markers"][-1]
        return {(marker.ns, marker.id): marker for marker in newest.markers}

    def set(self, atomically=False, **fields):
        """Set parameters, `__` for the dot; the reasons, empty where it was done."""
        parameters = [
            Parameter(
                name=name.replace("__", "."),
                value=ParameterValue(
                    type=ParameterType.PARAMETER_DOUBLE_ARRAY, double_array_value=value
                )
                if isinstance(value, list)
                else ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value),
            )
            for name, value in fields.items()
        ]
        if atomically:
            name = "~/set_parameters_atomically"
            results = [self.call(SetParametersAtomically, name, parameters=parameters).result]
        else:
            results = self.call(SetParameters, "~/set_parameters", parameters=parameters).results
        self.refresh()
        return ["" if result.successful else result.reason for result in results]

    def get(self, name):
        answer = self.call(GetParameters, "~/get_parameters", names=[name])
        return list(answer.values[0].double_array_value)

    def frame(self, name):
        """Place and rotation of a frame in the world, newest; None while there is none."""
        try:
            found = self.buffer.lookup_transform("world", name, Time()).transform
        except TransformException:
            return None
        return xyz(found.translation), rotation_of(found.rotation)

    def is_at(self, name, m):
        found = self.frame(name)
        place, rotation, _ = parts(m)
        return (
            found is not None
            and np.abs(found[0] - place).max() < 1e-9
            and np.abs(found[1] - rotation).max() < 1e-9
        )

    def has(self, nodes):
        """Whether every frame, that of the combined node too, is where the product puts it."""
        chains = {name: CHAIN[: i + 1] for i, name in enumerate(CHAIN)} | {"leaf_at_once": CHAIN}
        return all(self.is_at(name, product(nodes, chain)) for name, chain in chains.items())

    def value(self, name, key):
        return next(v.value for v in self.statuses[name].values if v.key == key)

    def combined(self):
        """The combined node's fields in `~/status`."""
        return {
            field: [float(word) for word in self.value("leaf_at_once", field).split()]
            for field in DEFAULTS
        }

    def handle(self, name):
        answer = self.call(GetInteractiveMarkers, "~/handles/get_interactive_markers")
        return next(marker for marker in answer.markers if marker.name == name)

    def drag(self, name, control, pose, event="POSE_UPDATE", frame="world"):
        message = InteractiveMarkerFeedback(
            client_id="viewer",
            marker_name=name,
            control_name=control,
            event_type=getattr(InteractiveMarkerFeedback, event),
            pose=pose,
        )
        message.header.frame_id = frame
        self.receive("/transform_nodes/handles/feedback", message)
        self.refresh()


@pytest.fixture
def watcher():
    watcher = Nodes()
    try:
        yield watcher
    finally:
        watcher.end()


@pytest.fixture
def nodes():
    """The fields as they are in the file."""
    return {name: dict(GIVEN[name]) for name in CHAIN}


def test_frames_are_the_rigid_part_of_the_product_of_matrices(watcher, nodes):
    for i, name in enumerate(CHAIN):
        place, rotation, _ = parts(product(nodes, CHAIN[: i + 1]))
        found = watcher.frame(name)
        np.testing.assert_allclose(found[0], place, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[1], rotation, rtol=0, atol=1e-12)
    frames = yaml.safe_load(watcher.buffer.all_frames_as_yaml())
    assert frames["leaf"]["parent"] == "arm"
    assert frames["leaf_at_once"]["parent"] == "world"


def test_the_combined_node_is_the_product_of_matrices(watcher, nodes):
    expected = product(nodes)
    off = np.abs(matrix(watcher.combined()) - expected).max() / np.abs(expected).max()
    assert off < 1e-12
    assert float(watcher.value("leaf_at_once", "residual")) < 1e-12
    assert float(watcher.value("leaf_at_once", "shear")) > 0.1
    assert watcher.statuses["leaf_at_once"].level == DiagnosticStatus.OK
    assert watcher.combined()["center"] == DEFAULTS["center"], "that of the innermost"


def seen(watcher, name, number):
    """A marker's points in the world."""
    marker = watcher.markers[name, number]
    place, rotation = watcher.frame(marker.header.frame_id)
    return np.array([rotation @ xyz(p) + place for p in marker.points])


def test_boxes_and_axes_are_scaled_and_sheared_like_the_nodes(watcher, nodes):
    half = 0.5 * GIVEN["box_size"]
    corners = np.array(
        [(x, y, z, 1) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    )
    for name, chain in (("arm", CHAIN[:2]), ("leaf", CHAIN), ("leaf_at_once", CHAIN)):
        m = product(nodes, chain)
        expected = (corners @ m.T)[:, :3]
        points = seen(watcher, name, 0)
        assert watcher.markers[name, 0].type == Marker.LINE_LIST
        assert len(points) == 24
        off = np.linalg.norm(points[:, None] - expected[None], axis=2)
        assert off.min(axis=1).max() < 1e-9, "every end is a corner"
        assert (np.bincount(off.argmin(axis=1)) == 3).all(), "each corner has three edges"
        edges = (points[1::2] - points[::2]) @ np.linalg.inv(m[:3, :3]).T  # of the cube again
        assert np.allclose(np.sort(np.abs(edges), axis=1), [0.0, 0.0, 2 * half], atol=1e-9)
        axes = seen(watcher, name, 1).reshape(3, 2, 3)
        np.testing.assert_allclose(axes[:, 1] - axes[:, 0], 2 * half * m[:3, :3].T, atol=1e-9)


def test_a_field_is_changed_at_run_time(watcher, nodes):
    nodes["arm"]["scale"] = [0.5, 3.0, 1.2]
    nodes["arm"]["center"] = [0.1, 0.2, -0.3]
    nodes["turntable"]["rotation"] = [1.0, -2.0, 0.5, 2.5]
    assert watcher.set(
        arm__scale=nodes["arm"]["scale"],
        arm__center=nodes["arm"]["center"],
        turntable__rotation=nodes["turntable"]["rotation"],
    ) == ["", "", ""]
    assert watcher.has(nodes)
    expected = product(nodes)
    assert np.abs(matrix(watcher.combined()) - expected).max() < 1e-12 * np.abs(expected).max()


BAD = {
    "zero scale": ({"arm__scale": [1.0, 0.0, 1.0]}, "'arm.scale' must lie in [1e-06, 1e+06]"),
    "negative": ({"arm__scale": [1.0, -1.0, 1.0]}, "'arm.scale' must lie in"),
    "short": ({"arm__center": [1.0, 0.0]}, "'arm.center' wants 3 numbers"),
    "three": ({"leaf__rotation": [0.0, 0.0, 1.0]}, "'leaf.rotation' wants 4 numbers, axis and"),
    "no axis": ({"leaf__rotation": [0.0, 0.0, 0.0, 1.0]}, "has an axis without length"),
    "nan": ({"leaf__translation": [math.nan, 0.0, 0.0]}, "'leaf.translation' must lie in"),
    "inf": ({"leaf__rotation": [0.0, 0.0, math.inf, 0.0]}, "'leaf.rotation' must lie in"),
    "text": ({"arm__scale": "1 2 3"}, "'arm.scale' must be a list of a number"),
    "fixed": ({"arm__parent": "world"}, "read-only"),
}


@pytest.mark.parametrize(("fields", "words"), BAD.values(), ids=BAD)
def test_a_bad_field_is_refused_with_a_reason(watcher, nodes, fields, words):
    (reason,) = watcher.set(**fields)
    assert words in reason
    assert watcher.has(nodes)


def test_a_bad_set_changes_nothing(watcher, nodes):
    (reason,) = watcher.set(
        atomically=True, arm__translation=[9.0, 9.0, 9.0], arm__scale=[1.0, 1.0, 0.0]
    )
    assert "'arm.scale' must lie in" in reason
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
    assert watcher.get("arm.scale") == nodes["arm"]["scale"]


def test_a_chain_without_a_combined_node_is_reported_until_fixed(watcher, nodes):
    """Flat by 1e-12, and under a turned stretch by 1e12: nothing of it is left in 16 digits."""
    watcher.set(arm__scale=[1e6, 1.0, 1e-6], leaf__scale=[1e6, 1e-6, 1.0])
    status = watcher.statuses["leaf_at_once"]
    assert status.level == DiagnosticStatus.ERROR
    assert status.message.startswith("turntable → arm → leaf cannot be combined into one node")
    assert float(watcher.value("leaf_at_once", "scale_ratio")) <= 1e-14
    assert float(watcher.value("leaf_at_once", "residual")) >= 0.0
    assert watcher.markers["leaf_at_once", 0].action == Marker.DELETE
    nodes["arm"]["scale"] = [1e6, 1.0, 1e-6]
    arm = product(nodes, CHAIN[:2])
    assert watcher.is_at("arm", arm), "the arm is shown all the same"
    watcher.set(arm__scale=GIVEN["arm"]["scale"], leaf__scale=GIVEN["leaf"]["scale"])
    assert watcher.statuses["leaf_at_once"].level == DiagnosticStatus.OK


def joint(nodes, chain):
    """Where the centre of the last of a chain is in the world."""
    last = nodes[chain[-1]]
    local = np.array(last.get("center", [0.0] * 3)) + last["translation"]
    return (product(nodes, chain[:-1]) @ np.append(local, 1.0))[:3]


def test_a_handle_is_at_the_nodes_centre(watcher, nodes):
    for name, chain in (("arm", CHAIN[:2]), ("leaf", CHAIN)):
        marker = watcher.handle(name)
        np.testing.assert_allclose(xyz(marker.pose.position), joint(nodes, chain), atol=1e-9)
        assert marker.header.frame_id == "world"
        _, above, _ = parts(product(nodes, chain[:-1]))
        expected = above @ turn(*nodes[name]["rotation"])[:3, :3]
        np.testing.assert_allclose(rotation_of(marker.pose.orientation), expected, atol=1e-9)


def test_a_ring_turns_the_node_about_its_centre(watcher, nodes):
    marker = watcher.handle("arm")
    w, z = math.cos(0.3), math.sin(0.3)  # half of a turn by 0.6 rad about the world's z
    q = marker.pose.orientation
    wanted = turn(0, 0, 1, 0.6)[:3, :3] @ rotation_of(q)
    pose = marker.pose
    q.x, q.y, q.z, q.w = (
        w * q.x - z * q.y, w * q.y + z * q.x, w * q.z + z * q.w, w * q.w - z * q.z,
    )  # fmt: skip
    np.testing.assert_allclose(rotation_of(q), wanted, atol=1e-12)
    before = joint(nodes, CHAIN[:2])
    watcher.drag("arm", "turn_z", pose)
    _, above, _ = parts(matrix(nodes["turntable"]))
    expected = above.T @ wanted
    nodes["arm"]["rotation"] = watcher.get("arm.rotation")
    np.testing.assert_allclose(turn(*nodes["arm"]["rotation"])[:3, :3], expected, atol=1e-9)
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
    np.testing.assert_allclose(joint(nodes, CHAIN[:2]), before, atol=1e-12)
    assert watcher.has(nodes)


def test_the_trackball_moves_a_node_as_it_is_dragged_across_the_screen(watcher, nodes):
    """Example 1: under 45 degrees; and the leaf under an arm that is turned and scaled."""
    for name, chain in (("arm", CHAIN[:2]), ("leaf", CHAIN)):
        seen = np.array((0.3, -0.1, 0.2))
        pose = watcher.handle(name).pose
        p = pose.position
        p.x, p.y, p.z = (xyz(p) + seen).tolist()
        watcher.drag(name, "move_x", pose)
        outer = product(nodes, chain[:-1])[:3, :3]
        expected = np.array(nodes[name]["translation"]) + np.linalg.solve(outer, seen)
        np.testing.assert_allclose(watcher.get(f"{name}.translation"), expected, atol=1e-9)
        assert watcher.get(f"{name}.rotation") == nodes[name]["rotation"]
        before = joint(nodes, chain)
        nodes[name]["translation"] = watcher.get(f"{name}.translation")
        np.testing.assert_allclose(joint(nodes, chain), before + seen, atol=1e-9)
        assert watcher.has(nodes)


def test_the_end_of_a_drag_counts_and_a_click_does_not(watcher, nodes):
    pose = watcher.handle("arm").pose
    pose.position.x += 0.25
    watcher.drag("arm", "ball", pose, "MOUSE_UP")  # over a control that is not held
    pose.position.x += 1e-7 - 0.25
    watcher.drag("arm", "ball", pose, "MOUSE_DOWN")
    watcher.drag("arm", "ball", pose, "MOUSE_UP")
    pose.position.x += 0.25
    watcher.drag("arm", "ball", pose, "MOUSE_UP", frame="camera")  # an unknown frame
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
    watcher.drag("arm", "ball", pose, "MOUSE_UP")
    moved = watcher.get("arm.translation")
    assert moved != nodes["arm"]["translation"]
    nodes["arm"]["translation"] = moved
    assert watcher.has(nodes)


@pytest.mark.parametrize(
    "control", ["turn", "turn_w", "move", "x" * 1000], ids=["0", "1", "2", "3"]
)
def test_a_control_that_the_handle_does_not_have_moves_nothing(watcher, nodes, control):
    pose = watcher.handle("arm").pose
    pose.position.x += 0.25
    watcher.drag("arm", control, pose)
    assert watcher.has(nodes)
    assert watcher.handle("arm").pose.position.x == pose.position.x - 0.25
    line = watcher.log.lines()[-1]
    assert line.startswith(f"handle of 'arm' is not moved: it has no control '{control[:9]}")
    assert line.endswith(", but ball, move_x, move_y, move_z, turn_x, turn_y, turn_z")


@pytest.mark.parametrize("far", [2e6, 1e9], ids=["the field's bounds", "what is admitted"])
def test_a_drag_out_of_bounds_is_refused_and_the_handle_returns(watcher, nodes, far):
    pose = watcher.handle("arm").pose
    pose.position.x += far
    watcher.drag("arm", "ball", pose)
    home = joint(nodes, CHAIN[:2])
    (back,) = [
        each
        for update in watcher.sent["/transform_nodes/handles/update"]
        for each in update.poses
        if each.name == "arm"
    ]
    np.testing.assert_allclose(xyz(back.pose.position), home, atol=1e-6)
    np.testing.assert_allclose(xyz(watcher.handle("arm").pose.position), home, atol=1e-6)
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
