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
