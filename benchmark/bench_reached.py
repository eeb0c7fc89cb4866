# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reachable poses that the solver misses: plain ones, at limits, at quarter turns, and mixed.

    python benchmark/bench_reached.py [--quick] [--poses N] [--robots A,B] [--state FILE]

For each robot of `robots.py` that is installed, for the robots shipped here and those of
`test/search`, a quarter of the poses is of uniform random positions, a quarter has half of the
joints at limits, a quarter half of them at multiples of a quarter turn, and a quarter both. Seeds
are random. Every answer is judged by forward kinematics and limits; every miss is printed with
what reproduces it. With `--state` the run goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from robots import ROBOTS, find

sys.path.append(str(Path(__file__).parents[1] / "test" / "search"))

from closed_arms import FEWER, ROWS, chain_of
from hard_arms import ARMS

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.solve import solve

KINDS = ("plain", "limits", "quarters", "mixed")
BLOCK = 1000  # poses that are drawn together, between two looks at the clock


def chains(folder: Path, names: list[str]) -> dict[str, Chain]:
    """Return the chains by name, of those that are there."""
    ours = ARMS | ROWS | {"youbot": FEWER["youbot"]}
    found = {name: chain_of(*given) for name, given in ours.items()}
    for name in ROBOTS:
        arm = find(name, folder)
        if arm is not None:
            found[name] = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    return {name: chain for name, chain in found.items() if not names or name in names}


def draw(chain: Chain, kind: str, rng: np.random.Generator) -> FloatArray:
    """Return a block of positions within the limits, (BLOCK, n)."""
    low = np.where(np.isfinite(chain.lower), chain.lower, -np.pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, np.pi)
    q = rng.uniform(low, high, (BLOCK, len(low)))
    at_limit, up, at_quarter = rng.random((3, *q.shape)) < 0.5
    if kind in ("limits", "mixed"):
        q = np.where(at_limit, np.where(up, high, low), q)
    if kind in ("quarters", "mixed"):
        quarters = np.clip(rng.integers(-2, 3, q.shape) * np.pi / 2, low, high)
        q = np.where(at_quarter, quarters, q)
    return q


def is_reached(chain: Chain, truth: FloatArray, seed: FloatArray) -> bool:
    """Solve for the pose of a configuration, and judge the answer."""
    target = chain.forward(truth)
    solution = solve(chain, target, seed)
    if solution.success:
        inside = (chain.lower <= solution.positions) & (solution.positions <= chain.upper)
        off = chain.forward(solution.positions).matrix - target.matrix
        if not (np.abs(off).max() <= 2e-6 and inside.all()):
            raise AssertionError(f"a false success: {truth.tolist()}, {seed.tolist()}")
    return solution.success


def run(name: str, chain: Chain, kind: str, begin: int, end: int) -> dict[str, int]:
    """Solve for some of the poses of one robot and kind, of one block."""
    counts = {"poses": end - begin, "missed": 0}
    block = [begin // BLOCK, KINDS.index(kind), len(name), *name.encode()]
    rng = np.random.default_rng(block)
    truths, seeds = draw(chain, kind, rng), draw(chain, "plain", rng)
    for number in range(begin % BLOCK, begin % BLOCK + end - begin):
        truth, seed = truths[number], seeds[number]
        if not is_reached(chain, truth, seed):
            counts["missed"] += 1
            print(f"\rmissed: {name} {kind} {truth.tolist()} from {seed.tolist()}", flush=True)
    return counts


def main() -> None:
    """Run block by block over all robots and kinds, with a line of progress."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--poses", type=int, default=10_000_000)
    parser.add_argument("--robots", default="")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arms = chains(Path(folder), [name for name in options.robots.split(",") if name])
    each = max(1, (20_000 if options.quick else options.poses) // (len(arms) * len(KINDS)))
    done: dict[str, dict[str, int]] = {}
    if options.state and options.state.exists():
        done = json.loads(options.state.read_text())
    total, started = each * len(arms) * len(KINDS), time.monotonic()
    before = sum(row["poses"] for row in done.values())
    for name, chain in arms.items():
        for kind in KINDS:
            row = done.setdefault(f"{name} {kind}", {"poses": 0, "missed": 0})
            while row["poses"] < each:
                end = min(each, BLOCK * (row["poses"] // BLOCK + 1))
                for key, value in run(name, chain, kind, row["poses"], end).items():
                    row[key] += value
                if options.state:
                    options.state.write_text(json.dumps(done))
                _tell(done, total, before, started)
    print()
    table: dict[str, Any] = {}
    for key, row in done.items():
        name, kind = key.rsplit(" ", 1)
        table.setdefault(name, {})[kind] = row
    for name, rows in table.items():
        print(f"{name:20}", *(f"{k} {rows[k]['missed']}/{rows[k]['poses']}" for k in KINDS))
    print("missed:", sum(row["missed"] for row in done.values()), "of", total)
    if options.json:
        options.json.write_text(json.dumps(table, indent=1) + "\n")


def _tell(done: dict[str, dict[str, int]], total: int, before: int, started: float) -> None:
    poses = sum(row["poses"] for row in done.values())
    missed = sum(row["missed"] for row in done.values())
    left = (time.monotonic() - started) * (total - poses) / max(1, poses - before)
    text = f"\r{poses}/{total} poses, {missed} missed, {left / 60:.0f} min left   "
    print(text, end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
