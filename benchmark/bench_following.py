# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How well streams of poses are followed: lag, error of shape, and what happens when they cease.

    python benchmark/bench_following.py [--quick] [--json FILE]

Commands for an arm that executes them exactly, 100 a second, against where the poses were, by
kinematics straight from the URDF. Paths at 0.31 m/s, as of the tests: their circle and their eight.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "test" / folder) for folder in ("arm", "transforms")]

from moving_poses import Sender, circle, eight, ending, follow, measure  # noqa: E402
from shipped_arms import HOMES, Kinematics, chain_of, urdf_of  # noqa: E402

from basis_ik.arm.pipeline import Pipeline  # noqa: E402

PERIOD = 0.01
RATES = (10, 20, 50, 100, 200)
TITLE = "arm    path    poses                       lag ms   shape mm: rms  max   past mm  missing"


def senders(rate: float) -> dict[str, Sender]:
    return {
        "as told": Sender(rate),
        "4 ms, 20 % lost": Sender(rate, jitter=0.004, loss=0.2),
        "4 ms, no stamps": Sender(rate, jitter=0.004, stamped=False),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the UR5e's circle at 50 Hz only")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    rows = []
    print(TITLE)
    for robot, home in list(HOMES.items())[: 1 if arguments.quick else None]:
        chain = chain_of(robot)
        kinematics = Kinematics(urdf_of(robot), chain.tip)
        for path in (circle,) if arguments.quick else (circle, eight):
            for rate in (50,) if arguments.quick else RATES:
                for name, sender in senders(rate).items():
                    pipe = Pipeline(chain, period=PERIOD)
                    run = follow(pipe, kinematics, home, path, sender, period=PERIOD)
                    figures, end = measure(run, path), ending(run, path)
                    rows.append(
                        {
                            "arm": robot, "path": path.__name__, "rate": rate, "poses": name,
                            "lag": figures.lag, "shape": figures.shape,
                            "shape_max": figures.shape_max, "past": end.past,
                            "missing": end.missing,
                        }
                    )  # fmt: skip
                    print(
                        f"{robot:6} {path.__name__:7} {rate:3} Hz, {name:18}"
                        f"{1e3 * figures.lag:9.1f}"
                        f" {1e3 * figures.shape:15.2f} {1e3 * figures.shape_max:5.2f}"
                        f" {1e3 * end.past:8.1f} {1e3 * end.missing:8.2f}",
                        flush=True,
                    )
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
