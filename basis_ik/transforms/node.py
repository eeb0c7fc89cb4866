# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of basis with scale: the transform nodes of VRML and X3D (transform_nodes)."""

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
    NODE_CENTER,
    NODE_LINEAR,
    NODE_ORIENTATION,
    NODE_ROTATION,
    NODE_ROWS,
    NODE_SCALE,
    NODE_TRANSLATION,
)
from basis_ik.transforms.rigid import LAST_ROW, RigidTransform
from basis_ik.transforms.stretch_kernel import decompose

NODE_FIELDS: Mapping[str, tuple[float, ...]] = {
    "center": (0.0, 0.0, 0.0),
    "rotation": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
    "scaleOrientation": (0.0, 0.0, 1.0, 0.0),
    "translation": (0.0, 0.0, 0.0),
}
"""The fields of VRML's and X3D's Transform with their defaults; rotations are axis and angle."""

SINGULAR_TOLERANCE = 1e-14
"""Ratio of the smallest to the largest stretch below which a matrix counts as singular."""

RIGID_TOLERANCE = 1e-12
"""Largest deviation of the scale factors from 1 with which a node counts as rigid."""

_LARGEST_ANGLE = 1e9  # [rad]; a larger angle has no digits left after whole turns are removed
_NO_SHIFT = (0.0, 0.0, 0.0)
_NO_SCALE = (1.0, 1.0, 1.0)
_NO_ROTATION = np.eye(3)


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
    """A field of VRML and X3D does not exist, or has an invalid value."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class TransformNode:
    """P' = R(SR(S × SR′(P − C))) + C + T: scale along chosen axes, rotate about a centre, move.

    Frozen and canonical: of all scale orientations with the same stretch, a node has the smallest
    rotation, and equal scale factors have no orientation. Thus equivalent nodes with the same
    centre have the same fields, up to rounding.
    """

    __slots__ = ("_n",)
    __array_ufunc__ = None  # array @ self and self @ array are type errors, not numpy puzzles
    _n: FloatArray  # packed, see transforms/node_kernel.py; only read-only views are handed out

    def __init__(
        self,
        *,
        center: npt.ArrayLike = _NO_SHIFT,
        rotation: npt.ArrayLike = _NO_ROTATION,
        scale: npt.ArrayLike = _NO_SCALE,
        scale_orientation: npt.ArrayLike = _NO_ROTATION,
        translation: npt.ArrayLike = _NO_SHIFT,
    ) -> None:
        """Create a node from VRML's fields.

        Args:
            center: C, the fixed point of rotation and scale [m], shape (3,).
            rotation: R, shape (3, 3).
            scale: S, factors greater than zero, shape (3,).
            scale_orientation: SR, the axes along which S scales, shape (3, 3).
            translation: T [m], shape (3,).

        Raises:
            ShapeError: An argument has another shape.
            NotFiniteError: An element is NaN or infinite.
            NotARotationError: `rotation` or `scale_orientation` is not a rotation.
            ScaleError: A factor is not greater than zero, or has no inverse.
            NodeOverflowError: A product leaves the range of floating point.
        """
        n = np.empty((NODE_ROWS, 3))
        n[NODE_CENTER] = finite_array("center", center, 3)
        n[NODE_TRANSLATION] = finite_array("translation", translation, 3)
        n[NODE_SCALE] = finite_array("scale", scale, 3)
        if not n[NODE_SCALE].min() >= np.finfo(float).tiny:
            raise ScaleError(n[NODE_SCALE])
        n[NODE_ROTATION:NODE_ORIENTATION] = RigidTransform.from_rotation_translation(
            rotation, _NO_SHIFT
        ).rotation
        n[NODE_ORIENTATION:NODE_LINEAR] = RigidTransform.from_rotation_translation(
            scale_orientation, _NO_SHIFT
        ).rotation
        if not kernels.finish(n):
            raise NodeOverflowError
        self._n = n

    @staticmethod
    def from_matrix(matrix: npt.ArrayLike, center: npt.ArrayLike = _NO_SHIFT) -> TransformNode:
        """Return the node with a given centre that is equivalent to a homogeneous matrix.

        Args:
            matrix: Shape (4, 4), last row 0 0 0 1, determinant above zero; shear is allowed.
            center: Centre of the node [m], shape (3,); any is possible, because T compensates.

        Raises:
            ShapeError: An argument has another shape.
            NotFiniteError: An element is NaN or infinite.
            NotHomogeneousError: The last row is not 0 0 0 1.
            SingularMatrixError: The matrix is singular.
            ReflectingMatrixError: The matrix reflects.
            NodeOverflowError: A product leaves the range of floating point.
        """
        m = finite_array("matrix", matrix, 4, 4)
        if not np.abs(m[3] - LAST_ROW).max() <= 1e-12:
            raise NotHomogeneousError(m[3])
        n = np.empty((NODE_ROWS, 3))
        c = n[NODE_CENTER] = finite_array("center", center, 3)
        n[NODE_TRANSLATION] = m[:3, 3] - c + m[:3, :3] @ c
        smallest = decompose(
            m[:3, :3].copy(),
            n[NODE_ROTATION:NODE_ORIENTATION],
            n[NODE_SCALE],
            n[NODE_ORIENTATION:NODE_LINEAR],
        )
        if abs(smallest) <= SINGULAR_TOLERANCE:
            raise SingularMatrixError(m)
        if smallest < 0.0:
            raise ReflectingMatrixError(m)
        return _finished(n, kernels.finish(n))

    @staticmethod
    def from_fields(fields: Mapping[str, npt.ArrayLike]) -> TransformNode:
        """Create a node from fields as in VRML and X3D; missing fields have their defaults.

        Args:
            fields: Values by the names in `NODE_FIELDS`: `center`, `translation` [m] and `scale`, 3
                numbers; `rotation` and `scaleOrientation`, 4 numbers, axis of any length and angle
                [rad]. Each is a sequence of numbers, or a text, for example "0 0 1 0".

        Raises:
            FieldError: A field does not exist, or its value is invalid.
            NodeOverflowError: A product leaves the range of floating point.
        """
        given: dict[str, FloatArray] = {}
        for field, value in fields.items():
            if field not in NODE_FIELDS:
                near = difflib.get_close_matches(str(field), NODE_FIELDS, n=1)
                hint = (
                    f"did you mean '{near[0]}'?" if near else f"there are {', '.join(NODE_FIELDS)}"
                )
                raise FieldError(str(field), f"is no field of a transform node; {hint}")
            numbers = field_numbers(field, value)
            if len(numbers) == 4:
                numbers = RigidTransform.from_axis_angle(numbers[:3], numbers[3]).rotation
            given["scale_orientation" if field == "scaleOrientation" else field] = numbers
        return TransformNode(**given)

    def as_fields(self) -> dict[str, list[float]]:
        """Return the fields as in VRML and X3D; `from_fields` recreates the node."""
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
        return read_only(self._n[NODE_CENTER])

    @property
    def rotation(self) -> FloatArray:
        """R, shape (3, 3), read-only."""
        return read_only(self._n[NODE_ROTATION:NODE_ORIENTATION])

    @property
    def scale(self) -> FloatArray:
        """S, shape (3,), read-only."""
        return read_only(self._n[NODE_SCALE])

    @property
    def scale_orientation(self) -> FloatArray:
        """SR, shape (3, 3), read-only."""
        return read_only(self._n[NODE_ORIENTATION:NODE_LINEAR])

    @property
    def translation(self) -> FloatArray:
        """T [m], shape (3,), read-only."""
        return read_only(self._n[NODE_TRANSLATION])

    @property
    def linear(self) -> FloatArray:
        """M = R·SR·diag(S)·SRᵀ, shape (3, 3), read-only: the node's linear part."""
        return read_only(self._n[NODE_LINEAR:])

    @property
    def matrix(self) -> FloatArray:
        """The homogeneous matrix, shape (4, 4), read-only."""
        n, m = self._n, np.eye(4)
        m[:3, :3] = n[NODE_LINEAR:]
        m[:3, 3] = n[NODE_CENTER] + n[NODE_TRANSLATION] - n[NODE_LINEAR:] @ n[NODE_CENTER]
        return read_only(m)

    @property
    def stretch(self) -> FloatArray:
        """U = SR·diag(S)·SRᵀ, shape (3, 3): the node's linear part before the rotation."""
        stretch: FloatArray = self.rotation.T @ self.linear
        return stretch

    @property
    def is_rigid(self) -> bool:
        """Whether no scale factor differs from 1 by more than `RIGID_TOLERANCE`."""
        return bool(np.abs(self._n[NODE_SCALE] - 1.0).max() <= RIGID_TOLERANCE)

    def with_rotation(self, rotation: npt.ArrayLike) -> TransformNode:
        """Return this node with another rotation, shape (3, 3).

        Raises:
            ShapeError: The rotation has another shape.
            NotFiniteError: An element is NaN or infinite.
            NotARotationError: It is not a rotation.
        """
        return TransformNode(
            center=self.center,
            rotation=rotation,
            scale=self.scale,
            scale_orientation=self.scale_orientation,
            translation=self.translation,
        )

    def apply(self, points: npt.ArrayLike) -> FloatArray:
        """Map points [m], shape (3,) or (N, 3), to the parent's coordinates. NaN gives NaN.

        Raises:
            ShapeError: The points have another shape.
        """
        out = real_array("points", points)
        if out.shape[-1:] != (3,) or out.ndim > 2:
            raise ShapeError("points", "(3,) or (N, 3)", out.shape)
        kernels.apply(self._n, out.reshape(-1, 3))
        return out

    def inverse(self) -> TransformNode:
        """Return the inverse node, with the same centre.

        Raises:
            NodeOverflowError: Its numbers leave the range of floating point.
        """
        n = np.empty((NODE_ROWS, 3))
        return _finished(n, kernels.invert(self._n, n))

    def __matmul__(self, inner: TransformNode) -> TransformNode:
        """Return the node that is equivalent to `inner` as a child of this node.

        Raises:
            NodeOverflowError: Its numbers leave the range of floating point.
        """
        if not isinstance(inner, TransformNode):
            return NotImplemented
        n = np.empty((NODE_ROWS, 3))
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
    """Wrap a packed node from a kernel, without copying."""
    if not in_range:
        raise NodeOverflowError
    node = object.__new__(TransformNode)
    node._n = n
    return node


def field_numbers(field: str, value: npt.ArrayLike) -> FloatArray:
    """Return the numbers of a field, checked.

    Args:
        field: One of `NODE_FIELDS`.
        value: A sequence of numbers, or a text.

    Raises:
        FieldError: They are invalid.
    """
    expected = len(NODE_FIELDS[field])
    what = f"wants {expected} numbers{', axis and angle [rad]' if expected == 4 else ''}"
    given = value.replace(",", " ").split() if isinstance(value, str) else value
    got = f"got {' '.join(repr(value).split())}"  # an array's has lines
    try:
        numbers = finite_array(field, given, expected)
    except ShapeError:
        raise FieldError(field, f"{what}, {got}") from None
    except NotFiniteError:
        raise FieldError(field, f"{what}, all finite, {got}") from None
    if expected == 4 and not numbers[:3].any():
        raise FieldError(field, f"has an axis without length, {got}")
    if expected == 4 and not abs(numbers[3]) <= _LARGEST_ANGLE:
        raise FieldError(field, f"has too large an angle, {got}")
    if field == "scale" and not numbers.min() >= np.finfo(float).tiny:
        raise FieldError(field, f"must be greater than zero, {got}")
    return numbers


def _axis_angle(rotation: FloatArray) -> list[float]:
    axis, angle = RigidTransform.from_rotation_translation(rotation, _NO_SHIFT).as_axis_angle()
    return [*(axis.tolist() if angle else (0.0, 0.0, 1.0)), angle]
