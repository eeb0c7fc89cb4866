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

"""A URDF's joints: their transforms against matrices, and what is no URDF."""

import math

import numpy as np
import pytest
from robot_state_publisher.joints import read_joints


def urdf(kind, inside=""):
    return (
        f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}">'
        f'<parent link="a"/><child link="b"/>{inside}</joint><transmission/></robot>'
    )


def turn(axis, angle):
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def matrix(transform):
    """The transform as the matrix that tf would make of it."""
    (tx, ty, tz), (x, y, z, w) = transform
    assert math.isclose(x * x + y * y + z * z + w * w, 1.0, rel_tol=1e-12)
    result = np.eye(4)
    result[:3, 3] = tx, ty, tz
    result[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return result


RPY = (0.3, -1.1, 2.4)
ORIGIN = '<origin xyz="1 -2 3" rpy="0.3 -1.1 2.4"/><axis xyz="0.5 -1 2"/>'
AXIS = np.array([0.5, -1.0, 2.0])


def origin():
    result = np.eye(4)
    result[:3, 3] = 1, -2, 3
    result[:3, :3] = turn([0, 0, 1], RPY[2]) @ turn([0, 1, 0], RPY[1]) @ turn([1, 0, 0], RPY[0])
    return result


@pytest.mark.parametrize("kind", ["revolute", "continuous"])
@pytest.mark.parametrize("value", [0.0, 0.7, -2.9, 7.0])
def test_turning_joint_turns_about_its_axis_after_the_origin(kind, value):
    (it,) = read_joints(urdf(kind, ORIGIN))
    expected = origin()
    expected[:3, :3] = expected[:3, :3] @ turn(AXIS, value)
    np.testing.assert_allclose(matrix(it.transform(value)), expected, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.25, -0.5])
def test_prismatic_joint_slides_by_metres_along_its_unit_axis(value):
    (it,) = read_joints(urdf("prismatic", ORIGIN))
    expected = origin()
    expected[:3, 3] += value * expected[:3, :3] @ (AXIS / np.linalg.norm(AXIS))
    np.testing.assert_allclose(matrix(it.transform(value)), expected, atol=1e-12)


def test_defaults_are_no_offset_and_the_x_axis():
    (it,) = read_joints(urdf("continuous", '<mimic joint="k"/>'))
    assert (it.axis, it.mimic) == ((1.0, 0.0, 0.0), ("k", 1.0, 0.0))
    np.testing.assert_allclose(matrix(it.transform(0.0)), np.eye(4))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no element found"),
        ("<robot", "unclosed token: line 1"),
        ("<robot><joint type='fixed'/></robot>", "'name'"),
        ("<robot><joint name='j' type='fixed'/></robot>", "has no attribute 'attrib'"),
        (urdf("fixed", '<origin xyz="0 one 0"/>'), "'one'"),
        (urdf("fixed", '<origin xyz="0 0"/>'), "expected 3"),
        (urdf("continuous", '<axis xyz="0 0 0"/>'), "division by zero"),
    ],
    ids=lambda value: value[-40:],
)
def test_what_is_no_urdf_is_refused_in_one_line(text, reason):
    with pytest.raises(ValueError, match=f"^robot_description is not a valid URDF: .*{reason}"):
        read_joints(text)
