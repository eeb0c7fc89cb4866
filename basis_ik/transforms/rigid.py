# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of basis without scale: rigid transforms, SE(3)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from basis_ik.numerics.arrays import FloatArray, as_reals
from basis_ik.transforms import rigid_kernel as kernels
from basis_ik.transforms.checks import (
    NotARotationError,
    NotFiniteError,
    NotHomogeneousError,
    QuaternionError,
    ShapeError,
    finite_array,
    read_only,
    real_array,
    unit_vector,
)
from basis_ik.transforms.quaternion import UNIT_TOLERANCE, xyzw_from_matrix

ROTATION_TOLERANCE = 1e-6
"""Largest |RᵀR − I| of a matrix that is re-orthonormalised; beyond, it is refused."""

LAST_ROW = [0.0, 0.0, 0.0, 1.0]  # of a homogeneous matrix
_IDENTITY = np.eye(4)


class RigidTransform:
    """A change of basis: origin and orientation of a child basis, seen from its parent basis.

    Frozen. Name it `parent_T_child`: it maps child coordinates to parent coordinates, and in a
    product adjacent names cancel, `root_T_tip = root_T_elbow @ elbow_T_tip`. A factor may be the
    (4, 4) matrix of one, and `numpy.asarray` gives the matrix.
    """

    __slots__ = ("_m",)
    __array_ufunc__ = None  # array @ self and self @ array come to the methods here
    # Writable, C-contiguous (4, 4) float64: numba takes read-only arrays by a path four times
    # slower and compiles a second kernel for them. Only read-only views of it are handed out.
    _m: FloatArray

    def __init__(self) -> None:
        raise TypeError("RigidTransform has no constructor: use identity() or a from_... method")

    @staticmethod
    def identity() -> RigidTransform:
        """Return the identity."""
        return trusted(np.eye(4))

    @staticmethod
    def from_matrix(matrix: npt.ArrayLike) -> RigidTransform:
        """Create a transform from a homogeneous matrix (change_of_basis, section 1).

        Args:
            matrix: Shape (4, 4): rotation, translation [m], last row 0 0 0 1. A rotation that is
                orthonormal to 1e-12 is kept bit for bit; up to `ROTATION_TOLERANCE` it is replaced
                by the nearest rotation.

        Raises:
            ShapeError: The matrix has another shape.
            NotFiniteError: An element is NaN or infinite.
            NotHomogeneousError: The last row is not 0 0 0 1.
            NotARotationError: The upper left part is not orthonormal, or reflects.
        """
        m = real_array("matrix", matrix)
        if m.shape != (4, 4):
            raise ShapeError("matrix", "(4, 4)", m.shape)
        if kernels.is_exact(m):
            return trusted(m)
        if not np.abs(m[3] - LAST_ROW).max() <= kernels.ORTHONORMAL_TOLERANCE:
            if not np.isfinite(m).all():
                raise NotFiniteError("matrix", m.tolist())
            raise NotHomogeneousError(m[3])
        m[3] = LAST_ROW
        return _checked(m)

    @staticmethod
    def from_rotation_translation(
        rotation: npt.ArrayLike, translation: npt.ArrayLike
    ) -> RigidTransform:
        """Create a transform from a rotation matrix, shape (3, 3), and a translation [m], (3,).

        Raises:
            ShapeError: An argument has another shape.
            NotFiniteError: An element is NaN or infinite.
            NotARotationError: Not orthonormal within `ROTATION_TOLERANCE`, or reflecting.
        """
        m = np.eye(4)
        m[:3, :3] = finite_array("rotation", rotation, 3, 3)
        m[:3, 3] = finite_array("translation", translation, 3)
        return _checked(m)

    @staticmethod
    def from_quaternion_xyzw(
        quaternion: npt.ArrayLike, translation: npt.ArrayLike
    ) -> RigidTransform:
        """Create a transform from a ROS quaternion (x, y, z, w) and a translation [m].

        Raises:
            ShapeError: An argument has another shape.
            NotFiniteError: An element is NaN or infinite.
            QuaternionError: The length deviates from 1 by more than `quaternion.UNIT_TOLERANCE`.
        """
        q, t = real_array("quaternion", quaternion), real_array("translation", translation)
        if q.shape != (4,):
            raise ShapeError("quaternion", "(4,)", q.shape)
        if t.shape != (3,):
            raise ShapeError("translation", "(3,)", t.shape)
        m = _IDENTITY.copy()
        (x, y, z, w), (tx, ty, tz) = q.tolist(), t.tolist()
        length = kernels.from_xyzw((x, y, z, w), (tx, ty, tz), m)
        if not abs(length - 1.0) <= UNIT_TOLERANCE:
            finite_array("quaternion", q, 4)
            finite_array("translation", t, 3)
            raise QuaternionError(math.hypot(*q))  # the kernel's length may have overflowed
        return trusted(m)

    @staticmethod
    def from_axis_angle(
        axis: npt.ArrayLike, angle: float, translation: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> RigidTransform:
        """Rotate by `angle` [rad] about `axis` (of any positive length), then translate [m].

        Raises:
            ShapeError: An argument has another shape.
            NotFiniteError: A number is NaN or infinite, or the angle's square is.
            ZeroLengthError: The axis has no length.
        """
        if not math.isfinite(_number("angle", angle)):
            raise NotFiniteError("angle", angle)
        twist = np.zeros(6)
        twist[3:] = unit_vector("axis", axis) * angle
        m = np.empty((4, 4))
        if not kernels.exp(twist, m):
            raise NotFiniteError("the rotation by this angle", angle)
        m[:3, 3] = finite_array("translation", translation, 3)
        return trusted(m)

    @staticmethod
    def from_rpy(
        roll: float, pitch: float, yaw: float, translation: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> RigidTransform:
        """Rotate about the fixed x, then y, then z axis [rad], then translate [m]: URDF's `origin`.

        Raises:
            ShapeError: An argument has another shape.
            NotFiniteError: A number is NaN or infinite.
        """
        r, p, y = finite_array("roll, pitch, yaw", (roll, pitch, yaw), 3).tolist()
        m = np.eye(4)
        kernels.from_rpy(r, p, y, m)
        m[:3, 3] = finite_array("translation", translation, 3)
        return trusted(m)

    @staticmethod
    def exp(twist: npt.ArrayLike) -> RigidTransform:
        """Move along a constant twist (v [m], ω [rad]), shape (6,), for unit time.

        Raises:
            ShapeError: The twist has another shape.
            NotFiniteError: An element is NaN or infinite, or so large that the result is infinite.
        """
        m, along = np.empty((4, 4)), finite_array("twist", twist, 6)
        if not kernels.exp(along, m):
            raise NotFiniteError("the motion along this twist", along.tolist())
        return trusted(m)

    def log(self) -> FloatArray:
        """Return the shortest twist (v [m], ω [rad]) whose `exp` this is, shape (6,)."""
        twist = np.empty(6)
        kernels.log(self._m, twist)
        return twist

    @property
    def matrix(self) -> FloatArray:
        """The homogeneous matrix, shape (4, 4), read-only."""
        return read_only(self._m)

    @property
    def rotation(self) -> FloatArray:
        """The rotation, shape (3, 3), read-only; its columns are the child's axes."""
        return read_only(self._m[:3, :3])

    @property
    def translation(self) -> FloatArray:
        """The translation [m], shape (3,), read-only; the child's origin in the parent."""
        return read_only(self._m[:3, 3])

    def as_quaternion_xyzw(self) -> FloatArray:
        """Return the rotation as a ROS quaternion, shape (4,), w ≥ 0."""
        return xyzw_from_matrix(self._m[:3, :3])

    def as_axis_angle(self) -> tuple[FloatArray, float]:
        """Return unit axis, shape (3,), and angle [rad] in [0, π]; axis x if the angle is 0."""
        vector = np.empty(3)
        angle = kernels.rotation_vector(self._m, vector)
        axis = unit_vector("axis", vector) if angle > 0.0 else np.array((1.0, 0.0, 0.0))
        return axis, angle

    def as_rpy(self) -> tuple[float, float, float]:
        """Return roll, pitch and yaw [rad] about the fixed axes; yaw 0 at pitch ±π/2.

        Roll is computed after yaw is undone, so that `from_rpy` recreates this rotation also at and
        near the singularity.
        """
        m = self._m
        yaw = math.atan2(m[1, 0] + 0.0, m[0, 0] + 0.0)  # + 0.0: atan2(0, -0.0) would be π
        pitch = math.atan2(-m[2, 0], math.hypot(m[0, 0], m[1, 0]))
        c, s = math.cos(yaw), math.sin(yaw)
        roll = math.atan2(s * m[0, 2] - c * m[1, 2], c * m[1, 1] - s * m[0, 1])
        return roll, pitch, yaw

    def inverse(self) -> RigidTransform:
        """Return the inverse: (Rᵀ, −Rᵀ t) (change_of_basis, 2.2)."""
        m = np.empty((4, 4))
        kernels.invert(self._m, m)
        return trusted(m)

    def apply(self, points: npt.ArrayLike) -> FloatArray:
        """Map points [m], shape (3,) or (N, 3), from child to parent coordinates.

        NaN gives NaN.

        Raises:
            ShapeError: The points have another shape.
        """
        return self._map("points", points, 1.0)

    def apply_vector(self, vectors: npt.ArrayLike) -> FloatArray:
        """Map directions, shape (3,) or (N, 3), by the rotation only.

        Raises:
            ShapeError: The directions have another shape.
        """
        return self._map("vectors", vectors, 0.0)

    def _map(self, name: str, points: npt.ArrayLike, weight: float) -> FloatArray:
        out = real_array(name, points)
        if out.shape == (3,):
            kernels.apply_point(self._m, out, weight)
        elif out.ndim == 2 and out.shape[1] == 3:
            kernels.apply_points(self._m, out, weight)
        else:
            raise ShapeError(name, "(3,) or (N, 3)", out.shape)
        return out

    def __matmul__(self, other: RigidTransform | npt.ArrayLike) -> RigidTransform:
        try:
            return trusted(self._m.dot(other._m))  # type: ignore[union-attr]
        except AttributeError:
            return self @ _as_factor(other)

    def __rmatmul__(self, other: npt.ArrayLike) -> RigidTransform:
        return _as_factor(other) @ self

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is not False:
            return np.array(self._m, dtype)
        if np.dtype(dtype) != self._m.dtype:
            raise ValueError(f"the matrix as {np.dtype(dtype)} is a copy")
        return self.matrix

    def is_close(self, other: RigidTransform | npt.ArrayLike, tolerance: float = 1e-9) -> bool:
        """Return whether all elements differ from another's, or a (4, 4) matrix's, by `tolerance`.

        Raises:
            ShapeError: The other is of another shape, or the tolerance no number.
        """
        m = other._m if isinstance(other, RigidTransform) else real_array("other", other)
        if m.shape != (4, 4):
            raise ShapeError("other", "(4, 4)", m.shape)
        return bool(np.abs(self._m - m).max() <= _number("tolerance", tolerance))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RigidTransform):
            return NotImplemented
        return bool(kernels.is_equal(self._m, other._m))

    def __hash__(self) -> int:
        return hash((self._m + 0.0).tobytes())  # + 0.0: equal zeros of either sign hash alike

    def __reduce__(self) -> tuple[object, ...]:
        return trusted, (self._m,)

    def __repr__(self) -> str:
        rows = np.array2string(self._m[:3], precision=6, suppress_small=True, separator=", ")
        return f"RigidTransform({rows})"


_new = object.__new__


def _number(name: str, value: float) -> float:
    """Return a number, which may be NaN or infinite, or raise ShapeError."""
    if isinstance(value, (float, int)):
        return value
    array = real_array(name, value)
    if array.ndim > 0:
        raise ShapeError(name, "()", array.shape)
    return float(array)


def _as_factor(matrix: object) -> RigidTransform:
    """Return the (4, 4) matrix of a transform that is a factor of another.

    Raises:
        TypeError: It is no such matrix; points are not meant by a product.
        TransformError: A (4, 4) matrix that is not that of a transform.
    """
    array = as_reals(matrix)
    if array is None or array.shape != (4, 4):
        raise TypeError(
            "a factor of a RigidTransform is another or its (4, 4) matrix; "
            "apply(points) maps points, and `matrix` is a factor of any array"
        )
    return RigidTransform.from_matrix(array)


def warm_up() -> None:
    """Compile all that transforms may call, before a control loop starts."""
    turn = RigidTransform.from_rpy(0.1, 0.0, 0.0)
    turn = RigidTransform.from_quaternion_xyzw(turn.as_quaternion_xyzw(), (0.0, 0.0, 0.0))
    turn = RigidTransform.exp((turn @ turn.inverse()).log())
    turn = RigidTransform.from_matrix(turn.matrix)
    turn == turn.inverse()  # noqa: B015
    turn.as_axis_angle()
    turn.apply((0.0, 0.0, 0.0))
    turn.apply_vector(np.zeros((2, 3)))


def from_checked(
    quaternion: tuple[float, float, float, float], translation: tuple[float, float, float]
) -> RigidTransform:
    """Create a transform from checked numbers, all finite floats.

    Args:
        quaternion: (x, y, z, w), of any positive length.
        translation: (x, y, z) [m].
    """
    m = _IDENTITY.copy()
    kernels.from_xyzw(quaternion, translation, m)
    return trusted(m)


def trusted(m: FloatArray) -> RigidTransform:
    """Wrap a matrix without copying or checking it.

    Args:
        m: A matrix from one of our kernels: rigid, (4, 4), C-contiguous, writable float64, without
            other references.
    """
    transform = _new(RigidTransform)
    transform._m = m
    return transform


def _checked(m: FloatArray) -> RigidTransform:
    """Wrap a new (4, 4) array with a valid last row, after checking that it is rigid."""
    defect = kernels.rotation_defect(m)
    if not defect <= ROTATION_TOLERANCE:
        if not np.isfinite(m).all():
            raise NotFiniteError("matrix", m.tolist())
        R = m[:3, :3]
        raise NotARotationError(float(np.abs(R.T @ R - np.eye(3)).max()), float(np.linalg.det(R)))
    if defect > kernels.ORTHONORMAL_TOLERANCE:
        for _ in range(2):  # Newton's iteration to the polar factor squares the defect each time
            R = m[:3, :3]
            m[:3, :3] = 0.5 * R @ (3.0 * np.eye(3) - R.T @ R)
    return trusted(m)


IDENTITY = RigidTransform.identity()
