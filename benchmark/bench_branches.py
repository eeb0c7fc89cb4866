# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The branches of arms that have a closed form, and its proofs, against brute force.

    python benchmark/bench_branches.py [--quick] [--poses N] [--arms A,B] [--json FILE]

For each arm: poses of random configurations, all solutions in closed form, and all that 300 starts
of the numerical search lead to; then targets whose "no" was proven, with 100,000 starts each. Arms
from the tip are those of random axes; "position" and "axis" is what alone is wanted of a pose.
A solution is missing where none found is within 0.05 rad, and found twice where another is within
1e-3 rad. Near singularities, where `solve_all` does not rely on the closed form alone, what is
within the tolerances may be a continuum: there only what the pose was made of must be found.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "test" / "search"))

from closed_arms import (
    BOTH_WAYS,
    FEWER,
    MEETING,
    OFFSET_WRISTS,
    ROWS,
    apart,
    chain_of,
    random_arm,
)

from basis_ik.closed_form.closed_form import ClosedForm
from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.proof_kernel import distance_and_angle, place_exactly
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose import solve_all as every
from basis_ik.solvers.pose.solve import ENDLESS, solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

UR5E = Path(__file__).parents[1] / "urdf" / "ur5e.urdf"
DISTINCT, SAME = 0.05, 1e-3  # [rad]
TOLERANCES = 1e-6, 1e-6
STARTS = 300  # of brute force, for each pose
PROOF_STARTS = 100_000  # for each target


def count_branches(
    chain: Chain, wanted: PoseConstraint | None, form: ClosedForm, poses: int
) -> dict[str, int]:
    """Return how many solutions there are, and how many are missing, found twice, or brute's."""
    rng = np.random.default_rng(1)
    names = "singular", "solutions", "brute force", "missing", "twice", "not the pose's"
    counts = dict.fromkeys(names, 0)
    ready, weights, _ = constrain(prepared(chain), wanted, np.eye(4))
    blind = replace(prepared(chain), closed=None, closed_position=None)
    if wanted is not None:
        blind.narrowed[wanted] = replace(ready, closed=None, closed_position=None)
    for truth, seed in rng.uniform(chain.lower, chain.upper, (poses, 2, len(chain.lower))):
        target = chain.forward(truth)
        goal = constrain(prepared(chain), wanted, target.matrix.copy())[2]
        branches = form.starts(ready.variables, goal, seed)
        singular = bool(branches.margin <= form.proof_margin(*TOLERANCES))
        found = [s.positions for s in solve_all(chain, target, seed, constraint=wanted)]
        every.prepared = lambda _: blind  # type: ignore[assignment]
        brute = [
            s.positions for s in solve_all(chain, target, seed, constraint=wanted, starts=STARTS)
        ]
        every.prepared = prepared
        counts["singular"] += singular
        counts["solutions"] += len(found)
        counts["brute force"] += len(brute)
        for each in (truth, *([] if singular else brute)):
            counts["missing"] += not (found and apart(found, each).min() < DISTINCT)
        for i, each in enumerate(found):
            counts["twice"] += i > 0 and bool(apart(found[:i], each).min() < SAME)
            frame = np.empty((3, 4))
            place_exactly(ready.exact, each, frame)
            away, turned = distance_and_angle(frame, goal, weights)
            off = away > 3e-6 or (weights[3] > 0.0 and turned > 3e-6)
            counts["not the pose's"] += bool(off)
    return counts


def count_disproven(chain: Chain, wanted: PoseConstraint | None, targets: int) -> dict[str, int]:
    """Return how many targets were proven to be out of reach, and of how many that was wrong."""
    rng = np.random.default_rng(2)
    counts = {"proven": 0, "not proven": 0, "disproven": 0}
    while counts["proven"] < targets:
        shift = RigidTransform.from_rpy(*rng.uniform(-2, 2, 3), rng.uniform(-0.3, 0.3, 3))
        target = chain.forward(rng.uniform(chain.lower, chain.upper)) @ shift
        solution = solve(chain, target, constraint=wanted)
        if solution.success or solution.verdict is Verdict.TOO_FAR:
            continue
        proven = solution.reason.proven
        counts["proven" if proven else "not proven"] += 1
        counts["disproven"] += proven and _is_reached(chain, wanted, target)
    return counts


def _is_reached(chain: Chain, wanted: PoseConstraint | None, target: RigidTransform) -> bool:
    ready, weights, goal = constrain(prepared(chain), wanted, target.matrix.copy())
    status = ready.search(
        weights, goal, ready.middle, np.empty_like(ready.middle), TOLERANCES, ENDLESS,
        last=PROOF_STARTS,
    )[0]  # fmt: skip
    return bool(status == DESCENT_REACHED)


def cases() -> dict[str, tuple[Chain, PoseConstraint | None]]:
    """Return arms, and what is wanted of a pose, by name."""
    made: dict[str, tuple[Chain, PoseConstraint | None]] = {}
    for name, given in (ROWS | OFFSET_WRISTS | FEWER).items():
        made[name] = chain_of(*given), None
    made["ur5e"] = RobotModel.from_urdf(UR5E.read_text()).chain(), None
    for name in (*BOTH_WAYS, *MEETING):
        made[name] = chain_of(*random_arm(name, np.random.default_rng(0), 2.5)), None
    for name in ("anthropomorphic_3r", "oblique_3r"):
        made[f"{name} position"] = made[name][0], PoseConstraint(orientation=False)
    for name in ("open_manipulator", "youbot", "parallel_5r"):
        made[f"{name} axis"] = made[name][0], PoseConstraint(free_axis=(0.3, 0.2, 1.0))
    return made


def main() -> None:
    """Print one row for each arm as it is done, and write them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--arms", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    poses, targets = (100, 2) if options.quick else (options.poses, 50)
    only, results = options.arms.split(","), {}
    for name, (chain, wanted) in cases().items():
        if options.arms and name not in only:
            continue
        ready = constrain(prepared(chain), wanted, np.eye(4))[0]
        oriented = wanted is None or wanted.orientation
        form = ready.closed if oriented else ready.closed_position
        row = count_branches(chain, wanted, form, poses)
        row |= count_disproven(chain, wanted, targets)
        results[name] = row
        if len(results) == 1:
            print(f"{poses} poses each\n{'':28}", *(f"{key:>14}" for key in row))
        print(f"{name:28}", *(f"{value:14}" for value in row.values()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
