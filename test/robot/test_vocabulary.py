# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is not understood is listed once, and refused where it could change the motion."""

import pytest

from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf import read_urdf
from basis_ik.robot.vocabulary import FOREIGN_ELEMENTS, MOST_NOT_UNDERSTOOD, WORDS

LIMIT = '<limit lower="-1" upper="1" velocity="1" {}/>'
WHOLE = """<robot name="r" version="1.2" xmlns:xacro="http://www.ros.org/wiki/xacro">
<material name="m"><color rgba="1 1 1 1"/><texture filename="f"/></material>
<link name="a" type="t">
  <self_collision_checking/>
  <inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  <visual name="v"><origin quat_xyzw="0 0 0 1"/><geometry><box size="1 1 1"/></geometry>
    <material name="m"/></visual>
  <visual><geometry><cylinder radius="1" length="1"/></geometry></visual>
  <visual><geometry><sphere radius="1"/></geometry></visual>
  <collision name="c"><geometry><capsule radius="1" length="1"/></geometry><verbose value="x"/>
  </collision>
  <visual><geometry><mesh filename="f" scale="1 1 1"/></geometry></visual></link>
<link name="b"/><link name="c"/>
<joint name="j" type="revolute"><origin xyz="0 0 0" rpy="0 0 0"/><parent link="a"/>
  <child link="b"/><axis xyz="0 0 1"/><calibration rising="1" falling="0" reference_position="0"/>
  <dynamics damping="1" friction="1"/><safety_controller soft_lower_limit="-1"
    soft_upper_limit="1" k_position="1" k_velocity="1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1" acceleration="1" jerk="1"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/>
  <mimic joint="j" multiplier="1" offset="0"/></joint>
<transmission name="t"><type>x</type><joint name="j"><hardwareInterface/></joint></transmission>
<gazebo reference="a"><plugin filename="p"/></gazebo>
<ros2_control name="x" type="system"><joint name="j"><command_interface/></joint></ros2_control>
<sensor name="s"><parent link="a"/><camera/></sensor><mujoco><compiler/></mujoco></robot>"""


@pytest.fixture
def model(joint, robot):
    """A robot of the joints a -other-> b -elbow-> c, whose last one has odd parts."""

    def model(inside="", attribute="", limit="", kind="revolute", version="1.2", **parts):
        own = inside if kind == "fixed" else LIMIT.format(limit) + inside
        elbow = joint("elbow", "b", "c", kind, inside=own, limit="", **parts)
        elbow = elbow.replace("<joint ", f"<joint {attribute} ")
        joints = joint("other", "a", "b"), elbow
        return RobotModel.from_urdf(robot(*joints, links="a b c", version=version))

    return model


def test_the_whole_format_is_understood():
    assert RobotModel.from_urdf(WHOLE).notes == ()
    assert RobotModel.from_urdf(WHOLE).chain("a", "c").inferences == ()


def test_every_element_of_the_format_has_its_attributes():
    children = {child for _, inside in WORDS.values() for child in inside}
    assert children | {"robot"} == set(WORDS)
    assert not children & FOREIGN_ELEMENTS


def test_what_is_not_understood_is_listed_once_with_its_first_line():
    links = "\n".join(f'<link name="{name}" odd="1"><foo/></link>' for name in "abc")
    text = f"<robot name='r' odd='' xmlns:x='y' xsi:z=''>\n{links}\n<bar/><x:bar/></robot>"
    assert set(read_urdf(text)[3]) == {
        "attribute 'odd' of <robot> is not understood: ignored (line 1)",
        "<bar> in <robot> is not understood: ignored (line 5)",
        "<x:bar> in <robot> is not understood: ignored (line 5)",
        "attribute 'odd' of <link> is not understood: ignored (3 times, first in line 2)",
        "<foo> in <link> is not understood: ignored (3 times, first in line 2)",
    }


def test_the_list_is_short():
    odd = "".join(f"<odd{k}/>" for k in range(1000)) + f"<{'x' * 1000}/>"
    notes = RobotModel.from_urdf(f"<robot>{odd}<link name='a'/></robot>").notes
    assert len(notes) == MOST_NOT_UNDERSTOOD + 1
    assert notes[-1] == f"{1001 - MOST_NOT_UNDERSTOOD} more kinds of things are not understood"
    assert all(
        len(note) < 200
        for note in RobotModel.from_urdf(
            f"<robot><{'x' * 1000} {'y' * 1000}=''/><link name='a' {'y' * 1000}=''/></robot>"
        ).notes
    )


ODD = {
    "joint": {"attribute": 'odd="1"'},
    "origin": {"origin": 'xyz="0 0 1" odd="1"'},
    "axis": {"inside": '<axis xyz="0 0 1" odd="1"/>'},
    "limit": {"limit": 'odd="1"'},
    "mimic": {"inside": '<mimic joint="other" odd="1"/>'},
}


@pytest.mark.parametrize("version", ["", "1.1", "1.2", "1.3"])
@pytest.mark.parametrize("tag", ODD)
def test_an_attribute_that_could_change_the_motion_is_refused_on_the_chain(model, tag, version):
    robot = model(version=version, **ODD[tag])
    said = f"line 1: joint 'elbow': attribute 'odd' of <{tag}> is not understood, and could"
    with pytest.raises(ChainError, match=said) as caught:
        robot.chain("a", "c")
    assert caught.value.joint == "elbow"
    beside = robot.chain("a", "b")
    note = f"attribute 'odd' of <{tag}> is not understood: ignored (line 1)"
    assert note in beside.inferences
    assert any(said in line for line in beside.inferences)


@pytest.mark.parametrize("end", ["parent", "child"])
def test_an_attribute_of_an_end_is_refused_on_the_chain(joint, robot, end):
    text = robot(joint("elbow", "a", "b").replace(f"<{end} ", f'<{end} frame="x" '))
    with pytest.raises(ChainError, match=f"attribute 'frame' of <{end}>"):
        RobotModel.from_urdf(text).chain("a", "b")


@pytest.mark.parametrize(
    "parts",
    [
        {"limit": 'drake:acceleration="3"'},
        {"limit": 'k_velocity="1" command_effort="1" current="1" gear_velocity="1"'},
        {"attribute": 'dont_collapse="true"'},
        {"inside": '<axis xyz="0 0 1" rpy="0 0 0"/>'},
        {"inside": '<dynamics damping="1" K="7000"/>'},
        {"inside": "<traits/><controller_gains/><joint_properties/><anchor/><x:limit/>"},
        {"inside": "<transmission/><sensor/><gazebo><limits/></gazebo>"},
    ],
)
def test_what_published_descriptions_have_is_not_refused(model, parts):
    robot = model(**parts)
    assert robot.joints["elbow"].fault == ""
    robot.chain("a", "c")


def test_a_direction_turned_otherwise_is_refused(model):
    assert "'rpy' of <axis>" in model('<axis xyz="0 0 1" rpy="0 1 0"/>').joints["elbow"].fault


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("Origin", "origin"),
        ("orgin", "origin"),
        ("limits", "limit"),
        ("axes", "axis"),
        ("Mimic", "mimic"),
    ],
)
def test_a_misspelt_element_is_refused_on_the_chain(model, tag, meant):
    said = model(f'<{tag} xyz="0 0 1"/>').joints["elbow"].fault
    assert said == (
        f"line 1: joint 'elbow': <{tag}> is not understood, and could change its motion;"
        f" is it <{meant}>?"
    )


def test_any_element_is_refused_if_the_version_is_not_known(model):
    assert model("<traits/>").joints["elbow"].fault == ""
    said = model("<traits/>", version="1.3").joints["elbow"].fault
    assert "<traits> is not understood, and could change its motion; remove it" in said
    for inside in ("<x:traits/>", "<gazebo/>", '<dynamics damping="1"/>'):
        assert model(inside, version="1.3").joints["elbow"].fault == ""


def test_what_moves_nothing_in_a_fixed_joint_is_not_refused(model):
    inside = '<axis xyz="0 0 1" odd="1"/><limit odd="1"/><limits/>'
    robot = model(inside, kind="fixed")
    assert robot.joints["elbow"].fault == ""
    assert len(robot.notes) == 3
    assert "'odd' of <origin>" in model(kind="fixed", origin='odd="1"').joints["elbow"].fault
