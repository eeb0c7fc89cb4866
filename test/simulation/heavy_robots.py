# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots with masses, and the engine for them."""

import numpy as np

from basis_ik.robot.dynamics import read_dynamics
from basis_ik.robot.robot import RobotModel
from basis_ik.simulation.mujoco_joints import MujocoJoints
from basis_ik.simulation.mujoco_scene import build_scene
from basis_ik.simulation.simulated_robot import SimulatedRobot

DT = 0.008  # one cycle at 125 Hz


def rod(mass=1.0, length=1.0, along="0 0 -1", shape=""):
    """Return the <inertial> of a thin rod from the joint along an axis."""
    x, y, z = (0.5 * length * float(value) for value in along.split())
    i = mass * length**2 / 12.0
    return (
        f'<inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/>'
        f'<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>{shape}'
    )


def joint(name, body, axis="0 1 0", kind="revolute", parent="base", xyz="0 0 2", **attributes):
    """Return a joint and its link; `limit` and `extra` are text, the link is named `NAME_link`."""
    limit = attributes.get("limit", 'lower="-9" upper="9" velocity="9" effort="1000"')
    return f"""<link name="{name}_link">{body}</link>
    <joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}_link"/>
    <origin xyz="{xyz}"/><axis xyz="{axis}"/><limit {limit}/>{attributes.get("extra", "")}</joint>
    """


def robot(*parts, base=""):
    """Return the URDF of a robot with a fixed base."""
    return f'<robot name="rig"><link name="base">{base}</link>{"".join(parts)}</robot>'


def simulate(text, positions=None, absent=(), **drives):
    """Return the engine for a URDF, and its notes."""
    model = RobotModel.from_urdf(text)
    joints = SimulatedRobot(model)
    start = joints.joints.positions if positions is None else np.array(positions, float)
    scene = build_scene(model, read_dynamics(text), joints, start, absent)
    return MujocoJoints(scene, joints, start, **drives), scene.notes


def run(drives, targets, seconds, dt=DT):
    """Command the same targets for some time; return the positions of all steps."""
    targets, told = np.asarray(targets, float), []
    for _ in range(round(seconds / dt)):
        drives.step(targets, dt)
        told.append(drives.positions)
    return np.array(told)
