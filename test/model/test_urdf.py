"""Joint elements: defaults of the format, and everything that is refused."""

import math

import numpy as np
import pytest

from basis_ik.model.elements import UrdfError
from basis_ik.model.urdf import read_urdf

LIMIT = 'lower="-2" upper="2" velocity="1.5" effort="10"'


@pytest.fixture
def read(joint, robot):
    """Read a robot of one joint."""

    def read(kind="revolute", **parts):
        return read_urdf(robot(joint("elbow", "a", "b", kind, **parts)))[2][0]

    return read


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
    assert elbow.moves
    assert elbow.unit == "rad"


def test_defaults_are_the_formats(read):
    elbow = read()
    np.testing.assert_array_equal(elbow.axis, (1, 0, 0))
    np.testing.assert_array_equal(elbow.origin.matrix, np.eye(4))
    assert elbow.mimic is None
    tied = read(inside='<mimic joint="m"/>').mimic
    assert (tied.multiplier, tied.offset) == (1, 0)
    assert read(limit='upper="1" velocity="1"').lower == 0
    assert read(limit='lower="-1" velocity="1"').upper == 0
    assert read(limit='lower="0" upper="1" velocity="1"').effort == math.inf


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("continuous", (-math.inf, math.inf, math.inf)),
        ("floating", (-math.inf, math.inf, math.inf)),
        ("planar", (-math.inf, math.inf, math.inf)),
        ("fixed", (0, 0, math.inf)),
    ],
)
def test_kinds_without_limits(read, kind, limits):
    joint = read(kind)
    assert (joint.lower, joint.upper, joint.velocity) == limits
    assert joint.moves == (kind == "continuous")


def test_a_continuous_joint_keeps_its_speed_and_drops_its_range(read):
    wheel = read("continuous", inside='<limit lower="1" upper="-1" velocity="3"/>')
    assert (wheel.lower, wheel.upper, wheel.velocity) == (-math.inf, math.inf, 3)


def test_a_prismatic_joint_is_in_metres(read):
    assert read("prismatic").unit == "m"


def test_what_a_fixed_joint_cannot_use_is_not_looked_at(read):
    joint = read("fixed", inside='<axis xyz="0 0 0"/><limit velocity="-1"/><mimic/>')
    assert joint.mimic is None


def test_soft_limits_are_kept_inside_the_hard_ones(read):
    soft = '<safety_controller soft_lower_limit="-1" soft_upper_limit="3" k_velocity="1"/>'
    joint = read(inside=soft)
    assert (joint.soft_lower, joint.soft_upper) == (-1, 2)
    unlimited = read(inside='<safety_controller k_velocity="1"/>')
    assert (unlimited.soft_lower, unlimited.soft_upper) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("", "lacks <limit>"),
        ('velocity="1" effort="1"', "lacks lower and upper"),
        ('lower="-1" upper="1"', "lacks velocity"),
        ('lower="1" upper="-1" velocity="1"', "lower 1 is above upper -1"),
        ('lower="1" velocity="1"', "lower 1 is above upper 0"),
        ('lower="-1" upper="1" velocity="0"', "velocity 0 must be above zero"),
        ('lower="-1" upper="1" velocity="-0"', "velocity -0 must be above zero"),
        ('lower="-1" upper="1" velocity="-1"', "velocity -1 must be above zero"),
        ('lower="-1" upper="1" velocity="1" effort="-1"', "effort -1 is negative"),
        ('lower="nan" upper="1" velocity="1"', "'nan' is no finite number"),
        ('lower="-1" upper="nan" velocity="1"', "'nan' is no finite number"),
        ('lower="-1" upper="1" velocity="nan"', "'nan' is no finite number"),
        ('lower="-inf" upper="1" velocity="1"', "'-inf' is no finite number"),
        ('lower="-1" upper="1e999" velocity="1"', "'1e999' is no finite number"),
        ('lower="-1e101" upper="1" velocity="1"', "'-1e101' is no finite number"),
        ('lower="-1" upper="1" velocity="1e999"', "'1e999' is no finite number"),
    ],
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_limits_that_are_missing_or_senseless_are_refused(read, kind, limit, said):
    with pytest.raises(UrdfError, match=said) as caught:
        read(kind, limit=limit)
    assert caught.value.joint == "elbow"
    assert "joint 'elbow'" in str(caught.value)


def test_a_continuous_joint_that_may_not_move_is_refused(read):
    with pytest.raises(UrdfError, match="velocity 0 must be above zero"):
        read("continuous", inside='<limit velocity="0"/>')


@pytest.mark.parametrize(
    "number",
    ["nan", "NaN", "inf", "-Infinity", "1e999", "-1e999", "1e101", "1_000", "0x10", "1,5", "1e", "",
     ".", "+-1", "１", "1f", "1.0.0", "--1", "1e5.5", "True", "${pi}", "$(arg x)"],
)  # fmt: skip
def test_numbers_are_plain_decimals(read, number):
    with pytest.raises(UrdfError, match="elbow") as caught:
        read(origin=f'xyz="0 {number} 0"')
    assert caught.value.joint == "elbow"
    assert caught.value.line == 1


@pytest.mark.parametrize("number", ["${2 * pi}", "$(arg height)"])
def test_an_expression_is_told_apart_from_a_bad_number(read, number):
    with pytest.raises(UrdfError, match="expand it first with `xacro"):
        read(origin=f'xyz="0 0 {number}"')


@pytest.mark.parametrize(
    ("number", "value"), [("1.", 1), (".5", 0.5), ("-1.5E-3", -0.0015), ("+2e+1", 20), ("-0", 0)]
)
def test_every_plain_decimal_is_read(read, number, value):
    assert read(origin=f'xyz="\t0 \n{number}  0 "').origin.translation[1] == value


@pytest.mark.parametrize("count", ["0 0", "0 0 0 0"])
@pytest.mark.parametrize("place", ['xyz="{}"', 'rpy="{}"'])
def test_origins_have_three_numbers(read, place, count):
    with pytest.raises(UrdfError, match=f"needs 3 numbers, has {len(count.split())}"):
        read(origin=place.format(count))


def test_an_origin_beyond_a_thousand_kilometres_is_refused(read):
    with pytest.raises(UrdfError, match="beyond 1e\\+06 m"):
        read(origin='xyz="0 0 1000001"')


@pytest.mark.parametrize("axis", ["0 0 0", "0 0 1e-7", "-0 0 1e-99"])
def test_a_zero_axis_is_refused(read, axis):
    with pytest.raises(UrdfError, match="its axis is zero"):
        read(inside=f'<axis xyz="{axis}"/>')


@pytest.mark.parametrize("scale", [1e-5, 1.0, 7.0, 1e99])
def test_an_axis_is_normalised(read, scale):
    axis = read(inside=f'<axis xyz="{scale} 0 {-scale}"/>').axis
    np.testing.assert_allclose(axis, (math.sqrt(0.5), 0, -math.sqrt(0.5)), atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        axis[0] = 2


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<axis/>", "<axis> lacks xyz"),
        ("<mimic/>", "<mimic> lacks its joint"),
        ('<mimic joint="m" multiplier="1e7"/>', "multiplier 1e\\+07 is absurd"),
        ('<mimic joint="m" multiplier="1e-7"/>', "multiplier 1e-07 is absurd"),
        ('<mimic joint="m" offset="-1e7"/>', "offset -1e\\+07 is absurd"),
        ('<mimic joint="m" multiplier="nan"/>', "'nan' is no finite number"),
        ('<axis xyz="1 0 0"/><axis xyz="0 0 1"/>', "<joint> holds <axis> twice"),
        (f"<limit {LIMIT}/>", "<joint> holds <limit> twice"),
        ('<parent link="c"/>', "<joint> holds <parent> twice"),
    ],
)
def test_other_senseless_parts_are_refused(read, inside, said):
    with pytest.raises(UrdfError, match=said) as caught:
        read(inside=inside)
    assert caught.value.joint == "elbow"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf><model/></sdf>", "the root element is <sdf>, a URDF has <robot>"),
        ("<robot><link/></robot>", "<link> lacks its name"),
        ("<robot><link name=' '/></robot>", "<link> lacks its name"),
        ("<robot><joint type='fixed'/></robot>", "<joint> lacks its name"),
        ("<robot><joint name='j'/></robot>", "has type ''; a URDF knows revolute, continuous"),
        ("<robot><joint name='j' type='ball'/></robot>", "joint 'j' has type 'ball'"),
        ("<robot><joint name='j' type='fixed'/></robot>", "joint 'j' lacks <parent link"),
        ("<robot><joint name='j' type='fixed'><parent link='a'/></joint></robot>", "lacks <child"),
        (
            "<robot><joint name='j' type='fixed'><parent/></joint></robot>",
            "<parent> lacks its link",
        ),
        ("<robot><link name='a&#10;b'/></robot>", "named 'a.nb': give it at most 255 printable"),
        (f"<robot><link name='{'x' * 256}'/></robot>", "give it at most 255 printable"),
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
    assert read_urdf(text) == ("r", ["a"], [])
