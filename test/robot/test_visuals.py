# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The visual bodies in a URDF."""

import numpy as np
import pytest

from basis_ik.robot.elements import read_xml
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf_version import Version
from basis_ik.robot.visuals import read_visuals
from basis_ik.transforms.rigid import RigidTransform


def read(*bodies, number=(1, 0)):
    robot = read_xml(f"<robot><link name='a'>{''.join(bodies)}</link></robot>")
    return read_visuals(robot, "visual", Version(number))


def visuals(*bodies):
    return read(*bodies)[0]


def visual(geometry, origin=""):
    return f"<visual>{origin}<geometry>{geometry}</geometry></visual>"


@pytest.mark.parametrize(
    ("geometry", "kind", "size"),
    [
        ("<box size='1 2 3'/>", "box", (1.0, 2.0, 3.0)),
        ("<cylinder radius='0.5' length='3'/>", "cylinder", (1.0, 1.0, 3.0)),
        ("<sphere radius='0.5'/>", "sphere", (1.0, 1.0, 1.0)),
        ("<capsule radius='0.5' length='3'/>", "capsule", (1.0, 1.0, 3.0)),
        ("<mesh filename='package://x/y.stl'/>", "mesh", (1.0, 1.0, 1.0)),
        ("<mesh filename='package://x/y.stl' scale='1 2 3'/>", "mesh", (1.0, 2.0, 3.0)),
    ],
)
def test_each_kind_of_body(geometry, kind, size):
    (found,) = visuals(visual(geometry, "<origin xyz='1 2 3' rpy='0 0 0'/>"))
    assert (found.link, found.kind, found.size) == ("a", kind, size)
    assert np.array_equal(found.link_T_body.translation, [1.0, 2.0, 3.0])
    assert found.file == ("package://x/y.stl" if kind == "mesh" else "")


@pytest.mark.parametrize(
    "bad",
    [
        "<box/>", "<box size='1 2'/>", "<box size='1 2 nan'/>", "<sphere radius='1e9'/>",
        "<mesh/>", "<capsule radius='1'/>", "<capsule length='1'/>", "<cone/>", "",
        "<capsule radius='-1' length='1'/>", "<capsule radius='1' length='0'/>",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_left_out(bad):
    good = visual("<sphere radius='1'/>")
    assert [v.kind for v in visuals(visual(bad), good, "<visual/>")] == ["sphere"]


def test_what_cannot_be_read_is_counted_in_one_note():
    bad = visual("<sphere radius='x'/>")
    assert read(visual("<sphere radius='1'/>"))[1] == ()
    note = "a <visual> is omitted: line 1: visual of 'a': <sphere radius='x'>"
    assert read(bad)[1] == (f"{note}: 'x' is no finite number",)
    (several,) = read(bad, visual("<sphere radius='1'/>"), bad, bad)[1]
    assert several.startswith(note.replace("omitted", "omitted and 2 more"))


def test_a_body_is_turned_by_a_quaternion():
    origin = "<origin xyz='1 2 3' quat_xyzw='0 0 0.6 0.8'/>"
    ((found,), notes) = read(visual("<sphere radius='1'/>", origin), number=(1, 1))
    assert np.allclose(found.link_T_body.apply([1.0, 0.0, 0.0]), [1.28, 2.96, 3.0])
    assert not notes
    found, (note,) = read(visual("<sphere radius='1'/>", origin))
    assert not found
    assert "quat_xyzw of <origin> needs version 1.1" in note


BALL = "<geometry><sphere radius='1'/></geometry>"


@pytest.mark.parametrize(
    ("material", "color"),
    [
        ("", None),
        ("<material name='x'><color rgba='0 0.5 1 0.25'/></material>", (0.0, 0.5, 1.0, 0.25)),
        ("<material name='red'><color rgba='0 0 1 1'/></material>", (0.0, 0.0, 1.0, 1.0)),
        ("<material name='red'/>", (1.0, 0.0, 0.0, 1.0)),
        ("<material name='of the other'/>", (0.0, 1.0, 0.0, 1.0)),
        ("<material name='unknown'/>", None),
        ("<material name='red'><color/></material>", (1.0, 0.0, 0.0, 1.0)),
        ("<material name='x'><color rgba='1 2 3'/></material>", None),
        ("<material name='x'><color rgba='2 0 0 1'/></material>", None),
        ("<material name='x'><color rgba='-0.1 0 0 1'/></material>", (0.0, 0.0, 0.0, 1.0)),
    ],
)
def test_colors_are_stated_here_or_by_name(material, color):
    text = f"""<robot name="r">
      <material name="red"><color rgba="1 0 0 1"/></material>
      <link name="a"><visual>{BALL}{material}</visual></link>
      <link name="b"><visual>{BALL}
        <material name="of the other"><color rgba="0 1 0 1"/></material></visual></link>
    </robot>"""
    first, second = read_visuals(read_xml(text), "visual", Version((1, 0)))[0]
    assert first.color == color
    assert second.color == (0.0, 1.0, 0.0, 1.0)


FIXED_BODIES = """
<robot name="arm">
  <link name="base"/>
  <link name="arm"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <link name="tool"/>
  <link name="cap">
    <visual><origin xyz="0 0 1"/><geometry><sphere radius="0.2"/></geometry></visual>
  </link>
  <link name="rim"><visual><geometry><sphere radius="0.3"/></geometry></visual></link>
  <link name="finger"><visual><geometry><sphere radius="0.4"/></geometry></visual></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="end" type="fixed"><parent link="arm"/><child link="tool"/></joint>
  <joint name="a" type="fixed">
    <parent link="arm"/><child link="cap"/><origin xyz="1 0 0" rpy="0 1.5707963267948966 0"/>
  </joint>
  <joint name="b" type="fixed"><parent link="cap"/><child link="rim"/><origin xyz="0 2 0"/></joint>
  <joint name="c" type="continuous"><parent link="tool"/><child link="finger"/></joint>
</robot>
"""


def test_what_is_fixed_to_a_chains_link_looks_like_that_link():
    model = RobotModel.from_urdf(FIXED_BODIES)
    found = {v.size[0]: v for v in model.visuals_of(model.chain("base", "tool"))}
    assert {across: visual.link for across, visual in found.items()} == dict.fromkeys(
        (0.2, 0.4, 0.6), "arm"
    )  # the finger, of 0.8, moves on its own
    assert np.allclose(found[0.4].link_T_body.translation, [2.0, 0.0, 0.0])
    assert np.allclose(found[0.6].link_T_body.translation, [1.0, 2.0, 0.0])


def test_what_joints_beside_a_chain_carry_is_where_they_are():
    """A gripper's fingers, the second of which mimics the first."""
    finger = """
  <link name="thumb"><visual><geometry><sphere radius="0.5"/></geometry></visual></link>
  <joint name="d" type="prismatic">
    <parent link="tool"/><child link="thumb"/><axis xyz="0 1 0"/><mimic joint="c" multiplier="-2"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>"""
    model = RobotModel.from_urdf(FIXED_BODIES.replace("</robot>", finger))
    chain = model.chain("base", "tool")
    for given, at in (({}, 0.0), ({"c": 0.25}, 0.25)):
        found = {v.size[0]: v for v in model.visuals_of(chain, given)}
        assert {across: visual.link for across, visual in found.items()} == {
            0.2: "arm", 0.4: "arm", 0.6: "arm", 0.8: "tool", 1.0: "tool",
        }  # fmt: skip
        turned = RigidTransform.from_axis_angle([1.0, 0.0, 0.0], at)
        assert np.allclose(found[0.8].link_T_body.matrix, turned.matrix)
        assert np.allclose(found[1.0].link_T_body.translation, [0.0, -2.0 * at, 0.0])


def test_what_is_omitted_is_in_the_report():
    text = f"<robot name='r'><link name='a'>{visual('<capsule/>')}</link></robot>"
    (note,) = RobotModel.from_urdf(text).notes
    assert note.startswith("a <visual> is omitted: line 1: visual of 'a': <capsule> needs")
