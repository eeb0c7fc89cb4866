# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The motion limiter against ruckig: time of a tick, and duration of motions.

    python benchmark/bench_limiter.py [--quick] [--json FILE]

Seven joints, as both are called from Python, in turns. The limits of the first table are alike in
all joints but for a factor, those of the durations differ at random.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import ruckig

from basis_ik.arm.joints_kernel import GOAL, JOINT_COLUMNS, plan_joints
from basis_ik.arm.limiter import Limiter, plan_motion
from basis_ik.arm.limits import MotionLimits

JOINTS, PERIOD, TICKS = 7, 0.002, 500
LIBRARIES = ("numpy", "numba", "ruckig")

Tick = Callable[[np.ndarray, np.ndarray], object]


def arm() -> MotionLimits:
    velocity = np.linspace(1.5, 3.0, JOINTS)
    far = np.full(JOINTS, 3.0)
    return MotionLimits(-far, far, velocity, velocity / 0.25, velocity / 0.0125)


def request(limits: MotionLimits, state: np.ndarray, goal: np.ndarray) -> ruckig.InputParameter:
    wanted = ruckig.InputParameter(len(goal))
    wanted.current_position, wanted.current_velocity = state[0].tolist(), state[1].tolist()
    wanted.current_acceleration, wanted.target_position = state[2].tolist(), goal.tolist()
    wanted.max_velocity, wanted.max_jerk = limits.velocity.tolist(), limits.jerk.tolist()
    wanted.max_acceleration = limits.acceleration.tolist()
    return wanted


def ours(limits: MotionLimits) -> Tick:
    limiter = Limiter(limits, PERIOD, np.zeros(JOINTS))
    return lambda goal, velocity: limiter.step(goal, velocity)


def theirs(limits: MotionLimits) -> Tick:
    generator = ruckig.Ruckig(JOINTS, PERIOD)
    wanted = request(limits, np.zeros((3, JOINTS)), np.zeros(JOINTS))
    wanted.synchronization = ruckig.Synchronization.No
    output = ruckig.OutputParameter(JOINTS)

    def tick(goal: np.ndarray, velocity: np.ndarray) -> object:
        wanted.target_position = goal
        wanted.target_velocity = velocity
        generator.update(wanted, output)
        output.pass_to_input(wanted)
        return output.new_position

    return tick


def goals(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the goals (TICKS, n) of a stream and their velocities."""
    where, velocity = np.empty((TICKS, JOINTS)), np.zeros((TICKS, JOINTS))
    where[:] = rng.uniform(-2, 2, JOINTS)
    if kind == "another goal each tick":
        where += 0.01 * rng.normal(size=where.shape)
    if kind == "a moving goal":
        phase = np.arange(TICKS)[:, None] * PERIOD + rng.uniform(0, 6, JOINTS)
        where, velocity = 0.4 * np.sin(phase), 0.4 * np.cos(phase)
    return where, velocity


def time_ticks(rounds: int) -> dict[str, dict[str, float]]:
    """Return the median µs of a tick of each contestant on each stream."""
    rng, limits, table = np.random.default_rng(0), arm(), {}
    for kind in ("a goal that rests", "another goal each tick", "a moving goal"):
        spent: dict[str, list[float]] = {"basis_ik": [], "ruckig": []}
        for _ in range(rounds):
            stream = list(zip(*goals(kind, rng), strict=True))
            for name, make in (("basis_ik", ours), ("ruckig", theirs)):
                tick = make(limits)
                tick(*stream[0])
                start = time.perf_counter()
                for goal, velocity in stream:
                    tick(goal, velocity)
                spent[name].append((time.perf_counter() - start) / TICKS)
        table[kind] = {name: 1e6 * float(np.median(times)) for name, times in spent.items()}
    return table


def time_plans(rounds: int) -> dict[str, float]:
    """Return the median µs of planning a motion from rest to rest, not of sampling it."""
    rng, limits, memory = np.random.default_rng(1), arm(), np.zeros((JOINTS, JOINT_COLUMNS))
    bounds, spent = limits.scaled(1.0, 1.0, 1.0), {"basis_ik": [], "ruckig": []}
    generator, found = ruckig.Ruckig(JOINTS), ruckig.Trajectory(JOINTS)
    for _ in range(rounds * 100):
        state, goal = np.zeros((3, JOINTS)), rng.uniform(-2, 2, JOINTS)
        state[0] = rng.uniform(-2, 2, JOINTS)
        wanted = request(limits, state, goal)
        start = time.perf_counter()
        memory[:, :3], memory[:, GOAL] = state.T, goal
        plan_joints(memory, bounds)
        middle = time.perf_counter()
        generator.calculate(wanted, found)
        spent["ruckig"].append(time.perf_counter() - middle)
        spent["basis_ik"].append(middle - start)
    return {name: 1e6 * float(np.median(times)) for name, times in spent.items()}


def durations(count: int, *, moving: bool) -> dict[str, float]:
    """Return statistics of our duration by ruckig's, over random moves with random limits."""
    rng, memory, shares = np.random.default_rng(2), np.zeros((JOINTS, JOINT_COLUMNS)), []
    generator, found = ruckig.Ruckig(JOINTS), ruckig.Trajectory(JOINTS)
    refused = 0
    for _ in range(count):
        velocity = 10 ** rng.uniform(-1, 0.7, JOINTS)
        acceleration = velocity / 10 ** rng.uniform(-1.3, 0.3, JOINTS)
        jerk = acceleration / 10 ** rng.uniform(-2, 0, JOINTS)
        far = np.full(JOINTS, 3.0)
        limits = MotionLimits(-far, far, velocity, acceleration, jerk)
        state, goal = np.zeros((3, JOINTS)), rng.uniform(-3, 3, JOINTS)
        state[0] = rng.uniform(-3, 3, JOINTS)
        if moving:
            state[2] = rng.uniform(-1, 1, JOINTS) * np.minimum(
                acceleration, np.sqrt(velocity * jerk)
            )
            state[1] = rng.uniform(-1, 1, JOINTS) * (velocity - state[2] ** 2 / (2 * jerk))
        memory[:, :3], memory[:, GOAL] = state.T, goal
        own = plan_joints(memory, limits.scaled(1.0, 1.0, 1.0))
        wanted = request(limits, state, goal)
        if moving:
            wanted.synchronization = ruckig.Synchronization.No
        try:
            generator.calculate(wanted, found)
        except ruckig.RuckigError:
            refused += 1
            continue
        shares.append(own / found.duration)
    ratio = np.array(shares)
    return {
        "moves": len(ratio),
        "ruckig_found_none": refused,
        "median": float(np.median(ratio)),
        "largest": float(ratio.max()),
        "least": float(ratio.min()),
        "within_a_millionth": float((np.abs(ratio - 1) <= 1e-6).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    rounds = 10 if arguments.quick else 100
    plan_motion(arm().scaled(1.0, 1.0, 1.0), np.zeros(JOINTS), np.ones(JOINTS), 0.1)  # compile
    ticks = time_ticks(rounds)
    ticks["a motion planned"] = time_plans(rounds)
    print(f"{'':24} {'basis_ik':>10} {'ruckig':>10}  µs, median")
    for name, row in ticks.items():
        print(f"{name:24} {row['basis_ik']:10.1f} {row['ruckig']:10.1f}")
    shares = {
        "from rest": durations(rounds * 200, moving=False),
        "on the way": durations(rounds * 200, moving=True),
    }
    print("\nour duration by ruckig's")
    for name, row in shares.items():
        print(f"{name:12}", "  ".join(f"{key} {value:.9g}" for key, value in row.items()))
    record = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {library: importlib.metadata.version(library) for library in LIBRARIES},
        "rounds": rounds,
        "microseconds": ticks,
        "durations": shares,
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
