# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""One transform node for a chain of them, and the proof that it does the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import matmul

import numpy as np

from basis_ik.transforms.checks import TransformError
from basis_ik.transforms.node import SINGULAR_TOLERANCE, NodeOverflowError, TransformNode

RESIDUAL_TOLERANCE = 1e-12
"""How far a combined node's matrix may be from the product of matrices, in its largest element."""


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
    """One node for several.

    Attributes:
        node: The equivalent node; its centre is that of the innermost.
        residual: How far its matrix is from the product of matrices, in parts of the largest
            element.
        shear: Largest cosine between the images of two axes. Where it is 0, rotation and a scale
            along the axes do the same; elsewhere only a node with scaleOrientation does.
    """

    node: TransformNode
    residual: float
    shear: float


def combine(names: Sequence[str], nodes: Sequence[TransformNode]) -> Combination:
    """Combine a chain of nodes, each under the one before, into one.

    For scale factors above zero there always is one (transform_nodes, "Combining Transform Nodes
    with Scale"); what floating point does not hold of it is refused.

    Args:
        names: What to call the nodes in an error.
        nodes: One or more, outermost first.

    Raises:
        NotOneNodeError: The scale along the chain differs by too much between directions, or the
            node is too far off the product of matrices.
    """
    try:
        node = reduce(matmul, nodes)
    except NodeOverflowError:
        raise NotOneNodeError(names, np.inf, 0.0) from None
    product = reduce(matmul, [each.matrix for each in nodes])
    residual = float(np.abs(node.matrix - product).max() / np.abs(product).max())
    ratio = float(node.scale.min() / node.scale.max())
    if not (residual <= RESIDUAL_TOLERANCE and ratio > SINGULAR_TOLERANCE):
        raise NotOneNodeError(names, residual, ratio)
    axes = node.linear / np.linalg.norm(node.linear, axis=0)
    shear = max(abs(float(axes[:, i] @ axes[:, j])) for i, j in combinations(range(3), 2))
    return Combination(node, residual, shear)
