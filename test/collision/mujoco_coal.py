# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What `basis_ik.collision.exact` uses of coal, by MuJoCo: an engine that the tests always have."""

from functools import cache
from types import SimpleNamespace

import mujoco
import numpy as np

FARTHEST = 50.0


class Box(SimpleNamespace):
    def __init__(self, *size):
        super().__init__(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * each for each in size])


class Sphere(SimpleNamespace):
    def __init__(self, radius):
        super().__init__(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0.0, 0.0])


class Cylinder(SimpleNamespace):
    def __init__(self, radius, length):
        size = [radius, 0.5 * length, 0.0]
        super().__init__(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=size)


class Capsule(SimpleNamespace):
    def __init__(self, radius, length):
        super().__init__(type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[radius, 0.5 * length, 0.0])


class Convex(SimpleNamespace):
    def __init__(self, points, faces):
        super().__init__(type=mujoco.mjtGeom.mjGEOM_MESH, points=np.array(points), size=[0.0] * 3)


class Triangle(tuple):
    def __new__(cls, *corners):
        return tuple.__new__(cls, corners)


StdVec_Vec3s = StdVec_Triangle = list


class Transform3s(SimpleNamespace):
    def __init__(self, rotation, translation):
        super().__init__(rotation=np.array(rotation), translation=np.array(translation))


class DistanceRequest:
    enable_signed_distance = False


class DistanceResult:
    def getNearestPoint1(self):
        return self.points[:3]

    def getNearestPoint2(self):
        return self.points[3:]


@cache
def _engine(key):
    spec = mujoco.MjSpec()
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-9, 200
    for name, (kind, size, points) in zip("ab", key, strict=True):
        body = spec.worldbody.add_body(name=name, mocap=True)
        if points:
            spec.add_mesh(name=name, uservert=list(points))
            body.add_geom(name=name, type=kind, meshname=name)
        else:
            body.add_geom(name=name, type=kind, size=list(size))
    model = spec.compile()
    return model, mujoco.MjData(model)


def distance(one, place_one, other, place_other, request, result):
    """Return the signed distance of two shapes."""
    assert request.enable_signed_distance
    shapes, places = (one, other), (place_one, place_other)
    key = tuple(
        (each.type, tuple(each.size), tuple(getattr(each, "points", np.empty(0)).ravel()))
        for each in shapes
    )
    model, data = _engine(key)
    for k, place in enumerate(places):
        data.mocap_pos[k] = place.translation
        mujoco.mju_mat2Quat(data.mocap_quat[k], np.ascontiguousarray(place.rotation).ravel())
    # A mesh's own frame is that of its inertia; the places of geoms follow from the bodies'.
    mujoco.mj_kinematics(model, data)
    result.points = np.zeros(6)
    return mujoco.mj_geomDistance(model, data, 0, 1, FARTHEST, result.points)
