# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint positions along a straight line and an arc, without jumps.

No joint moves by more than `max_move` from one pose to the next; collisions are not checked.
"""

import numpy as np

from basis_ik import RigidTransform, RobotModel, arc, follow, line

arm = RobotModel.example("ur5e").chain()
seed = [0.0, -1.57, 1.57, -1.57, -1.57, 0.0]
start = RigidTransform.from_rpy(3.14, 0.0, 0.0, [0.4, 0.2, 0.3])
end = RigidTransform.from_rpy(3.14, 0.0, 0.0, [0.4, -0.2, 0.3])

straight = line(start, end, step=0.02)
round_ = arc(end, centre=[0.4, -0.2, 0.4], axis=[1, 0, 0], angle=0.8, step=0.02)
path = follow(arm, [*straight, *round_], seed, max_move=0.2)
print(f"{len(straight)} poses on the line, {len(round_)} on the arc; followed: {bool(path)}")
steps = np.abs(np.diff(path.positions, axis=0))
print(f"largest step of a joint: {steps.max():.3f} rad")

too_far = line(start, RigidTransform.from_rpy(3.14, 0.0, 0.0, [1.2, 0.2, 0.3]), step=0.02)
path = follow(arm, too_far, seed)
print(f"a line that leaves the reach: {path.fraction:.0%} of it; then {path.reason}")
