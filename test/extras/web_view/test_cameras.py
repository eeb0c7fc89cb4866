# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is to be seen fits into each browser's window."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from basis_ik.extras.web_view.cameras import Cameras, fitted

FIELD = math.radians(75.0)
WINDOWS = {"narrow": 0.5, "phone": 390 / 422, "laptop": 956 / 800, "desk": 1596 / 1080}
ARM = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 0.4), (0.5, -0.1, 0.5), (0.6, 0.2, 0.1)])
BEAM = np.array([(-0.5, 0.5, 0.0), (0.5, -0.5, 0.0)])  # across the view


def pictured(points, view, aspect):
    """Return where points are in a picture whose edges are at -1 and 1, shape (n, 2)."""
    ahead = (view.look_at - view.position) / np.linalg.norm(view.look_at - view.position)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    away = points - view.position
    depth = away @ ahead
    assert np.all(depth > 0.0)
    slope = math.tan(0.5 * FIELD)
    across, up = away @ right, away @ np.cross(right, ahead)
    return np.stack([across / (depth * slope * aspect), up / (depth * slope)], axis=1)


@pytest.mark.parametrize("aspect", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("size", [1.0, 30.0])
@pytest.mark.parametrize("shape", [ARM, BEAM], ids=["arm", "beam"])
def test_all_points_are_in_sight_and_not_far_away(aspect, size, shape):
    points = size * shape + np.array([3.0, -2.0, 1.0])
    view = fitted(points, FIELD, aspect)
    seen = np.abs(pictured(points, view, aspect)).max()
    assert 0.4 < seen < 0.9
    assert np.all(view.position > view.look_at), "from where RViz looks"


def test_a_single_point_is_seen_from_a_distance():
    view = fitted(ARM[:1], FIELD, 1.0)
    assert 0.1 < np.linalg.norm(view.position - view.look_at) < 1.0


class Browser(SimpleNamespace):
    def __init__(self, aspect):
        camera = SimpleNamespace(
            fov=FIELD, aspect=aspect, position=np.array([9.0, 9.0, 9.0]), look_at=np.zeros(3)
        )
        super().__init__(camera=camera)


@pytest.fixture
def browsers():
    return {}


@pytest.fixture
def cameras(browsers):
    return Cameras(SimpleNamespace(get_clients=lambda: browsers))


def is_fitted(browser, points=ARM):
    view = fitted(points, FIELD, browser.camera.aspect)
    return np.allclose(browser.camera.position, view.position)


def test_each_browser_has_its_own_view(cameras, browsers):
    browsers[1] = Browser(2.0)
    cameras.update()
    assert not is_fitted(browsers[1]), "nothing is to be seen yet"
    cameras.look("arm", ARM)
    cameras.update()
    assert is_fitted(browsers[1])
    browsers[1].camera.position = moved = np.array([0.0, 5.0, 1.0])
    browsers[2] = Browser(0.9)
    cameras.look("arm", ARM + 0.1)  # it moves
    cameras.update()
    assert is_fitted(browsers[2])
    assert browsers[1].camera.position is moved
    cameras.look("another", 2.0 * ARM)
    cameras.update()
    assert all(is_fitted(each, 2.0 * ARM) for each in browsers.values())


def test_a_window_that_changes_is_filled_unless_its_user_has_moved_the_camera(cameras, browsers):
    browsers[1] = Browser(2.0)
    cameras.look("arm", ARM)
    cameras.update()
    browsers[1].camera.aspect = 0.5
    cameras.update()
    assert is_fitted(browsers[1])
    browsers[1].camera.position = moved = np.array([0.0, 5.0, 1.0])
    browsers[1].camera.aspect = 2.0
    cameras.update()
    assert browsers[1].camera.position is moved
