# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shipped arms with independent kinematics, for the tests of motions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from rotations import turned

from basis_ik.robot.robot import RobotModel

URDF = Path(__file__).parents[2] / "urdf"
HOMES = {
    "ur5e": np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0]),
    "panda": np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8]),
}


def urdf_of(robot):
    return (URDF / f"{robot}.urdf").read_text()


@cache
def model_of(robot):
    return RobotModel.from_urdf(urdf_of(robot))


@cache  # to make a chain ready for the solver takes longer than most tests
def chain_of(robot, tip=None):
    """Return the chain from the robot's root to a link, or to its own tip."""
    return model_of(robot).chain(None, tip)


def worst(commands, limits, period):
    """Return the largest velocity, acceleration and jerk (3,), each relative to its limit."""
    bounds = (limits.velocity, limits.acceleration, limits.jerk)
    return np.array(
        [
            (np.abs(np.diff(commands, k, axis=0)) / most / period**k).max()
            for k, most in enumerate(bounds, 1)
        ]
    )


class Kinematics:
    """Forward kinematics from a URDF's text, independent of the package."""

    def __init__(self, urdf, tip):
        joints = {j.find("child").get("link"): j for j in ElementTree.fromstring(urdf).iter("joint")
                  if j.find("child") is not None}  # fmt: skip
        self._steps = []
        while tip in joints:
            joint = joints[tip]
            origin, axis = joint.find("origin"), joint.find("axis")
            reported = {} if origin is None else origin.attrib
            xyz, (r, p, y) = (
                np.array(reported.get(key, "0 0 0").split(), float) for key in ("xyz", "rpy")
            )
            place = np.eye(4)
            place[:3, :3] = turned([0, 0, 1], y) @ turned([0, 1, 0], p) @ turned([1, 0, 0], r)
            place[:3, 3] = xyz
            turns = joint.get("type") in ("revolute", "continuous")
            along = np.array(axis.get("xyz").split(), float) if turns else None
            self._steps.insert(0, (place, along))
            tip = joint.find("parent").get("link")

    def __call__(self, positions):
        """Return the tip's poses (..., 4, 4) at positions (..., n); it uses the first ones."""
        pose, columns = np.eye(4), iter(np.moveaxis(np.asarray(positions), -1, 0))
        for place, axis in self._steps:
            pose = pose @ place
            if axis is not None:
                turn = np.zeros((*np.shape(positions)[:-1], 4, 4))
                turn[..., :3, :3], turn[..., 3, 3] = turned(axis, next(columns)), 1.0
                pose = pose @ turn
        return pose
