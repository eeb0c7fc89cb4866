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

"""The program transform_nodes over tf, topics and parameters.

Every expected value comes from products of 4×4 matrices that are made here from the fields.
"""

import math
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.time import Time
from robot_bench import start_node, stop_node
from rotations import rotation_of, turned
from tf2_ros import Buffer, TransformException, TransformListener
from visualization_msgs.msg import (
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
    Marker,
    MarkerArray,
)
from visualization_msgs.srv import GetInteractiveMarkers

PATIENCE = 120.0  # the first time, kernels are compiled
CONFIG = Path(__file__).parents[2] / "config" / "transform_nodes.yaml"
PROGRAM = ("-m", "basis_ik.ros.programs", "transform_nodes")
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


class Watcher:
    """Hears what the program sends, and sends what RViz and `ros2 param` would."""

    def __init__(self, domain):
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("watcher", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.buffer = Buffer()
        self.listener = TransformListener(self.buffer, self.node)
        self.statuses, self.markers = {}, {}
        self.node.create_subscription(
            DiagnosticStatus, "transform_nodes/status", self._on_status, 10
        )
        self.node.create_subscription(MarkerArray, "transform_nodes/markers", self._on_markers, 10)
        self.updates = []
        self.node.create_subscription(
            InteractiveMarkerUpdate, "transform_nodes/handles/update", self.updates.append, 10
        )
        self.feedback = self.node.create_publisher(
            InteractiveMarkerFeedback, "transform_nodes/handles/feedback", 10
        )

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def _on_status(self, message):
        self.statuses[message.name.removeprefix("transform_nodes: ")] = message

    def _on_markers(self, message):
        self.markers = {(marker.ns, marker.id): marker for marker in message.markers}

    def wait(self, condition, what, again=lambda: None):
        """Wait, and repeat an action every half second: a handle may miss a new viewer."""
        end, then = time.monotonic() + PATIENCE, time.monotonic()
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)
            if condition():
                return
            if time.monotonic() - then > 0.5:
                then = time.monotonic()
                again()
        raise AssertionError(f"never: {what}")

    def spin(self, seconds):
        """Let something happen that must change nothing."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)

    def call(self, kind, name, request):
        client = self.node.create_client(kind, f"transform_nodes/{name}")
        self.wait(client.service_is_ready, f"service {name}")
        future = client.call_async(request)
        self.wait(future.done, f"an answer of {name}")
        self.node.destroy_client(client)
        return future.result()

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
            request = SetParametersAtomically.Request(parameters=parameters)
            results = [self.call(SetParametersAtomically, "set_parameters_atomically", request)]
            results = [results[0].result]
        else:
            request = SetParameters.Request(parameters=parameters)
            results = self.call(SetParameters, "set_parameters", request).results
        return ["" if result.successful else result.reason for result in results]

    def get(self, name):
        answer = self.call(GetParameters, "get_parameters", GetParameters.Request(names=[name]))
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
        answer = self.call(
            GetInteractiveMarkers,
            "handles/get_interactive_markers",
            GetInteractiveMarkers.Request(),
        )
        return next(marker for marker in answer.markers if marker.name == name)

    def drag(self, name, control, pose, event="POSE_UPDATE", frame="world"):
        self.wait(self.feedback.get_subscription_count, "somebody hears feedback")
        message = InteractiveMarkerFeedback(
            client_id="viewer",
            marker_name=name,
            control_name=control,
            event_type=getattr(InteractiveMarkerFeedback, event),
            pose=pose,
        )
        message.header.frame_id = frame
        self.feedback.publish(message)


@pytest.fixture(scope="module")
def watcher(domain):
    watcher = Watcher(domain)
    process = start_node(domain, "--params-file", str(CONFIG), program=PROGRAM)
    yield watcher
    code, watcher.output = stop_node(process)
    watcher.close()
    print(watcher.output)
    assert code == 0
    assert "Traceback" not in watcher.output
    assert "'leaf_at_once' is turntable → arm → leaf in one node" in watcher.output


@pytest.fixture
def nodes(watcher):
    """The fields as they are in the file, and afterwards again."""
    fields = {name: dict(GIVEN[name]) for name in CHAIN}
    watcher.wait(lambda: watcher.has(fields), "the frames of the file")
    yield fields
    watcher.set(
        **{
            f"{name}__{field}": GIVEN[name].get(field, default)
            for name in CHAIN
            for field, default in DEFAULTS.items()
        }
    )


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
    watcher.statuses.clear()
    watcher.wait(lambda: "leaf_at_once" in watcher.statuses, "a status")
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
    watcher.wait(lambda: ("leaf_at_once", 1) in watcher.markers, "markers")
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
    watcher.wait(lambda: watcher.has(nodes), "frames of the changed fields")
    watcher.statuses.clear()
    watcher.wait(lambda: "leaf_at_once" in watcher.statuses, "a status")
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
    watcher.wait(
        lambda: watcher.statuses["leaf_at_once"].level == DiagnosticStatus.ERROR, "an error"
    )
    status = watcher.statuses["leaf_at_once"]
    assert status.message.startswith("turntable → arm → leaf cannot be combined into one node")
    assert float(watcher.value("leaf_at_once", "scale_ratio")) <= 1e-14
    assert float(watcher.value("leaf_at_once", "residual")) >= 0.0
    watcher.wait(lambda: watcher.markers["leaf_at_once", 0].action == Marker.DELETE, "no box")
    nodes["arm"]["scale"] = [1e6, 1.0, 1e-6]
    arm = product(nodes, CHAIN[:2])
    watcher.wait(lambda: watcher.is_at("arm", arm), "the arm is shown all the same")
    watcher.set(arm__scale=GIVEN["arm"]["scale"], leaf__scale=GIVEN["leaf"]["scale"])
    watcher.wait(
        lambda: watcher.statuses["leaf_at_once"].level == DiagnosticStatus.OK, "it is well again"
    )


def joint(nodes, chain):
    """Where the centre of the last of a chain is in the world."""
    last = nodes[chain[-1]]
    local = np.array(last.get("center", [0.0] * 3)) + last["translation"]
    return (product(nodes, chain[:-1]) @ np.append(local, 1.0))[:3]


def test_a_handle_is_at_the_nodes_centre(watcher, nodes):
    for name, chain in (("arm", CHAIN[:2]), ("leaf", CHAIN)):
        watcher.wait(
            lambda name=name, chain=chain: np.allclose(
                xyz(watcher.handle(name).pose.position), joint(nodes, chain), atol=1e-9
            ),
            "the handle is at the centre",
        )
        marker = watcher.handle(name)
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
    watcher.wait(
        lambda: np.allclose(turn(*watcher.get("arm.rotation"))[:3, :3], expected, atol=1e-9),
        "the field has changed",
        lambda: watcher.drag("arm", "turn_z", pose),
    )
    nodes["arm"]["rotation"] = watcher.get("arm.rotation")
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
    np.testing.assert_allclose(joint(nodes, CHAIN[:2]), before, atol=1e-12)
    watcher.wait(lambda: watcher.has(nodes), "frames that are turned")


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
        watcher.wait(
            lambda name=name, expected=expected: np.allclose(
                watcher.get(f"{name}.translation"), expected, atol=1e-9
            ),
            "the field has changed",
            lambda name=name, pose=pose: watcher.drag(name, "move_x", pose),
        )
        assert watcher.get(f"{name}.rotation") == nodes[name]["rotation"]
        before = joint(nodes, chain)
        nodes[name]["translation"] = watcher.get(f"{name}.translation")
        np.testing.assert_allclose(joint(nodes, chain), before + seen, atol=1e-9)
        watcher.wait(lambda: watcher.has(nodes), "frames that are moved")


def test_the_end_of_a_drag_counts_and_a_click_does_not(watcher, nodes):
    pose = watcher.handle("arm").pose
    pose.position.x += 0.25
    watcher.drag("arm", "ball", pose, "MOUSE_UP")  # over a control that is not held
    watcher.spin(0.5)
    pose.position.x += 1e-7 - 0.25
    watcher.drag("arm", "ball", pose, "MOUSE_DOWN")
    watcher.spin(0.5)
    watcher.drag("arm", "ball", pose, "MOUSE_UP")
    watcher.spin(0.5)
    pose.position.x += 0.25
    watcher.drag("arm", "ball", pose, "MOUSE_UP", frame="camera")  # an unknown frame
    watcher.spin(0.5)
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
    watcher.drag("arm", "ball", pose, "MOUSE_UP")
    watcher.wait(
        lambda: watcher.get("arm.translation") != nodes["arm"]["translation"],
        "it was moved",
        lambda: watcher.drag("arm", "ball", pose, "MOUSE_UP"),
    )
    nodes["arm"]["translation"] = watcher.get("arm.translation")
    watcher.wait(lambda: watcher.has(nodes), "frames that are moved")


@pytest.mark.parametrize("far", [2e6, 1e9], ids=["the field's bounds", "what is admitted"])
def test_a_drag_out_of_bounds_is_refused_and_the_handle_returns(watcher, nodes, far):
    pose = watcher.handle("arm").pose
    pose.position.x += far
    watcher.updates.clear()
    watcher.drag("arm", "ball", pose)
    home = joint(nodes, CHAIN[:2])

    def back():
        poses = [each for update in watcher.updates for each in update.poses if each.name == "arm"]
        return poses and np.allclose(xyz(poses[-1].pose.position), home, atol=1e-6)

    watcher.wait(back, "the handle is back", lambda: watcher.drag("arm", "ball", pose))
    assert np.allclose(xyz(watcher.handle("arm").pose.position), home, atol=1e-6)
    assert watcher.get("arm.translation") == nodes["arm"]["translation"]
