# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A thousand targets on all cores, and all solutions of one of them.

A batch gives arrays with one row for each target; what it does not reach, `solve` explains.
"""

import numpy as np

from basis_ik import Preference, RobotModel, solve_all, solve_batch

arm = RobotModel.example("ur5e").chain()
rng = np.random.default_rng(0)
targets = [arm.forward(arm.random(rng)) for _ in range(1000)]
batch = solve_batch(arm, targets)
print(f"{batch.reached.sum()} of {len(targets)} reached, all of them: {bool(batch)}")
print(f"largest error: {batch.position_errors.max():.1e} m")

single = arm.solve(targets[0])
print(f"bit for bit what solve gives: {np.array_equal(single.positions, batch.positions[0])}")

found = solve_all(arm, targets[0], prefer=Preference.MANIPULABLE)
print(f"{len(found)} solutions, the most manipulable first:")
for solution in found:
    print(np.array2string(solution.positions, precision=2, suppress_small=True))
