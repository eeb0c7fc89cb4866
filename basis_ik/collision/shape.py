# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shapes of links and objects: boxes, spheres, cylinders, capsules and the hulls of meshes."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from basis_ik.collision.hull import Hull, coarse_hull, convex_hull, mesh_volume
from basis_ik.collision.pieces import convex_pieces
from basis_ik.dependencies import check_extra
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray, as_reals
from basis_ik.robot.elements import shown
from basis_ik.robot.mesh_uri import find_mesh
from basis_ik.robot.visuals import Triple, Visual

MOST_TRIANGLES = 1_000_000
"""Of a mesh: one of this size takes some seconds."""
MOST_MESH_BYTES = 400_000_000
"""Of a mesh file, which is not read if it has more: a text of so many triangles has fewer."""
LARGEST_EXTENT = 1e4
"""Largest extent or coordinate [m]."""
SMALLEST_EXTENT = 1e-6
"""Smallest extent [m]; a mesh that is thinner than a share of its size is flat, too."""
COARSENESS = 1e-3
"""How far points of a link's mesh may be outside its pieces, which are as much thicker, by size."""
PRISM_SIDES = 24  # of the prism around a cylinder
FAR_FROM_HULL = 1.5  # of a mesh's volume, at which its hull is told of

LONGEST_QUOTED_NAME = 200  # characters of a name in a message
_PRODUCTS = 4_000_000  # numbers in memory at once
_STL_HEAD = 84  # bytes before the triangles, each of which has 50


class SceneError(BasisIkError, ValueError):
    """A shape, an object or a description of pairs is refused.

    Attributes:
        name: The link, object or file with the fault.
    """

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{shown(name, LONGEST_QUOTED_NAME)}: {text}")
        self.name = name


@dataclass(frozen=True, eq=False)
class Shape:
    """A convex body: of a box, sphere, cylinder or capsule, or the convex hull of a mesh.

    Made by `box`, `sphere`, `cylinder`, `capsule`, `mesh` and `hull_of`.

    Attributes:
        kind: Its kind; the axis of a cylinder or capsule is z.
        size: Extents along its axes [m]; those of a capsule without its hemispheres.
        hull_ratio: Volume of the hull, or of all pieces, by that of the mesh; 1 where the mesh is
            not closed.
    """

    kind: Literal["box", "cylinder", "sphere", "capsule", "mesh"]
    size: Triple
    hull_ratio: float = 1.0
    _given: Hull | None = None

    @staticmethod
    def box(x: float, y: float, z: float) -> Shape:
        """Return a box about its centre, by its extents [m].

        Raises:
            SceneError: One is not a number from 1e-6 to 1e4.
        """
        return _solid("box", (x, y, z))

    @staticmethod
    def sphere(radius: float) -> Shape:
        """Return a sphere about its centre [m]; raises as `box`."""
        (across,) = _lengths("sphere", (radius,))
        return _solid("sphere", (2.0 * across,) * 3)

    @staticmethod
    def cylinder(radius: float, length: float) -> Shape:
        """Return a cylinder along z about its centre [m]; raises as `box`."""
        half, length = _lengths("cylinder", (radius, length))
        return _solid("cylinder", (2.0 * half, 2.0 * half, length))

    @staticmethod
    def capsule(radius: float, length: float) -> Shape:
        """Return a capsule along z about its centre [m]; raises as `box`.

        Args:
            radius: Of its hemispheres.
            length: Of its cylinder, without the hemispheres.
        """
        half, length = _lengths("capsule", (radius, length))
        return _solid("capsule", (2.0 * half, 2.0 * half, length))

    @staticmethod
    def mesh(file: str | os.PathLike[str], scale: npt.ArrayLike = (1.0, 1.0, 1.0)) -> Shape:
        """Return the convex hull of a mesh file.

        Args:
            file: package://PACKAGE/PATH, file:///PATH, or a path. STL is read here; other formats
                need the package trimesh.
            scale: Of its coordinates along x, y and z.

        Raises:
            SceneError: The file is missing or broken, or has more than a million triangles, a
                number that is not finite, or no volume.
            ExtraError: It is no STL, and trimesh is not installed.
        """
        return Shape.of_triangles(_scaled_triangles(file, scale), os.fspath(file))

    @staticmethod
    def pieces_of_mesh(
        file: str | os.PathLike[str], scale: npt.ArrayLike = (1.0, 1.0, 1.0)
    ) -> tuple[Shape, ...]:
        """Return convex shapes that together contain a mesh file; one, if it is nearly convex.

        Arguments and errors are those of `mesh`.
        """
        return Shape.pieces_of(_scaled_triangles(file, scale), os.fspath(file))

    @staticmethod
    def pieces_of(triangles: FloatArray, name: str = "mesh") -> tuple[Shape, ...]:
        """Return convex shapes that together contain triangles (f, 3, 3) [m].

        Arguments and errors are those of `of_triangles`.
        """
        _refuse_triangles(name, triangles)
        parts = convex_pieces(triangles)
        try:
            pieces = [_hull_of(each.reshape(-1, 3), name, COARSENESS) for each in parts]
        except SceneError:  # one is flat
            pieces = [_hull_of(triangles.reshape(-1, 3), name, COARSENESS)]
        ratio = _hull_ratio(pieces, triangles)
        return tuple(replace(each, hull_ratio=ratio) for each in pieces)

    @staticmethod
    def of_triangles(triangles: FloatArray, name: str = "mesh") -> Shape:
        """Return the convex hull of triangles (f, 3, 3) [m].

        Args:
            triangles: Their corners.
            name: What errors call it.

        Raises:
            SceneError: As `hull_of` does; or there are more than a million, or none.
        """
        _refuse_triangles(name, triangles)
        shape = _hull_of(triangles.reshape(-1, 3), name)
        return replace(shape, hull_ratio=_hull_ratio([shape], triangles))

    @staticmethod
    def hull_of(points: npt.ArrayLike, name: str = "hull") -> Shape:
        """Return the convex hull of points (n, 3) [m].

        Args:
            points: The points.
            name: What errors call it.

        Raises:
            SceneError: These are not such points, one is not finite or farther than 1e4 m, or they
                have no volume.
        """
        array = as_reals(points)
        if array is None or array.ndim != 2 or array.shape[1] != 3:
            raise SceneError(name, "points are given as an array of the shape (n, 3)")
        _refuse_far(name, array)
        return _hull_of(array, name)

    @staticmethod
    def of_link(visual: Visual) -> tuple[Shape, ...]:
        """Return the shape of a link's <collision>, or the pieces of its mesh.

        Raises:
            SceneError: As the shapes do; it names the link.
        """
        try:
            if visual.kind == "mesh":
                return Shape.pieces_of_mesh(visual.file, visual.size)
            return (_solid(visual.kind, visual.size),)
        except SceneError as error:
            raise SceneError(visual.link, f"its <collision>: {error}") from None

    @property
    def is_round(self) -> bool:
        """Whether it is a sphere or a capsule, which are their own cover."""
        return self.kind in ("sphere", "capsule")

    @property
    def note(self) -> str:
        """A remark on a mesh that its hull, or all pieces, are far from; else empty."""
        if not self.hull_ratio > FAR_FROM_HULL:
            return ""
        return (
            f"what counts as solid has {self.hull_ratio:.1f} times the volume of the mesh; describe"
            " it by several convex meshes"
        )

    @cached_property
    def _key(self) -> tuple[object, ...]:
        corners = b"" if self._given is None else self._given.vertices.tobytes()
        return self.kind, self.size, corners

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same form, so that what was made for one serves both."""
        return isinstance(other, Shape) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def hull(self) -> Hull:
        """A polytope that contains it: itself, or the prism around a cylinder; none is round."""
        if self._given is not None:
            return self._given
        x, y, z = (0.5 * each for each in self.size)
        if self.kind == "box":
            corners = [(x * a, y * b, z * c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
        else:
            angles = np.arange(PRISM_SIDES) * (2.0 * np.pi / PRISM_SIDES)
            out = x / np.cos(np.pi / PRISM_SIDES)
            rim = np.column_stack([out * np.cos(angles), out * np.sin(angles)])
            corners = [(a, b, c) for a, b in rim.tolist() for c in (-z, z)]
        hull = convex_hull(np.array(corners))
        assert hull is not None
        return hull

    @property
    def core(self) -> tuple[FloatArray, float, float]:
        """Points (n, 3), and the radii of a disc about z and of a ball that make them thicker."""
        x, _, z = (0.5 * each for each in self.size)
        axis = np.array([[0.0, 0.0, -z], [0.0, 0.0, z]])
        if self.kind == "sphere":
            return np.zeros((1, 3)), 0.0, x
        if self.kind == "capsule":
            return axis, 0.0, x
        if self.kind == "cylinder":
            return axis, x, 0.0
        return self.hull.vertices, 0.0, self.hull.slack

    def contains(self, point: FloatArray) -> bool:
        """Return whether a point (3,) is inside."""
        x, y, z = (0.5 * each for each in self.size)
        across, up = float(np.hypot(point[0], point[1])), abs(float(point[2]))
        if self.kind == "box":
            return bool((np.abs(point) <= (x, y, z)).all())
        if self.kind == "cylinder":
            return across <= x and up <= z
        if self.kind == "mesh":
            return bool((self.hull.normals @ point <= self.hull.offsets + self.hull.slack).all())
        half = z if self.kind == "capsule" else 0.0
        return float(np.hypot(across, max(up - half, 0.0))) <= x

    def support(self, directions: FloatArray) -> FloatArray:
        """Return the largest n · x of its points x for directions n (d, 3)."""
        x, y, z = (0.5 * each for each in self.size)
        across, up = np.hypot(directions[:, 0], directions[:, 1]), np.abs(directions[:, 2])
        if self.kind == "box":
            found: FloatArray = np.abs(directions) @ (x, y, z)
        elif self.kind == "cylinder":
            found = x * across + z * up
        elif self.kind == "mesh":
            corners = self.hull.vertices.T
            few = max(1, _PRODUCTS // corners.shape[1])  # of directions at once, for memory
            found = np.concatenate([
                (directions[k : k + few] @ corners).max(axis=1)
                for k in range(0, len(directions), few)
            ]) + self.hull.slack  # fmt: skip
        else:
            found = x * np.hypot(across, up) + (z * up if self.kind == "capsule" else 0.0)
        return found

    def __repr__(self) -> str:
        size = " × ".join(f"{each:.4g}" for each in self.size)
        return f"Shape({self.kind}, {size} m)"


def _hull_of(points: FloatArray, name: str, tolerance: float = 0.0) -> Shape:
    hull = coarse_hull(points, tolerance) if tolerance > 0.0 else convex_hull(points)
    if hull is None or not np.ptp(points, axis=0).min() >= SMALLEST_EXTENT:
        raise SceneError(name, "it has no volume; use a thin box instead")
    x, y, z = np.ptp(points, axis=0).tolist()
    return Shape("mesh", (x, y, z), _given=hull)


def _hull_ratio(pieces: Sequence[Shape], triangles: FloatArray) -> float:
    own = mesh_volume(triangles)
    return 1.0 if own is None else sum(each.hull.volume for each in pieces) / own


def _solid(kind: Literal["box", "cylinder", "sphere", "capsule"], size: Triple) -> Shape:
    x, y, z = _lengths(kind, size)
    return Shape(kind, (x, y, z))


def _lengths(kind: str, lengths: tuple[float, ...]) -> list[float]:
    array = as_reals(lengths)
    if array is None or array.shape != (len(lengths),) or not (
        (array >= SMALLEST_EXTENT) & (array <= LARGEST_EXTENT)
    ).all():  # fmt: skip
        given = ", ".join(map(repr, lengths))
        raise SceneError(
            kind, f"sizes are from {SMALLEST_EXTENT:g} to {LARGEST_EXTENT:g} m, got {given}"
        )
    return [float(each) for each in array]


def _scaled_triangles(file: str | os.PathLike[str], scale: npt.ArrayLike) -> FloatArray:
    name, factors = os.fspath(file), as_reals(scale)
    if factors is None or factors.shape != (3,) or not (np.abs(factors) <= LARGEST_EXTENT).all():
        raise SceneError(name, f"a scale is three numbers within ±{LARGEST_EXTENT:g}")
    return factors * _read_triangles(name)


def _read_triangles(name: str) -> FloatArray:
    """Return the triangles (f, 3, 3) of a mesh file, by its own unit."""
    try:
        path = find_mesh(name)
        if path is None:
            raise SceneError(
                name,
                "there is no such mesh file; packages are looked for in AMENT_PREFIX_PATH",
            )
        if path.stat().st_size > MOST_MESH_BYTES:
            text = f"the file is larger than {MOST_MESH_BYTES // 1_000_000} MB"
            raise SceneError(name, f"{text}; use a coarser mesh for collisions")
        if path.suffix.lower() == ".stl":
            triangles = _read_stl(name, path.read_bytes())
        else:
            triangles = _read_by_trimesh(name, path)
    except (OSError, ValueError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(name, f"the mesh cannot be read: {error}") from None
    return triangles


def _refuse_large(name: str, count: int) -> None:
    if count > MOST_TRIANGLES:
        raise SceneError(
            name,
            f"{count} triangles are more than {MOST_TRIANGLES}; use a coarser mesh for collisions",
        )


def _refuse_triangles(name: str, triangles: FloatArray) -> None:
    if not len(triangles):
        raise SceneError(name, "the mesh has no triangles")
    _refuse_large(name, len(triangles))
    _refuse_far(name, triangles)


def _refuse_far(name: str, points: FloatArray) -> None:
    if not (np.abs(points) <= LARGEST_EXTENT).all():
        raise SceneError(name, f"a coordinate is not finite or beyond {LARGEST_EXTENT:g} m")


def _read_stl(name: str, data: bytes) -> FloatArray:
    """Read an STL file, binary or text."""
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= _STL_HEAD else 0
    if len(data) >= _STL_HEAD and len(data) == _STL_HEAD + 50 * count:
        _refuse_large(name, count)
        rows = np.frombuffer(data, np.uint8, offset=_STL_HEAD).reshape(count, 50)
        corners = np.ascontiguousarray(rows[:, 12:48]).view("<f4")
        return corners.astype(np.float64).reshape(-1, 3, 3)
    if not data.lstrip()[:5].lower() == b"solid":
        raise SceneError(name, "the mesh is no STL file, or it is cut off; export it again")
    lines = [line.split()[1:] for line in data.splitlines() if line.lstrip()[:6] == b"vertex"]
    _refuse_large(name, len(lines) // 3)
    if len(lines) % 3 or any(len(line) != 3 for line in lines):
        raise SceneError(name, "the mesh is cut off: a triangle lacks corners; export it again")
    return np.array([[float(word) for word in line] for line in lines]).reshape(-1, 3, 3)


def _read_by_trimesh(name: str, path: Path) -> FloatArray:
    """Read a mesh of another format; COLLADA states its unit."""
    check_extra(f"the mesh {shown(name)}", "trimesh")
    import trimesh

    try:
        scene = trimesh.load_scene(path)
        number, times, _ = str(scene.units or "").partition(" * meters")
        unit = float(number) if times else 1.0
        triangles = unit * np.asarray(scene.to_mesh().triangles, np.float64)
    except Exception as error:  # its readers raise any exception at a damaged file
        raise SceneError(name, f"the mesh cannot be read: {shown(str(error))}") from None
    _refuse_large(name, len(triangles))
    return triangles
