# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines from points."""

import numpy as np

from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import axes, great_circles, joined


def test_joined_points_are_pairs_of_ends():
    points = np.arange(9.0).reshape(3, 3)
    assert np.array_equal(joined(points), points[[0, 1, 1, 2]])
    assert joined(points[:1]).shape == (0, 3)


def test_three_great_circles():
    points = great_circles(0.5)
    assert np.allclose(np.linalg.norm(points, axis=1), 0.5)
    planes = np.split(points, 3)
    assert [int(np.argmin(np.ptp(plane, axis=0))) for plane in planes] == [2, 0, 1]
    for plane in planes:  # closed: each point ends one line and begins the next
        assert np.allclose(plane[1::2], np.roll(plane[0::2], -1, axis=0), atol=1e-12)
        assert np.ptp(plane, axis=0).min() < 1e-12


def test_axes_are_red_green_and_blue():
    pose = RigidTransform.from_rpy(0.1, 0.2, 0.3, [1.0, 2.0, 3.0])
    shape = axes("target", "base", pose, 0.2, 0.01)
    assert shape.pose is pose
    assert np.allclose(shape.ends[0::2], 0.0)
    assert np.allclose(shape.ends[1::2], 0.2 * np.eye(3))
    assert np.allclose(np.array(shape.colors)[:, :3].argmax(axis=1), [0, 1, 2])
