# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Best efforts at targets that cannot be reached, beside brute force.

    python benchmark/bench_best_effort.py [--quick] [--targets N] [--robots A,B] [--state FILE]

For each of five arms, N targets that `solve` does not reach: a fifth each too far, too near to the
first axis, at a position within reach with any orientation, at a pose of the arm without its
limits, and at the edge of the reach. Seeds are random. `brute_force.py` looks for a nearer position
and, where the nearest position is as near, for a nearer orientation there: from random starts, and
from the answer itself. With `--state` the run goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from brute_force import AS_NEAR, nearest

sys.path.append(str(Path(__file__).parents[1] / "test" / "search"))

from closed_arms import FEWER, chain_of
from hard_arms import ARMS

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.solve import Solution, solve, warm_up
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[1]
KINDS = ("far", "near", "turn", "limits", "edge")
FARTHER, TURNED = 1e-3, 1e-2  # [m] and [rad] by which an answer may be worse
BLOCK = 20  # targets between two looks at the clock
FIGURES = ("farther_m", "turned_rad", "ms")


def chains(names: list[str]) -> dict[str, Chain]:
    """Return the arms: of six and seven joints, of five, and with a slide."""
    found = {
        name: RobotModel.from_urdf_file(ROOT / "urdf" / f"{name}.urdf").chain()
        for name in ("ur5e", "panda")
    }
    for name, table in (("gen3", ARMS), ("youbot", FEWER), ("tiago", ARMS)):
        found[name] = chain_of(*table[name])
    return {name: chain for name, chain in found.items() if not names or name in names}


def draw(chain: Chain, kind: str, rng: np.random.Generator) -> tuple[RigidTransform, FloatArray]:
    """Return a target and a seed."""
    ready = prepared(chain)
    low, high = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    seed, truth = rng.uniform(low, high, (2, len(low)))
    turn, way = rng.uniform(-np.pi, np.pi, 3), rng.normal(size=3)
    way /= np.linalg.norm(way)
    place = ready.ends[0, :, 3].copy()
    if kind == "limits":
        slides = chain.arrays.prismatic != 0
        return chain.forward(np.where(slides, truth, rng.uniform(-np.pi, np.pi, len(low)))), seed
    if kind == "far":
        place += way * ready.reach * rng.uniform(1.01, 1.5)
    elif kind == "edge":
        place += way * ready.reach * rng.uniform(0.8, 1.0)
    elif kind == "near":
        place += way * ready.reach * rng.uniform(0.0, 0.1)
    else:
        place = chain.forward(truth).translation
    return RigidTransform.from_rpy(*turn, place), seed


def cases(chain: Chain, name: str, begin: int) -> Iterator[tuple[int, RigidTransform, FloatArray]]:
    """Yield numbers, targets and seeds without end."""
    number = begin
    while True:
        rng = np.random.default_rng([number, len(name), *name.encode()])
        target, seed = draw(chain, KINDS[number % len(KINDS)], rng)
        yield number, target, seed
        number += 1


def compare(
    chain: Chain, target: RigidTransform, solution: Solution, starts: int, number: int
) -> tuple[float, float]:
    """Return by how much an answer is farther [m], and turned farther [rad], than brute force."""
    rng = np.random.default_rng(number)
    left = nearest(chain, target.matrix.copy(), solution.positions, starts, rng)
    farther = solution.position_error - left[:, 0].min()
    as_near = left[:, 0] <= min(left[:, 0].min(), solution.position_error) + AS_NEAR
    turned = solution.orientation_error - left[as_near, 1].min(initial=np.inf)
    return float(farther), float(turned)


def measure(chain: Chain, target: RigidTransform, seed: FloatArray) -> tuple[Solution, float]:
    """Return the answer and the processor time that it takes [ms], the best of three."""
    best = np.inf
    for _ in range(3):
        began = time.thread_time()
        solution = solve(chain, target, seed)
        best = min(best, time.thread_time() - began)
    return solution, 1e3 * best


def run(name: str, chain: Chain, row: dict[str, list[float]], end: int, starts: int) -> None:
    """Add the figures of further targets, up to so many."""
    for number, target, seed in cases(chain, name, int(row["number"][-1]) + 1):
        solution, ms = measure(chain, target, seed)
        if solution.success:
            continue
        farther, turned = compare(chain, target, solution, starts, number)
        for key, value in zip(("number", *FIGURES), (number, farther, turned, ms), strict=True):
            row[key].append(value)
        if farther > FARTHER or turned > TURNED:
            text = f"{name} {KINDS[number % len(KINDS)]} {number} {solution.verdict.name}"
            print(f"\r{text}: {farther:.2e} m, {turned:.4f} rad worse", flush=True)
        if len(row["ms"]) >= end:
            return


def main() -> None:
    """Run block by block over the arms, with a line of progress."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 targets of each arm")
    parser.add_argument("--targets", type=int, default=1000, help="of each arm")
    parser.add_argument("--starts", type=int, default=300, help="of brute force")
    parser.add_argument("--robots", default="")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    each = 20 if options.quick else options.targets
    arms = chains([name for name in options.robots.split(",") if name])
    done: dict[str, dict[str, list[float]]] = {}
    if options.state and options.state.exists():
        done = json.loads(options.state.read_text())
    total, started = each * len(arms), time.monotonic()
    before = sum(len(row["ms"]) for row in done.values())
    for name, chain in arms.items():
        warm_up(chain)
        row = done.setdefault(name, {"number": [-1], **{key: [] for key in FIGURES}})
        while len(row["ms"]) < each:
            run(name, chain, row, min(each, len(row["ms"]) + BLOCK), options.starts)
            if options.state:
                options.state.write_text(json.dumps(done))
            made = sum(len(row["ms"]) for row in done.values())
            left = (time.monotonic() - started) * (total - made) / max(1, made - before) / 60
            text = f"\r{made}/{total} targets, {left:.0f} min left   "
            print(text, end="", file=sys.stderr, flush=True)
    print()
    results = {name: summary(done[name]) for name in arms}
    for name, figures in results.items():
        print(f"{name:6}", *(f"{key} {value:.3g}" for key, value in figures.items()))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


def summary(row: dict[str, list[float]]) -> dict[str, float]:
    """Return what the figures of an arm come to."""
    farther, turned, ms = (np.array(row[key]) for key in FIGURES)
    as_near = farther <= FARTHER
    return {
        "targets": len(ms),
        "farther": int((~as_near).sum()),
        "turned": int((as_near & (turned > TURNED)).sum()),
        "farther_m": max(0.0, farther.max()),
        "turned_rad": max(0.0, turned[as_near].max()),
        "brute_force_farther": int((farther < -FARTHER).sum()),
        "brute_force_turned": int((np.isfinite(turned) & (turned < -TURNED)).sum()),
        "brute_force_not_as_near": int(np.isinf(turned).sum()),
        "mean_ms": ms.mean(),
        "p99_ms": np.quantile(ms, 0.99),
    }


if __name__ == "__main__":
    main()
