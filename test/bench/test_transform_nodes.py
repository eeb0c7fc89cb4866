# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node transform_nodes: tf, status, markers, handles and parameters.

Every expected value comes from products of 4×4 matrices that are made here from the fields.
"""

import itertools
import math
import re
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

INTERFACES = Path(__file__).parents[2] / "docs" / "interfaces.md"
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

    def __init__(self, config=CONFIG):
        super().__init__(World(), TransformNodes, "--params-file", str(config))
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
        """The newest status of each combined node and constraint."""
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

    def combined(self, name="leaf_at_once"):
        """The combined node's fields in `~/status`."""
        return {
            field: [float(word) for word in self.value(name, field).split()] for field in DEFAULTS
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


def test_handles_differ_in_size_so_that_one_in_another_can_be_picked(watcher):
    sizes = [watcher.handle(name).scale for name in ("turntable", "arm", "leaf")]
    assert sizes == sorted(sizes, reverse=True)
    assert all(small <= 0.75 * large for large, small in itertools.pairwise(sizes))


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


# Constraints -------------------------------------------------------------------------------------

PARENTS = {
    "outer": "world", "base": "outer", "bone": "base", "tail": "bone", "eye": "base",
    "sight": "eye", "upper": "base", "fore": "upper", "hand": "fore", "stand": "world",
    "ball": "stand", "target": "stand",
}  # fmt: skip


def way(name):
    """A node with its ancestors, outermost first."""
    return [*way(PARENTS[name]), name] if name in PARENTS else []


TURNED = ("base", "bone", "tail", "eye", "sight", "upper", "fore", "hand")  # or moved
LOOK = {"type": "points_at", "bone": "bone", "tail": "tail", "target": "ball"}
GAZE = {"type": "points_at", "bone": "eye", "tail": "sight", "target": "hand"}  # which reach moves
REACH = {"type": "fabrik", "chain": ["upper", "fore", "hand"], "target": "target"}


def given(constraints, nodes):
    """Parameters of the tree above, all of whose corrected nodes are combined, to be seen."""
    return {
        "nodes": list(PARENTS),
        "combine": [f"{name}_now" for name in TURNED],
        "constraints": list(constraints),
        **{f"{name}_now": {"chain": way(name)} for name in TURNED},
        **{name: fields | {"parent": PARENTS[name]} for name, fields in nodes.items()},
        **constraints,
    }


class Constrained(Nodes):
    """The node with constraints, and the fields of its nodes that are set."""

    def __init__(self, path, constraints, seed=0):
        self.nodes = random_nodes(np.random.default_rng(seed), "sheared")
        self.constraints = list(constraints)
        parameters = given(constraints, self.nodes)
        path.write_text(yaml.safe_dump({"transform_nodes": {"ros__parameters": parameters}}))
        super().__init__(path)

    def put(self, **nodes):
        """Set fields of nodes."""
        self.nodes |= {name: self.nodes[name] | fields for name, fields in nodes.items()}
        changes = {f"{n}__{f}": v for n, fields in nodes.items() for f, v in fields.items()}
        assert not any(self.set(atomically=True, **changes))

    def free(self, name):
        """The node's matrix in the world, from the fields."""
        return product(self.nodes, way(name))

    def corrected(self, name):
        """The corrected node's matrix in the world, from its combined node."""
        return matrix(self.combined(f"{name}_now"))

    def joint(self, bone):
        """The centre of a bone in the world."""
        return (self.corrected(bone) @ np.append(self.nodes[bone]["center"], 1.0))[:3]

    def off(self, bone, tail, target):
        """The angle between a bone and the way to a point [rad]."""
        u, v = self.corrected(tail)[:3, 3] - self.joint(bone), target - self.joint(bone)
        return math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)

    def only_turns(self, bone):
        """Whether a bone has all of its fields, but for the rotation: lengths are kept, too."""
        local = np.linalg.inv(self.corrected(PARENTS[bone])) @ self.corrected(bone)
        fields = self.nodes[bone]
        rest = matrix({**fields, "rotation": DEFAULTS["rotation"]})
        rotation = local[:3, :3] @ np.linalg.inv(rest[:3, :3])
        moved = shift(fields["translation"]) @ shift(fields["center"])
        pivot = np.append(fields["center"], 1.0)
        return (
            np.abs(rotation @ rotation.T - np.eye(3)).max() < 1e-10
            and np.abs(local @ pivot - moved @ [0, 0, 0, 1]).max() < 1e-10
        )

    def met(self):
        """The constraints that are met, of whose status level, text and verdict agree."""
        found = set()
        for name in self.constraints:
            status = self.statuses[name]
            if self.value(name, "verdict") == "REACHED":
                assert (status.level, status.message) == (DiagnosticStatus.OK, "met")
                found.add(name)
        return found


def random_nodes(rng, kind):
    """Fields of every node, below a base that scales by one factor, by three, or obliquely."""

    def axis_angle():
        return [*rng.normal(size=3).tolist(), float(rng.uniform(-3, 3))]

    def fields(scaled):
        scale = np.exp(rng.uniform(-0.5, 0.5, 3))
        oblique = kind == "sheared"
        return {
            "center": (0.2 * rng.normal(size=3)).tolist(),
            "rotation": axis_angle(),
            "scale": scale.tolist() if scaled else 3 * [1.0],
            "scaleOrientation": axis_angle() if oblique else DEFAULTS["scaleOrientation"],
            "translation": rng.normal(size=3).tolist(),
        }

    nodes = {
        name: fields(kind == "sheared" or (kind != "uniform" and name in ("outer", "base")))
        for name in PARENTS
    }
    if kind == "uniform":
        nodes["base"]["scale"] = nodes["outer"]["scale"] = 3 * [float(rng.uniform(0.5, 2))]
    turned = {name: nodes[name] | {"rotation": axis_angle()} for name in ("upper", "fore")}
    goal = product(nodes | turned, way("hand"))[:, 3]
    place = np.linalg.solve(matrix(nodes["stand"]), goal)[:3]
    nodes["target"] |= {"center": 3 * [0.0], "translation": place.tolist()}
    return nodes


@pytest.fixture
def constrained(tmp_path):
    """The node with three constraints that are met below oblique scale."""
    watcher = Constrained(tmp_path / "p.yaml", {"gaze": GAZE, "look": LOOK, "reach": REACH})
    try:
        assert watcher.met() == {"gaze", "look", "reach"}
        yield watcher
    finally:
        watcher.end()


@pytest.mark.parametrize("kind", ["uniform", "stretched", "sheared"])
def test_constraints_are_met_below_scale(constrained, kind):
    w = constrained
    for seed in range(3):
        w.put(**random_nodes(np.random.default_rng(seed), kind))
        assert w.met() == {"gaze", "look", "reach"}
        ball, target = (w.free(name)[:3, 3] for name in ("ball", "target"))
        assert w.off("bone", "tail", ball) < 1e-12
        assert w.off("eye", "sight", w.corrected("hand")[:3, 3]) < 1e-12
        assert np.linalg.norm(w.corrected("hand")[:3, 3] - target) < 1e-8
        assert all(w.only_turns(bone) for bone in ("bone", "eye", "upper", "fore"))
        for name in TURNED:
            assert w.is_at(name, w.corrected(name)), "tf has the corrected node"
            assert w.is_at(f"{name}_now", w.corrected(name))
        assert w.is_at("ball", w.free("ball"))


def test_a_target_is_followed_by_parameter_and_by_handle(constrained):
    first, place = constrained.combined("bone_now"), constrained.nodes["ball"]["translation"]
    constrained.put(ball={"translation": [-2.0, 1.0, 0.5]})
    constrained.put(ball={"translation": place})
    assert constrained.combined("bone_now") == first, "no solution depends on those before"
    constrained.put(ball={"translation": [0.3, 2.0, -1.0]})
    assert constrained.off("bone", "tail", constrained.free("ball")[:3, 3]) < 1e-12
    pose = constrained.handle("ball").pose
    before = constrained.free("ball")[:3, 3]
    pose.position.x += 0.5
    constrained.drag("ball", "move_x", pose)
    constrained.nodes["ball"]["translation"] = constrained.get("ball.translation")
    ball = constrained.free("ball")[:3, 3]
    np.testing.assert_allclose(ball - before, (0.5, 0.0, 0.0), atol=1e-9)
    assert constrained.off("bone", "tail", ball) < 1e-12
    assert constrained.met() == {"gaze", "look", "reach"}


def test_a_target_out_of_reach_is_told_with_the_distance_and_the_others_are_met(constrained):
    for kind, verdict in (("sheared", "BUDGET_SPENT"), ("stretched", "TOO_FAR")):
        constrained.put(**random_nodes(np.random.default_rng(3), kind))
        constrained.put(target={"translation": [90.0, 0.0, 0.0]})
        assert constrained.met() == {"gaze", "look"}
        status = constrained.statuses["reach"]
        assert (status.level, constrained.value("reach", "verdict")) == (
            DiagnosticStatus.WARN,
            verdict,
        )
        hand = constrained.corrected("hand")[:3, 3]
        miss = np.linalg.norm(hand - constrained.free("target")[:3, 3])
        assert float(constrained.value("reach", "miss_m")) == pytest.approx(miss, rel=1e-6)
        assert status.message.endswith(f"; {1e3 * miss:.0f} mm are left")
        assert constrained.off("eye", "sight", hand) < 1e-12, "it looks at where the hand is"


def test_a_bone_without_length_is_degenerate_alone(constrained):
    fields = constrained.nodes["tail"]
    constrained.put(tail={"center": 3 * [0.0], "translation": constrained.nodes["bone"]["center"]})
    status = constrained.statuses["look"]
    assert (status.level, status.message) == (
        DiagnosticStatus.WARN,
        "degenerate; nan° are left",
    )
    assert constrained.met() == {"gaze", "reach"}
    assert constrained.is_at("bone", constrained.free("bone")), "as its parameters have it"
    constrained.put(tail=fields)
    assert constrained.met() == {"gaze", "look", "reach"}


def test_a_tip_that_no_bone_moves_is_told_and_raises_nothing(constrained):
    still = {"center": 3 * [0.0], "translation": 3 * [0.0]}
    constrained.put(upper=still, fore=still, hand=still)
    assert constrained.met() == {"gaze", "look"}
    assert constrained.value("reach", "verdict") == "BUDGET_SPENT"


def test_frames_that_floating_point_cannot_hold_end_their_constraints_alone(constrained):
    constrained.put(outer={"scale": [1e6, 1.0, 1e-6]}, base={"scale": [1e6, 1e-6, 1.0]})
    for name in ("look", "reach"):
        status = constrained.statuses[name]
        assert (status.level, constrained.value(name, "verdict")) == (
            DiagnosticStatus.ERROR,
            "FAULT",
        )
        assert status.message.startswith("matrix is singular")
    assert constrained.met() == {"gaze"}, "what is above both cancels"
    drawn = {key: marker.action for key, marker in constrained.markers.items() if " " in key[0]}
    assert set(drawn.values()) == {Marker.DELETE}
    assert constrained.is_at("ball", constrained.free("ball")), "other frames go on"
    constrained.put(upper={"scale": [1e6, 1.0, 1e-6]}, fore={"scale": [1e6, 1e-6, 1.0]})
    assert constrained.met() == set()
    assert constrained.is_at("ball", constrained.free("ball"))
    constrained.put(**random_nodes(np.random.default_rng(0), "sheared"))
    assert constrained.met() == {"gaze", "look", "reach"}


def test_chains_that_share_a_bone_below_scale_leave_the_later_one_out(tmp_path):
    second = REACH | {"chain": ["upper", "fore"], "target": "ball"}
    look = LOOK | {"target": "world"}
    w = Constrained(tmp_path / "a.yaml", {"look": look, "reach": REACH, "also": second})
    try:
        assert w.met() == {"look", "reach"}
        assert w.off("bone", "tail", np.zeros(3)) < 1e-12
        assert not xyz(w.markers["constraint target", 0].pose.position).any(), "the root"
        status = w.statuses["also"]
        assert (status.level, w.value("also", "verdict")) == (DiagnosticStatus.ERROR, "FAULT")
        assert status.message == (
            "upper → fore → hand: a frame of it is scaled; limits and shared bones need lengths "
            "that stay"
        )
        assert w.log.count(("error", f"'also': {status.message}")) == 1
        assert w.is_at("hand", w.corrected("hand"))
        w.put(**random_nodes(np.random.default_rng(0), "stretched"))
        assert w.value("also", "verdict") in ("TOO_FAR", "OTHER_TASKS", "REACHED")
        assert ("info", "recovered: 'also' fits its nodes") in w.log
    finally:
        w.end()


def test_the_ring_of_a_constrained_bone_sets_its_roll(constrained):
    before = constrained.corrected("bone")
    pose = constrained.handle("bone").pose
    _, outer, _ = parts(constrained.corrected("base"))
    rest = matrix({**constrained.nodes["bone"], "rotation": DEFAULTS["rotation"]})
    local = np.linalg.inv(constrained.corrected("base")) @ before
    rotation = local[:3, :3] @ np.linalg.inv(rest[:3, :3])
    held = rotation_of(pose.orientation)
    np.testing.assert_allclose(held, outer @ rotation, atol=1e-9)  # of the corrected node
    q, half = pose.orientation, 0.4
    axis = np.sin(half) * held[:, 2]
    x, y, z, w = q.x, q.y, q.z, q.w
    v = np.cos(half) * np.array((x, y, z)) + w * axis + np.cross(axis, (x, y, z))
    q.w = float(np.cos(half) * w - axis @ (x, y, z))
    q.x, q.y, q.z = v.tolist()
    wanted = rotation_of(q)
    constrained.drag("bone", "turn_z", pose)
    set_to = turn(*constrained.get("bone.rotation"))[:3, :3]
    np.testing.assert_allclose(set_to, outer.T @ wanted, atol=1e-9)
    constrained.nodes["bone"]["rotation"] = constrained.get("bone.rotation")
    assert constrained.off("bone", "tail", constrained.free("ball")[:3, 3]) < 1e-12
    assert constrained.only_turns("bone")
    assert np.abs(constrained.corrected("bone") - before).max() > 0.1, "it has rolled"
    _, there, _ = parts(constrained.corrected("base"))
    local = np.linalg.inv(constrained.corrected("base")) @ constrained.corrected("bone")
    rotation = local[:3, :3] @ np.linalg.inv(rest[:3, :3])
    again = rotation_of(constrained.handle("bone").pose.orientation)
    np.testing.assert_allclose(again, there @ rotation, atol=1e-9)


def test_a_constrained_bone_is_moved_by_its_handle_and_points_on(constrained):
    pose = constrained.handle("bone").pose
    joint = constrained.joint("bone")
    np.testing.assert_allclose(xyz(pose.position), joint, atol=1e-9)
    pose.position.y += 0.4
    constrained.drag("bone", "move_y", pose)
    constrained.nodes["bone"]["translation"] = constrained.get("bone.translation")
    np.testing.assert_allclose(constrained.joint("bone") - joint, (0.0, 0.4, 0.0), atol=1e-9)
    assert constrained.off("bone", "tail", constrained.free("ball")[:3, 3]) < 1e-12


def test_a_node_below_a_corrected_bone_is_dragged_in_its_coordinates(constrained):
    seen, before = np.array((0.0, 0.3, 0.0)), constrained.nodes["tail"]["translation"]
    bone = constrained.corrected("bone")[:3, :3]
    pose = constrained.handle("tail").pose
    pose.position.y += 0.3
    constrained.drag("tail", "move_y", pose)
    expected = np.array(before) + np.linalg.solve(bone, seen)
    np.testing.assert_allclose(constrained.get("tail.translation"), expected, atol=1e-9)
    assert constrained.met() == {"gaze", "look", "reach"}


def test_the_solvers_of_the_constraints_are_compiled_ahead(watcher, tmp_path):
    def steps(nodes):
        return {step.name for step in nodes.node._kernels._steps}

    assert not {"points-at", "FABRIK"} & steps(watcher)
    watcher.end()
    w = Constrained(tmp_path / "p.yaml", {"look": LOOK})
    assert {"points-at", "FABRIK"} <= steps(w)
    w.end()


def test_constraints_are_drawn_from_joint_to_joint(constrained):
    constrained.put(target={"translation": [90.0, 0.0, 0.0]})
    gaze, look, reach = 0, 1, 2  # as they are declared
    found = constrained.markers
    points = {
        number: np.array([xyz(p) for p in found["constraint bones", number].points])
        for number in (gaze, look, reach)
    }
    joints = {bone: constrained.joint(bone) for bone in ("bone", "upper", "fore")}
    tail, hand = (constrained.corrected(name)[:3, 3] for name in ("tail", "hand"))
    np.testing.assert_allclose(points[look], [joints["bone"], tail], atol=1e-9)
    along = [joints["upper"], joints["fore"], joints["fore"], hand]
    np.testing.assert_allclose(points[reach], along, atol=1e-9)
    ball = found["constraint target", look]
    np.testing.assert_allclose(xyz(ball.pose.position), constrained.free("ball")[:3, 3], atol=1e-9)
    assert ball.header.frame_id == "world"
    assert found["constraint verdict", look].text == "look: met"
    assert (
        found["constraint verdict", reach].text == f"reach: {constrained.statuses['reach'].message}"
    )
    assert found["constraint miss", reach].type == Marker.LINE_LIST
    assert found["target", 0].type == Marker.LINE_LIST, "the box of the node of that name"


def test_a_constraint_is_fixed_at_start(constrained):
    reasons = constrained.set(
        constraints="look",
        **{f"look__{key}": "tail" for key in LOOK},
        **{f"reach__{key}": "tail" for key in (*REACH, "method")},
    )
    assert len(reasons) == 9
    assert all("read-only" in reason for reason in reasons)


def test_the_constraints_of_the_page_are_met(tmp_path):
    (text,) = re.findall(r"```yaml\n(nodes:.*?)```", INTERFACES.read_text(), re.DOTALL)
    path = tmp_path / "page.yaml"
    parameters = {"transform_nodes": {"ros__parameters": yaml.safe_load(text)}}
    path.write_text(yaml.safe_dump(parameters))
    w = Nodes(path)
    try:
        assert {name: status.message for name, status in w.statuses.items()} == {
            "lamp_looks": "met",
            "arm_reaches": "met",
        }
    finally:
        w.end()


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
