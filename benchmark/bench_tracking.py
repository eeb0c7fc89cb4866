# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""On how much of a feasible motion `track` and `follow` stay, beside clipped least squares.

    python benchmark/bench_tracking.py [--quick] [--seed N] [--arms NAME ...] [--json FILE]

Random joint motion within the limits and half of the velocities gives poses at 100 Hz. `track` gets
them one by one and knows nothing of those to come; so do three steps of damped least squares for
each pose, clipped to the same bounds, with the best of three dampings. `follow` gets the whole
path. All start at its first posture. A pose counts if the tip is within 1 mm and 0.01 rad of it.
The last columns are the largest and the mean distances of the tip, by `track` and least squares.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numba
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "test" / folder) for folder in ("", "numerics", "search")]

from closed_arms import chain_of  # noqa: E402
from feasible_motion import PERIOD, feasible_motion, is_on  # noqa: E402
from hard_arms import ARMS  # noqa: E402

from basis_ik.numerics.arrays import FloatArray  # noqa: E402
from basis_ik.numerics.normal_equations_kernel import (  # noqa: E402
    diagonal_6,
    solve_symmetric_6,
    with_column_6,
)
from basis_ik.robot.chain import Chain  # noqa: E402
from basis_ik.robot.chain_kernel import (  # noqa: E402
    ChainArrays,
    ChainFields,
    forward_and_jacobian,
)
from basis_ik.solvers.path.cartesian_path import follow  # noqa: E402
from basis_ik.solvers.pose.track import track, warm_up  # noqa: E402
from basis_ik.transforms.rigid import RigidTransform  # noqa: E402
from conftest import robot  # noqa: E402

Advance = Callable[[FloatArray, list[RigidTransform]], Iterable[FloatArray]]
"""From the first posture and a path's poses to the posture (n,) at each."""

SPARE = ("panda", "iiwa", "gen3", "baxter", "lift_arm", "tiago")
SIX = ("ur5", "puma560", "jaco", "gantry")
DAMPINGS = (0.01, 0.03, 0.1)
STEPS = 3  # of least squares for each pose
PATHS, LEGS = 30, 3
SEED = 7
TITLE = (
    "arm        poses   track  without previous   least squares   follow   (whole paths), %"
    "   tip of track, of least squares, mm"
)


@numba.njit
def least_squares(
    chain: ChainFields, targets: FloatArray, q: FloatArray, bound: FloatArray, damping: float
) -> FloatArray:
    """Return positions (k, n): what `feasible_motion.least_squares_step` does, much faster.

    Args:
        chain: `Chain.arrays`.
        targets: (k, 4, 4) root_T_target.
        q: (n,) start.
        bound: (n,) largest change from one pose to the next.
        damping: Of a step, see there.
    """
    arrays, rows, moved = ChainArrays(*chain), np.empty((len(targets), len(q))), q.copy()
    frames, tip = np.empty((len(arrays.origins), 3, 4)), np.empty((3, 4))
    turn, jacobian = np.empty((3, 3)), np.empty((6, len(q)))
    for i in range(len(targets)):
        low, high = np.maximum(arrays.lower, moved - bound), np.minimum(arrays.upper, moved + bound)
        for _ in range(STEPS):
            forward_and_jacobian(arrays, moved, frames, tip, jacobian)
            for r in range(3):
                for c in range(3):
                    turn[r, c] = np.sum(targets[i, r, :3] * tip[c, :3])
            x, y, z = turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
            sine, cosine = 0.5 * np.sqrt(x * x + y * y + z * z), 0.5 * (np.trace(turn) - 1.0)
            factor = 0.5 * np.arctan2(sine, cosine) / sine if sine > 1e-12 else 0.5
            left = targets[i, :3, 3] - tip[:, 3]
            gram = diagonal_6(damping**2)
            for k in range(len(q)):
                j = jacobian[:, k]
                gram = with_column_6(gram, (j[0], j[1], j[2], j[3], j[4], j[5]))
            twist = (left[0], left[1], left[2], factor * x, factor * y, factor * z)
            found = solve_symmetric_6(gram, twist)
            for k in range(len(q)):
                for r in range(6):
                    moved[k] += jacobian[r, k] * found[r]
                moved[k] = min(high[k], max(low[k], moved[k]))
        rows[i] = moved
    return rows


def share(
    chain: Chain, motions: list[FloatArray], targets: list[list[RigidTransform]], advance: Advance
) -> tuple[float, float, float, float]:
    """Return the shares of poses met and of whole paths [%], largest and mean distances [mm]."""
    met: list[list[bool]] = []
    away: list[float] = []
    for motion, poses in zip(motions, targets, strict=True):
        met.append([])
        for q, target in zip(advance(motion[0], poses), poses, strict=True):
            tip = chain.forward(q)
            met[-1].append(is_on(tip.matrix, target.matrix))
            away.append(float(np.linalg.norm(tip.translation - target.translation)))
    poses, whole = np.mean(np.concatenate(met)), np.mean([*map(all, met)])
    return 100.0 * float(poses), 100.0 * float(whole), 1e3 * max(away), 1e3 * float(np.mean(away))


def share_known(
    chain: Chain, motions: list[FloatArray], targets: list[list[RigidTransform]], bound: FloatArray
) -> tuple[float, float]:
    """Return the same of `follow`, which ends where it can go no farther."""
    reached = [
        len(follow(chain, poses, motion[0], max_move=bound).positions)
        for motion, poses in zip(motions, targets, strict=True)
    ]
    wanted = [len(poses) for poses in targets]
    return 100.0 * sum(reached) / sum(wanted), 100.0 * float(np.mean(np.equal(reached, wanted)))


def measure(chain: Chain, paths: int, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    motions = [feasible_motion(chain, rng, LEGS) for _ in range(paths)]
    targets = [[chain.forward(q) for q in motion] for motion in motions]
    bound = chain.velocity * PERIOD
    warm_up(chain)

    def told(begin: FloatArray, poses: list[RigidTransform]) -> Iterable[FloatArray]:
        q, before, old = begin, begin, poses[0]
        for target in poses:
            step = track(chain, target, q, bound, previous=before, previous_target=old)
            q, before, old = step.positions, q, target
            yield q

    def untold(begin: FloatArray, poses: list[RigidTransform]) -> Iterable[FloatArray]:
        q = begin
        for target in poses:
            q = track(chain, target, q, bound).positions
            yield q

    def clipped(
        damping: float, begin: FloatArray, poses: list[RigidTransform]
    ) -> Iterable[FloatArray]:
        matrices = np.stack([target.matrix for target in poses])
        return least_squares(chain.arrays[:], matrices, begin, bound, damping)

    run = partial(share, chain, motions, targets)
    return {
        "poses": sum(map(len, motions)),
        "track": run(told),
        "track_without_previous": run(untold),
        "least_squares": max(run(partial(clipped, damping)) for damping in DAMPINGS),
        "follow": share_known(chain, motions, targets, bound),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the paths")
    parser.add_argument("--seed", type=int, default=SEED, help="of the paths")
    parser.add_argument("--arms", nargs="+", default=SPARE + SIX, choices=SPARE + SIX)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    rows = {}
    print(TITLE)
    for name in arguments.arms:
        chain = chain_of(*ARMS[name]) if name in ARMS else robot(name)
        row = measure(chain, PATHS // 10 if arguments.quick else PATHS, arguments.seed)
        rows[name] = row
        cells = (
            f"{row[key][0]:7.2f} ({row[key][1]:3.0f})"  # type: ignore[index]
            for key in ("track", "track_without_previous", "least_squares", "follow")
        )
        tips = (
            "largest {2:4.0f} mean {3:6.2f}".format(*row[key])  # type: ignore[misc]
            for key in ("track", "least_squares")
        )
        print(f"{name:9}{row['poses']:7} ", "  ".join(cells), *tips, sep="  ", flush=True)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
