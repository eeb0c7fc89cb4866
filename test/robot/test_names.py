# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names say the same in any spelling."""

import pytest

from basis_ik.robot.names import forward_axis, is_shape, words


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("base_link", "base_link"),
        ("arm1/base_link", "arm1_base_link"),
        ("arm1-Base.Link", "arm1_base_link"),
        ("leftEELink", "left_ee_link"),
        ("EndEffector_Link", "end_effector_link"),
        ("arm1tool0", "arm1_tool0"),
        ("TCP", "tcp"),
        ("Revolute 7", "revolute_7"),
        ("底座-base", "底座_base"),
    ],
)
def test_a_name_is_split_into_words(name, split):
    assert words(name) == split


@pytest.mark.parametrize("link", ["link7_sc", "wrist-collision", "link6Visual", "link6_inertia"])
def test_a_link_that_only_holds_a_shape_is_known(link):
    assert is_shape(link)
    assert not is_shape(f"{link}_frame")


@pytest.mark.parametrize(
    ("link", "axis"),
    [
        ("camera_optical_frame", "z"),
        ("left_tool0", "z"),
        ("panda_hand_tcp", "z"),
        ("tcp", "z"),
        ("left/tool0", "z"),
        ("left-Tool0", "z"),
        ("arm1.tcp", "z"),
        ("cameraOpticalFrame", "z"),
        ("camera_link", "x"),
        ("flange", "x"),
        ("tool0_cover", "x"),
        ("notcp", "x"),
    ],
)
def test_an_eye_and_a_tool_point_along_their_z(link, axis):
    assert forward_axis(link) == ((0.0, 0.0, 1.0) if axis == "z" else (1.0, 0.0, 0.0))
