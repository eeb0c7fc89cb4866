# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points-at on chains: how often, how fast, and how far the joints go.

A random point ahead of the tip of a random configuration, seen from a random seed: it can be met.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np

from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.look.look_at import look_at, warm_up

ROOT = Path(__file__).parents[1]
AXIS = {"pan_tilt": (0.0, 0.0, 1.0)}  # an optical frame
SLANTED = (0.3, -0.5, 0.7)  # no closed form for two joints
LINKS = {"legs": ("calf_l", "ankle_r"), "leg": ("hip", "ankle_l")}
RANDOM = {"random 2": 2, "random 3": 3, "random 4": 4, "random 7": 7}


def shipped(name: str) -> Chain:
    file = ROOT / "urdf" / f"{'legs' if name == 'leg' else name}.urdf"
    return RobotModel.from_urdf_file(file).chain(*LINKS.get(name, (None, None)))


def random_chain(joints: int, rng: np.random.Generator) -> Chain:
    text = "<robot name='r'><link name='l0'/>"
    for i in range(1, joints + 1):
        xyz, rpy = rng.uniform(-0.3, 0.3, 3), rng.uniform(-np.pi, np.pi, 3)
        low, high = -rng.uniform(0.5, 3.0), rng.uniform(0.5, 3.0)
        text += (
            f"<link name='l{i}'/><joint name='j{i}' type='revolute'><parent link='l{i - 1}'/>"
            f"<child link='l{i}'/><origin xyz='{xyz[0]} {xyz[1]} {xyz[2]}'"
            f" rpy='{rpy[0]} {rpy[1]} {rpy[2]}'/><axis xyz='0 0 1'/>"
            f"<limit lower='{low}' upper='{high}' velocity='1' effort='1'/></joint>"
        )
    return RobotModel.from_urdf(text + "</robot>").chain("l0", f"l{joints}")


def measure(
    chains: list[Chain], count: int, near: bool, axis: tuple[float, ...]
) -> dict[str, float]:
    rng = np.random.default_rng(1)
    direction = np.array(axis) / np.linalg.norm(axis)
    spent, met, restarts, ways, worked = [], 0, [], [], 0.0
    for chain in chains:
        warm_up(chain)
        look_at(chain, [1.0, 0.0, 0.0], axis=axis)
        for _ in range(count // len(chains)):
            truth, seed = rng.uniform(chain.lower, chain.upper, (2, len(chain.lower)))
            away = 10 ** (rng.uniform(-1.5, -0.5) if near else rng.uniform(-0.5, 1.0))
            point = chain.forward(truth).apply(away * direction)
            start, began = time.perf_counter(), time.thread_time()
            solution = look_at(chain, point, seed, axis=axis)
            worked += time.thread_time() - began
            spent.append(time.perf_counter() - start)
            seen = chain.forward(solution.positions).inverse().apply(point)
            angle = np.arctan2(np.linalg.norm(np.cross(direction, seen)), direction @ seen)
            met += bool(angle <= 1e-6)
            restarts.append(solution.restarts)
            ways.append(np.linalg.norm(solution.positions - seed) / np.linalg.norm(truth - seed))
    return {
        "solved": 100 * met / len(spent),
        "mean_cpu_us": 1e6 * worked / len(spent),
        "median_us": 1e6 * float(np.median(spent)),
        "p99_us": 1e6 * float(np.percentile(spent, 99)),
        "restarted": 100 * float(np.mean(np.array(restarts) > 0)),
        "most_restarts": max(restarts),
        "way": float(np.median(ways)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the points")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    count = 200 if arguments.quick else 2000
    rng = np.random.default_rng(0)
    groups = {name: [shipped(name)] for name in ("pan_tilt", "leg", "legs", "ur5e", "panda")}
    groups |= {name: [random_chain(m, rng) for _ in range(10)] for name, m in RANDOM.items()}
    results: dict[str, object] = {"python": platform.python_version(), "points": count}
    print(
        "solved %, µs mean (of CPU)/median/p99, restarted % (most), way / way of its maker (median)"
    )
    for name, chains in groups.items():
        for near in (False, True):
            f = measure(chains, count, near, AXIS.get(name, SLANTED))
            label = f"{name}, {'0.03-0.3' if near else '0.3-10'} m"
            results[label] = f
            print(
                f"{label:22} {f['solved']:6.2f}  {f['mean_cpu_us']:6.1f} /{f['median_us']:6.1f} /"
                f"{f['p99_us']:6.1f}  {f['restarted']:5.1f} ({f['most_restarts']})  {f['way']:.2f}",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
        print(f"\nwritten to {arguments.json}")


if __name__ == "__main__":
    main()
