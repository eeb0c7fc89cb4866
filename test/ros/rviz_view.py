# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What RViz would show of a scene, by the camera and the window that a configuration names."""

from pathlib import Path

import numpy as np
import yaml

from basis_ik.view.shapes import Ball, Lines, Text

ROOT = Path(__file__).parents[2]
# Seen in RViz 14.1: what the panel at the left, tool bar and status line take of the window.
PANEL, BARS = 380, 110  # px
FIELD = np.pi / 4  # of view, from bottom to top [rad]


def config_of(name):
    """Return a configuration: that of a name, or what is given itself."""
    if isinstance(name, dict):
        return name
    return yaml.safe_load((ROOT / "rviz" / f"{name}.rviz").read_text())


def manager(name):
    """Return what RViz reads, below its Visualization Manager."""
    return config_of(name)["Visualization Manager"]


def window(name):
    """Return width and height [px] of a configuration's window."""
    geometry = config_of(name)["Window Geometry"]
    return geometry["Width"], geometry["Height"]


def camera(name):
    """Return where a configuration's camera is and what it looks at, in the fixed frame."""
    view = manager(name)["Views"]["Current"]
    assert view["Class"] == "rviz_default_plugins/Orbit"
    assert view["Target Frame"] == "<Fixed Frame>"
    focus = np.array([view["Focal Point"][axis] for axis in "XYZ"], dtype=float)
    pitch, yaw = view["Pitch"], view["Yaw"]
    out = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
    return focus + view["Distance"] * out, focus


def seen_at(name, points):
    """Return where points (k, 3) of the fixed frame appear, (k, 2): within -1 to 1 is in view."""
    eye, focus = camera(name)
    ahead = (focus - eye) / np.linalg.norm(focus - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    away = np.asarray(points, dtype=float) - eye
    width, height = window(name)
    tall = np.tan(0.5 * FIELD)
    wide = tall * (width - PANEL) / (height - BARS)
    depth = away @ ahead
    assert (depth > 0.0).all(), "behind the camera"
    x, y = away @ right / depth, away @ np.cross(right, ahead) / depth
    return np.stack([x / wide, y / tall], axis=1)


def corners(name, shape, fixed_T_frame):
    """Return points (k, 3) in the fixed frame that a shape lies between, as a camera sees it."""
    place = fixed_T_frame @ shape.pose
    if isinstance(shape, Lines):
        return place.apply(shape.ends)
    eye, focus = camera(name)
    right = np.cross(focus - eye, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    if isinstance(shape, Text):
        half, lines = 0.5 * shape.height, shape.text.split("\n")
        across = 0.5 * half * max(map(len, lines)) * right
        up = half * len(lines) * np.array([0.0, 0.0, 1.0])
    else:
        assert isinstance(shape, Ball), f"tell this test how large '{shape.name}' is"
        across, up = 0.5 * shape.diameter * right, 0.5 * shape.diameter * np.array([0.0, 0.0, 1.0])
    return place.translation + np.array([across + up, across - up, up - across, -across - up])
