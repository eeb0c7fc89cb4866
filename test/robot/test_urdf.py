# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint elements: defaults, and errors that refuse the robot or make the joint faulty."""

import math
import re

import numpy as np
import pytest

from basis_ik.robot.elements import UrdfError
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf import read_urdf


@pytest.fixture
def read(joint, robot):
    """Read a robot of one joint."""

    def read(kind="revolute", version="", **parts):
        return read_urdf(robot(joint("elbow", "a", "b", kind, **parts), version=version))[2][0]

    return read


@pytest.fixture
def fault(joint, robot):
    """Return the fault of a joint; the robot and chains without the joint are accepted."""

    def fault(kind="revolute", version="", **parts):
        odd = joint("elbow", "a", "b", kind, **parts)
        model = RobotModel.from_urdf(robot(odd, joint("other", "a", "c"), version=version))
        assert model.chain("a", "c").joint_names == ("other",)
        said = model.joints["elbow"].fault
        assert said.startswith("line 1: ")
        assert "\n" not in said
        with pytest.raises(ChainError, match=re.escape(f"{said}; the chain needs this")) as caught:
            model.chain("a", "b")
        assert (caught.value.joint, caught.value.candidates) == ("elbow", ("b",))
        return said

    return fault


def test_a_joint_is_read_whole(read):
    elbow = read(
        inside='<axis xyz="0 3 4"/><mimic joint="m" multiplier="-2" offset="0.5"/>',
        origin='xyz="1 -2 .5" rpy="0 0 1.5707963267948966"',
    )
    assert (elbow.name, elbow.kind, elbow.parent, elbow.child) == ("elbow", "revolute", "a", "b")
    np.testing.assert_allclose(elbow.axis, (0, 0.6, 0.8), atol=1e-16)
    np.testing.assert_array_equal(elbow.origin.translation, (1, -2, 0.5))
    np.testing.assert_allclose(
        elbow.origin.rotation, ((0, -1, 0), (1, 0, 0), (0, 0, 1)), atol=1e-15
    )
    assert (elbow.lower, elbow.upper, elbow.velocity, elbow.effort) == (-2, 2, 1.5, 10)
    assert (elbow.mimic.joint, elbow.mimic.multiplier, elbow.mimic.offset) == ("m", -2, 0.5)
    assert elbow.fault == ""
    assert elbow.moves
    assert elbow.unit == "rad"


def test_defaults_are_the_formats(read):
    elbow = read()
    np.testing.assert_array_equal(elbow.axis, (1, 0, 0))
    np.testing.assert_array_equal(elbow.origin.matrix, np.eye(4))
    assert elbow.mimic is None
    tied = read(inside='<mimic joint="m"/>').mimic
    assert (tied.multiplier, tied.offset) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("continuous", (-math.inf, math.inf, 1.0)),
        ("floating", (-math.inf, math.inf, math.inf)),
        ("planar", (-math.inf, math.inf, math.inf)),
        ("fixed", (0, 0, math.inf)),
    ],
)
def test_kinds_without_limits(read, kind, limits):
    joint = read(kind)
    assert (joint.lower, joint.upper, joint.velocity) == limits
    assert joint.moves == (kind == "continuous")


def test_a_prismatic_joint_is_in_metres(read):
    assert read("prismatic").unit == "m"


def test_what_a_fixed_joint_cannot_use_is_not_looked_at(read):
    joint = read("fixed", inside='<axis xyz="0 0 0"/><limit velocity="-1"/><mimic/>')
    assert joint.mimic is None


@pytest.mark.parametrize(
    "number",
    ["nan", "NaN", "inf", "-Infinity", "1e999", "-1e999", "1e101", "1_000", "0x10", "1,5", "1e", "",
     ".", "+-1", "１", "1f", "1.0.0", "--1", "1e5.5", "True", "${pi}", "$(arg x)"],
)  # fmt: skip
def test_numbers_are_plain_decimals(fault, number):
    assert "joint 'elbow': <origin xyz=" in fault(origin=f'xyz="0 {number} 0"')


@pytest.mark.parametrize("number", ["${2 * pi}", "$(arg height)"])
def test_an_expression_is_told_apart_from_a_bad_number(fault, number):
    assert "expand it first with `xacro" in fault(origin=f'xyz="0 0 {number}"')


@pytest.mark.parametrize(
    ("number", "value"), [("1.", 1), (".5", 0.5), ("-1.5E-3", -0.0015), ("+2e+1", 20), ("-0", 0)]
)
def test_every_plain_decimal_is_read(read, number, value):
    assert read(origin=f'xyz="\t0 \n{number}  0 "').origin.translation[1] == value


@pytest.mark.parametrize("triple", ["1, 2, 3", "1,  2 3", " 1 2,\t3 "])
def test_a_comma_may_stand_before_a_blank(read, triple):
    np.testing.assert_array_equal(read(origin=f'xyz="{triple}"').origin.translation, (1, 2, 3))


@pytest.mark.parametrize("triple", ["1,2,3", "1, 2, 3,", "1 , 2, 3", "1,5 2 3"])
def test_other_commas_are_no_numbers(fault, triple):
    assert "<origin xyz=" in fault(origin=f'xyz="{triple}"')


@pytest.mark.parametrize("count", ["0 0", "0 0 0 0"])
@pytest.mark.parametrize("place", ['xyz="{}"', 'rpy="{}"'])
def test_origins_have_three_numbers(fault, place, count):
    said = f"needs 3 numbers, has {len(count.split())}"
    assert said in fault(origin=place.format(count))


def test_an_origin_beyond_a_thousand_kilometres_is_a_fault(fault):
    assert "beyond 1e+06 m" in fault(origin='xyz="0 0 1000001"')


@pytest.mark.parametrize("axis", ["0 0 0", "0 0 1e-7", "-0 0 1e-99"])
def test_a_zero_axis_is_a_fault(fault, axis):
    assert "its axis is zero; give a direction" in fault(inside=f'<axis xyz="{axis}"/>')


@pytest.mark.parametrize("scale", [1e-5, 1.0, 7.0, 1e99])
def test_an_axis_is_normalised(read, scale):
    axis = read(inside=f'<axis xyz="{scale} 0 {-scale}"/>').axis
    np.testing.assert_allclose(axis, (math.sqrt(0.5), 0, -math.sqrt(0.5)), atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        axis[0] = 2


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ("0 0 1", ()),
        ("0 0.577 0.817", ()),
        ("0 0 -2", ("joint 'elbow' has an axis of length 2: its direction is used",)),
    ],
)
def test_an_axis_of_another_length_is_said(read, axis, said):
    assert read(inside=f'<axis xyz="{axis}"/>').assumed == said


@pytest.mark.parametrize("kind", ["ball", "spherical", "Revolute", ""])
def test_a_type_that_urdf_does_not_know_is_a_fault(joint, robot, fault, kind):
    said = f"joint 'elbow' has type {kind!r}; a URDF knows revolute, continuous"
    assert said in fault(kind)
    below = RobotModel.from_urdf(robot(joint("elbow", "a", "b", kind), joint("j", "b", "c")))
    chain = below.chain()
    assert (below.joints["elbow"].kind, chain.root) == ("unknown", "b")
    assert "the chain begins below unknown joint elbow" in chain.inferences


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<axis/>", "joint 'elbow': <axis> lacks xyz"),
        ("<mimic/>", "<mimic> lacks its joint"),
        ('<mimic joint="m" multiplier="1e7"/>', "multiplier 1e+07 is out of range"),
        ('<mimic joint="m" multiplier="1e-7"/>', "multiplier 1e-07 is out of range"),
        ('<mimic joint="m" offset="-1e7"/>', "offset -1e+07 is out of range"),
        ('<mimic joint="m" multiplier="nan"/>', "'nan' is no finite number"),
        ('<axis xyz="1 0 0"/><axis xyz="0 0 1"/>', "<joint> contains <axis> twice"),
        ('<limit lower="0" upper="1" velocity="1"/>', "<joint> contains <limit> twice"),
    ],
)
def test_other_senseless_parts_are_faults(fault, inside, said):
    assert said in fault(inside=inside)


@pytest.mark.parametrize("tag", ["parent", "child"])
def test_one_of_two_parents_or_children_is_not_guessed(read, tag):
    with pytest.raises(UrdfError, match=f"<joint> contains <{tag}> twice") as caught:
        read(inside=f'<{tag} link="c"/>')
    assert caught.value.joint == "elbow"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf><model/></sdf>", "the root element is <sdf>, a URDF has <robot>"),
        ("<robot><link/></robot>", "<link> lacks its name"),
        ("<robot><link name=' '/></robot>", "<link> lacks its name"),
        ("<robot><joint type='fixed'/></robot>", "<joint> lacks its name"),
        ("<robot><joint name='j' type='fixed'/></robot>", "joint 'j' lacks <parent link"),
        ("<robot><joint name='j' type='fixed'><parent link='a'/></joint></robot>", "lacks <child"),
        (
            "<robot><joint name='j' type='fixed'><parent/></joint></robot>",
            "<parent> lacks its link",
        ),
        ("<robot><link name='a&#10;b'/></robot>", "named 'a.nb': give it at most 255 printable"),
        pytest.param(
            f"<robot><link name='{'x' * 256}'/></robot>", "give it at most 255 printable", id="long"
        ),
        ("<robot name='a&#x202e;b'/>", "<robot> is named 'a.u202eb': give it at most 255"),
        ("<robot><link name='${prefix}a'/></robot>", "expand it first with `xacro"),
    ],
)
def test_what_is_no_urdf_is_refused(text, said):
    with pytest.raises(UrdfError, match=said.replace("$", r"\$")):
        read_urdf(text)


def test_what_other_programs_keep_in_a_urdf_is_no_joint_of_the_robot():
    text = (
        "<robot name='r'><link name='a'/><transmission><joint name='x'/></transmission>"
        "<ros2_control><joint name='y'/></ros2_control><gazebo><link/></gazebo></robot>"
    )
    assert read_urdf(text) == ("r", ["a"], [], (), (), ())


def test_a_call_that_xacro_did_not_know_is_passed_over_and_said(joint, robot):
    whole = robot(joint("j", "a", "b"))
    more = "<xacro:property name='width'/><xacro:arg name='x'/><xacro:sensors/><xacro:sensors/>"
    model = RobotModel.from_urdf(whole.replace("</robot>", f"{more}</robot>"))
    said = "skipped, because xacro did not expand them: 'xacro:sensors'"
    assert (model.notes, model.chain().inferences[-1]) == ((said,), said)
    assert RobotModel.from_urdf(whole).notes == ()


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_an_origin_is_turned_by_a_quaternion(read, version, kind):
    elbow = read(kind, version, origin='xyz="1 -2 .5" quat_xyzw="0 0.7071 0 0.7071"')
    assert elbow.fault == ""
    np.testing.assert_array_equal(elbow.origin.translation, (1, -2, 0.5))
    np.testing.assert_allclose(
        elbow.origin.rotation, ((0, 0, 1), (0, 1, 0), (-1, 0, 0)), atol=1e-15
    )


@pytest.mark.parametrize(
    ("quaternion", "words"),
    [
        ("0 0 0 0", "has length 0; it must be 1"),
        ("0 0 0 2", "has length 2; it must be 1"),
        ("0 0 0 0.99", "has length 0.99; it must be 1"),
        ("1e99 0 0 1e99", "has length 1.41421e+99; it must be 1"),
        ("0 0 nan 1", "'nan' is no finite number"),
        ("0 0 inf 1", "'inf' is no finite number"),
        ("0 0 1", "needs 4 numbers, has 3"),
        ("", "needs 4 numbers, has 1"),
    ],
)
def test_a_quaternion_must_turn(fault, quaternion, words):
    said = fault(version="1.1", origin=f'quat_xyzw="{quaternion}"')
    assert "joint 'elbow'" in said
    assert "quat_xyzw" in said
    assert words in said


def test_an_origin_has_one_orientation(fault):
    said = fault(version="1.2", origin='rpy="0 0 0" quat_xyzw="0 0 0 1"')
    assert said == "line 1: joint 'elbow': <origin> has both rpy and quat_xyzw; keep one"


@pytest.mark.parametrize("version", ["", "1.0"])
@pytest.mark.parametrize("beside", ["", 'rpy="0 0 1"'])
def test_a_quaternion_in_an_old_version_is_not_ignored(fault, version, beside):
    said = fault(version=version, origin=f'quat_xyzw="0 0 0.6 0.8" {beside}')
    assert said == (
        "line 1: joint 'elbow': quat_xyzw of <origin> needs version 1.1, and this is 1.0; state"
        " the version in <robot>, or use rpy"
    )
