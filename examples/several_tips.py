# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Two legs of one robot at once, the left foot before the right one where both cannot be had.

Each task has its own outcome: what is out of reach takes nothing from what is more important.
"""

from basis_ik import LookTask, PoseTask, RobotModel, solve_tasks

legs = RobotModel.example("legs")
print(legs)

standing = [
    PoseTask("ankle_l", [0.1, 0.1, -0.75]),  # positions alone, in the frame of the hip [m]
    PoseTask("ankle_r", [-0.1, -0.1, -0.7]),
]
both = solve_tasks(legs, standing)
for name, position in both.positions.items():
    print(f"{name}: {position:.3f} rad")
print("both feet stand" if both else "not both feet stand")

striding = [
    PoseTask("ankle_l", [0.1, 0.1, -0.75], priority=0),
    PoseTask("ankle_r", [1.5, -0.1, -0.7], priority=1),
]
one = solve_tasks(legs, striding, seed=both.positions)
for task, outcome in zip(striding, one.outcomes, strict=True):
    print(f"{task.tip}: {outcome.reason}")

panda = RobotModel.example("panda")
hand_and_gaze = [LookTask("panda_hand", [0.6, 0.1, 0.2], axis=[0, 0, 1])]
print(f"the hand looks at the part: {bool(solve_tasks(panda, hand_and_gaze))}")
