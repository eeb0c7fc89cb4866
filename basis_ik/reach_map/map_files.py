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

"""A map of reach as a file: kept while it is made (npz), as a point cloud (PLY), as a picture."""

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

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.reach_map.voxels import Grid, IntArray
from basis_ik.robot.chain import Chain

# Of colours along which brightness grows evenly, as matplotlib's viridis: share 0, 1/4, ... 1.
COLOURS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])
UNREADABLE = (
    ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class MapFileError(BasisIkError):
    """A file that cannot be read or written, or is another map."""


@dataclass(frozen=True)
class Question:
    """What a map answers. Two maps with the same question are equal bit for bit.

    Attributes:
        root: The link in whose frame voxels and poses are.
        tip: The link that is to reach them.
        arm: Digest of the chain's kinematics and limits.
        voxel: Length of a voxel's edge [m].
        orientations: How many are tried in each voxel.
        position_only: Whether any orientation will do; then one solve is made in each voxel.
    """

    root: str
    tip: str
    arm: str
    voxel: float
    orientations: int
    position_only: bool


@dataclass(frozen=True)
class ReachMap:
    """A map of reach; while it is made, a part of one.

    Attributes:
        question: What it answers.
        origin: Centre (3,) of the voxel (0, 0, 0) in the root frame [m]; axes are parallel to the
            root's.
        reached: How many orientations are reached (nx, ny, nz).
        manipulability: Of the positions that reach an orientation of the voxel, the largest product
            of the singular values of the Jacobian (nx, ny, nz); 0 where none is reached. The
            Jacobian is of linear [m] and angular [rad] motion, of linear motion alone if the
            question is `position_only`.
        done: Which blocks of work are done (b,).
    """

    question: Question
    origin: FloatArray
    reached: npt.NDArray[np.uint16]
    manipulability: npt.NDArray[np.float32]
    done: npt.NDArray[np.bool_]

    @property
    def share(self) -> npt.NDArray[np.float32]:
        """Share of the orientations that are reached (nx, ny, nz)."""
        return (self.reached / self.question.orientations).astype(np.float32)

    @property
    def complete(self) -> bool:
        """Whether all blocks are done."""
        return bool(self.done.all())


def digest(chain: Chain) -> str:
    """Return the digest of all that decides what a chain reaches."""
    text = hashlib.sha256(repr((chain.joint_names, len(chain.joints))).encode())
    for array in chain.arrays:
        text.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
    return text.hexdigest()


def empty_map(question: Question, grid: Grid, blocks: int) -> ReachMap:
    """Return the map of which nothing is done yet."""
    return ReachMap(
        question,
        grid.origin,
        np.zeros(grid.shape, np.uint16),
        np.zeros(grid.shape, np.float32),
        np.zeros(blocks, np.bool_),
    )


def save_map(file: Path, map_: ReachMap) -> None:
    """Write a map as npz, all of it or nothing: an older file stays until the new one is whole.

    Raises:
        MapFileError: It cannot be written.
    """
    arrays = {field.name: getattr(map_, field.name) for field in fields(map_)[1:]}
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            with part.open("wb") as out:
                np.savez_compressed(out, **asdict(map_.question), **arrays)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(file, error) from None


def load_map(file: Path) -> ReachMap:
    """Read what `save_map` has written.

    Raises:
        MapFileError: It cannot be read, or is no map.
    """
    try:
        with np.load(file, allow_pickle=False) as found:
            question = {field.name: found[field.name].item() for field in fields(Question)}
            rest = (found[field.name] for field in fields(ReachMap)[1:])
            map_ = ReachMap(Question(**question), *rest)
    except OSError as error:
        raise MapFileError(f"cannot read {str(file)!r}: {error.strerror or error}") from None
    except (
        ValueError,
        KeyError,
        EOFError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        raise MapFileError(f"{str(file)!r} is no map of reach, or is damaged") from None
    if not _is_sound(map_):
        raise MapFileError(f"{str(file)!r} is no map of reach, or is damaged")
    return map_


def _is_sound(map_: ReachMap) -> bool:
    return (
        map_.reached.ndim == 3
        and map_.reached.dtype == np.uint16
        and map_.manipulability.shape == map_.reached.shape
        and map_.manipulability.dtype == np.float32
        and map_.origin.shape == (3,)
        and map_.origin.dtype == np.float64
        and map_.done.ndim == 1
        and map_.done.dtype == np.bool_
        and [type(getattr(map_.question, field.name)) for field in fields(Question)]
        == [str, str, str, float, int, bool]
        and map_.question.orientations > 0
    )


def _unwritable(file: Path, error: OSError) -> MapFileError:
    return MapFileError(f"cannot write {str(file)!r}: {error.strerror or error}")


def points(map_: ReachMap) -> npt.NDArray[Any]:
    """Return the reached voxels' centres, one record each: x, y, z [m], share, manipulability."""
    where = np.argwhere(map_.reached)
    records = np.empty(len(where), [(name, "<f4") for name in RECORD])
    for axis, name in enumerate("xyz"):
        records[name] = map_.origin[axis] + map_.question.voxel * where[:, axis]
    index = tuple(where.T)
    records["share"] = map_.share[index]
    records["manipulability"] = map_.manipulability[index]
    return records


RECORD = ("x", "y", "z", "share", "manipulability")


def colours(share: FloatArray) -> npt.NDArray[np.uint8]:
    """Return colours (k, 3) from violet to yellow, of shares (k,) from 0 to 1."""
    steps = np.linspace(0.0, 1.0, len(COLOURS))
    found = np.empty((len(share), 3), np.uint8)
    for i, each in enumerate(COLOURS.T):
        found[:, i] = np.rint(np.interp(share, steps, each))
    return found


def write_ply(file: Path, map_: ReachMap) -> None:
    """Write the reached voxels as a point cloud, coloured by share from violet to yellow.

    The format is PLY 1.0, binary, little endian: G. Turk, "The PLY Polygon File Format", 1994.

    Raises:
        MapFileError: It cannot be written.
    """
    plain = points(map_)
    cloud = np.empty(len(plain), [*((name, "<f4") for name in RECORD), ("rgb", "u1", 3)])
    for name in RECORD:
        cloud[name] = plain[name]
    cloud["rgb"] = colours(plain["share"])
    header = [
        "ply", "format binary_little_endian 1.0", f"element vertex {len(cloud)}",
        *(f"property float {name}" for name in RECORD),
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

    question, middle = map_.question, (np.array(map_.reached.shape) - 1) // 2
    figure = Figure(figsize=(13.0, 8.0), layout="constrained")
    turned = (
        "any orientation" if question.position_only else f"{question.orientations} orientations"
    )
    figure.suptitle(f"{question.root} to {question.tip}: voxels of {question.voxel:g} m, {turned}")
    unit = "" if question.position_only else "share of the orientations"
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
            height = map_.origin[fixed] + question.voxel * middle[fixed]
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
    half = 0.5 * map_.question.voxel
    (left, right), (bottom, top) = (
        (
            map_.origin[axis] - half,
            map_.origin[axis] + map_.question.voxel * (map_.reached.shape[axis] - 1) + half,
        )
        for axis in (across, up)
    )
    return left, right, bottom, top


def largest(values: npt.NDArray[Any]) -> IntArray:
    """Return the index (3,) of the largest of values (nx, ny, nz), the first of equal ones."""
    return np.array(np.unravel_index(int(np.argmax(values)), values.shape), np.int64)
