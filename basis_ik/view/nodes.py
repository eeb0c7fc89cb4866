# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shapes for transform nodes: a box and axes, scaled and sheared like the node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import IDENTITY, RigidTransform
from basis_ik.view.shapes import (
    BLUE,
    BOX_EDGES,
    BOX_FACES,
    GREEN,
    RED,
    WHITE,
    YELLOW,
    Color,
    Faces,
    Lines,
    Shape,
    Text,
    at,
)

# Of nodes in turn; yellow are combined ones.
NODE_COLORS = (
    (0.3, 0.8, 0.9, 1.0), (0.9, 0.5, 0.9, 1.0), (0.6, 0.9, 0.4, 1.0), (1.0, 0.6, 0.4, 1.0),
)  # fmt: skip


class NodeStyle(NamedTuple):
    """How a node is shown; lengths are in edges of its box."""

    line_width: float = 0.02  # half for combined nodes
    box_opacity: float = 0.25
    name_height: float = 0.3
    gap: float = 0.1  # between a box and the shape above it


NODE_STYLE = NodeStyle()


@dataclass(frozen=True, eq=False)
class NodeView:
    """A node in root coordinates.

    Attributes:
        name: Name of the node and its rigid frame.
        root_N_node: The node combined with all its ancestors.
        center: Its center, in its own coordinates, shape (3,) [m].
        chain: The nodes that a combined node combines.
    """

    name: str
    root_N_node: TransformNode
    center: FloatArray
    chain: tuple[str, ...] = ()


def nodes_scene(views: Iterable[NodeView], size: float) -> list[Shape]:
    """Return the shapes of each node, in the frame with its name.

    tf frames are rigid; the shapes show scale and shear. The box (number 0, filled 7) is the image
    of a cube around the node's origin, the axes (1) are the node's, and a line (2) leads from its
    origin to its center. Its name (6) is above the box and has its color. A combined node has the
    same box as the last node of its chain; it is drawn again above that box (3, 4), with its name
    (5).

    Args:
        views: The nodes.
        size: Edge of the cube [m].
    """
    colors = cycle(NODE_COLORS)
    return [
        shape
        for view in views
        for shape in _shapes(view, size, YELLOW if view.chain else next(colors))
    ]


def filled_boxes(views: Iterable[NodeView], size: float) -> list[Shape]:
    """Return the boxes of nodes but combined ones, filled; in colors and frames as `nodes_scene`.

    They are apart from that, because in RViz they would keep the mouse from handles inside them.

    Args:
        views: The nodes.
        size: Edge of the cube [m].
    """
    own = (view for view in views if not view.chain)
    return [
        Faces(
            name=view.name,
            frame=view.name,
            color=(*color[:3], NODE_STYLE.box_opacity),
            corners=size * BOX_FACES @ view.root_N_node.stretch,
        )
        for view, color in zip(own, cycle(NODE_COLORS), strict=False)
    ]


def _shapes(view: NodeView, size: float, color: Color) -> Iterator[Shape]:
    name, stretch = view.name, view.root_N_node.stretch
    up = view.root_N_node.rotation[2]  # the root's z
    half = float(np.max(size * BOX_EDGES @ stretch @ up))
    if not view.chain:
        yield from _body(name, stretch, size, 0, IDENTITY, color, NODE_STYLE.line_width * size)
        yield Text(
            name=name,
            number=6,
            frame=name,
            color=color,
            pose=at((half + (NODE_STYLE.gap + 0.5 * NODE_STYLE.name_height) * size) * up),
            text=name,
            height=NODE_STYLE.name_height * size,
        )
    else:
        thin = 0.5 * NODE_STYLE.line_width * size
        yield from _body(name, stretch, size, 0, IDENTITY, YELLOW, thin)
        above = at((2.0 * half + NODE_STYLE.gap * size) * up)
        yield from _body(name, stretch, size, 3, above, YELLOW, thin)
        yield Text(
            name=name,
            number=5,
            frame=name,
            color=YELLOW,
            pose=at((3.0 * half + (NODE_STYLE.gap + NODE_STYLE.name_height) * size) * up),
            text=f"{name}: {', '.join(view.chain)} in one",
            height=NODE_STYLE.name_height * size,
        )
    if np.any(view.center):
        ends = np.stack([np.zeros(3), stretch @ view.center])
        yield Lines(
            name=name,
            number=2,
            frame=name,
            color=WHITE,
            ends=ends,
            width=NODE_STYLE.line_width * size,
        )


def _body(
    name: str,
    stretch: FloatArray,
    size: float,
    number: int,
    pose: RigidTransform,
    color: Color,
    width: float,
) -> Iterator[Shape]:
    edges = size * BOX_EDGES @ stretch  # symmetric
    yield Lines(
        name=name, number=number, frame=name, color=color, pose=pose, ends=edges, width=width
    )
    yield Lines(
        name=name,
        number=number + 1,
        frame=name,
        color=RED,
        pose=pose,
        ends=np.stack([np.zeros((3, 3)), size * stretch], axis=1).reshape(-1, 3),
        width=1.5 * width,
        colors=(RED, GREEN, BLUE),
    )
