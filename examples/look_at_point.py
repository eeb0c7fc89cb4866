# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A pan-tilt head that keeps looking at a point that moves past it.

Each answer is near the one before, which is its seed; a point on the axis of a joint is told.
"""

import math

from basis_ik import RobotModel

head = RobotModel.example("pan_tilt").chain("camera_optical_frame")
print(head)
positions = head.neutral
for step in range(5):
    point = [1.0, 0.4 * step - 0.8, 0.3]  # in the frame of the head's root [m]
    solution = head.look_at(point, positions, axis=[0, 0, 1])  # a camera looks along its z
    positions = solution.positions
    pan, tilt = (math.degrees(angle) for angle in positions)
    print(f"{point[1]:5.1f} m: pan {pan:6.1f}°, tilt {tilt:6.1f}°, {solution.verdict.name}")

behind = head.look_at([-1.0, 0.0, 5.0], positions, axis=[0, 0, 1])
if not behind:
    left = math.degrees(behind.orientation_error)
    print(f"behind: {behind.reason}; the ray misses by {left:.1f}°")
