# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A control loop of 100 Hz that follows a target on a circle, one bounded step in each period.

The arm stays on its branch; its joints never move by more than their speed allows.
"""

import math

import numpy as np

from basis_ik import RigidTransform, RobotModel, Verdict, track

PERIOD = 0.01  # [s]
arm = RobotModel.example("panda").chain()
positions = previous = arm.neutral
centre = arm.forward(positions)

behind, late = [], 0
for cycle in range(400):
    angle = 2.0 * math.pi * 0.25 * cycle * PERIOD
    shift = [0.0, 0.1 * math.sin(angle), 0.1 * (1.0 - math.cos(angle))]
    target = RigidTransform.from_rpy(0.0, 0.0, 0.0, shift) @ centre
    step = track(arm, target, positions, arm.velocity * PERIOD, previous=previous)
    late += step.verdict is Verdict.STEP_BOUND
    behind.append(step.position_error)
    previous, positions = positions, step.positions

print(f"a circle at {2.0 * math.pi * 0.25 * 0.1:.2f} m/s in {len(behind)} steps")
print(f"behind by at most {1e3 * max(behind):.3f} mm, in {late} steps for want of speed")
speed = np.abs(positions - previous) / PERIOD / arm.velocity
print(f"the fastest joint has {speed.max():.0%} of its speed")
