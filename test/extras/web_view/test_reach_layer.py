# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A map of reach as points of the page's scene."""

from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import PointField
from viser_stand_in import Scene

from basis_ik.extras.reach_map.map_files import MapSpec, ReachMap
from basis_ik.extras.reach_map.reach_cloud import to_cloud
from basis_ik.extras.web_view.frame_nodes import FrameNodes
from basis_ik.extras.web_view.reach_layer import ReachLayer
from basis_ik.ros.frame_buffer import FrameBuffer

VIOLET, YELLOW = (68, 1, 84), (253, 231, 37)


@pytest.fixture
def cloud():
    reached = np.zeros((2, 3, 1), np.uint16)
    reached[0, 0, 0], reached[1, 2, 0] = 8, 1
    spec = MapSpec("base", "tool", "0123", 0.25, 8, False)
    done = np.array([True, True])
    return to_cloud(
        ReachMap(
            spec, np.zeros(3), reached, reached.astype(np.float32), np.zeros_like(reached), done
        )
    )


@pytest.fixture
def layer():
    """A layer whose node keeps what it warns of."""
    scene, warnings = Scene(), []
    node = SimpleNamespace(
        create_subscription=lambda *_: None,
        destroy_subscription=lambda _: None,
        get_logger=lambda: SimpleNamespace(warning=warnings.append),
    )
    frames = FrameNodes(scene, FrameBuffer())
    layer = ReachLayer(node, scene, frames, "/reach_map/points")
    layer.scene, layer.warnings, layer.frames = scene, warnings, frames
    return layer


def test_the_reached_voxels_are_points_in_the_frame_of_the_root(layer, cloud):
    layer.show(cloud)
    node = layer.scene.nodes["/frames/base/reach_map_points"]
    points, colors = node.given
    assert points.tolist() == [[0.0, 0.0, 0.0], [0.25, 0.5, 0.0]]
    assert tuple(colors[0]) == YELLOW
    assert np.abs(colors[1] - np.array(VIOLET)).max() < 50  # an eighth of the way
    assert node.point_size == pytest.approx(0.08 * 0.25)


def test_another_map_replaces_the_one_before_and_the_end_removes_it(layer, cloud):
    layer.show(cloud)
    layer.show(cloud)
    assert layer.scene.kinds() == ["point_cloud"]
    layer.destroy()
    assert layer.scene.kinds() == []


def test_users_hide_the_points_and_another_map_stays_hidden(layer, cloud):
    layer.show(cloud)
    (node,) = [each for each in layer.scene.nodes.values() if each.kind == "point_cloud"]
    layer.frames.hidden = frozenset(["reach map"])
    layer.update(0.0)
    assert not node.visible
    layer.show(cloud)
    (node,) = [each for each in layer.scene.nodes.values() if each.kind == "point_cloud"]
    assert not node.visible


def test_an_empty_map_shows_nothing(layer, cloud):
    cloud.width, cloud.data = 0, b""
    layer.show(cloud)
    assert (layer.scene.kinds(), layer.warnings) == ([], [])


def cut(cloud):
    cloud.data = cloud.data[:-1]


def turn(cloud):
    cloud.is_bigendian = True


def rename(cloud):
    cloud.fields[0].name = "u"


def widen(cloud):
    cloud.fields[0].datatype = PointField.FLOAT64


def move(cloud):
    cloud.fields[2].offset = cloud.point_step - 2


@pytest.mark.parametrize("damage", [cut, turn, rename, widen, move])
def test_a_malformed_cloud_is_named_and_the_one_before_stays(layer, cloud, damage):
    layer.show(cloud)
    damage(cloud)
    layer.show(cloud)
    assert layer.scene.kinds() == ["point_cloud"]
    (warning,) = layer.warnings
    assert warning.startswith("/reach_map/points is not shown: float32 fields x, y, z, intensity")


def test_points_that_are_not_finite_are_left_out(layer, cloud):
    data = np.frombuffer(bytes(cloud.data), np.float32).copy()
    data[0] = np.nan
    cloud.data = data.tobytes()
    layer.show(cloud)
    (node,) = [each for each in layer.scene.nodes.values() if each.kind == "point_cloud"]
    assert node.given[0].tolist() == [[0.25, 0.5, 0.0]]
