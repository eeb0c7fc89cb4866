# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""VRML's transform node: turned about a centre, scaled along axes of its own, and moved.

A tree of such nodes gives any frame in any other, with all scales on the way.
"""

import numpy as np

from basis_ik import RigidTransform
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.tree import TransformTree

door = TransformNode.from_fields(
    {"center": (0.4, 0.0, 0.0), "rotation": (0, 0, 1, np.pi / 2), "scale": (1.0, 1.0, 2.0)}
)
print(f"the hinge stays: {np.round(door.apply([0.4, 0.0, 0.0]), 6).tolist()}")
print(f"the handle turns: {np.round(door.apply([-0.4, 0.0, 0.5]), 6).tolist()}")
same = TransformNode.from_matrix(door.matrix, center=(0.4, 0.0, 0.0))
print(f"from its matrix: {same.as_fields()}")

tree = TransformTree("room")
tree.add("door", "room", door)
tree.add("handle", "door", RigidTransform.from_rpy(0.0, 0.0, 0.0, [-0.4, 0.0, 0.5]))
room_T_handle = tree.lookup_node("room", "handle")
print(f"the handle in the room: {np.round(room_T_handle.apply([0.0, 0.0, 0.0]), 6).tolist()}")
tree.move("door", TransformNode(center=(0.4, 0.0, 0.0)))
shut = tree.lookup("room", "handle")
print(f"and with the door shut: {np.round(shut.translation, 6).tolist()}")
