# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What each ingredient of the pose solver is worth, on one thread, without Python in between."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
from peers import Judge
from robots import Arm

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.fabrik_sweep_kernel import sweep
from basis_ik.descent.hinge_fit_kernel import ORIENTATION_MOMENT
from basis_ik.descent.pose_search_kernel import (
    COLUMNS,
    FREE_TURNS,
    NEAR_SEED,
    begin_inside,
    bring_inside,
    relate_to_target,
    set_bounds,
    solve_pose,
)
from basis_ik.descent.proof_kernel import distance_and_angle, place_exactly
from basis_ik.descent.tables_kernel import PackedChain
from basis_ik.robot.robot import RobotModel
from basis_ik.search.prepare import prepare
from basis_ik.solvers.pose.solve import MAX_RESTARTS

NEVER = np.inf  # near everything: no sweep ever

# name: (last start, patience, careful, near, own starts)
VARIANTS = {
    "all": (MAX_RESTARTS, 1, False, NEAR_SEED, True),
    "without FABRIK sweeps": (MAX_RESTARTS, 1, False, NEVER, True),
    "FABRIK sweep on every seed": (MAX_RESTARTS, 1, False, 0.0, True),
    "without own starts": (MAX_RESTARTS, 1, False, NEAR_SEED, False),
    "without restarts": (0, 1, False, NEAR_SEED, True),
    "without restarts and sweeps": (0, 1, False, NEVER, True),
    "patience 0": (MAX_RESTARTS, 0, False, NEAR_SEED, True),
    "patience 2": (MAX_RESTARTS, 2, False, NEAR_SEED, True),
    "patience 8": (MAX_RESTARTS, 8, False, NEAR_SEED, True),
    "careful steps": (MAX_RESTARTS, 1, True, NEAR_SEED, True),
}


@numba.njit(nogil=True, error_model="numpy")
def run(ready, weights, targets, seeds, q, work, last, patience, careful, near, out):  # type: ignore[no-untyped-def]
    exact, joints, variables, ends = ready
    for i in range(targets.shape[0]):
        status, steps, starts, _, _ = solve_pose(
            (exact, joints, variables, ends, np.inf), (weights, targets[i], 1e-5, 1e-5), seeds[i],
            q, work, (20000, patience, careful), (0, last, near),
        )  # fmt: skip
        out[i, 0], out[i, 1], out[i, 2] = status == DESCENT_REACHED, steps, starts


@numba.njit(nogil=True, error_model="numpy")
def sweep_only(ready, weights, targets, seeds, q, work, sweeps, out):  # type: ignore[no-untyped-def]
    exact, joints, variables, ends = ready
    chain = PackedChain(exact, joints, variables, ends, np.inf)
    n = variables.shape[0]
    frame = np.empty((3, 4))
    set_bounds(variables, FREE_TURNS, work)
    for i in range(targets.shape[0]):
        begin_inside(variables, seeds[i], q)
        relate_to_target(ends[0], targets[i], work, n + joints.shape[0])
        moment = ORIENTATION_MOMENT / weights[0] ** 2
        for _ in range(sweeps):
            sweep(chain, weights, q, work, moment, 0.0)
        bring_inside(variables, seeds[i], q)
        place_exactly(exact, q, frame)
        away, turned = distance_and_angle(frame, targets[i], weights)
        out[i, 0] = away <= 1e-3 and turned <= 1e-3
        out[i, 1], out[i, 2] = away, turned


def ablation(arms: list[Arm], count: int) -> dict[str, Any]:
    """Print and return, per variant, the geometric mean over the arms of time and steps."""
    print("\nablation, per target and averaged over the arms (compiled loop, no Python calls):")
    collected: dict[str, list[tuple[float, ...]]] = {}
    for arm in arms:
        chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
        judge = Judge(arm)
        rng = np.random.default_rng(3)
        low = np.where(np.isfinite(judge.lower), judge.lower, -np.pi)
        high = np.where(np.isfinite(judge.upper), judge.upper, np.pi)
        truths, seeds = rng.uniform(low, high, (2, count, len(low)))
        targets = np.array([judge.pose(q).homogeneous for q in truths])
        p = prepare(chain.arrays)
        ready = (p.exact, p.joints, p.variables, p.ends)
        plain = (p.exact, p.joints, p.variables[:, :COLUMNS].copy(), p.ends)
        q, work, out = np.empty(len(low)), p.new_work(), np.zeros((count, 3))
        for name, (last, patience, careful, near, own) in VARIANTS.items():
            chosen = ready if own else plain
            best = np.inf
            for _ in range(3):
                start = time.perf_counter()
                run(chosen, p.weights, targets, seeds, q, work, last, patience, careful, near, out)
                best = min(best, time.perf_counter() - start)
            collected.setdefault(name, []).append(
                (best / count * 1e6, *out.mean(axis=0), float(np.percentile(out[:, 1], 99)))
            )
        for sweeps in (1, 10, 100):
            sweep_only(ready, p.weights, targets, seeds, q, work, sweeps, out)
            start = time.perf_counter()
            sweep_only(ready, p.weights, targets, seeds, q, work, sweeps, out)
            spent = (time.perf_counter() - start) / count * 1e6
            collected.setdefault(f"{sweeps} sweeps alone, 1e-3", []).append(
                (spent, out[:, 0].mean(), sweeps, 0.0, sweeps)
            )
    table = {}
    for name, rows in collected.items():
        r = np.array(rows)
        table[name] = {
            "us": float(np.exp(np.log(r[:, 0]).mean())),
            "success_percent": 100.0 * float(r[:, 1].mean()),
            "steps": float(r[:, 2].mean()),
            "restarts": float(r[:, 3].mean()),
            "p99_steps": float(r[:, 4].mean()),
        }
        f = table[name]
        print(
            f"  {name:28} {f['success_percent']:6.2f} %  {f['us']:7.2f} µs  {f['steps']:6.1f} steps"
            f"  p99 {f['p99_steps']:6.0f}  {f['restarts']:5.2f} restarts",
            flush=True,
        )
    return table
