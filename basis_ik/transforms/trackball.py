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

"""The trackball: how to translate inside a node so that it looks as wanted from outside.

Both functions answer for an inner node that only translates (C_b = 0, R_b = 1), as in the examples
of transform_nodes, and for an outer node that may also scale.
"""

from __future__ import annotations

import numpy.typing as npt

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import finite_array
from basis_ik.transforms.node import TransformNode


def drag(outer: TransformNode, wanted: npt.ArrayLike) -> FloatArray:
    """Return the inner translation that moves what is inside by `wanted`, seen from outside.

    T_b = R_a′ T_in (example 1): only the outer rotation, and its scale, have to be undone; wherever
    the outer node has its centre, a change of T_b by this much is a motion by `wanted`.

    Args:
        outer: Node a.
        wanted: T_in, the motion across the screen [m], shape (3,).

    Returns:
        T_b [m], shape (3,).

    Raises:
        ShapeError: Another shape.
        NotFiniteError: An element is NaN or infinite.
    """
    local: FloatArray = outer.inverse().linear @ finite_array("wanted", wanted, 3)
    return local


def drag_off_centre(outer: TransformNode, wanted: npt.ArrayLike) -> FloatArray:
    """Return the inner translation for which both nodes together translate by T_a + `wanted`.

    T_b = R_a′ (T_in − C_a) + C_a (example 2). "Together" is the one equivalent node, whose centre
    is the inner one, the origin; so T_b is not zero when `wanted` is, it also takes back the shift
    C_a − R_a C_a that comes from turning about C_a.

    Args:
        outer: Node a.
        wanted: T_in [m], shape (3,).

    Returns:
        T_b [m], shape (3,).

    Raises:
        ShapeError: Another shape.
        NotFiniteError: An element is NaN or infinite.
    """
    return drag(outer, finite_array("wanted", wanted, 3) - outer.center) + outer.center
