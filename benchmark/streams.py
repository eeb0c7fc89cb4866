"""Tracking a moving target, and many targets at once."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from peers import Judge
from robots import Arm

from basis_ik.model.robot import RobotModel
from basis_ik.solvers.batch import solve_batch
from basis_ik.solvers.track import track
from basis_ik.transforms.rigid import RigidTransform

RATE = 500.0  # Hz


def tracking(arms: list[Arm], seconds: float) -> dict[str, Any]:
    """Follow a smooth motion through the arm's own workspace; print and return what it costs.

    The target is the tip of a joint motion: sums of sines inside the middle half of the limits, at
    up to about one radian per second. It passes near singularities as it comes.
    """
    print(f"\ntracking, {seconds:.0f} s at {RATE:.0f} Hz:")
    table = {}
    for arm in arms:
        chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
        judge = Judge(arm)
        low = np.where(np.isfinite(judge.lower), judge.lower, -np.pi)
        high = np.where(np.isfinite(judge.upper), judge.upper, np.pi)
        rng = np.random.default_rng(4)
        pace, phase = rng.uniform(0.1, 0.5, len(low)), rng.uniform(0, 6.28, len(low))
        clock = np.arange(int(seconds * RATE)) / RATE
        swing = np.minimum(0.25 * (high - low), 1.5)
        motion = 0.5 * (low + high) + swing * np.sin(clock[:, None] * pace + phase)
        goals = [RigidTransform.from_matrix(judge.pose(q).homogeneous) for q in motion]
        limit = 4.0 * float(np.abs(np.diff(motion, axis=0)).max())
        q = motion[0].copy()
        spent, jumps, errors = [], [], []
        for goal in goals:
            start = time.perf_counter()
            answer = track(chain, goal, q, limit)
            spent.append(time.perf_counter() - start)
            jumps.append(float(np.abs(answer.positions - q).max()))
            errors.append(answer.position_error)
            q = answer.positions
        f = table[arm.name] = {
            "mean_us": 1e6 * float(np.mean(spent)),
            "p99_us": 1e6 * float(np.percentile(spent, 99)),
            "worst_jump_rad": max(jumps),
            "bound_rad": limit,
            "worst_error_m": max(errors),
            "share_within_1e-6": float(np.mean(np.array(errors) <= 1e-6)),
        }
        print(
            f"  {arm.name:8} {f['mean_us']:6.1f} µs a step (p99 {f['p99_us']:.1f})  worst jump"
            f" {f['worst_jump_rad']:.4f} of {limit:.4f}  worst error {f['worst_error_m']:.1e} m"
            f"  on target {100 * f['share_within_1e-6']:.2f} %",
            flush=True,
        )
    return table


def batches(arms: list[Arm], count: int) -> dict[str, Any]:
    """Solve many random targets with one and with two threads; print and return the rates."""
    print(f"\nbatches of {count}, thousand poses a second with 1 and 2 threads:")
    table = {}
    for arm in arms:
        chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
        judge = Judge(arm)
        low = np.where(np.isfinite(judge.lower), judge.lower, -np.pi)
        high = np.where(np.isfinite(judge.upper), judge.upper, np.pi)
        truths, seeds = np.random.default_rng(6).uniform(low, high, (2, count, len(low)))
        targets = np.array([judge.pose(q).homogeneous for q in truths])
        rates = {}
        for threads in (1, 2):
            solve_batch(chain, targets[:100], seeds[:100], threads=threads)
            start = time.perf_counter()
            found = solve_batch(chain, targets, seeds, threads=threads)
            rates[f"per_second_{threads}"] = count / (time.perf_counter() - start)
        table[arm.name] = {**rates, "missed": int((~found.reached).sum())}
        one, two = (rates[f"per_second_{k}"] / 1e3 for k in (1, 2))
        print(f"  {arm.name:8} {one:7.0f} {two:7.0f}   missed {table[arm.name]['missed']}")
    return table
