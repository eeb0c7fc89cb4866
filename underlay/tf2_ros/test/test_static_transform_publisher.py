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

import math

import pytest
from tf2_ros_programs.static_transform_publisher import parse

FRAMES = ["--frame-id", "a", "--child-frame-id", "b"]


def seven(arguments):
    message = parse([*arguments, *FRAMES])
    t, q = message.transform.translation, message.transform.rotation
    return [t.x, t.y, t.z, q.x, q.y, q.z, q.w]


def test_what_is_not_given_is_the_identity():
    message = parse(FRAMES)
    assert (message.header.frame_id, message.child_frame_id) == ("a", "b")
    assert seven([]) == [0, 0, 0, 0, 0, 0, 1]


def test_numbers_are_taken_by_name_in_any_order():
    assert seven(["--z", "3", "--x", "-1e-3", "--y", "-.5"]) == [-0.001, -0.5, 3, 0, 0, 0, 1]
    assert seven(["--qw", "0", "--qz", "0.6", "--qx", "0.8"]) == [0, 0, 0, 0.8, 0, 0.6, 0]


def test_angles_turn_about_fixed_axes_roll_first():
    half = math.sqrt(0.5)
    for option, axis in (("--roll", 3), ("--pitch", 4), ("--yaw", 5)):
        expected = [0.0] * 6 + [half]
        expected[axis] = half
        assert seven([option, str(math.pi / 2)]) == pytest.approx(expected)
    # Roll takes y to z, and yaw leaves it there: the frame's y axis points along the parent's z.
    x, y, z, w = seven(f"--roll {math.pi / 2} --yaw {math.pi / 2}".split())[3:]
    y_axis = [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)]
    assert y_axis == pytest.approx([0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--x"], "Not enough arguments for --x"),
        (["--x", "one", *FRAMES], "--x must be a finite number, not 'one'"),
        (["--qw", "nan", *FRAMES], "--qw must be a finite number, not 'nan'"),
        (["1", "2", "3", "0", "0", "0", "a", "b"], "Extra unparsed arguments on command-line: '1'"),
        (["--X", "1", *FRAMES], "Extra unparsed arguments on command-line: '--X'"),
        (["--frame-id", "a"], "--child-frame-id must be given"),
        (["--frame-id", "", "--child-frame-id", "b"], "--frame-id must be given and not be empty"),
        (["--frame-id", "a", "--child-frame-id", "a"], "cannot be the same"),
        (["--yaw", "1", "--qw", "1", *FRAMES], "Cannot mix"),
    ],
)
def test_what_does_not_describe_a_transform_is_named(arguments, fault):
    with pytest.raises(ValueError, match=fault):
        parse(arguments)
