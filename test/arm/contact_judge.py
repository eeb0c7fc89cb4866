# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distances between links and objects by MuJoCo, independent of the package."""

import mujoco
import numpy as np

KINDS = {"box": mujoco.mjtGeom.mjGEOM_BOX, "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER}
POINT = [1e-5, 0.0, 0.0]  # m: the radius of a sphere for a point


class Judge:
    """Distances by MuJoCo, from the URDF's text and the objects' numbers.

    Args:
        urdf: The text, of a robot with shapes that are no meshes.
        chain: Says which joints the positions are of, and which link is the root.
        objects: Names, kinds, sizes (half of a box; radius and half length of a cylinder; where the
            points of points are, (n, 3)), places.
        pairs: Of links and objects, by name.
    """

    def __init__(self, urdf, chain, objects, pairs):
        compiler = '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>'
        spec = mujoco.MjSpec.from_string(urdf.replace("</robot>", f"{compiler}</robot>"))
        for name, kind, size, place in objects:
            body = spec.worldbody.add_body(name=name, mocap=True, pos=list(place))
            if kind == "points":
                for point in size:
                    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=POINT, pos=list(point))
                continue
            body.add_geom(type=KINDS[kind], size=[*size, *[0.0] * (3 - len(size))])
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.at = [self.model.joint(name).qposadr[0] for name in chain.joint_names]
        self.root = chain.root
        self.pairs = [[self._geoms(name) for name in pair] for pair in pairs]

    def _geoms(self, name):
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        body = max(body, 0) if name == self.root else body  # the root may be the world
        return [g for g in range(self.model.ngeom) if self.model.geom_bodyid[g] == body]

    def distances(self, q):
        """Return the distances of all pairs (p,) at joint positions (n,)."""
        self.data.qpos[self.at] = q
        mujoco.mj_kinematics(self.model, self.data)
        return np.array(
            [
                min(
                    mujoco.mj_geomDistance(self.model, self.data, a, b, 0.3, None)
                    for a in one
                    for b in other
                )
                for one, other in self.pairs
            ]
        )
