# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint positions for a target pose, and the reason where there are none.

The arm comes from its URDF alone; a result is true only if the target was reached.
"""

from basis_ik import PoseConstraint, RigidTransform, RobotModel

model = RobotModel.example("panda")  # of a file of yours: RobotModel.from_urdf_file(path)
print(model)
arm = model.chain()  # or model.chain(tip)
print(arm)

# Roll, pitch and yaw [rad], then the position [m], in the frame of the chain's root.
target = RigidTransform.from_rpy(3.14, 0.0, 0.0, [0.4, 0.1, 0.5])
solution = arm.solve(target, seed=arm.neutral)
if solution:
    for name, position in zip(arm.joint_names, solution.positions, strict=True):
        print(f"{name}: {position:.4f}")
    print(f"off by {solution.position_error:.1e} m, {solution.orientation_error:.1e} rad")

# A drill may turn about its axis; three numbers are a position at any orientation.
spinning = arm.solve(target, arm.neutral, constraint=PoseConstraint(free_axis=[0, 0, 1]))
anyhow = arm.solve([0.4, 0.1, 0.5], arm.neutral)
for name, each in (("whole pose", solution), ("free axis", spinning), ("position", anyhow)):
    moved = abs(each.positions - arm.neutral).max()
    print(f"{name}: the fastest joint moves by {moved:.2f} rad")

beyond = arm.solve(RigidTransform.from_rpy(3.14, 0.0, 0.0, [1.4, 0.1, 0.5]), arm.neutral)
if not beyond:
    print(f"out of reach: {beyond.reason}")
