# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The mesh files of robots and markers; each is read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import trimesh

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import shown
from basis_ik.robot.mesh_uri import find_mesh

LARGEST_MESH_FILE = 200 * 1000 * 1000  # bytes
# Formats without usable colors; the URDF's color is used.
COLORLESS_FORMATS = (".stl", ".ply", ".obj")


class MeshError(BasisIkError):
    """A mesh that does not exist, or cannot be read."""


class MeshFile(NamedTuple):
    """The content of a mesh file."""

    vertices: FloatArray
    """Vertices, shape (n, 3) [m]."""
    faces: Any
    """Indices of the triangles' vertices, shape (m, 3)."""
    glb: bytes
    """The mesh with its colors and textures, as binary glTF; empty if it has none."""


def read_mesh(path: Path) -> MeshFile:
    """Read a mesh file.

    Raises:
        MeshError: It does not exist, is too large, or trimesh cannot read it.
    """
    try:
        if path.stat().st_size > LARGEST_MESH_FILE:
            raise MeshError(f"{path} is larger than {LARGEST_MESH_FILE // 1_000_000} MB")
        scene = trimesh.load_scene(path)
        unit = _metres(scene)
        body = scene.to_mesh()
        faces = np.asarray(body.faces, np.uint32)
        if not len(faces):
            raise MeshError(f"{path} has no faces")
        own = path.suffix.lower() not in COLORLESS_FORMATS
        glb = scene.scaled(unit).export(file_type="glb") if own else b""
    except MeshError:
        raise
    except OSError as error:
        raise MeshError(f"{path}: {error.strerror or error}") from None
    except Exception as error:  # trimesh's readers raise any exception at a damaged file
        raise MeshError(f"{path} cannot be read: {shown(str(error))}") from None
    return MeshFile(np.asarray(unit * body.vertices, np.float32), faces, glb)


def _metres(scene: Any) -> float:
    """Return the length of a file's unit [m]; COLLADA states it, and RViz scales by it."""
    number, times, _ = str(scene.units or "").partition(" * meters")
    return float(number) if times else 1.0


class MeshReader:
    """Reads each file once.

    Args:
        warn: Called with one line for each file that cannot be read.
    """

    def __init__(self, warn: Callable[[str], object]) -> None:
        self._warn = warn
        self._read: dict[str, MeshFile | None] = {}

    def holds(self, uri: str) -> bool:
        """Return whether reading a file was tried: `get` then takes no time."""
        return uri in self._read

    def get(self, uri: str) -> MeshFile | None:
        """Return a file's mesh, or None."""
        if uri not in self._read:
            try:
                path = find_mesh(uri)
                if path is None:
                    raise MeshError("there is no such file")
                self._read[uri] = read_mesh(path)
            except (MeshError, OSError, ValueError) as error:  # e.g. too long a name
                self._read[uri] = None
                self._warn(f"mesh {shown(uri)} is not shown: {error}")
        return self._read[uri]
