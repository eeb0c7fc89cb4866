# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a target costs that cannot be reached: time, steps, and what the best effort leaves.

    python benchmark/bench_unreachable.py [--quick] [--targets N] [--json FILE]

Of the UR5e and the Panda, N of each kind: `far`, beyond the sum of the links' lengths; `edge`, at
0.8 to 1 times that; `near`, beside the first axis; `turn`, at a position within reach, with any
orientation. Each time is processor time, the best of three.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.solve import solve, warm_up
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[1] / "urdf"
Case = tuple[RigidTransform, FloatArray]


def targets(chain: Chain, kind: str) -> Iterator[Case]:
    """Yield targets, some of which can be reached, each with a seed."""
    rng, ready = np.random.default_rng(1), prepared(chain)
    low, high = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    while True:
        truth, seed = rng.uniform(low, high, (2, len(low)))
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        place = ready.ends[0, :, 3].copy()
        if kind == "far":
            place += way * ready.reach * rng.uniform(1.01, 1.5)
        elif kind == "edge":
            place += way * ready.reach * rng.uniform(0.8, 1.0)
        elif kind == "near":
            place += way * rng.uniform(0.0, 0.12)
        else:
            place = chain.forward(truth).translation
        yield RigidTransform.from_rpy(*rng.uniform(-np.pi, np.pi, 3), place), seed


def main() -> None:
    """Print one line for each arm and kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30 targets of each kind")
    parser.add_argument("--targets", type=int, default=300, help="of each kind")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    count, results = 30 if options.quick else options.targets, {}
    for name in ("ur5e", "panda"):
        chain = RobotModel.from_urdf_file(URDF / f"{name}.urdf").chain()
        warm_up(chain)
        for kind in ("far", "edge", "near", "turn"):
            rows, verdicts = [], Counter()
            for target, seed in targets(chain, kind):
                best = np.inf
                for _ in range(3):
                    began = time.thread_time()
                    solution = solve(chain, target, seed)
                    best = min(best, time.thread_time() - began)
                if not solution.success:
                    left = solution.position_error, solution.orientation_error
                    rows.append((1e3 * best, solution.iterations, *left))
                    verdicts[solution.verdict.name] += 1
                if len(rows) == count:
                    break
            table = np.array(rows)
            mean = table.mean(axis=0)
            median, p99 = np.median(table, axis=0), np.quantile(table, 0.99, axis=0)
            print(
                f"{name:6} {kind:5} ms {mean[0]:.2f} median {median[0]:.2f} p99 {p99[0]:.2f}  "
                f"steps {mean[1]:.0f} p99 {p99[1]:.0f}  "
                f"left {mean[2]:.6f} m {mean[3]:.4f} rad  {dict(verdicts)}"
            )
            results[f"{name} {kind}"] = {
                "mean_ms": mean[0],
                "median_ms": median[0],
                "p99_ms": p99[0],
                "mean_steps": mean[1],
                "position_error_m": mean[2],
                "orientation_error_rad": mean[3],
                "verdicts": dict(verdicts),
            }
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
