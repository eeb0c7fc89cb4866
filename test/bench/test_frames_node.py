# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node frames_node: limits, chains that share bones, conflicts, carried targets.

Frames are sent by this test and the corrected ones heard; what is expected is computed here.
"""

import math
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from rclpy.parameter import Parameter
from rotations import rotation_of
from tf2_msgs.msg import TFMessage
from virtual_program import VirtualProgram
from visualization_msgs.msg import Marker
from world import MILLISECOND, World

from basis_ik.bones.bone_limits import Cone, Hinge, SwingTwist
from basis_ik.bones.constraints import Applied, Point, Reach
from basis_ik.bones.points_at import points_at_in_object, points_at_in_world
from basis_ik.ros.demo.legs_motion import LegsMotion
from basis_ik.ros.frames.frame_parameters import read_constraints
from basis_ik.ros.frames.frames_node import (
    FrameError,
    FramesNode,
    corrected_frames,
    edges_of,
)
from basis_ik.ros.frames.met_constraints import status_of, turns_of
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict, shown_length

LOOK = Point("calf", "ankle", "ball")
STAND = Reach(("thigh", "calf", "ankle"), "foothold")
PARENTS = {
    "hip": "base", "thigh": "hip", "shin": "thigh", "calf": "shin", "ankle": "calf",
    "toe": "ankle", "foothold": "map", "ball": "map", "base": "map",
}  # fmt: skip


def test_all_ancestors_are_read_parents_first():
    edges = edges_of([STAND, LOOK], PARENTS)
    assert {frame: parent for parent, frame in edges} == {
        frame: parent for frame, parent in PARENTS.items() if frame != "toe"
    }
    seen = {edges[0][0]}
    for parent, frame in edges:
        assert parent in seen
        seen.add(frame)
    assert edges[0][0] == "map"


@pytest.mark.parametrize(
    ("constraint", "parents", "logged"),
    [
        (Point("map", "hip", "ball"), PARENTS, "no parent of 'map' to rotate it in"),
        (Point("calf", "heel", "ball"), PARENTS, "tf does not connect 'heel' with 'map'"),
        (LOOK, PARENTS | {"ball": "moon"}, "tf does not connect 'ball' with 'map'"),
        (LOOK, PARENTS | {"ball": "bat", "bat": "ball"}, "tf does not connect 'ball' with 'map'"),
    ],
    ids=["topmost", "unknown", "another tree", "a loop"],
)
def test_disconnected_frames_are_reported(constraint, parents, logged):
    with pytest.raises(FrameError, match=logged):
        edges_of([constraint], parents)


def test_chains_and_carried_targets_are_broadcast():
    tree = TransformTree("map")
    for parent, frame in edges_of([STAND, Point("calf", "toe", "ball")], PARENTS):
        tree.add(frame, parent, RigidTransform.identity())
    eye = Point("hip", "ball", "toe")
    assert corrected_frames(tree, [STAND]) == ["thigh", "calf", "ankle"]
    assert corrected_frames(tree, [STAND, LOOK]) == ["thigh", "calf", "ankle"]
    sent = corrected_frames(tree, [STAND, eye])
    assert sent[-1] == "toe"
    assert set(sent) == {"hip", "ball", "thigh", "calf", "ankle", "toe"}


def test_the_status_has_the_missing_distance_and_conflicts():
    met = status_of("frames_node", "look", LOOK, Applied(Verdict.REACHED, 1e-12))
    assert (met.level, met.message) == (DiagnosticStatus.OK, "met")
    against = Applied(Verdict.OTHER_TASKS, 0.25, ("stand", "lean"))
    missed = status_of("frames_node", "look", LOOK, against)
    assert missed.level == DiagnosticStatus.WARN
    assert missed.message == (
        "other tasks stand in the way; 14.3° are left; conflicts with stand, lean"
    )
    values = {value.key: value.value for value in missed.values}
    assert values == {"verdict": "OTHER_TASKS", "miss_rad": "0.25", "conflicts": "stand, lean"}
    far = status_of("frames_node", "stand", STAND, Applied(Verdict.TOO_FAR, 0.5))
    assert far.message == "too far; 500 mm are left"


def test_a_turn_is_shown_on_the_right_and_on_the_left():
    """As both options of the text compute it."""
    tree = TransformTree("map")
    for parent, frame in edges_of([LOOK], PARENTS):
        turn = RigidTransform.from_rpy(0.3, -0.2, 0.4, [0.1, 0.2, -0.5])
        tree.add(frame, parent, turn)
    before = {frame: tree.lookup(tree.parent(frame), frame) for frame in tree.frames[1:]}
    places = LOOK.bone, LOOK.tail, LOOK.target
    right, left = points_at_in_object(tree, *places), points_at_in_world(tree, *places)
    joint = tree.lookup("map", LOOK.bone).translation
    tree.move(LOOK.bone, before[LOOK.bone] @ right)
    found = turns_of(before, tree, LOOK.chain[:-1])
    for turn, more, key in ((right, "", "turn.calf"), (left, joint, "turn.calf.map")):
        axis, angle = turn.as_axis_angle()
        x, y, z = axis.round(3) + 0.0
        expected = f"{np.degrees(angle):.1f}° about {x:.3f} {y:.3f} {z:.3f}"
        if key == "turn.calf.map":
            x, y, z = more.round(3) + 0.0
            expected += f" through {x:.3f} {y:.3f} {z:.3f} m"
        assert found.pop(key) == expected
    assert not found


def test_constraints_and_limits_are_read_from_parameters():
    given = {
        "constraints": ["look", "stand", "swing"],
        "look.type": "points_at", "look.bone": "calf", "look.tail": "ankle", "look.target": "ball",
        "stand.type": "fabrik", "stand.chain": ["thigh", "calf", "ankle"],
        "stand.target": "foothold",
        "swing.type": "fabrik", "swing.chain": ["arm", "hand"], "swing.target": "ball",
        "swing.method": "shared",
        "limits": ["knee", "hip", "shoulder"],
        "knee.type": "hinge", "knee.bone": "calf", "knee.axis": [0.0, 2.0, 0.0],
        "knee.lower": -1.5, "knee.upper": 1.5, "knee.rest": [0.3, -0.2, 0.9],
        "hip.type": "swing_twist", "hip.bone": "thigh", "hip.half_angle": 0.5,
        "hip.lower": -0.1, "hip.upper": 0.2,
        "shoulder.type": "cone", "shoulder.bone": "arm", "shoulder.half_angle": 0.4,
        "prefix": "mine/", "update_rate": 20.0,
    }  # fmt: skip
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node(
        "frames_node",
        context=context,
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
        automatically_declare_parameters_from_overrides=True,
    )
    try:
        found = read_constraints(node)
    finally:
        node.destroy_node()
        context.try_shutdown()
    assert found[:4] == (20.0, "mine/", 2.0, 0.0)
    assert list(found.constraints) == ["look", "stand", "swing"]
    look, stand, swing = found.constraints.values()
    assert (look.bone, look.tail, look.target) == ("calf", "ankle", "ball")
    assert (stand.chain, stand.target, stand.method) == (STAND.chain, "foothold", "fabrik")
    assert (swing.chain, swing.target, swing.method) == (("arm", "hand"), "ball", "shared")
    knee = look.limit
    assert isinstance(knee, Hinge)
    assert (knee.axis, knee.lower, knee.upper) == ([0.0, 2.0, 0.0], -1.5, 1.5)
    assert knee.rest.is_close(RigidTransform.from_rpy(0.3, -0.2, 0.9), 1e-15)
    assert stand.limits["calf"] is knee
    assert stand.limits["thigh"] == SwingTwist(RigidTransform.identity(), 0.5, -0.1, 0.2)
    assert swing.limits == {"arm": Cone(RigidTransform.identity(), 0.4)}


# Each by itself -----------------------------------------------------------------------------------

TWO = """
frames_node:
  ros__parameters:
    constraints: [look, other]
    look: {type: points_at, bone: eye, tail: sight, target: ball}
    other: {type: points_at, bone: arm, tail: hand, target: cup}
"""
PLACES = {
    "eye": ("base", 0.0), "sight": ("eye", 0.1), "ball": ("base", 0.5),
    "arm": ("base", 0.2), "hand": ("arm", 0.3), "cup": ("base", 1.0),
}  # fmt: skip


class Two:
    """A program with two constraints, and sources that send their frames 100 times a second."""

    def __init__(self, path, text=TWO):
        path.write_text(text)
        self.program = VirtualProgram(World(), FramesNode, "--params-file", str(path))
        self.places, self.silent = dict(PLACES), set()
        self.program.world.every(10 * MILLISECOND, self._send)
        while not any(each.message == "met" for each in self.program.sent["/frames_node/status"]):
            time.sleep(0.01)  # another thread loads kernels, of which the status speaks, too
            self.run(0.5)

    def _send(self):
        messages = []
        for frame, (parent, x) in self.places.items():
            if frame not in self.silent:
                message = TransformStamped(child_frame_id=frame)
                message.header.frame_id, message.header.stamp = parent, self.program.now().to_msg()
                message.transform.translation.x = x
                messages.append(message)
        self.program.receive("/tf", TFMessage(transforms=messages))

    def run(self, seconds):
        """Let time pass; forget what was sent before."""
        self.program.sent.clear()
        self.program.run(seconds)

    def said(self, name):
        """Return the last status of a constraint."""
        sent = self.program.sent["/frames_node/status"]
        return [each for each in sent if each.name == f"frames_node: {name}"][-1]

    def count(self, name):
        return sum(each.name.endswith(name) for each in self.program.sent["/frames_node/status"])

    def broadcast(self):
        """Return how often each frame was broadcast, and the age of the last one [s]."""
        sent = [each for message in self.program.sent["/tf"] for each in message.transforms]
        stamp = sent[-1].header.stamp if sent else Time()
        now = self.program.now().nanoseconds
        counts = Counter(each.child_frame_id for each in sent)
        return counts, 1e-9 * (now - stamp.sec * 10**9 - stamp.nanosec)


@pytest.fixture
def two(tmp_path):
    two = Two(tmp_path / "two.yaml")
    yield two
    two.program.end()


def values_of(status):
    return {each.key: each.value for each in status.values}


def test_a_source_that_ceases_ends_its_constraint_alone_with_its_age(two):
    two.silent = {"ball"}
    two.run(1.8)
    assert two.said("look").message == "met", "it may still be late"
    assert float(values_of(two.said("look"))["age"]) > 1.0
    two.run(6.0)
    look, other = two.said("look"), two.said("other")
    assert look.level == DiagnosticStatus.WARN
    assert look.message.startswith("waiting: 'ball' has no new transform for 7.")
    assert values_of(look)["verdict"] == "WAITING"
    assert (other.level, other.message) == (DiagnosticStatus.OK, "met")
    assert two.count("look") == two.count("other") == pytest.approx(12, abs=1), "twice a second"
    two.run(1.0)
    counts, age = two.broadcast()
    assert "ik/eye" not in counts
    assert counts["ik/arm"] == pytest.approx(50, abs=1)
    assert age < 0.05, "the other's frames are those of now"
    two.silent = set()
    two.run(1.0)
    assert two.said("look").message == "met"


def test_a_missing_frame_stops_its_constraint_alone(two):
    two.places["ball"] = ("nowhere", 0.5)  # another tree
    two.run(3.0)
    assert two.said("look").message == "waiting: tf does not connect 'ball' with 'base'"
    assert two.said("other").message == "met"
    assert two.count("look") == two.count("other") == pytest.approx(6, abs=1)


def test_a_constraint_in_another_tree_stops_alone(two):
    two.places |= {"arm": ("island", 0.2), "cup": ("island", 1.0)}
    two.run(3.0)
    assert two.said("look").message == "met"
    assert two.said("other").message == "waiting: tf does not connect 'arm' with 'base'"


def test_a_constraint_that_does_not_fit_its_frames_is_a_fault_alone(two):
    two.places["sight"] = ("base", 0.1)  # beside the bone instead of below it
    two.run(3.0)
    look = two.said("look")
    assert look.message == "bone 'eye' does not move its tail 'sight'"
    assert (look.level, values_of(look)["verdict"]) == (DiagnosticStatus.ERROR, "FAULT")
    assert two.said("other").message == "met"


@pytest.mark.parametrize("parent", ["sight", "ik/eye"], ids=["its source", "as corrected"])
def test_a_constraint_that_moves_its_own_target_is_a_fault_until_tf_has_it_elsewhere(two, parent):
    two.places |= {"lens": (parent, 0.1), "ball": ("lens", 0.4)}
    two.run(3.0)
    look, other = two.said("look"), two.said("other")
    assert look.message == "it moves its own target 'ball'"
    assert (look.level, values_of(look)["verdict"]) == (DiagnosticStatus.ERROR, "FAULT")
    assert other.message == "met"
    assert two.count("look") == two.count("other") == pytest.approx(6, abs=1)
    two.run(1.0)
    assert "ik/eye" not in two.broadcast()[0]
    assert two.program.log.count(("error", f"look: {look.message}")) == 1
    two.places["ball"] = ("base", 0.5)
    two.run(2.0)
    assert two.said("look").message == "met"


def test_a_chain_of_a_nanometre_is_not_met_at_more_than_half_its_length(tmp_path):
    arm = TWO.replace("points_at, bone: arm, tail: hand", "fabrik, chain: [arm, hand]")
    two = Two(tmp_path / "two.yaml", arm)
    try:
        two.places |= {"arm": ("base", 0.0), "hand": ("arm", 1e-9), "cup": ("base", 1.6e-9)}
        two.run(2.0)
        assert two.said("other").message == "too far; under 0.01 mm are left"
        two.places["cup"] = ("base", -1e-9)
        two.run(2.0)
        assert two.said("other").message == "met"
    finally:
        two.program.end()


class Received:
    """The messages of the program: frames in their parents, and the status of each constraint."""

    def __init__(self):
        self.frames, self.statuses, self.markers = {}, {}, {}

    def tf(self, message):
        for each in message.transforms:
            t = each.transform.translation
            place = np.array((t.x, t.y, t.z))
            turn = rotation_of(each.transform.rotation)
            self.frames[each.child_frame_id] = (each.header.frame_id, turn, place)

    def status(self, message):
        self.statuses[message.name.removeprefix("frames_node: ")] = message

    def marker_array(self, message):
        self.markers = {(marker.ns, marker.id): marker for marker in message.markers}

    def turn(self, frame):
        return self.frames[frame][1]

    def place(self, frame, point=(0.0, 0.0, 0.0)):
        """A point of a frame in the base, as it is broadcast."""
        point = np.array(point)
        while frame != "base":
            frame, turn, place = self.frames[frame]
            point = turn @ point + place
        return point


def started(path, parameters, frames):
    """Return a program that broadcasts corrected frames, and what was sent to it."""
    path.write_text(parameters)
    received = Received()
    program = VirtualProgram(World(), FramesNode, "--params-file", str(path))
    messages = []
    for frame, (parent, (x, y, z), pitch) in frames.items():
        message = TransformStamped(child_frame_id=frame)
        message.header.frame_id = parent
        t, q = message.transform.translation, message.transform.rotation
        t.x, t.y, t.z = float(x), float(y), float(z)
        q.y, q.w = math.sin(0.5 * pitch), math.cos(0.5 * pitch)
        messages.append(message)
        turn = rotation_of(q)
        received.frames[frame] = (parent, turn, np.array((x, y, z), float))
    program.receive("/tf_static", TFMessage(transforms=messages))
    while not program.sent["/tf"]:
        time.sleep(0.01)  # another thread loads kernels
        program.run(0.1)
    program.sent.clear()  # it may have said that it compiles
    return program, received


# The options of the text, and FABRIK by pass -----------------------------------------------------

LEGS = """
frames_node:
  ros__parameters:
    constraints: [look, stand]
    look: {type: points_at, bone: calf_l, tail: ankle_l, target: ankle_r}
    stand: {type: fabrik, chain: [thigh_r, calf_r, ankle_r], target: foothold}
    limits: [knee]
    knee: {type: hinge, bone: calf_r, axis: [0.0, 1.0, 0.0], lower: 0.0, upper: 0.3}
    pass_time: 0.5
"""
LEG_FRAMES = {"hip": ("base", (3, 1, 2), 0.7), "foothold": ("hip", (0.5, -0.1, -0.7), 0.0)}
for side, y in (("l", 0.1), ("r", -0.1)):
    LEG_FRAMES |= {
        f"thigh_{side}": ("hip", (0, y, 0), -0.3),
        f"calf_{side}": (f"thigh_{side}", (0, 0, -0.45), 0.5),
        f"ankle_{side}": (f"calf_{side}", (0, 0, -0.45), 0.0),
    }
WITHOUT_LIMITS = "".join(line for line in LEGS.splitlines(True) if "knee" not in line)


@contextmanager
def legs(path, parameters):
    """Run the program with the legs; yield it and what it sends."""
    program, received = started(path / "legs.yaml", parameters, LEG_FRAMES)
    try:
        program.run(1.0)
        received.tf(program.sent["/tf"][-1])
        for message in program.sent["/frames_node/status"]:
            received.status(message)
        yield program, received
    finally:
        program.end()


def test_both_options_of_the_text_broadcast_the_same_frames(tmp_path):
    found = []
    for option in (1, 2):
        with legs(tmp_path, f"{WITHOUT_LIMITS}    option: {option}\n") as (_, received):
            pass
        assert {each.message for each in received.statuses.values()} == {"met"}
        miss = received.place("ik/ankle_r") - received.place("foothold")
        assert np.linalg.norm(miss) < 1e-7
        found.append(received.frames)
    world, own = found
    assert world.keys() == own.keys()
    for frame in world:
        assert world[frame][0] == own[frame][0]
        np.testing.assert_allclose(world[frame][1], own[frame][1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(world[frame][2], own[frame][2], rtol=0, atol=1e-9)


def test_option_1_keeps_no_limits_and_says_so(tmp_path):
    for option, is_met, warnings in ((2, False, 0), (1, True, 1)):
        with legs(tmp_path, f"{LEGS}    option: {option}\n") as (program, received):
            pass
        assert (received.statuses["stand"].message == "met") == is_met
        said = [text for _, text in program.log if "does not keep limits: knee" in text]
        assert len(said) == warnings


def test_fabrik_is_shown_pass_by_pass(tmp_path):
    """Each pass from the joints before it, as Algorithm 1 has it."""
    shown = {}
    with legs(tmp_path, WITHOUT_LIMITS) as (program, received):
        for _ in range(100):
            program.sent.clear()
            program.run(0.1)
            for message in program.sent["/frames_node/markers"]:
                received.marker_array(message)
                name, _, left = received.markers["pass", 1].text.partition(": ")
                shown[name] = (ends_of(received.markers["passes", 1]), left)
    names = ["start"]
    names += [f"{way} pass {n}" for n in (1, 2, 3) for way in ("backward", "forward")]
    assert set(names) <= shown.keys()
    joints = [received.place(frame) for frame in ("thigh_r", "calf_r", "ankle_r")]
    root, goal = joints[0].copy(), received.place("foothold")
    for count, name in enumerate(names):
        if name.startswith("backward"):
            joints[2] = goal
            for i in (1, 0):
                away = joints[i] - joints[i + 1]
                joints[i] = joints[i + 1] + 0.45 * away / np.linalg.norm(away)
            left = np.linalg.norm(joints[0] - root)
        elif name.startswith("forward"):
            joints[0] = root
            for i in (1, 2):
                away = joints[i] - joints[i - 1]
                joints[i] = joints[i - 1] + 0.45 * away / np.linalg.norm(away)
            left = np.linalg.norm(joints[2] - goal)
        else:
            left = np.linalg.norm(joints[2] - goal)
        lines, text = shown[name]
        assert len(lines) == 2 * (count + 1)
        expected = [(joints[0], joints[1]), (joints[1], joints[2])]
        np.testing.assert_allclose(lines[-2:], expected, rtol=0, atol=1e-6)
        assert shown_length(left) in text


@pytest.mark.parametrize(("prefix", "is_shown"), [("ik/", True), ("''", False)])
def test_the_demos_corrected_legs_are_shown_if_they_have_a_prefix(prefix, is_shown):
    """Solid legs would hide the passes."""
    program = VirtualProgram(World(), LegsMotion, "-p", f"frame_prefix:={prefix}")
    try:
        assert bool(program.sent["/corrected/robot_description"]) == is_shown
    finally:
        program.end()


# Together, over one tree ------------------------------------------------------------------------

PARAMETERS = """
frames_node:
  ros__parameters:
    constraints: [gaze, left, right, stretch, thumb]
    gaze: {type: points_at, bone: eye, tail: sight, target: nail_l}
    left: {type: fabrik, chain: [spine, chest, upper_l, fore_l, hand_l], target: goal_l}
    right: {type: fabrik, chain: [spine, chest, upper_r, fore_r, hand_r], target: goal_r}
    stretch: {type: fabrik, chain: [tail1, tail2, tip], target: far, method: shared}
    thumb: {type: points_at, bone: tail2, tail: tip, target: goal_l}
    limits: [elbow_l, elbow_r, waist, neck]
    elbow_l: {type: hinge, bone: fore_l, axis: [0.0, 1.0, 0.0], lower: -2.5, upper: 0.0}
    elbow_r: {type: hinge, bone: fore_r, axis: [0.0, 1.0, 0.0], lower: -2.5, upper: 0.0}
    waist: {type: swing_twist, bone: chest, half_angle: 0.3, lower: -0.2, upper: 0.2,
      rest: [0.0, 0.1, 0.0]}
    neck: {type: cone, bone: eye, half_angle: 0.05}
"""
# Frame: parent, place, turn about y. The chest has a shoulder on each side.
FRAMES = {
    "spine": ("base", (0, 0, 0), 0.0),
    "chest": ("spine", (0, 0, 0.3), 0.1),
    "eye": ("chest", (0, 0, 0.4), 0.0),
    "sight": ("eye", (0.1, 0, 0), 0.0),
    "far": ("base", (0, 0, -9), 0.0),
    "goal_l": ("base", (0.5, 0.2, 0.3), 0.0),
    "goal_r": ("base", (0.4, -0.3, 0.4), 0.0),
    "tail1": ("base", (-0.1, 0, 0), 0.5),
    "between": ("tail1", (-0.1, 0, 0), 0.3),
    "tail2": ("between", (-0.2, 0, 0), 0.2),
    "tip": ("tail2", (-0.3, 0, 0), 0.0),
}
for side, y in (("l", 0.2), ("r", -0.2)):
    FRAMES |= {
        f"upper_{side}": ("chest", (0, y, 0.2), 0.2),
        f"fore_{side}": (f"upper_{side}", (0, 0, -0.3), -0.4),
        f"hand_{side}": (f"fore_{side}", (0, 0, -0.3), 0.0),
        f"nail_{side}": (f"hand_{side}", (0, 0, -0.1), 0.0),
    }


@pytest.fixture(scope="module")
def received(tmp_path_factory):
    path = tmp_path_factory.mktemp("frames") / "params.yaml"
    program, received = started(path, PARAMETERS, FRAMES)
    try:
        program.run(2.0)
        received.tf(program.sent["/tf"][-1])
        for message in program.sent["/frames_node/status"]:
            received.status(message)
        received.marker_array(program.sent["/frames_node/markers"][-1])
        assert received.statuses.keys() == {"gaze", "left", "right", "stretch", "thumb"}
        yield received
    finally:
        program.end()


def test_two_arms_that_share_spine_and_chest_reach_at_once(received):
    for side in "lr":
        miss = received.place(f"ik/hand_{side}") - received.place(f"goal_{side}")
        assert np.linalg.norm(miss) < 1e-6
        assert received.statuses[{"l": "left", "r": "right"}[side]].message == "met"


def test_the_broadcast_frames_keep_to_the_limits_of_their_bones(received):
    for side in "lr":
        turn = received.turn(f"ik/fore_{side}")
        np.testing.assert_allclose(turn @ (0, 1, 0), (0, 1, 0), rtol=0, atol=1e-7)
        assert -2.5 - 1e-7 <= math.atan2(turn[0, 2], turn[2, 2]) <= 1e-7
    rest = np.array(
        ((math.cos(0.1), 0, math.sin(0.1)), (0, 1, 0), (-math.sin(0.1), 0, math.cos(0.1)))
    )
    turn = rest.T @ received.turn("ik/chest")
    along = np.array((0.0, 0.2, 0.2)) / math.hypot(0.2, 0.2)  # to the shoulder of the first chain
    assert math.acos(along @ turn @ along) <= 0.3 + 1e-6
    angle = math.acos(np.clip(0.5 * (np.trace(turn) - 1.0), -1, 1))
    assert angle <= math.hypot(0.3, 0.2) + 1e-6  # a swing and a twist about an axis across it


def test_bones_keep_their_lengths_and_the_source_is_not_overwritten(received):
    for frame, (parent, place, _) in FRAMES.items():
        if f"ik/{frame}" in received.frames and frame != "tail2":
            corrected, _, now = received.frames[f"ik/{frame}"]
            assert corrected == (f"ik/{parent}" if f"ik/{parent}" in received.frames else parent)
            np.testing.assert_allclose(now, place, rtol=0, atol=1e-12)
    parent, _, now = received.frames["ik/tail2"]  # the frame between moves along, and is not sent
    along = (-0.1 - 0.2 * math.cos(0.3), 0.0, 0.2 * math.sin(0.3))
    assert parent == "ik/tail1"
    np.testing.assert_allclose(now, along, rtol=0, atol=1e-12)
    assert "ik/between" not in received.frames
    assert "ik/goal_l" not in received.frames
    assert "ik/nail_r" not in received.frames


def test_a_carried_target_is_corrected_and_broadcast(received):
    """The eye is fixed to the chest and looks at the left thumb's nail, within its limit."""
    eye = received.place("ik/eye")
    u, v = received.place("ik/sight") - eye, received.place("ik/nail_l") - eye
    angle = math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)
    status = received.statuses["gaze"]
    values = {value.key: value.value for value in status.values}
    assert values["verdict"] == "LIMIT"
    assert float(values["miss_rad"]) == pytest.approx(angle, abs=1e-6)
    assert values["conflicts"] == ""
    assert math.acos(received.turn("ik/eye")[0, 0]) == pytest.approx(0.05, abs=1e-6)


def test_a_conflict_is_reported_with_the_missing_distance(received):
    tip = received.place("ik/tip")
    joint = received.place("ik/tail2")
    u, v = tip - joint, received.place("goal_l") - joint
    missing = {
        "stretch": ("miss_m", np.linalg.norm(tip - received.place("far"))),
        "thumb": ("miss_rad", math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)),
    }
    for name, other in (("stretch", "thumb"), ("thumb", "stretch")):
        values = {value.key: value.value for value in received.statuses[name].values}
        key, miss = missing[name]
        assert float(values[key]) == pytest.approx(miss, abs=1e-6)
        assert (received.statuses[name].message == "met") == (miss < 1e-8)
        if miss > 1e-6:
            assert values["conflicts"] == other
            assert f"conflicts with {other}" in received.statuses[name].message


def ends_of(marker):
    """A marker's lines, (k, 2, 3), in the base."""
    assert (marker.type, marker.header.frame_id) == (Marker.LINE_LIST, "base")
    p, q = marker.pose.position, marker.pose.orientation
    points = np.array([(each.x, each.y, each.z) for each in marker.points])
    return (points @ rotation_of(q).T + (p.x, p.y, p.z)).reshape(-1, 2, 3)


def test_markers_are_at_the_broadcast_frames(received):
    """In the order of the constraints: gaze, left, right, stretch, thumb."""
    bones = {
        0: ("ik/eye", "ik/sight"),
        1: ("ik/spine", "ik/chest", "ik/upper_l", "ik/fore_l", "ik/hand_l"),
        3: ("ik/tail1", "ik/tail2", "ik/tip"),
    }
    for number, frames in bones.items():
        along = np.array([received.place(frame) for frame in frames])
        expected = np.stack([along[:-1], along[1:]], axis=1)
        shown = ends_of(received.markers["bones", number])
        np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-6)
    (sight,) = ends_of(received.markers["sight", 0])
    np.testing.assert_allclose(
        sight, [received.place("ik/sight"), received.place("ik/nail_l")], rtol=0, atol=1e-6
    )
    missing = ends_of(received.markers["miss", 3])
    np.testing.assert_allclose(missing[0, 0], received.place("ik/tip"), rtol=0, atol=1e-6)
    np.testing.assert_allclose(missing[-1, 1], received.place("far"), rtol=0, atol=1e-6)
    ball = received.markers["target", 1].pose.position
    np.testing.assert_allclose(
        (ball.x, ball.y, ball.z), received.place("goal_l"), rtol=0, atol=1e-6
    )


def test_texts_of_the_markers_equal_the_status(received):
    for number, name in enumerate(("gaze", "left", "right", "stretch", "thumb")):
        assert received.markers["verdict", number].text.startswith(f"{name}: ")
        logged = received.markers["verdict", number].text.removeprefix(f"{name}: ")
        assert logged == received.statuses[name].message
