# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shapes for constraints on frames."""

import numpy as np
import pytest

from basis_ik.bones.constraints import Applied, Point, Reach
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict
from basis_ik.view.frames import frames_scene, status_text
from basis_ik.view.shapes import GREEN, ORANGE

LOOK = Point("calf", "ankle", "ball")
STAND = Reach(("thigh", "calf", "ankle"), "foothold")
MET, MISSED = Applied(Verdict.REACHED, 0.0), Applied(Verdict.TOO_FAR, 0.25)
PLACES = {
    "thigh": ("hip", (0.0, 0.1, 0.0)),
    "calf": ("thigh", (0.0, 0.0, -0.4)),
    "ankle": ("calf", (0.0, 0.0, -0.4)),
    "foothold": ("hip", (0.3, 0.1, -0.7)),
    "ball": ("hip", (0.5, 0.0, -0.5)),
}


@pytest.fixture
def tree():
    tree = TransformTree("hip")
    for frame, (parent, place) in PLACES.items():
        tree.add(frame, parent, RigidTransform.from_rpy(0.0, 0.1, 0.0, place))
    return tree


def shown(tree, look=MET, stand=MET):
    scene = frames_scene(tree, {"look": LOOK, "stand": STAND}, {"look": look, "stand": stand})
    assert {shape.frame for shape in scene} == {"hip"}
    found = {(shape.name, shape.number): shape for shape in scene}
    assert len(found) == len(scene)
    return found


def place(tree, frame):
    return tree.lookup("hip", frame).translation


def test_bones_run_through_the_corrected_frames(tree):
    bones = shown(tree)["bones", 1].ends
    along = [place(tree, frame) for frame in ("thigh", "calf", "calf", "ankle")]
    assert np.allclose(bones, along)
    assert np.allclose(shown(tree)["bones", 0].ends, along[2:])


def test_bones_below_scale_run_from_centre_to_centre():
    tree = TransformTree("world")
    tree.add("hip", "world", TransformNode(scale=(2.0, 1.0, 1.0)))
    centre, moved = {"center": (0.5, 0.0, 0.0)}, {"translation": (0.0, 0.0, 1.0)}
    for frame, parent in (("thigh", "hip"), ("calf", "thigh"), ("ankle", "calf")):
        tree.add(frame, parent, TransformNode(**centre, **moved))
    tree.add("foothold", "hip", TransformNode(translation=(3.0, 0.0, 0.0)))
    shapes = {shape.name: shape for shape in frames_scene(tree, {"s": STAND}, {"s": MISSED})}
    along = [(1.0, 0.0, 1.0), (1.0, 0.0, 2.0), (1.0, 0.0, 2.0), (0.0, 0.0, 3.0)]  # the tip's origin
    assert np.allclose(shapes["bones"].ends, along)
    assert np.allclose(shapes["target"].pose.translation, (6.0, 0.0, 0.0))
    assert np.allclose(shapes["miss"].ends[[0, -1]], [(0.0, 0.0, 3.0), (6.0, 0.0, 0.0)])


def test_a_bone_that_points_has_a_line_of_sight(tree):
    shapes = shown(tree)
    assert np.allclose(shapes["sight", 0].ends, [place(tree, "ankle"), place(tree, "ball")])
    assert ("sight", 1) not in shapes


def test_targets_are_balls(tree):
    shapes = shown(tree)
    for number, frame in enumerate(("ball", "foothold")):
        assert np.allclose(shapes["target", number].pose.translation, place(tree, frame))


def test_a_missing_distance_is_dashed(tree):
    assert not {"miss"} & {name for name, _ in shown(tree)}
    miss = shown(tree, stand=MISSED)["miss", 1].ends
    assert np.allclose(miss[[0, -1]], [place(tree, "ankle"), place(tree, "foothold")])


def test_each_verdict_has_a_text_above_the_frames(tree):
    shapes = shown(tree, stand=MISSED)
    look, stand = shapes["verdict", 0], shapes["verdict", 1]
    assert (look.text, look.color) == ("look: met", GREEN)
    assert (stand.text, stand.color) == ("stand: too far; 250 mm are left", ORANGE)
    assert stand.pose.translation[2] - stand.height > 0.0
    assert look.pose.translation[2] - stand.pose.translation[2] > look.height


def test_the_status_text_of_a_constraint():
    assert status_text(LOOK, MET) == "met"
    against = Applied(Verdict.OTHER_TASKS, 0.25, ("stand", "lean"))
    assert status_text(LOOK, against) == (
        "other tasks stand in the way; 14.3° are left; conflicts with stand, lean"
    )
