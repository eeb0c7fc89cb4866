# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math
from pathlib import Path

import numpy as np
import pytest

from basis_ik.bones.bone_limits import Hinge
from basis_ik.bones.bones import bones_in_object, bones_in_world, chain_positions
from basis_ik.bones.points_at import points_at, points_at_in_object, points_at_in_world
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import PoseError, scene
from basis_ik.transforms.checks import NotFiniteError
from basis_ik.verdict import Verdict

URDF = Path(__file__).parents[2] / "urdf"
LEFT = ("calf_l", "ankle_l", "ankle_r")
STANCE = {
    "thigh_l_pitch_joint": -0.5,
    "thigh_r_pitch_joint": 0.4,
    "thigh_r_roll_joint": -0.2,
    "calf_l_joint": 0.6,
    "calf_r_joint": 1.2,
}


def robot(name: str) -> RobotModel:
    return RobotModel.from_urdf((URDF / f"{name}.urdf").read_text())


@pytest.mark.parametrize(("name", "tip"), [("ur5e", "tool0"), ("panda", None), ("legs", "ankle_l")])
def test_a_scene_agrees_with_the_chain_s_forward_kinematics(name: str, tip: str | None) -> None:
    model = robot(name)
    chain = model.chain(model.root, tip) if tip else model.chain()
    rng = np.random.default_rng(0)
    for _ in range(10):
        q = rng.uniform(np.maximum(chain.lower, -3), np.minimum(chain.upper, 3))
        tree = scene(model, dict(zip(chain.joint_names, q, strict=True)))
        assert tree.lookup(chain.root, chain.tip).is_close(chain.forward(q), 1e-12)
        assert set(tree.frames) == set(model.links)


SLIDER = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="s" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/>
  <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="m" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" velocity="1" effort="1"/>
  <mimic joint="s" multiplier="2" offset="0.1"/></joint>
<joint name="f" type="floating"><parent link="a"/><child link="d"/><origin xyz="5 0 0"/></joint>
</robot>"""


def test_what_hangs_on_a_faulty_joint_has_no_place() -> None:
    odd = RobotModel.from_urdf(SLIDER.replace('xyz="0 0 1"/>', 'xyz="0 0 nan"/>', 1))
    assert odd.joints["s"].fault
    assert odd.joints["m"].fault
    assert set(scene(odd, {}).frames) == {"a", "d"}
    with pytest.raises(PoseError, match="'s'"):
        scene(odd, {"s": 0.1})


def test_sliding_mimicking_and_floating_joints() -> None:
    tree = scene(RobotModel.from_urdf(SLIDER), {"s": 0.25})
    assert tree.lookup("a", "b").translation.tolist() == [0, 0.25, 1]
    assert tree.lookup("b", "c").as_rpy()[2] == pytest.approx(0.6)
    assert tree.lookup("a", "d").translation.tolist() == [5, 0, 0]
    assert scene(RobotModel.from_urdf(SLIDER), {}).lookup("b", "c").as_rpy()[2] == (
        pytest.approx(0.1)
    )


@pytest.mark.parametrize("name", ["m", "f", "elbow"])
def test_what_cannot_be_positioned_is_refused(name: str) -> None:
    with pytest.raises(PoseError, match=f"no joint '{name}' to position; there are s"):
        scene(RobotModel.from_urdf(SLIDER), {name: 0.0})


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(NotFiniteError):
        scene(RobotModel.from_urdf(SLIDER), {"s": math.nan})


# --- the texts' examples on the shipped legs ---


def test_left_calf_points_at_right_ankle_on_the_shipped_legs() -> None:
    tree = scene(robot("legs"), STANCE)
    hip_T_calf = tree.lookup("hip", "calf_l")
    left = points_at_in_world(tree, *LEFT) @ hip_T_calf
    right = hip_T_calf @ points_at_in_object(tree, *LEFT)
    assert left.is_close(right, 1e-12)
    tree.move("calf_l", points_at(tree, *LEFT).parent_T_bone)
    a, b = (
        tree.lookup("calf_l", "ankle_l").translation,
        tree.lookup("calf_l", "ankle_r").translation,
    )
    np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), rtol=0, atol=1e-12)


def test_the_knee_of_the_shipped_legs_points_as_far_as_its_joint_goes() -> None:
    model = robot("legs")
    knee = model.joints["calf_l_joint"]
    tree = scene(model, STANCE)
    limit = Hinge(knee.origin, knee.axis, knee.lower, knee.upper)
    result = points_at(tree, *LEFT, limit=limit)
    assert knee.lower <= result.angle <= knee.upper
    assert result.verdict is Verdict.LIMIT  # the right ankle is not in the plane of the left knee
    # The angle is the joint's: setting it moves the calf to where the answer puts it.
    posed = scene(model, STANCE | {"calf_l_joint": result.angle})
    assert posed.lookup("thigh_l", "calf_l").is_close(result.parent_T_bone, 1e-12)
    misses = []
    for angle in np.linspace(knee.lower, knee.upper, 500):
        tree = scene(model, STANCE | {"calf_l_joint": angle})
        a, b = (tree.lookup("calf_l", f).translation for f in ("ankle_l", "ankle_r"))
        misses.append(math.atan2(np.linalg.norm(np.cross(a, b)), a @ b))
    assert result.miss <= min(misses) + 1e-9


def test_a_leg_reaches_a_foothold_with_fabrik() -> None:
    tree = scene(robot("legs"), STANCE)
    frames = ["thigh_l", "calf_l", "ankle_l"]
    foothold = np.array([0.25, 0.12, -0.7])
    start = chain_positions(tree, frames, "hip")
    solved = solve_chain(start, foothold)
    assert solved.verdict is Verdict.REACHED
    moved = bones_in_object(tree, frames, solved.positions, "hip")
    other = bones_in_world(tree, frames, solved.positions, "hip")
    for bone, parent_T_bone in moved.items():
        assert parent_T_bone.is_close(other[bone], 1e-10)
        tree.move(bone, parent_T_bone)
    reached = chain_positions(tree, frames, "hip")
    np.testing.assert_allclose(reached, solved.positions, rtol=0, atol=1e-10)
    np.testing.assert_allclose(reached[-1], foothold, rtol=0, atol=1e-5)
