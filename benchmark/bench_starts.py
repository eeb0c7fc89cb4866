# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How many starts reachable poses need, and what the scouts leave of those that need many.

    python benchmark/bench_starts.py [--quick] [--arms N] [--json FILE]

Random arms of six to eight joints, within limits from a third of a radian wide up, then six and
seven hinges without any that matter; a thousand poses each. These figures set
STARTS_BY_ERROR, LIFTED_STARTS and PERSISTENCE of `basis_ik.solvers.pose.diagnosis`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from basis_ik.descent.pose_search_kernel import DESCENT_PATIENCE, NEAR_SEED
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import PoseGoals
from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.search.prepare import prepare
from basis_ik.solvers.pose.batch_kernel import solve_poses
from basis_ik.solvers.pose.diagnosis import FEWEST_STARTS, Diagnosis
from basis_ik.solvers.pose.solve import MAX_RESTARTS
from basis_ik.transforms.rigid import RigidTransform

POSES = 1000  # of each arm
BUDGET = 1_000_000
TOLERANCES = (1e-6, 1e-6)


def random_arm(seed: int, *, limited: bool) -> ChainArrays:
    """Return an arm with axes at right angles or anyhow, now and then with a slide."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(6, 9 if limited else 8))
    square = rng.random() < 0.6
    frames = []
    for i in range(m + 1):
        rpy = rng.integers(-1, 3, 3) * np.pi / 2 if square else rng.uniform(-np.pi, np.pi, 3)
        xyz = rng.uniform(-0.3, 0.3, 3) * (rng.random(3) < 0.6)
        xyz[2] += 0.3 if i in (2, 3) else 0.0
        frames.append(RigidTransform.from_rpy(*rpy, xyz).matrix[:3])
    slides, middle, half = np.zeros(m, np.int64), np.zeros(m), np.full(m, np.pi)
    if limited:
        middle, half = rng.uniform(-1.0, 1.0, m), rng.uniform(0.17, np.pi, m)
        if rng.random() < 0.2:
            k = int(rng.integers(0, m))
            slides[k], half[k] = 1, rng.uniform(0.1, 0.4)
    return ChainArrays(
        np.array(frames[:-1]), slides, np.arange(m), np.ones(m), np.zeros(m), frames[-1].copy(),
        middle - half, middle + half, np.zeros(m, np.int64),
    )  # fmt: skip


def hard_poses(arm: ChainArrays, seed: int, count: int) -> list[tuple[int, float]]:
    """Return of each pose that needs many starts how many, and the best scout's weighted error."""
    ready, n = prepare(arm), len(arm.lower)
    truths, seeds = np.random.default_rng(seed).uniform(arm.lower, arm.upper, (2, count, n))
    targets = np.tile(np.eye(4), (count, 1, 1))
    for truth, target in zip(truths, targets, strict=True):
        place_exactly(ready.exact, truth, target[:3])
    q, figures = np.empty((count, n)), np.empty((count, 5))
    solve_poses(
        ready.packed, PoseGoals(ready.weights, targets, seeds, *TOLERANCES), q, figures,
        ready.new_work(), (BUDGET, MAX_RESTARTS, DESCENT_PATIENCE, NEAR_SEED),
    )  # fmt: skip
    hard = []
    for i in np.flatnonzero((figures[:, 2] > FEWEST_STARTS) | (figures[:, 0] == 0.0)):
        diagnosis = Diagnosis(
            ready, targets[i], seeds[i], seeds[i], TOLERANCES, BUDGET, FEWEST_STARTS
        )
        found = diagnosis.scout() is not None
        hard.append((int(figures[i, 2]), 0.0 if found else diagnosis.least_error()))
    return hard


def main() -> None:
    """Print how many poses are hard, and those that need most starts beside what they leave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="ten arms")
    parser.add_argument("--arms", type=int, default=100)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    arms, results = 10 if options.quick else options.arms, {}
    for limited in (True, False):
        hard = [
            pose
            for seed in range(arms)
            for pose in hard_poses(random_arm(seed, limited=limited), seed, POSES)
        ]
        left = sorted((pose for pose in hard if pose[1] > 0.0), reverse=True)
        title = "within limits" if limited else "without limits"
        print(
            f"{title}: of {arms * POSES} poses "
            f"{len(hard)} need over {FEWEST_STARTS} starts; {len(left)} of them no scout reaches"
        )
        row: dict[str, Any] = {"poses": arms * POSES, "hard": len(hard), "left": len(left)}
        for bound in (0.0, 0.002, 0.04):
            most = max((starts for starts, error in left if error >= bound), default=0)
            print(f"  where the best scout leaves {bound} or more: {most} starts at most")
            row[f"most_starts_from_{bound}"] = most
        results[title] = row
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
