# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shapes: lines, faces, balls, meshes and texts, each with a name and a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import read_only
from basis_ik.transforms.rigid import IDENTITY, RigidTransform

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""

RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.2, 1.0), (0.2, 0.4, 1.0, 1.0)
ORANGE, YELLOW, MAGENTA = (1.0, 0.5, 0.1, 1.0), (1.0, 0.8, 0.1, 1.0), (1.0, 0.2, 0.9, 1.0)
WHITE = (0.95, 0.95, 0.95, 1.0)
GREY, FAINT = (0.75, 0.75, 0.75, 1.0), (0.6, 0.7, 1.0, 0.5)
AROUND = (0.35, 0.65, 0.40, 1.0)  # of what stands around an arm

CIRCLE_LINES = 96  # lines that replace a circle
GAP_DASHES = 7  # of a line for a missing distance
LETTER_WIDTH = 0.5  # width of a letter relative to its height, slightly more than RViz's mean


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape:
    """A shape in a frame.

    Attributes:
        name: Its meaning; several shapes may share a name.
        number: Its number among those.
        frame: The frame with which it moves.
        pose: frame_T_shape.
        color: Its color.
    """

    name: str
    frame: str
    color: Color
    pose: RigidTransform = IDENTITY
    number: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Lines(Shape):
    """Straight lines.

    Attributes:
        ends: Both ends of each line in turn, shape (2 k, 3) [m].
        width: Width of the lines [m].
        colors: The color of each line; empty: all have `color`.
    """

    ends: FloatArray
    width: float
    colors: tuple[Color, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Faces(Shape):
    """Triangles, seen from both sides.

    Attributes:
        corners: The corners of each triangle in turn, shape (3 k, 3) [m].
    """

    corners: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Ball(Shape):
    """A ball around the origin of its pose.

    Attributes:
        diameter: [m].
    """

    diameter: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Mesh(Shape):
    """A mesh from a file.

    Attributes:
        file: Its URI, as in a URDF.
        scale: Factors on its coordinates.
    """

    file: str
    scale: tuple[float, float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Text(Shape):
    """A text that faces the viewer, centred at the origin of its pose.

    Attributes:
        text: The text.
        height: Height of a capital letter [m].
    """

    text: str
    height: float


def rgb(color: Color) -> tuple[int, int, int]:
    """Return a color as three bytes, without its opacity."""
    red, green, blue = (round(255 * min(max(each, 0.0), 1.0)) for each in color[:3])
    return red, green, blue


def at(point: FloatArray) -> RigidTransform:
    """Return the pose of a translation to a point (3,) [m]."""
    return RigidTransform.from_rotation_translation(np.eye(3), point)


def joined(points: Sequence[FloatArray] | FloatArray) -> FloatArray:
    """Return the ends of the lines between successive points (3,), shape (2 k - 2, 3)."""
    along = np.asarray(points, np.float64)
    return np.stack([along[:-1], along[1:]], axis=1).reshape(-1, 3)


def passes_lines(
    stages: Sequence[tuple[str, FloatArray]], frame: str, width: float, number: int = 0
) -> Lines:
    """Return a chain after each of FABRIK's passes; later ones are more opaque.

    Args:
        stages: "start", in grey, "backward", in orange, or "forward", in blue, with the joints
            after it, shape (n + 1, 3) [m].
        frame: The frame of the joints.
        width: Width of the lines [m].
        number: Number of the shape.
    """
    painted = {"start": GREY, "backward": ORANGE, "forward": BLUE}
    colors: list[Color] = []
    for count, (name, points) in enumerate(stages, 1):
        clear = 0.2 + 0.8 * count / len(stages)
        colors += [(*painted[name][:3], clear)] * (len(points) - 1)
    ends = np.concatenate([joined(points) for _, points in stages])
    return Lines(
        name="passes", number=number, frame=frame, color=GREY, ends=ends, width=width,
        colors=tuple(colors),
    )  # fmt: skip


def dashes(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the ends of the dashes from one point (3,) to another, inclusive."""
    part = np.linspace(0.0, 1.0, 2 * GAP_DASHES)[:, np.newaxis]
    return np.asarray((1.0 - part) * start + part * end)


def axes(name: str, frame: str, pose: RigidTransform, length: float, width: float) -> Lines:
    """Return the axes of a pose: x red, y green, z blue."""
    colors = (RED, GREEN, BLUE)
    ends = length * _AXES
    return Lines(
        name=name, frame=frame, color=GREY, pose=pose, ends=ends, width=width, colors=colors
    )


BOX_CORNERS = read_only(np.array(list(product((-0.5, 0.5), repeat=3))))
"""Corners of a cube of edge 1 around the origin, shape (8, 3)."""
_PAIRS = [
    (a, b) for a in range(8) for b in range(a) if np.sum(BOX_CORNERS[a] != BOX_CORNERS[b]) == 1
]
BOX_EDGES = read_only(BOX_CORNERS[np.array(_PAIRS)].reshape(-1, 3))
"""Ends of the edges of a cube of edge 1 around the origin, shape (24, 3)."""
# Two triangles for each side; a corner's neighbour differs in one bit of its number.
_SIDES = [
    (a, a ^ one, a ^ one ^ other, a, a ^ one ^ other, a ^ other)
    for one, other in ((1, 2), (2, 4), (4, 1))
    for a in (0, 7)
]
BOX_FACES = read_only(BOX_CORNERS[np.array(_SIDES)].reshape(-1, 3))
"""Corners of the triangles of a cube of edge 1 around the origin, shape (36, 3)."""
_AXES = read_only(np.stack([np.zeros((3, 3)), np.eye(3)], axis=1).reshape(-1, 3))


@lru_cache(maxsize=16)
def great_circles(radius: float) -> FloatArray:
    """Return the ends of the lines of three circles about the origin, in the axes' planes."""
    angles = np.linspace(0.0, 2.0 * np.pi, CIRCLE_LINES + 1)
    circle = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    ends = joined(circle)
    return read_only(np.concatenate([np.roll(ends, shift, axis=1) for shift in range(3)]))
