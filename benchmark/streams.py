# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tracking a moving target, and many targets at once."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
from peers import TOLERANCE, Call, Judge, Read, ours, roboticstoolbox
from robots import Arm

from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.batch import solve_batch
from basis_ik.solvers.pose.track import track, warm_up

RATE = 500.0  # Hz
STREAMED = ("UR10", "Panda", "iiwa14", "xArm7", "PR2", "KR210")
BLOCK = 250  # ticks that a contestant does before the next one's turn
DAMPING = 1e-6

Follower = Callable[[Any, np.ndarray], np.ndarray]
"""From root_T_target (pinocchio's) and the joints' positions to their next ones."""


def tracking(arms: list[Arm], seconds: float) -> dict[str, Any]:
    """Follow smooth motions through each arm's workspace; print and return how well.

    The target is the tip of a joint motion, at up to three quarters of a radian per second: it can
    be followed within the bounds, which are the joints' velocity limits. One motion starts anywhere
    in the middle half of the limits, one at a singularity and at rest. On the way both come near
    singularities as it happens. Everything is judged by pinocchio.
    """
    print(f"\ntracking, {seconds:.0f} s at {RATE:.0f} Hz, bound: the joints' velocity limits:")
    return {
        arm.name: {
            start: _follow_all(arm, start, int(seconds * RATE)) for start in ("regular", "singular")
        }
        for arm in arms
        if arm.name in STREAMED
    }


def _follow_all(arm: Arm, start: str, ticks: int) -> dict[str, Any]:
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    judge = Judge(arm)
    bound = chain.velocity / RATE
    motion = _motion(judge, chain.jacobian, start, ticks)
    goals = [judge.pose(q) for q in motion]
    followers = _followers(arm, judge, bound)
    records = {name: _Record(motion[0]) for name in followers}
    for begin in range(0, ticks, BLOCK):
        for name, follow in followers.items():
            records[name].go_on(follow, goals[begin : begin + BLOCK], judge)
    table = {name: record.figures(bound) for name, record in records.items()}
    for name, f in table.items():
        print(
            f"  {arm.name:7} {start:9} {name:22} {f['mean_us']:6.1f} µs a step"
            f" (p99 {f['p99_us']:6.1f})  on target {f['on_target_percent']:6.2f} %  worst error"
            f" {f['worst_error_m']:.1e} m {f['worst_error_rad']:.1e} rad  worst jump"
            f" {f['worst_jump_rad']:.4f} ({f['worst_jump_of_bound']:.1f} of the bound)",
            flush=True,
        )
    return table


def _motion(
    judge: Judge, jacobian: Callable[[np.ndarray], np.ndarray], start: str, ticks: int
) -> np.ndarray:
    """Return joint positions (ticks, n): sines about the middle, or from a singularity and back."""
    low, high = _range(judge)
    rng = np.random.default_rng(4)
    pace, phase = rng.uniform(0.1, 0.5, len(low)), rng.uniform(0, 6.28, len(low))
    clock = np.arange(ticks)[:, None] / RATE
    swing = np.minimum(0.25 * (high - low), 1.5)
    if start == "regular":
        return 0.5 * (low + high) + swing * np.sin(clock * pace + phase)
    q = singular(jacobian, low, high)
    away = np.where(q < 0.5 * (low + high), swing, -swing)
    return q + 0.5 * away * (1.0 - np.cos(clock * pace))


def singular(
    jacobian: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return where the smallest singular value of the Jacobian vanishes: one joint at a time."""
    q, width = np.clip(0.3, low, high), 0.5 * (high - low)
    for _ in range(12):
        for k in range(len(q)):
            values = np.clip(q[k] + width[k] * np.linspace(-1, 1, 21), low[k], high[k])
            trials = np.repeat(q[None], 21, axis=0)
            trials[:, k] = values
            q = min(trials, key=lambda t: np.linalg.svd(jacobian(t), compute_uv=False)[-1])
        width = 0.3 * width
    return q


class _Record:
    """What one contestant did so far."""

    def __init__(self, q: np.ndarray) -> None:
        self.q = q.copy()
        self.spent: list[float] = []
        self.moves: list[np.ndarray] = []
        self.errors: list[tuple[float, float]] = []

    def go_on(self, follow: Follower, goals: list[Any], judge: Judge) -> None:
        for goal in goals:
            begin = time.perf_counter()
            after = follow(goal, self.q)
            self.spent.append(time.perf_counter() - begin)
            self.moves.append(np.abs(after - self.q))
            self.q = after
            off = judge.pose(after).actInv(goal)
            turned = np.linalg.norm(pinocchio.log3(off.rotation))
            self.errors.append((float(np.linalg.norm(off.translation)), float(turned)))

    def figures(self, bound: np.ndarray) -> dict[str, float]:
        errors, moves = np.array(self.errors), np.array(self.moves)
        return {
            "mean_us": 1e6 * float(np.mean(self.spent)),
            "p99_us": 1e6 * float(np.percentile(self.spent, 99)),
            "on_target_percent": 100.0 * float((errors <= TOLERANCE).all(axis=1).mean()),
            "worst_error_m": float(errors[:, 0].max()),
            "worst_error_rad": float(errors[:, 1].max()),
            "worst_jump_rad": float(moves.max()),
            "worst_jump_of_bound": float((moves / bound).max()),
        }


def _followers(arm: Arm, judge: Judge, bound: np.ndarray) -> dict[str, Follower]:
    """Return those that keep to the bound, then those that solve from the last positions."""
    found = {"basis_ik track": _tracked(arm, bound), "DLS with pinocchio": _damped(judge, bound)}
    found["basis_ik solve"] = _solved_anew(*ours(arm, judge))
    with contextlib.suppress(ImportError):
        found["roboticstoolbox ik_LM"] = _solved_anew(*roboticstoolbox(arm, judge))
    return found


def _tracked(arm: Arm, bound: np.ndarray) -> Follower:
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    warm_up(chain)
    before = None

    def follow(goal: Any, q: np.ndarray) -> np.ndarray:
        nonlocal before
        before, previous = q, before
        return track(chain, goal.homogeneous, q, bound, previous=previous).positions

    return follow


def _damped(judge: Judge, bound: np.ndarray) -> Follower:
    """Return the usual loop: one damped least-squares step a tick, shortened, then clamped."""

    def follow(goal: Any, q: np.ndarray) -> np.ndarray:
        off = judge.pose(q).actInv(goal)
        jacobian = judge.jacobian()
        step = jacobian.T @ np.linalg.solve(
            jacobian @ jacobian.T + DAMPING * np.eye(6), pinocchio.log6(off).vector
        )
        step /= max(1.0, float((np.abs(step) / bound).max()))
        return np.clip(q + step, judge.lower, judge.upper)

    return follow


def _solved_anew(call: Call, read: Read) -> Follower:
    """Return a loop that solves from the last positions, and holds them where that fails."""

    def follow(goal: Any, q: np.ndarray) -> np.ndarray:
        answer = read(call(goal.homogeneous, q))
        return q if answer is None else answer

    return follow


def _range(judge: Judge) -> tuple[np.ndarray, np.ndarray]:
    low = np.where(np.isfinite(judge.lower), judge.lower, -np.pi)
    return low, np.where(np.isfinite(judge.upper), judge.upper, np.pi)


def batches(arms: list[Arm], count: int) -> dict[str, Any]:
    """Solve many random targets with one and with two threads; print and return the rates."""
    print(f"\nbatches of {count}, thousand poses a second with 1 and 2 threads:")
    table = {}
    for arm in arms:
        chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
        judge = Judge(arm)
        low, high = _range(judge)
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
