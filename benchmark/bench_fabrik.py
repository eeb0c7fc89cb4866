# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK: ours against the plain loop in C, numba, numpy and Python.

    python benchmark/bench_fabrik.py [--quick] [--json FILE]

Chains of unit bones start straight; targets are uniform in the ball of 0.95 of the reach. All
contestants get the same targets, in turns, round after round. Times are CPU time of the one thread
that works, so that other processes count less; the plain loops may take 2000 sweeps. `fabrik.c` is
compiled on the spot. Further tables: nearness to full reach, starts that are not straight, limits.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

from basis_ik.fabrik.ball_chain_kernel import sweep_ball_chain
from basis_ik.fabrik.ball_limits import BallLimit, HingeLimit, Limit
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.fabrik.fabrik_descent_kernel import descend_tree
from basis_ik.fabrik.fabrik_tree import solve_tree
from basis_ik.fabrik.fabrik_tree_kernel import sweep_tree
from basis_ik.fabrik.free_reach_kernel import reach_chain
from basis_ik.fabrik.freedom_kernel import scatter
from basis_ik.fabrik.skeleton import make_goals, make_skeleton, starts_of
from basis_ik.fabrik.skeleton_kernel import errors, place_bones

SWEEPS = 2000
NOTHING = np.empty(0)
FLAGS = ("-O3", "-march=native")


class Outcome(NamedTuple):
    """What a contestant did with a set of targets."""

    residuals: np.ndarray
    iterations: np.ndarray


Batch = Callable[[np.ndarray, np.ndarray, float], Outcome]


# --- contestants: (start, targets, tolerance) -> outcome


def c_loop(directory: str) -> Batch | None:
    """Compile fabrik.c and wrap it; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler found: the C loop is left out")
        return None
    library = Path(directory) / "fabrik.so"
    source = Path(__file__).with_name("fabrik.c")
    command = [compiler, *FLAGS, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    subprocess.run(command, check=True)
    batch = ctypes.CDLL(str(library)).fabrik_batch
    pointer = ctypes.c_void_p
    batch.argtypes = [ctypes.c_int, ctypes.c_int, pointer, pointer, pointer, ctypes.c_double,
                      ctypes.c_int, pointer, pointer, pointer]  # fmt: skip

    def run(start: np.ndarray, targets: np.ndarray, tolerance: float) -> Outcome:
        n, count = len(start) - 1, len(targets)
        lengths, work = np.linalg.norm(np.diff(start, axis=0), axis=1), np.empty_like(start)
        iterations, residuals = np.empty(count, np.int32), np.empty(count)
        batch(n, count, start.ctypes.data, lengths.ctypes.data, targets.ctypes.data, tolerance,
              SWEEPS, work.ctypes.data, iterations.ctypes.data, residuals.ctypes.data)  # fmt: skip
        return Outcome(residuals, iterations)

    return run


@numba.njit(nogil=True)
def _ours(start, targets, tolerance, residuals, iterations):  # type: ignore[no-untyped-def]
    p, record = np.empty_like(start), np.empty(0)
    for k in range(targets.shape[0]):
        p[:] = start
        _, residuals[k], iterations[k] = reach_chain(p, targets[k], tolerance, record)


@numba.njit(nogil=True)
def _plain(start, targets, tolerance, residuals, iterations):  # type: ignore[no-untyped-def]
    n = start.shape[0] - 1
    p, record, lengths = np.empty_like(start), np.empty(0), np.empty(n)
    for i in range(n):
        lengths[i] = math.sqrt(np.sum((start[i + 1] - start[i]) ** 2))
    for k in range(targets.shape[0]):
        p[:] = start
        residuals[k], iterations[k] = sweep_ball_chain(
            p, lengths, targets[k], tolerance, 2000, record
        )


def compiled(kernel: Callable[..., None]) -> Batch:
    def run(start: np.ndarray, targets: np.ndarray, tolerance: float) -> Outcome:
        out = Outcome(np.empty(len(targets)), np.empty(len(targets), np.int64))
        kernel(start, targets, tolerance, *out)
        return out

    return run


def per_call(start: np.ndarray, targets: np.ndarray, tolerance: float) -> Outcome:
    """Our public function, one Python call per target."""
    found = [solve_chain(start, target, tolerance=tolerance) for target in targets]
    return Outcome(np.array([r.residual for r in found]), np.array([r.iterations for r in found]))


def with_numpy(start: np.ndarray, targets: np.ndarray, tolerance: float) -> Outcome:
    lengths, residuals, iterations = np.linalg.norm(np.diff(start, axis=0), axis=1), [], []
    n = len(lengths)
    for target in targets:
        p, used = start.copy(), 0
        while (residual := np.linalg.norm(p[n] - target)) > tolerance and used < SWEEPS:
            p[n] = target
            for i in range(n - 1, -1, -1):
                line = p[i] - p[i + 1]
                p[i] = p[i + 1] + line * (lengths[i] / math.sqrt(line @ line))
            p[0] = start[0]
            for i in range(n):
                line = p[i + 1] - p[i]
                p[i + 1] = p[i] + line * (lengths[i] / math.sqrt(line @ line))
            used += 1
        residuals.append(residual)
        iterations.append(used)
    return Outcome(np.array(residuals), np.array(iterations))


def with_python(start: np.ndarray, targets: np.ndarray, tolerance: float) -> Outcome:
    lengths = np.linalg.norm(np.diff(start, axis=0), axis=1).tolist()
    residuals, iterations, n = [], [], len(lengths)

    def pull(anchor: list[float], joint: list[float], length: float) -> list[float]:
        x, y, z = joint[0] - anchor[0], joint[1] - anchor[1], joint[2] - anchor[2]
        s = length / math.sqrt(x * x + y * y + z * z)
        return [anchor[0] + x * s, anchor[1] + y * s, anchor[2] + z * s]

    for target in targets.tolist():
        p, used = start.tolist(), 0
        while (residual := math.dist(p[n], target)) > tolerance and used < SWEEPS:
            p[n] = target
            for i in range(n - 1, -1, -1):
                p[i] = pull(p[i + 1], p[i], lengths[i])
            p[0] = start[0].tolist()
            for i in range(n):
                p[i + 1] = pull(p[i], p[i + 1], lengths[i])
            used += 1
        residuals.append(residual)
        iterations.append(used)
    return Outcome(np.array(residuals), np.array(iterations))


# --- tables


def straight(n: int) -> np.ndarray:
    start = np.zeros((n + 1, 3))
    start[:, 0] = np.arange(n + 1)
    return start


def in_ball(radius: float, count: int, generator: np.random.Generator) -> np.ndarray:
    v = generator.normal(size=(count, 3))
    size = radius * generator.random((count, 1)) ** (1.0 / 3.0)
    return v * size / np.linalg.norm(v, axis=1, keepdims=True)


def compare(
    contestants: dict[str, tuple[Batch, int]],
    start: np.ndarray,
    draw: Callable[[int], np.ndarray],
    tolerance: float,
    rounds: int,
) -> dict[str, dict[str, float]]:
    """Give every contestant its number of the same targets in each round; return the medians."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    seen: dict[str, list[Outcome]] = {name: [] for name in contestants}
    for batch, _ in contestants.values():
        batch(start, draw(1), tolerance)  # compile, warm up
    for turn in range(rounds):
        targets = draw(max(count for _, count in contestants.values()))
        names = list(contestants)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            batch, count = contestants[name]
            before = time.thread_time()
            outcome = batch(start, targets[:count], tolerance)
            times[name].append((time.thread_time() - before) / count * 1e6)
            seen[name].append(outcome)
    table = {}
    for name, outcomes in seen.items():
        residuals = np.concatenate([o.residuals for o in outcomes])
        iterations = np.concatenate([o.iterations for o in outcomes])
        table[name] = {
            "us": statistics.median(times[name]),
            "converged_percent": 100.0 * float(np.mean(residuals <= tolerance)),
            "iterations_mean": float(iterations.mean()),
            "iterations_max": int(iterations.max()),
            "solved": len(residuals),
        }
    return table


def show(title: str, table: dict[str, dict[str, float]]) -> None:
    print(f"\n{title}")
    for name, row in table.items():
        print(
            f"  {name:22s} {row['us']:12.2f} µs  {row['converged_percent']:6.2f} %  passes "
            f"{row['iterations_mean']:8.1f} mean {row['iterations_max']:6d} max   "
            f"({row['solved']} solved)"
        )


def sizes(loop: Batch | None, quick: bool) -> dict[str, object]:
    """The table of the plain loops, for growing numbers of joints."""
    out: dict[str, object] = {}
    plain = compiled(_plain)
    for n, tolerance, ours, theirs, slow in (
        (10, 1e-3, 2000, 1000, 20),
        (100, 1e-2, 500, 50, 1),
        (1000, 1e-2, 100, 5, 0),
        (10000, 1e-2, 20, 1, 0),
    ):
        contestants = {"ours": (compiled(_ours), ours), "ours, per Python call": (per_call, ours)}
        if loop is not None:
            contestants["C loop"] = (loop, theirs)
        contestants["numba loop"] = (plain, theirs)
        if slow and not (quick and n > 10):
            contestants |= {"Python loop": (with_python, slow), "numpy loop": (with_numpy, slow)}
        generator = np.random.default_rng(n)
        rounds = (3 if quick else 7) if n > 1000 else (7 if quick else 31)
        table = compare(
            contestants, straight(n), lambda k, n=n, g=generator: in_ball(0.95 * n, k, g),
            tolerance, rounds,
        )  # fmt: skip
        show(f"{n} joints, tolerance {tolerance:g}", table)
        if loop is not None:
            table["ours"]["times_faster_than_C"] = table["C loop"]["us"] / table["ours"]["us"]
            print(f"  {table['ours']['times_faster_than_C']:.1f} times faster than C")
        out[str(n)] = table
    first, last = (out[str(n)]["ours"]["us"] for n in (100, 10000))  # type: ignore[index]
    out["exponent_100_to_10000"] = math.log(last / first) / math.log(100.0)
    print(f"\nOur cost grows with the number of joints to the {out['exponent_100_to_10000']:.2f}")
    return out


def near_full_reach(loop: Batch | None, quick: bool) -> dict[str, object]:
    """100 joints, straight and bent starts, targets ever nearer to the full reach."""
    out: dict[str, object] = {}
    n, generator = 100, np.random.default_rng(1)
    contestants = {"ours": (compiled(_ours), 50)}
    if loop is not None:
        contestants["C loop"] = (loop, 2)
    for share in (0.9, 0.99, 0.999, 0.9999):

        def draw(count: int, share: float = share) -> np.ndarray:
            v = generator.normal(size=(count, 3))
            return share * n * v / np.linalg.norm(v, axis=1, keepdims=True)

        bends = np.cumsum(0.2 * generator.normal(size=(n, 3)), axis=0) + np.array([1.0, 0, 0])
        bends /= np.linalg.norm(bends, axis=1, keepdims=True)
        bent = np.vstack([np.zeros((1, 3)), np.cumsum(bends, axis=0)])
        for kind, start in (("straight", straight(n)), ("bent", bent)):
            table = compare(contestants, start, draw, 1e-2, 3 if quick else 9)
            show(f"100 joints, {kind} start, target at {share:g} of the reach", table)
            out[f"{kind} {share:g}"] = table
    return out


def shapes(quick: bool) -> dict[str, object]:
    """What small and large moves do to a pose: ours and the published iteration."""
    out: dict[str, object] = {}
    print(
        "\nMean way of a joint, and RMS change of a joint's angle: ours | the published iteration"
    )
    for n in (10, 100):
        for label in ("near", "anywhere"):
            generator, rows = np.random.default_rng(n), []
            for _ in range(50 if quick else 300):
                v = np.cumsum(0.3 * generator.normal(size=(n, 3)), axis=0) + np.array([1.0, 0, 0])
                v /= np.linalg.norm(v, axis=1, keepdims=True)
                p = np.vstack([np.zeros((1, 3)), np.cumsum(v, axis=0)])
                target = in_ball(0.95 * n, 1, generator)[0]
                if label == "near":
                    target = p[-1] + 0.02 * target
                    if np.linalg.norm(target) > 0.95 * n:
                        continue
                swept, ours, lengths = p.copy(), p.copy(), np.ones(n)
                reach_chain(ours, target, 1e-4 * n, NOTHING)
                sweep_ball_chain(swept, lengths, target, 1e-4 * n, SWEEPS, NOTHING)
                rows.append([*change(p, ours), *change(p, swept)])
            means = np.mean(rows, axis=0).tolist()
            out[f"{n} {label}"] = dict(
                zip(("way", "angle", "way_swept", "angle_swept"), means, strict=True)
            )
            print(
                f"  {n:4d} joints, {label:9s} {means[0]:8.4f} {means[1]:8.4f} |"
                f" {means[2]:8.4f} {means[3]:8.4f}   (reach, rad)"
            )
    return out


def change(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    def bends(p: np.ndarray) -> np.ndarray:
        v = np.diff(p, axis=0)
        return np.arccos(np.clip((v[1:] * v[:-1]).sum(axis=1), -1.0, 1.0))

    way = np.linalg.norm(after - before, axis=1).mean() / (len(before) - 1)
    return float(way), float(np.sqrt(np.mean((bends(after) - bends(before)) ** 2)))


def some_limits(kind: str, n: int) -> dict[int, Limit]:
    knee = HingeLimit((1, 0, 0), 0.0, 2.5)
    oval = BallLimit(0.2, 0.8, 0.4, 0.1, (-0.5, 0.5), upwards=(0, 1, 0))
    kinds: dict[str, Callable[[int], Limit]] = {
        "cones": lambda bone: BallLimit.cone(0.6, (-0.3, 0.3)),
        "ellipses": lambda bone: oval,
        "balls and hinges": lambda bone: knee if bone % 2 else BallLimit.cone(1.2, (-1, 1)),
    }
    return {bone: kinds[kind](bone) for bone in range(n)}


def limits(quick: bool) -> dict[str, object]:
    """Targets that a pose within limits proves reachable, from the rest pose; and the ablation."""
    out: dict[str, object] = {}
    print("\nWithin limits: solved %, ms per call | sweeps alone %, descent alone %, both once %")
    count = 60 if quick else 300
    for kind in ("cones", "ellipses", "balls and hinges"):
        for n in (3, 6, 20):
            rest, generator = straight(n)[:, ::-1].copy(), np.random.default_rng(n)
            allowed, starts = some_limits(kind, n), starts_of(range(-1, n), n + 1)
            s = make_skeleton(starts, rest, allowed, False)
            solved, alone, spent = 0, np.zeros(3), []
            for _ in range(count + 1):
                q, pose = np.empty((n, 4)), rest.copy()
                scatter(s, generator.random(3 * n), q)
                place_bones(s, q, pose)
                before = time.thread_time()
                result = solve_tree(rest, range(-1, n), {n: pose[-1]}, limits=allowed)
                spent.append(1e3 * (time.thread_time() - before))
                solved += result.success
                g = make_goals(starts, {n: pose[-1]}, {}, (), False)
                alone += one_start(s, g, rest, n)
            row = {
                "solved_percent": 100.0 * solved / (count + 1),
                "ms": statistics.median(spent[1:]),
                "sweeps_alone_percent": 100.0 * alone[0] / (count + 1),
                "descent_alone_percent": 100.0 * alone[1] / (count + 1),
                "both_once_percent": 100.0 * alone[2] / (count + 1),
            }
            out[f"{kind} {n}"] = row
            print(f"  {kind:17s}{n:3d} bones " + "".join(f"{value:9.2f}" for value in row.values()))
    return out


def one_start(s, g, rest, n):  # type: ignore[no-untyped-def]
    """Whether sweeps, a descent, or one after the other reach the goal from the rest pose alone."""
    found = []
    for moves in ((sweep_tree,), (descend_tree,), (sweep_tree, descend_tree)):
        q, p = np.zeros((n, 4)), rest.copy()
        q[:, 0] = 1.0
        for move in moves:
            move(s, g, q, p, (1e-6, 1e-6, 1.0), SWEEPS, NOTHING)
        found.append(errors(g, q, p)[0] <= 1e-6)
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        loop = c_loop(directory)
        results = {
            "python": platform.python_version(),
            "numba": numba.__version__,
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "c_flags": " ".join(FLAGS),
            "time": "CPU time of the working thread, median of the rounds",
            "sizes": sizes(loop, arguments.quick),
            "near_full_reach": near_full_reach(loop, arguments.quick),
            "shapes": shapes(arguments.quick),
            "limits": limits(arguments.quick),
        }
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
        print(f"\nwritten to {arguments.json}")


if __name__ == "__main__":
    main()
