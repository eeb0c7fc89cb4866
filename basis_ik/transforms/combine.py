# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The single transform node that is equivalent to a chain of nodes, and its proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import matmul

import numpy as np

from basis_ik.transforms.checks import TransformError
from basis_ik.transforms.node import SINGULAR_TOLERANCE, NodeOverflowError, TransformNode

COMBINED_TOLERANCE = 1e-12
"""Largest deviation of a combined node's matrix from the product, relative to its largest entry."""


class NotOneNodeError(TransformError):
    """Nodes have no equivalent single node within floating point."""

    def __init__(self, names: Sequence[str], residual: float, ratio: float) -> None:
        super().__init__(
            f"{' → '.join(names)} cannot be combined into one node: it is off the product of "
            f"matrices by {residual:.3g} of its largest element, its smallest scale is {ratio:.3g} "
            "of its largest"
        )
        self.names = tuple(names)
        self.residual = residual
        self.ratio = ratio


@dataclass(frozen=True)
class Combination:
    """The equivalent node of several nodes.

    Attributes:
        node: The equivalent node; its centre is the innermost node's.
        residual: Deviation of its matrix from the product of matrices, relative to the largest
            element.
        shear: Largest cosine between the images of two axes. If it is 0, a rotation and a scale
            along the axes are equivalent; otherwise only a node with scaleOrientation is.
    """

    node: TransformNode
    residual: float
    shear: float


def combine(names: Sequence[str], nodes: Sequence[TransformNode]) -> Combination:
    """Combine a chain of nodes, each the parent of the next, into one.

    For positive scale factors there is always one (transform_nodes, "Combining Transform Nodes with
    Scale"); it is refused if floating point cannot represent it.

    Args:
        names: Names of the nodes in errors.
        nodes: One or more, outermost first.

    Raises:
        NotOneNodeError: The scale along the chain differs too much between directions, or the
            node deviates too much from the product of matrices.
    """
    try:
        node = reduce(matmul, nodes)
    except NodeOverflowError:
        raise NotOneNodeError(names, np.inf, 0.0) from None
    product = reduce(matmul, [each.matrix for each in nodes])
    residual = float(np.abs(node.matrix - product).max() / np.abs(product).max())
    ratio = float(node.scale.min() / node.scale.max())
    if not (residual <= COMBINED_TOLERANCE and ratio > SINGULAR_TOLERANCE):
        raise NotOneNodeError(names, residual, ratio)
    axes = node.linear / np.linalg.norm(node.linear, axis=0)
    shear = max(abs(float(axes[:, i] @ axes[:, j])) for i, j in combinations(range(3), 2))
    return Combination(node, residual, shear)
