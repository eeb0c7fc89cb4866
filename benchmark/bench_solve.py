# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pose solving on real arms, against every solver on PyPI that installs.

    python benchmark/bench_solve.py [--quick] [--json FILE] [--robots A,B] [--ablation | --fabrik]

Targets are poses of random configurations within the limits, as (4, 4) arrays; seeds are random
configurations. Success is judged by pinocchio: 1e-5 m, 1e-5 rad, limits respected. Contestants take
turns in blocks of targets, so that all see the same machine. Times are of single Python calls, with
each contestant's own conversions. First calls, which may compile and prepare, are timed apart.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from ablation import ablation
from peers import CONTESTANTS, Judge, build, our_fabrik, ours
from robots import FABRIK_ARMS, ROBOTS, THE_TEN, Arm, find
from streams import batches, tracking

PACKAGES = (
    "numpy", "numba", "pin", "roboticstoolbox-python", "pytracik", "optik-py", "ssik", "EAIK",
    "example-robot-data", "rtb-data", "pybullet",
)  # fmt: skip
BLOCK = 50
SLOW = 40.0  # seconds that one contestant may spend on one robot before it gets no more targets


def draw(judge: Judge, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random targets (count, 4, 4) and seeds (count, n)."""
    rng = np.random.default_rng(seed)
    low = np.where(np.isfinite(judge.lower), judge.lower, -np.pi)
    high = np.where(np.isfinite(judge.upper), judge.upper, np.pi)
    truths, seeds = rng.uniform(low, high, (2, count, len(low)))
    return np.array([judge.pose(q).homogeneous for q in truths]), seeds


def compare(arm: Arm, count: int, slow: float) -> dict[str, dict[str, float]]:
    """Let all contestants solve the same targets in turns; return their figures."""
    judge = Judge(arm)
    targets, seeds = draw(judge, count, 1)
    field, first = [], {}
    for name, call, read, prepare_s in build(arm, judge):
        start = time.perf_counter()
        with contextlib.suppress(Exception):
            call(targets[0], seeds[0])
        first[name] = prepare_s + time.perf_counter() - start
        field.append((name, call, read))
    times: dict[str, list[float]] = {name: [] for name, _, _ in field}
    reached = dict.fromkeys(times, 0)
    for begin in range(0, count, BLOCK):
        for name, call, read in field:
            if begin > 0 and sum(times[name]) > slow:
                continue
            block = range(begin, min(begin + BLOCK, count))
            answers = []
            for i in block:
                start = time.perf_counter()
                try:
                    answer = call(targets[i], seeds[i])
                except Exception:  # a refusal is a failure
                    answer = None
                times[name].append(time.perf_counter() - start)
                answers.append(answer)
            for i, answer in zip(block, answers, strict=True):
                reached[name] += answer is not None and judge.accepts(read(answer), targets[i])
    return {
        name: {
            "solved": len(spent),
            "success_percent": 100.0 * reached[name] / len(spent),
            "first_call_ms": 1e3 * first[name],
            "mean_us": 1e6 * float(np.mean(spent)),
            "median_us": 1e6 * float(np.median(spent)),
            "p99_us": 1e6 * float(np.percentile(spent, 99)),
        }
        for name, spent in times.items()
    }


def certify(arm: Arm, count: int, *, fabrik: bool = False) -> dict[str, float]:
    """Solve many targets with ours alone; with FABRIK, tell what its passes alone reached."""
    judge = Judge(arm)
    targets, seeds = draw(judge, count, 2)
    call, read = (our_fabrik if fabrik else ours)(arm, judge)
    # Of the thread: means of what now and then takes hundreds of passes are the load's otherwise.
    clock = time.thread_time if fabrik else time.perf_counter
    spent, answers = np.empty(count), []
    for i in range(count):
        start = clock()
        answer = call(targets[i], seeds[i])
        spent[i] = clock() - start
        answers.append(answer)
    missed = sum(not judge.accepts(read(a), t) for a, t in zip(answers, targets, strict=True))
    alone = {}
    if fabrik:
        passes = [answer.passes for answer in answers]
        rough, fine = (
            sum(judge.accepts(p.positions, t, within) for p, t in zip(passes, targets, strict=True))
            for within in ((1e-3, 1e-2), (1e-5, 1e-5))
        )
        alone = {
            "alone_rough_percent": 100.0 * rough / count,
            "alone_percent": 100.0 * fine / count,
            "passes": float(np.mean([p.count for p in passes])),
            "starts": 1.0 + float(np.mean([p.restarts for p in passes])),
        }
    return alone | {
        "solved": count,
        "missed": missed,
        "mean_us": 1e6 * float(spent.mean()),
        "median_us": 1e6 * float(np.median(spent)),
        "p99_us": 1e6 * float(np.percentile(spent, 99)),
        "max_us": 1e6 * float(spent.max()),
    }


def certify_fabrik(arms: list[Arm], count: int) -> dict[str, dict[str, float]]:
    """Solve many targets of each arm by FABRIK alone; print and return the figures."""
    print(f"\nFABRIK, {count} targets each; alone within 1e-3 m and 1e-2 rad, 1e-5; CPU time:")
    results = {}
    for arm in arms:
        f = results[arm.name] = certify(arm, count, fabrik=True)
        times = "  ".join(f"{k} {f[k + '_us']:.1f}" for k in ("mean", "median", "p99", "max"))
        print(
            f"  {arm.name:8} alone {f['alone_rough_percent']:6.2f} % {f['alone_percent']:6.2f} %"
            f"  with a descent missed {f['missed']} of {f['solved']}  passes {f['passes']:.1f}"
            f"  starts {f['starts']:.2f}  {times} µs",
            flush=True,
        )
    means = [f["mean_us"] for f in results.values()]
    print(f"  geometric mean {float(np.exp(np.mean(np.log(means)))):.1f} µs")
    return results


def show(arm: Arm, figures: dict[str, dict[str, float]]) -> None:
    for name, f in figures.items():
        print(
            f"  {arm.name:8} {name:22} {f['success_percent']:6.2f} %  mean {f['mean_us']:9.1f}"
            f"  median {f['median_us']:9.1f}  p99 {f['p99_us']:9.1f} µs"
            f"  {f['mean_us'] / figures['basis_ik']['mean_us']:7.1f} of ours"
            f"  first call {f['first_call_ms']:8.1f} ms  (n={f['solved']})",
            flush=True,
        )


def machine() -> dict[str, Any]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load_at_start": os.getloadavg()[0],
        "versions": versions,
    }


def summarise(compared: dict[str, dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Print and return how each contestant does over all the arms that it can be built for."""
    print("\nover all arms: mean [µs], and how many times ours on the same arms")
    table = {}
    for name in CONTESTANTS:
        rows = {arm: row for arm, row in compared.items() if name in row}
        if not rows:
            continue
        means = np.array([row[name]["mean_us"] for row in rows.values()])
        ratios = means / [row["basis_ik"]["mean_us"] for row in rows.values()]
        table[name] = {
            "arms": len(rows),
            "geometric_mean_us": float(np.exp(np.mean(np.log(means)))),
            "geometric_mean_ratio": float(np.exp(np.mean(np.log(ratios)))),
            "least_ratio": float(ratios.min()),
        }
        f, least = table[name], list(rows)[int(ratios.argmin())]
        print(
            f"  {name:22} {f['arms']:3} arms  {f['geometric_mean_us']:9.1f} µs"
            f"  {f['geometric_mean_ratio']:7.1f} times, least {f['least_ratio']:.2f} ({least})"
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the targets")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--robots", default=",".join(ROBOTS), help="comma-separated names")
    parser.add_argument(
        "--ablation", action="store_true", help="only what each ingredient is worth"
    )
    parser.add_argument(
        "--fabrik", action="store_true", help="only FABRIK, with and without polish"
    )
    options = parser.parse_args()
    names = options.robots.split(",")
    unknown = [name for name in names if name not in ROBOTS]
    if unknown:
        parser.error(f"no robot {', '.join(unknown)}; there are {', '.join(ROBOTS)}")
    share = 10 if options.quick else 1
    results: dict[str, Any] = {"machine": machine(), "compare": {}, "certify": {}}
    with tempfile.TemporaryDirectory() as folder:
        arms = [arm for name in names if (arm := find(name, Path(folder)))]
        if not options.ablation:
            ten = [arm for name in FABRIK_ARMS for arm in arms if arm.name == name]
            results["fabrik"] = certify_fabrik(ten or arms, 10_000 // share)
        if not (options.ablation or options.fabrik):
            for arm in arms:
                print(f"{arm.name}:", flush=True)
                results["compare"][arm.name] = compare(arm, 1000 // share, SLOW / share)
                show(arm, results["compare"][arm.name])
            print(f"\nours alone, {10_000 // share} targets each:")
            for arm in arms:
                f = results["certify"][arm.name] = certify(arm, 10_000 // share)
                figures = "  ".join(
                    f"{k} {f[k + '_us']:.1f}" for k in ("mean", "median", "p99", "max")
                )
                print(
                    f"  {arm.name:8} missed {f['missed']} of {f['solved']}  {figures} µs",
                    flush=True,
                )
            results["summary"] = summarise(results["compare"])
            results["tracking"] = tracking(arms, 60.0 / share)
            results["batches"] = batches(arms, 20_000 // share)
        ten = [arm for arm in arms if arm.name in THE_TEN]
        if not options.fabrik:
            results["ablation"] = ablation(ten or arms, 1000 // share)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
        print(f"\nwritten to {options.json}")


if __name__ == "__main__":
    main()
