"""Transform nodes as seen in RViz: a box and axes for each, scaled and sheared as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from geometry_msgs.msg import Point, Vector3
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.ros.convert import duration_message

FloatArray = NDArray[np.float64]

RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.2, 1.0), (0.2, 0.4, 1.0, 1.0)
GREY, YELLOW = (0.75, 0.75, 0.75, 1.0), (1.0, 0.8, 0.1, 1.0)
WIDTH = 0.02  # of lines, in edges of the box; those of combined nodes are half as wide

_CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
_EDGES = np.array(
    [(a, b) for a in range(8) for b in range(a) if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 1.0]
)


def marker_array(
    nodes: Mapping[str, FloatArray],
    combined: Mapping[str, FloatArray | None],
    size: float,
    lifetime: float,
) -> MarkerArray:
    """Return box and axes of each node, ids 0 and 1 in a namespace of its name.

    The frames of tf are rigid; what a node and all above it do beyond that is drawn in them: the
    box is the image of a cube around the node's origin, the axes are those of the node.

    Args:
        nodes: By frame, what is left of the scale in it: the stretch, shape (3, 3).
        combined: The same of the combined nodes, in yellow; None for one that is not to be seen.
        size: Edge of the cube [m].
        lifetime: How long a marker stays if no successor comes [s].
    """
    markers: list[Marker] = []
    for name, stretch in nodes.items():
        markers += _shapes(name, stretch, size, GREY, WIDTH * size)
    for name, seen in combined.items():
        if seen is None:
            markers += [Marker(ns=name, id=i, action=Marker.DELETE) for i in range(2)]
        else:
            markers += _shapes(name, seen, size, YELLOW, 0.5 * WIDTH * size)
    for marker in markers:
        marker.header.frame_id = marker.ns  # without stamp: it moves with its frame
        marker.frame_locked = True
        marker.lifetime = duration_message(lifetime)
    return MarkerArray(markers=markers)


def _shapes(
    name: str, stretch: FloatArray, size: float, colour: tuple[float, ...], width: float
) -> Iterator[Marker]:
    corners = size * _CORNERS @ stretch  # symmetric
    yield _lines(name, 0, corners[_EDGES].reshape(-1, 3), [colour] * 24, width)
    ends = np.stack([np.zeros((3, 3)), size * stretch], axis=1).reshape(-1, 3)
    yield _lines(name, 1, ends, [RED, RED, GREEN, GREEN, BLUE, BLUE], 1.5 * width)


def _lines(
    name: str, number: int, ends: FloatArray, colours: list[tuple[float, ...]], width: float
) -> Marker:
    marker = Marker(ns=name, id=number, type=Marker.LINE_LIST, scale=Vector3(x=width))
    marker.pose.orientation.w = 1.0
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in ends.tolist()]
    marker.colors = [ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in colours]
    marker.color = marker.colors[0]
    return marker
