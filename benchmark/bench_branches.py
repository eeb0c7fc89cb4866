# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The branches of arms that have a closed form, and its proofs, against brute force.

    python benchmark/bench_branches.py [--quick] [--poses N] [--json FILE]

For each arm: poses of random configurations, all solutions in closed form, and all that 300 starts
of the numerical search lead to; then targets whose "no" was proven, with 100,000 starts each.
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

from closed_arms import ROWS, apart, chain_of

from basis_ik.pose import solve_all as every
from basis_ik.pose.solve import ENDLESS, solve
from basis_ik.pose.solve_all import solve_all
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.search.descent_kernel import REACHED
from basis_ik.search.pose_search_kernel import solve_pose
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import NEAR, PATIENCE, PreparedChain
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

UR5E = Path(__file__).parents[1] / "urdf" / "ur5e.urdf"
DISTINCT, SAME = 0.05, 1e-3  # [rad]
TOLERANCES = 1e-6, 1e-6
STARTS = 300  # of brute force, for each pose
PROOF_STARTS = 100_000  # for each target


def count_branches(chain: Chain, poses: int) -> dict[str, int]:
    """Return how many solutions there are, and how many are missing, found twice, or brute's."""
    rng = np.random.default_rng(1)
    blind = replace(prepared(chain), closed=None)
    names = "singular", "solutions", "brute force", "missing", "twice", "not the pose's"
    counts = dict.fromkeys(names, 0)
    ready = prepared(chain)
    for truth, seed in rng.uniform(chain.lower, chain.upper, (poses, 2, 6)):
        target = chain.forward(truth)
        goal = target.matrix.copy()
        branches = ready.closed.starts(ready.variables, goal, seed)
        singular = branches.margin <= ready.closed.clear(*TOLERANCES)
        found = [each.positions for each in solve_all(chain, target, seed)]
        every.prepared = lambda _: blind  # type: ignore[assignment]
        brute = [each.positions for each in solve_all(chain, target, seed, starts=STARTS)]
        every.prepared = prepared
        counts["singular"] += singular
        counts["solutions"] += len(found)
        counts["brute force"] += len(brute)
        for each in (truth, *([] if singular else brute)):
            counts["missing"] += not (found and apart(found, each).min() < DISTINCT)
        for i, each in enumerate(found):
            counts["twice"] += i > 0 and bool(apart(found[:i], each).min() < SAME)
            off = (target.inverse() @ chain.forward(each)).log()
            counts["not the pose's"] += bool(np.abs(off).max() > 3e-6)
    return counts


def count_disproven(chain: Chain, targets: int) -> dict[str, int]:
    """Return how many targets were proven to be out of reach, and of how many that was wrong."""
    rng = np.random.default_rng(2)
    counts = {"proven": 0, "not proven": 0, "disproven": 0}
    while counts["proven"] < targets:
        shift = RigidTransform.from_rpy(*rng.uniform(-2, 2, 3), rng.uniform(-0.3, 0.3, 3))
        target = chain.forward(rng.uniform(chain.lower, chain.upper)) @ shift
        solution = solve(chain, target)
        if solution.success or solution.verdict is Verdict.TOO_FAR:
            continue
        proven = solution.reason.proven
        counts["proven" if proven else "not proven"] += 1
        counts["disproven"] += proven and _is_reached(prepared(chain), target)
    return counts


def _is_reached(ready: PreparedChain, target: RigidTransform) -> bool:
    status = solve_pose(
        ready.exact, ready.joints, ready.variables, ready.ends, ready.reach, ready.full,
        np.array(target.matrix), ready.middle, np.empty(6), ready.new_work(), 1e-6, 1e-6, ENDLESS,
        0, PROOF_STARTS, PATIENCE, False, NEAR,
    )[0]  # fmt: skip
    return bool(status == REACHED)


def main() -> None:
    """Print one row for each arm as it is done, and write them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    poses, targets = (100, 2) if options.quick else (options.poses, 30)
    arms = {name: chain_of(*given) for name, given in ROWS.items()}
    arms["ur5e"] = RobotModel.from_urdf(UR5E.read_text()).chain()
    results: dict[str, dict[str, int]] = {}
    for name, chain in arms.items():
        row = results[name] = count_branches(chain, poses) | count_disproven(chain, targets)
        if len(results) == 1:
            print(f"{poses} poses each\n{'':18}", *(f"{key:>14}" for key in row))
        print(f"{name:18}", *(f"{value:14}" for value in row.values()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
