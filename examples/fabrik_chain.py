# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on points: a chain of bones reaches for targets, freely and within limits of its joints.

Every bone keeps its length; no robot and no joint angles are needed.
"""

import numpy as np

from basis_ik.fabrik.ball_limits import BallLimit, HingeLimit
from basis_ik.fabrik.fabrik import solve_chain

pose = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.3], [0.0, 0.0, 0.6], [0.0, 0.0, 0.7]]
target = [0.3, 0.2, 0.3]

free = solve_chain(pose, target)
print(f"free: {free.verdict.name} after {free.iterations} passes, {free.residual:.1e} m are left")
print(np.array2string(free.positions, precision=3, suppress_small=True))
lengths = np.linalg.norm(np.diff(free.positions, axis=0), axis=1)
print(f"lengths of the bones: {np.round(lengths, 6).tolist()}")

elbow, wrist = HingeLimit(axis=(0, 1, 0), lower=0.0, upper=2.5), BallLimit.cone(0.8)
bound = solve_chain(pose, target, limits={1: elbow, 2: wrist})
print(f"with an elbow and a wrist: {bound.verdict.name}")
print(np.array2string(bound.positions, precision=3, suppress_small=True))

far = solve_chain(pose, [0.9, 0.0, 0.0])
if not far:
    print(f"farther than its bones are long: {far.verdict.name} by {far.residual:.2f} m")
