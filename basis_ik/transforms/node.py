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

"""Changes of basis with scale: the transform node of VRML and its kin (transform_nodes)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms import node_kernel as kernels
from basis_ik.transforms.checks import (
    NotFiniteError,
    NotHomogeneousError,
    ShapeError,
    TransformError,
    finite_array,
    read_only,
    real_array,
)
from basis_ik.transforms.node_kernel import (
    CENTER,
    LINEAR,
    ORIENTATION,
    ROTATION,
    ROWS,
    SCALE,
    TRANSLATION,
)
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.stretch_kernel import decompose

FIELDS: Mapping[str, tuple[float, ...]] = {
    "center": (0.0, 0.0, 0.0),
    "rotation": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
    "scaleOrientation": (0.0, 0.0, 1.0, 0.0),
    "translation": (0.0, 0.0, 0.0),
}
"""The fields of VRML's and X3D's Transform with their defaults; rotations are axis and angle."""

SINGULAR_TOLERANCE = 1e-14
"""A matrix whose smallest stretch is below this part of its largest is taken for singular."""

RIGID_TOLERANCE = 1e-12
"""A node whose scale factors differ from 1 by no more than this is taken for rigid."""

_LARGEST_ANGLE = 1e9  # rad; beyond, nothing is left of an angle after its whole turns
_ZERO = (0.0, 0.0, 0.0)
_ONE = (1.0, 1.0, 1.0)
_IDENTITY = np.eye(3)
_LAST_ROW = np.array((0.0, 0.0, 0.0, 1.0))


class ScaleError(TransformError):
    """A scale factor is zero, negative, or too small to have an inverse."""

    def __init__(self, scale: FloatArray) -> None:
        super().__init__(f"scale factors must be greater than zero, got {scale.tolist()}")
        self.scale = scale


class SingularMatrixError(TransformError):
    """A matrix flattens space: no node has a scale of zero."""

    def __init__(self, matrix: FloatArray) -> None:
        super().__init__(f"matrix is singular and cannot be a node: {matrix.tolist()}")
        self.matrix = matrix


class ReflectingMatrixError(TransformError):
    """A matrix turns space inside out: no node has a negative scale."""

    def __init__(self, matrix: FloatArray) -> None:
        super().__init__(f"matrix reflects and cannot be a node: {matrix.tolist()}")
        self.matrix = matrix


class NodeOverflowError(TransformError):
    """A node's numbers leave the range of floating point."""

    def __init__(self) -> None:
        super().__init__("the numbers of this node leave the range of floating point")


class FieldError(TransformError):
    """A field, as VRML and X3D write it, does not exist or has a value that it cannot take."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class TransformNode:
    """P' = R(SR(S × SR′(P − C))) + C + T: scale along chosen axes, rotate about a centre, move.

    Frozen and canonical: of all the scale orientations that mean the same stretch, a node holds the
    smallest rotation, and equal scale factors have no orientation of their own. So two nodes with
    one centre that do the same have the same fields, to rounding.
    """

    __slots__ = ("_n",)
    __array_ufunc__ = None  # array @ self and self @ array are type errors, not numpy puzzles
    _n: FloatArray  # packed, see transforms/node_kernel.py; only read-only views are handed out

    def __init__(
        self,
        *,
        center: npt.ArrayLike = _ZERO,
        rotation: npt.ArrayLike = _IDENTITY,
        scale: npt.ArrayLike = _ONE,
        scale_orientation: npt.ArrayLike = _IDENTITY,
        translation: npt.ArrayLike = _ZERO,
    ) -> None:
        """Make a node from VRML's fields.

        Args:
            center: C, what rotation and scale leave in place [m], shape (3,).
            rotation: R, shape (3, 3).
            scale: S, factors greater than zero, shape (3,).
            scale_orientation: SR, the axes that S scales along, shape (3, 3).
            translation: T [m], shape (3,).

        Raises:
            ShapeError: Another shape.
            NotFiniteError: An element is NaN or infinite.
            NotARotationError: `rotation` or `scale_orientation` is none.
            ScaleError: A factor is not greater than zero, or has no inverse.
            NodeOverflowError: A product leaves the range of floating point.
        """
        n = np.empty((ROWS, 3))
        n[CENTER] = finite_array("center", center, 3)
        n[TRANSLATION] = finite_array("translation", translation, 3)
        n[SCALE] = finite_array("scale", scale, 3)
        if not n[SCALE].min() >= np.finfo(float).tiny:
            raise ScaleError(n[SCALE])
        n[ROTATION:ORIENTATION] = RigidTransform.from_rotation_translation(rotation, _ZERO).rotation
        n[ORIENTATION:LINEAR] = RigidTransform.from_rotation_translation(
            scale_orientation, _ZERO
        ).rotation
        if not kernels.finish(n):
            raise NodeOverflowError
        self._n = n

    @staticmethod
    def from_matrix(matrix: npt.ArrayLike, center: npt.ArrayLike = _ZERO) -> TransformNode:
        """Find the node with a given centre that does what a homogeneous matrix does.

        Args:
            matrix: Shape (4, 4), last row 0 0 0 1, determinant above zero; shear is welcome.
            center: Centre of the node [m], shape (3,): any will do, T makes up for it.

        Raises:
            ShapeError: Another shape.
            NotFiniteError: An element is NaN or infinite.
            NotHomogeneousError: The last row is another.
            SingularMatrixError: The matrix flattens.
            ReflectingMatrixError: The matrix reflects.
            NodeOverflowError: A product leaves the range of floating point.
        """
        m = finite_array("matrix", matrix, 4, 4)
        if not np.abs(m[3] - _LAST_ROW).max() <= 1e-12:
            raise NotHomogeneousError(m[3])
        n = np.empty((ROWS, 3))
        c = n[CENTER] = finite_array("center", center, 3)
        n[TRANSLATION] = m[:3, 3] - c + m[:3, :3] @ c
        smallest = decompose(
            m[:3, :3].copy(), n[ROTATION:ORIENTATION], n[SCALE], n[ORIENTATION:LINEAR]
        )
        if abs(smallest) <= SINGULAR_TOLERANCE:
            raise SingularMatrixError(m)
        if smallest < 0.0:
            raise ReflectingMatrixError(m)
        return _finished(n, kernels.finish(n))

    @staticmethod
    def from_fields(fields: Mapping[str, npt.ArrayLike]) -> TransformNode:
        """Make a node from fields as VRML and X3D write them; a field left out has its default.

        Args:
            fields: By the names in `FIELDS`: `center`, `translation` [m] and `scale`, 3 numbers;
                `rotation` and `scaleOrientation`, 4 numbers, axis of any length and angle [rad].
                A sequence of numbers, or a text such as "0 0 1 0".

        Raises:
            FieldError: A field does not exist, or a value does not fit; both are named.
            NodeOverflowError: A product leaves the range of floating point.
        """
        given: dict[str, FloatArray] = {}
        for field, value in fields.items():
            if field not in FIELDS:
                near = difflib.get_close_matches(str(field), FIELDS, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(FIELDS)}"
                raise FieldError(str(field), f"is no field of a transform node; {hint}")
            numbers = field_numbers(field, value)
            if len(numbers) == 4:
                numbers = RigidTransform.from_axis_angle(numbers[:3], numbers[3]).rotation
            given["scale_orientation" if field == "scaleOrientation" else field] = numbers
        return TransformNode(**given)

    def as_fields(self) -> dict[str, list[float]]:
        """Return the fields as VRML and X3D write them; `from_fields` gives the node back."""
        return {
            "center": self.center.tolist(),
            "rotation": _axis_angle(self.rotation),
            "scale": self.scale.tolist(),
            "scaleOrientation": _axis_angle(self.scale_orientation),
            "translation": self.translation.tolist(),
        }

    @property
    def center(self) -> FloatArray:
        """C [m], shape (3,), read-only."""
        return read_only(self._n[CENTER])

    @property
    def rotation(self) -> FloatArray:
        """R, shape (3, 3), read-only."""
        return read_only(self._n[ROTATION:ORIENTATION])

    @property
    def scale(self) -> FloatArray:
        """S, shape (3,), read-only."""
        return read_only(self._n[SCALE])

    @property
    def scale_orientation(self) -> FloatArray:
        """SR, shape (3, 3), read-only."""
        return read_only(self._n[ORIENTATION:LINEAR])

    @property
    def translation(self) -> FloatArray:
        """T [m], shape (3,), read-only."""
        return read_only(self._n[TRANSLATION])

    @property
    def linear(self) -> FloatArray:
        """M = R·SR·diag(S)·SRᵀ, shape (3, 3), read-only: what the node does to vectors."""
        return read_only(self._n[LINEAR:])

    @property
    def matrix(self) -> FloatArray:
        """The homogeneous matrix, shape (4, 4), read-only."""
        n, m = self._n, np.eye(4)
        m[:3, :3] = n[LINEAR:]
        m[:3, 3] = n[CENTER] + n[TRANSLATION] - n[LINEAR:] @ n[CENTER]
        return read_only(m)

    @property
    def stretch(self) -> FloatArray:
        """U = SR·diag(S)·SRᵀ, shape (3, 3): what the node does to vectors before it turns them."""
        stretch: FloatArray = self.rotation.T @ self.linear
        return stretch

    @property
    def is_rigid(self) -> bool:
        """Whether no scale factor differs from 1 by more than `RIGID_TOLERANCE`."""
        return bool(np.abs(self._n[SCALE] - 1.0).max() <= RIGID_TOLERANCE)

    def with_rotation(self, rotation: npt.ArrayLike) -> TransformNode:
        """Return this node turned otherwise about its centre; rotation of shape (3, 3).

        Raises:
            ShapeError: Another shape.
            NotFiniteError: An element is NaN or infinite.
            NotARotationError: It is none.
        """
        return TransformNode(
            center=self.center,
            rotation=rotation,
            scale=self.scale,
            scale_orientation=self.scale_orientation,
            translation=self.translation,
        )

    def apply(self, points: npt.ArrayLike) -> FloatArray:
        """Map points [m], shape (3,) or (N, 3), out of the node. NaN in gives NaN out.

        Raises:
            ShapeError: Another shape.
        """
        out = real_array("points", points)
        if out.shape[-1:] != (3,) or out.ndim > 2:
            raise ShapeError("points", "(3,) or (N, 3)", out.shape)
        kernels.apply(self._n, out.reshape(-1, 3))
        return out

    def inverse(self) -> TransformNode:
        """Return the node about the same centre that undoes this one.

        Raises:
            NodeOverflowError: Its numbers leave the range of floating point.
        """
        n = np.empty((ROWS, 3))
        return _finished(n, kernels.invert(self._n, n))

    def __matmul__(self, inner: TransformNode) -> TransformNode:
        """Return the one node that does what `inner` under this node does.

        Raises:
            NodeOverflowError: Its numbers leave the range of floating point.
        """
        if not isinstance(inner, TransformNode):
            return NotImplemented
        n = np.empty((ROWS, 3))
        return _finished(n, kernels.combine(self._n, inner._n, n))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TransformNode):
            return NotImplemented
        return bool((self._n == other._n).all())

    def __hash__(self) -> int:
        return hash((self._n + 0.0).tobytes())  # + 0.0: equal zeros of either sign hash alike

    def __reduce__(self) -> tuple[object, ...]:
        return _finished, (self._n, True)

    def __repr__(self) -> str:
        fields = ("center", "rotation", "scale", "scale_orientation", "translation")
        return f"TransformNode({', '.join(f'{f}={getattr(self, f).tolist()}' for f in fields)})"


def _finished(n: FloatArray, in_range: bool) -> TransformNode:
    """Wrap a packed node that a kernel has finished, without copying."""
    if not in_range:
        raise NodeOverflowError
    node = object.__new__(TransformNode)
    node._n = n
    return node


def field_numbers(field: str, value: npt.ArrayLike) -> FloatArray:
    """Return the numbers of a field, once they are what it can take.

    Args:
        field: One of `FIELDS`.
        value: A sequence of numbers, or a text.

    Raises:
        FieldError: They are not.
    """
    wanted = len(FIELDS[field])
    what = f"wants {wanted} numbers{', axis and angle [rad]' if wanted == 4 else ''}"
    given = value.replace(",", " ").split() if isinstance(value, str) else value
    got = f"got {' '.join(repr(value).split())}"  # an array's has lines
    try:
        numbers = finite_array(field, given, wanted)
    except ShapeError:
        raise FieldError(field, f"{what}, {got}") from None
    except NotFiniteError:
        raise FieldError(field, f"{what}, all finite, {got}") from None
    if wanted == 4 and not numbers[:3].any():
        raise FieldError(field, f"has an axis without length, {got}")
    if wanted == 4 and not abs(numbers[3]) <= _LARGEST_ANGLE:
        raise FieldError(field, f"has too large an angle, {got}")
    if field == "scale" and not numbers.min() >= np.finfo(float).tiny:
        raise FieldError(field, f"must be greater than zero, {got}")
    return numbers


def _axis_angle(rotation: FloatArray) -> list[float]:
    axis, angle = RigidTransform.from_rotation_translation(rotation, _ZERO).as_axis_angle()
    return [*(axis.tolist() if angle else (0.0, 0.0, 1.0)), angle]
