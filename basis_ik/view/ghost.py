# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot's outline at positions other than the measured ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.visuals import Visual
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import BOX_CORNERS, BOX_EDGES, Color, Lines, Mesh, Shape, joined

OUTLINE_SIDES = 8  # of the polygon that replaces a circle
OUTLINE_WIDTH = 0.003  # [reaches], of an outline's lines
GHOST_OPACITY = 0.35  # of a mesh

_ANGLES = np.linspace(0.0, 2.0 * np.pi, OUTLINE_SIDES + 1)
_ROUND = 0.5 * np.stack([np.cos(_ANGLES), np.sin(_ANGLES), np.zeros(OUTLINE_SIDES + 1)], axis=1)
_UP = np.array([0.0, 0.0, 0.5])
# Edges of bodies of unit size.
OUTLINES = {
    "box": BOX_EDGES,
    "cylinder": np.concatenate(
        [
            joined(_ROUND + _UP),
            joined(_ROUND - _UP),
            np.stack([_ROUND[:-1:2] - _UP, _ROUND[:-1:2] + _UP], axis=1).reshape(-1, 3),
        ]
    ),
    "sphere": np.concatenate([np.roll(joined(_ROUND), shift, axis=1) for shift in range(3)]),
}


class Ghost:
    """The shapes of a chain's moving links, and of all that they carry.

    Solids are drawn as their edges: RViz's mouse selects the nearest surface, however transparent,
    and edges hide nothing behind them. Meshes are drawn whole.

    Args:
        chain: The chain.
        visuals: The robot's visuals.
    """

    def __init__(self, chain: Chain, visuals: Sequence[Visual]) -> None:
        self._chain = chain
        moving = {link for link in chain.links if chain.joint_T_link(link)[0] >= 0}
        self._meshes = [v for v in visuals if v.link in moving and v.kind == "mesh"]
        ends: dict[str, list[FloatArray]] = defaultdict(list)
        for visual in visuals:
            if visual.link in moving and visual.kind != "mesh":
                ends[visual.link].append(visual.link_T_body.apply(_outline(visual)))
        self._outlines = {link: np.concatenate(each) for link, each in ends.items()}
        self._solid = {link: _corners(ends) for link, ends in self._outlines.items()}
        for mesh in self._meshes:
            place = mesh.link_T_body.translation[np.newaxis]
            self._solid[mesh.link] = np.vstack([self._solid.get(mesh.link, place), place])

    def top(self, poses: dict[str, RigidTransform]) -> float:
        """Return the height up to which the bodies reach [m]; of meshes, their origins.

        Args:
            poses: root_T_link of the chain's links.
        """
        heights = [poses[link].apply(points)[:, 2].max() for link, points in self._solid.items()]
        return float(max(heights, default=-np.inf))

    def at(self, poses: dict[str, RigidTransform], color: Color) -> Iterator[Shape]:
        """Return the shapes.

        Args:
            poses: root_T_link of the chain's links.
            color: Color of all shapes.
        """
        frame = self._chain.root
        for number, (link, ends) in enumerate(self._outlines.items()):
            yield Lines(
                name="ghost",
                number=number,
                frame=frame,
                color=color,
                pose=poses[link],
                ends=ends,
                width=OUTLINE_WIDTH * self._chain.reach,
            )
        for number, mesh in enumerate(self._meshes, len(self._outlines)):
            yield Mesh(
                name="ghost",
                number=number,
                frame=frame,
                color=(*color[:3], GHOST_OPACITY),
                pose=poses[mesh.link] @ mesh.link_T_body,
                file=mesh.file,
                scale=mesh.size,
            )


def _corners(points: FloatArray) -> FloatArray:
    """Return the corners of the box around points (k, 3), shape (8, 3) [m]."""
    low, high = points.min(axis=0), points.max(axis=0)
    corners: FloatArray = 0.5 * (low + high) + BOX_CORNERS * (high - low)
    return corners


def _outline(visual: Visual) -> FloatArray:
    """Return the ends of a solid's edges, shape (2k, 3) [m]; a capsule is three bodies."""
    size = np.array(visual.size)
    if visual.kind != "capsule":
        outline: FloatArray = OUTLINES[visual.kind] * size
        return outline
    ball, top = OUTLINES["sphere"] * size[0], _UP * size
    return np.concatenate([OUTLINES["cylinder"] * size, ball + top, ball - top])
