# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files of a map of reach: the map itself (npz), a point cloud (PLY), a picture (PNG)."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from basis_ik.collision.collision_scene import Scene, tables_of
from basis_ik.errors import BasisIkError
from basis_ik.extras.reach_map.voxels import Grid, IntArray
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.view.colour_scale import colours

UNREADABLE = (
    ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class MapFileError(BasisIkError):
    """A file cannot be read or written, or has another map."""


@dataclass(frozen=True)
class MapSpec:
    """The specification of a map. Maps with the same specification are equal bit for bit.

    Attributes:
        root: The link whose frame is the reference of voxels and poses.
        tip: The link that should reach them.
        arm: Digest of the chain's kinematics and limits.
        voxel: Length of a voxel's edge [m].
        orientations: Number of orientations in each voxel.
        position_only: Whether the orientation is free; then each voxel needs one solve.
        scene: Digest of the links' shapes and the objects that are kept apart; empty: none are.
    """

    root: str
    tip: str
    arm: str
    voxel: float
    orientations: int
    position_only: bool
    scene: str = ""


@dataclass(frozen=True)
class ReachMap:
    """A map of reach, complete or not.

    Attributes:
        spec: Its specification.
        origin: Centre (3,) of the voxel (0, 0, 0) in the root frame [m]; the axes are parallel to
            the root's.
        reached: Number of reached orientations (nx, ny, nz).
        manipulability: Largest product of the Jacobian's singular values among the positions that
            reach an orientation of the voxel (nx, ny, nz); 0 if none is reached. The Jacobian has
            linear [m] and angular [rad] rows; only linear ones with `position_only`.
        collides: Number of orientations (nx, ny, nz) that are not counted as reached because all
            positions that were found for them collide; 0 without a scene.
        done: Whether each block of work is done (b,).
    """

    spec: MapSpec
    origin: FloatArray
    reached: npt.NDArray[np.uint16]
    manipulability: npt.NDArray[np.float32]
    collides: npt.NDArray[np.uint16]
    done: npt.NDArray[np.bool_]

    @property
    def share(self) -> npt.NDArray[np.float32]:
        """Share of reached orientations (nx, ny, nz)."""
        return (self.reached / self.spec.orientations).astype(np.float32)

    @property
    def complete(self) -> bool:
        """Whether all blocks are done."""
        return bool(self.done.all())


def digest(chain: Chain) -> str:
    """Return a digest of all data of a chain that its reach depends on."""
    text = hashlib.sha256(repr((chain.joint_names, len(chain.joints))).encode())
    for array in chain.arrays:
        text.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
    return text.hexdigest()


def digest_of_scene(scene: Scene) -> str:
    """Return a digest of all shapes, places and pairs of a scene."""
    tables, text = tables_of(scene), hashlib.sha256()
    for array in (*tables.cover, *tables.shapes, tables.ranges):
        text.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
    return text.hexdigest()


def empty_map(spec: MapSpec, grid: Grid, blocks: int) -> ReachMap:
    """Return a map without results."""
    return ReachMap(
        spec,
        grid.origin,
        np.zeros(grid.shape, np.uint16),
        np.zeros(grid.shape, np.float32),
        np.zeros(grid.shape, np.uint16),
        np.zeros(blocks, np.bool_),
    )


def save_map(file: Path, map_: ReachMap) -> None:
    """Write a map as npz; it replaces an older file once it is complete.

    Raises:
        MapFileError: It cannot be written.
    """
    arrays = {field.name: getattr(map_, field.name) for field in fields(map_)[1:]}
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            with part.open("wb") as out:
                np.savez_compressed(out, **asdict(map_.spec), **arrays)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(file, error) from None


def load_map(file: Path) -> ReachMap:
    """Read a file of `save_map`.

    Raises:
        MapFileError: It cannot be read, or is not a map.
    """
    try:
        with np.load(file, allow_pickle=False) as found:
            spec = {field.name: found[field.name].item() for field in fields(MapSpec)}
            rest = (found[field.name] for field in fields(ReachMap)[1:])
            map_ = ReachMap(MapSpec(**spec), *rest)
    except OSError as error:
        raise MapFileError(f"cannot read {str(file)!r}: {error.strerror or error}") from None
    except UNREADABLE:
        raise MapFileError(f"{str(file)!r} is not a map of reach, or is damaged") from None
    if not _is_valid(map_):
        raise MapFileError(f"{str(file)!r} is not a map of reach, or is damaged")
    return map_


def _is_valid(map_: ReachMap) -> bool:
    return (
        map_.reached.ndim == 3
        and map_.reached.dtype == np.uint16
        and map_.manipulability.shape == map_.reached.shape
        and map_.manipulability.dtype == np.float32
        and map_.collides.shape == map_.reached.shape
        and map_.collides.dtype == np.uint16
        and map_.origin.shape == (3,)
        and map_.origin.dtype == np.float64
        and map_.done.ndim == 1
        and map_.done.dtype == np.bool_
        and [type(getattr(map_.spec, field.name)) for field in fields(MapSpec)]
        == [str, str, str, float, int, bool, str]
        and map_.spec.orientations > 0
    )


def _unwritable(file: Path, error: OSError) -> MapFileError:
    return MapFileError(f"cannot write {str(file)!r}: {error.strerror or error}")


def points(map_: ReachMap) -> npt.NDArray[Any]:
    """Return a record for each reached voxel: centre x, y, z [m], share, manipulability."""
    where = np.argwhere(map_.reached)
    records = np.empty(len(where), [(name, "<f4") for name in POINT_FIELDS])
    for axis, name in enumerate("xyz"):
        records[name] = map_.origin[axis] + map_.spec.voxel * where[:, axis]
    index = tuple(where.T)
    records["share"] = map_.share[index]
    records["manipulability"] = map_.manipulability[index]
    return records


POINT_FIELDS = ("x", "y", "z", "share", "manipulability")


def write_ply(file: Path, map_: ReachMap) -> None:
    """Write the reached voxels as a point cloud, colored by share from violet to yellow.

    The format is PLY 1.0, binary, little endian: G. Turk, "The PLY Polygon File Format", 1994.

    Raises:
        MapFileError: It cannot be written.
    """
    plain = points(map_)
    cloud = np.empty(len(plain), [*((name, "<f4") for name in POINT_FIELDS), ("rgb", "u1", 3)])
    for name in POINT_FIELDS:
        cloud[name] = plain[name]
    cloud["rgb"] = colours(plain["share"])
    header = [
        "ply", "format binary_little_endian 1.0", f"element vertex {len(cloud)}",
        *(f"property float {name}" for name in POINT_FIELDS),
        *(f"property uchar {name}" for name in ("red", "green", "blue")), "end_header\n",
    ]  # fmt: skip
    try:
        with file.open("wb") as out:
            out.write("\n".join(header).encode())
            out.write(cloud.tobytes())
    except OSError as error:
        raise _unwritable(file, error) from None


def write_png(file: Path, map_: ReachMap) -> None:
    """Draw share and manipulability in the three planes through the middle of the map.

    Raises:
        MapFileError: It cannot be written.
    """
    from matplotlib.figure import Figure

    spec, middle = map_.spec, (np.array(map_.reached.shape) - 1) // 2
    figure = Figure(figsize=(13.0, 8.0), layout="constrained")
    turned = "any orientation" if spec.position_only else f"{spec.orientations} orientations"
    figure.suptitle(f"{spec.root} to {spec.tip}: voxels of {spec.voxel:g} m, {turned}")
    unit = "" if spec.position_only else "share of the orientations"
    values = ((map_.share, unit or "reached", 1.0), (map_.manipulability, "manipulability", None))
    axes = figure.subplots(2, 3)
    for row, (value, label, most) in zip(axes, values, strict=True):
        shown = np.ma.masked_where(map_.reached == 0, value)
        for plot, fixed in zip(row, (1, 0, 2), strict=True):
            across, up = (axis for axis in range(3) if axis != fixed)
            image = plot.imshow(
                shown.take(middle[fixed], axis=fixed).T, origin="lower", vmin=0.0,
                vmax=most or float(value.max()) or 1.0, extent=_extent(map_, across, up),
            )  # fmt: skip
            height = map_.origin[fixed] + spec.voxel * middle[fixed]
            plot.set_title(f"{'xyz'[fixed]} = {height:.3g} m")
            plot.set_xlabel(f"{'xyz'[across]} [m]")
            plot.set_ylabel(f"{'xyz'[up]} [m]")
        figure.colorbar(image, ax=row, label=label)
    try:
        figure.savefig(file, format="png", dpi=100, metadata={"Software": None})
    except OSError as error:
        raise _unwritable(file, error) from None


def _extent(map_: ReachMap, across: int, up: int) -> tuple[float, float, float, float]:
    """Return the edges of a plane of voxels [m]: left, right, bottom, top."""
    half = 0.5 * map_.spec.voxel
    (left, right), (bottom, top) = (
        (
            map_.origin[axis] - half,
            map_.origin[axis] + map_.spec.voxel * (map_.reached.shape[axis] - 1) + half,
        )
        for axis in (across, up)
    )
    return left, right, bottom, top


def largest(values: npt.NDArray[Any]) -> IntArray:
    """Return the index (3,) of the first largest value of an array (nx, ny, nz)."""
    return np.array(np.unravel_index(int(np.argmax(values)), values.shape), np.int64)
