# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`python -m basis_ik reach`: compute, continue and show a map of reach."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from basis_ik.dependencies import ExtraError, check_extra, is_installed

if TYPE_CHECKING:  # importing these takes a second, for the compiler; --help does not need them
    from concurrent.futures import Executor

    from basis_ik.extras.reach_map.blocks import Width, Work
    from basis_ik.extras.reach_map.map_files import ReachMap
    from basis_ik.extras.reach_map.voxels import Grid
    from basis_ik.robot.chain import Chain
    from basis_ik.robot.robot import RobotModel

REACH_BAR = 30  # characters


def add_options(command: argparse.ArgumentParser) -> None:
    """Declare the options of `run`, apart from those of the chain."""
    command.add_argument(
        "--voxel", type=_length, default=0.05, metavar="METRES",
        help="edge of a voxel [m]; by default 0.05",
    )  # fmt: skip
    command.add_argument(
        "--orientations", type=_count, default=32, metavar="N",
        help="orientations in each voxel, at most 10000; by default 32",
    )  # fmt: skip
    command.add_argument(
        "--position-only", action="store_true",
        help="leave the orientation free: one solve in each voxel",
    )  # fmt: skip
    command.add_argument(
        "--scene", nargs="?", const="", metavar="FILE",
        help="count only what free positions reach: the links must not touch each other, nor the"
        " objects of a .scene file, as MoveIt writes it",
    )  # fmt: skip
    command.add_argument(
        "--output", type=Path, default=Path("reach_map.npz"), metavar="FILE",
        help="the map; an existing incomplete map is continued; by default reach_map.npz",
    )  # fmt: skip
    command.add_argument(
        "--png", type=Path, metavar="FILE", help="draw three slices of the complete map; matplotlib"
    )
    command.add_argument(
        "--ply", type=Path, metavar="FILE", help="write the complete map as a colored point cloud"
    )
    command.add_argument(
        "--publish", action="store_true",
        help="publish the complete map for RViz, until Ctrl-C; ROS 2",
    )  # fmt: skip
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--processes", type=_count, metavar="N", help="processes; by default one per core"
    )
    where.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="use the workers of this Dask scheduler, e.g. tcp://host:8786; distributed",
    )  # fmt: skip


def _length(word: str) -> float:
    value = float(word)
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"must be above 0 m, got {word}")
    return value


_length.__name__ = "number"  # argparse says "invalid number value"


def _count(word: str) -> int:
    value = int(word)
    if not 1 <= value <= 10_000:  # the smallest block of work has all of a voxel
        raise argparse.ArgumentTypeError(f"must be from 1 to 10000, got {word}")
    return value


_count.__name__ = "whole number"


def run(options: argparse.Namespace, model: RobotModel, chain: Chain) -> int:
    """Compute the requested map, or its missing part, and show it.

    Args:
        options: The options of `add_options`; `json`: whether to print the summary as JSON.
        model: The robot.
        chain: The arm.

    Returns:
        Exit status 0.

    Raises:
        GridError: The grid is too large, or empty.
        MapFileError: A file cannot be read or written, or has another map.
        WorkerError: There are no worker processes, or they have ended.
        ExtraError: An optional package is missing.
        SceneError: There is no such scene.
    """
    _check_extras(options)
    from basis_ik.collision.scene_file import load_scene
    from basis_ik.extras.reach_map.blocks import Job, Work
    from basis_ik.extras.reach_map.map_files import (
        MapSpec,
        digest,
        digest_of_scene,
        save_map,
        write_ply,
        write_png,
    )
    from basis_ik.extras.reach_map.voxels import ball_of, grid_around

    count = 1 if options.position_only else options.orientations
    file, scene = options.scene, None
    if file is not None:
        scene = load_scene(model, chain, Path(file) if file else None)
    job = Job.of(chain, count, options.position_only, scene)
    spec = MapSpec(
        chain.root, chain.tip, digest(chain), options.voxel, count, options.position_only,
        "" if scene is None else digest_of_scene(scene),
    )  # fmt: skip
    grid = grid_around(chain, options.voxel)
    work = Work(job, grid, grid.within(*ball_of(chain)))
    map_ = _open_map(options.output, spec, grid, work.blocks)
    display = Display(sys.stderr, work, map_)
    if not map_.complete:
        save_map(options.output, map_)  # fails now, rather than after hours, if it is not writable
        _fill(options, work, map_, display)
    if options.ply:
        write_ply(options.ply, map_)
    if options.png:
        write_png(options.png, map_)
    summary = _summary(map_, len(work.voxels)) | display.throughput()
    text = json.dumps(summary, indent=2) if options.json else _report(summary, options.output)
    print(text, flush=True)
    if options.publish:
        os.execv(
            sys.executable,
            [sys.executable, "-m", "basis_ik.programs", "reach_map", str(options.output)],
        )
    return 0


def _check_extras(options: argparse.Namespace) -> None:
    """Check that optional packages are installed, before the work begins."""
    if options.png:
        check_extra("--png", "matplotlib")
    if options.scheduler:
        check_extra("--scheduler", "distributed")
    if options.publish and not is_installed("rclpy"):
        raise ExtraError(
            "--publish needs ROS 2, which this Python does not have: source it first, for example "
            "by `source /opt/ros/jazzy/setup.bash`; the map itself does not need it"
        )


def _open_map(file: Path, spec: Any, grid: Grid, blocks: int) -> ReachMap:
    """Return the map in a file, or an empty one if there is no file."""
    from basis_ik.extras.reach_map.map_files import MapFileError, empty_map, load_map

    if not file.exists():
        return empty_map(spec, grid, blocks)
    try:
        map_ = load_map(file)
    except MapFileError as error:
        raise MapFileError(f"{error}; give another --output") from None
    requested, found = asdict(spec), asdict(map_.spec)
    for name, value in requested.items():
        if found[name] != value:
            hidden = {"arm": "joints or limits", "scene": "shapes or objects"}
            what = hidden.get(name, name)
            theirs = "" if name in hidden else f" ({found[name]!r}, requested: {value!r})"
            raise MapFileError(
                f"{str(file)!r} is another map, with other {what}{theirs}: "
                "give another --output, or remove it"
            )
    if map_.reached.shape != grid.shape or len(map_.done) != blocks:
        raise MapFileError(
            f"{str(file)!r} is from another version of basis_ik: give another --output"
        )
    return map_


def _fill(options: argparse.Namespace, work: Work, map_: ReachMap, display: Display) -> None:
    """Solve the missing blocks; finished ones are kept, even after an error."""
    from basis_ik.extras.reach_map.blocks import WorkerError, fill
    from basis_ik.extras.reach_map.map_files import save_map

    kept = f"finished work is kept in {str(options.output)!r}, and the same command continues it"
    try:
        with _pool(options, work) as (pool, width):
            display.begin()
            fill(work, map_, pool, width, lambda: save_map(options.output, map_), display.show)
    except KeyboardInterrupt:
        print(f"\ninterrupted at {display.percent} %: {kept}", file=sys.stderr)
        raise
    except WorkerError as error:
        raise WorkerError(f"{error}; {kept}") from None
    display.end()


def _pool(
    options: argparse.Namespace, work: Work
) -> AbstractContextManager[tuple[Executor, Width]]:
    from basis_ik.extras.reach_map.blocks import cluster, local_pool, solve_block

    if options.scheduler:
        return cluster(options.scheduler)
    solve_block(work.job, work.centres(0)[:1])  # compile here once for all processes
    return local_pool(options.processes or os.cpu_count() or 1)


class Display:
    """Shows the progress: by a bar on a terminal, otherwise by a line for each tenth."""

    def __init__(self, out: TextIO, work: Work, map_: ReachMap) -> None:
        self._out, self._on_terminal, self._work = out, out.isatty(), work
        self._voxels = sum(len(work.of(int(block))) for block in map_.done.nonzero()[0])
        self._before, self._began, self._seconds = self._voxels, 0.0, 0.0
        self._drawn, self._tenth = 0.0, self.percent // 10

    @property
    def percent(self) -> int:
        """Solved part of the map [%], rounded down."""
        return 100 * self._voxels // len(self._work.voxels)

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()
        if self._before:
            print(f"continuing at {self.percent} %", file=self._out, flush=True)

    def show(self, block: int) -> None:
        """Count a solved block, and update the display."""
        self._voxels += len(self._work.of(block))
        now = time.monotonic()
        if self._on_terminal and (now - self._drawn > 0.1 or self.percent == 100):
            self._drawn = now
            bar = "#" * (REACH_BAR * self._voxels // len(self._work.voxels))
            left = (now - self._began) * (len(self._work.voxels) - self._voxels)
            left /= self._voxels - self._before
            line = f"[{bar:{REACH_BAR}}] {self.percent} %, {_duration(left)} left"
            print(f"\r{line:79}", end="", file=self._out, flush=True)
        elif not self._on_terminal and self.percent // 10 > self._tenth:
            self._tenth = self.percent // 10
            print(
                f"{self.percent} % of {len(self._work.voxels)} voxels", file=self._out, flush=True
            )

    def end(self) -> None:
        """Stop the clock."""
        self._seconds = time.monotonic() - self._began
        if self._on_terminal:
            print(f"\r{'':79}\r", end="", file=self._out, flush=True)

    def throughput(self) -> dict[str, Any]:
        """Return number, time [s] and rate [1/s] of this run's solves."""
        solves = (self._voxels - self._before) * self._work.job.orientations
        rate = solves / self._seconds if self._seconds else 0.0
        return {"solves": solves, "seconds": self._seconds, "solves_per_second": rate}


def _duration(seconds: float) -> str:
    minutes = int(seconds) // 60
    return f"{int(seconds)} s" if minutes < 2 else f"{minutes} min"


def _summary(map_: ReachMap, tried: int) -> dict[str, Any]:
    """Return the summary of a map, as data."""
    from basis_ik.extras.reach_map.map_files import largest

    spec, share = map_.spec, map_.share
    best, most = largest(share), largest(map_.manipulability)
    reached = int((map_.reached > 0).sum())
    return {
        "root": spec.root,
        "tip": spec.tip,
        "voxel": spec.voxel,
        "orientations": spec.orientations,
        "position_only": spec.position_only,
        "voxels": tried,
        "reached_voxels": reached,
        "reached_volume": reached * spec.voxel**3,
        "mean_share": float(share[map_.reached > 0].mean()) if reached else 0.0,
        "colliding_poses": int(map_.collides.sum()),
        "largest_share": float(share[tuple(best)]),
        "largest_share_at": (map_.origin + spec.voxel * best).tolist(),
        "largest_manipulability": float(map_.manipulability[tuple(most)]),
        "largest_manipulability_at": (map_.origin + spec.voxel * most).tolist(),
    }


def _report(data: dict[str, Any], file: Path) -> str:
    """Return the data as text."""

    def place(name: str) -> str:
        return "at ({:.3g}, {:.3g}, {:.3g})".format(*data[f"largest_{name}_at"])

    tried = "any orientation" if data["position_only"] else f"{data['orientations']} orientations"
    collided = f"{data['colliding_poses']} poses are reached only by positions that collide"
    done = f"{data['solves']} solves in {data['seconds']:.1f} s"
    return "\n".join([
        f"{data['root']} -> {data['tip']}: {data['voxels']} voxels of {data['voxel']:g} m, {tried}",
        f"reached: {data['reached_voxels']} voxels, {data['reached_volume']:.3g} m3; mean share "
        f"{data['mean_share']:.3f}, largest {data['largest_share']:.3f} {place('share')}",
        f"manipulability at most {data['largest_manipulability']:.3g} {place('manipulability')}",
        *([collided] if data["colliding_poses"] else []),
        f"the map is in {file}",
        f"{done}: {data['solves_per_second']:.0f} solves per second" if data["solves"]
        else "nothing was left to solve",
    ])  # fmt: skip
