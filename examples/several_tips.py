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
