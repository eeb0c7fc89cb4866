"""What is shown of transform nodes: a box and axes for each, scaled and sheared as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from basis_ik.view.shapes import (
    BLUE,
    BOX_EDGES,
    GREEN,
    GREY,
    RED,
    YELLOW,
    Color,
    FloatArray,
    Lines,
    Shape,
)

WIDTH = 0.02  # of lines, in edges of the box; those of combined nodes are half as wide


def nodes_scene(
    nodes: Mapping[str, FloatArray], combined: Mapping[str, FloatArray], size: float
) -> list[Shape]:
    """Return box and axes of each node, numbers 0 and 1 of its name, in the frame of that name.

    The frames of tf are rigid; what a node and all above it do beyond that is shown in them: the
    box is the image of a cube around the node's origin, the axes are those of the node.

    Args:
        nodes: By frame, what is left of the scale in it: the stretch, shape (3, 3).
        combined: The same of the combined nodes, in yellow.
        size: Edge of the cube [m].
    """
    shapes: list[Shape] = []
    for name, stretch in nodes.items():
        shapes += _shapes(name, stretch, size, GREY, WIDTH * size)
    for name, stretch in combined.items():
        shapes += _shapes(name, stretch, size, YELLOW, 0.5 * WIDTH * size)
    return shapes


def _shapes(
    name: str, stretch: FloatArray, size: float, color: Color, width: float
) -> Iterator[Shape]:
    edges = size * BOX_EDGES @ stretch  # symmetric
    yield Lines(name=name, frame=name, color=color, ends=edges, width=width)
    ends = np.stack([np.zeros((3, 3)), size * stretch], axis=1).reshape(-1, 3)
    colors = (RED, GREEN, BLUE)
    yield Lines(
        name=name, number=1, frame=name, color=RED, ends=ends, width=1.5 * width, colors=colors
    )
