# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Converts a robot description to a MuJoCo model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.dynamics import Dynamics, Inertial
from basis_ik.robot.elements import listed
from basis_ik.robot.mesh_uri import find_mesh
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf import Joint
from basis_ik.robot.visuals import Visual
from basis_ik.simulation.assumed_inertias import assume_inertials, is_moving
from basis_ik.simulation.simulated_robot import SimulatedRobot
from basis_ik.transforms.quaternion import wxyz_from_matrix

PHYSICS_STEP = 1e-3
"""Longest step of the engine [s]."""
COUPLING_TIME = 5e-3
"""Time constant of mimic joints and friction [s]; MuJoCo's 20 ms are too soft for an arm."""


class PhysicsError(BasisIkError):
    """The robot cannot be simulated with masses and forces."""


@dataclass(frozen=True)
class Scene:
    """A robot on the ground.

    Attributes:
        model: MuJoCo's model, with a hinge or slide for each movable joint and an actuator for each
            driven joint, both with the joint's name.
        notes: Assumptions and omissions, one line each.
    """

    model: mujoco.MjModel
    notes: tuple[str, ...]


def build_scene(
    model: RobotModel,
    dynamics: Dynamics,
    robot: SimulatedRobot,
    positions: FloatArray,
    absent: Sequence[str] = (),
) -> Scene:
    """Build the scene of a robot on the ground.

    Args:
        model: The robot.
        dynamics: Its masses, frictions and shapes.
        robot: Its joints.
        positions: Initial positions of the driven joints, shape (n,) [rad or m].
        absent: Driven joints that are simulated elsewhere, too; links below them have no contacts.

    Raises:
        PhysicsError: MuJoCo refuses the robot.
    """
    # By default MuJoCo writes its warnings to a file in the working directory.
    mujoco.set_mju_user_warning(lambda _: None)
    assumed = assume_inertials(model, dynamics.inertials)
    shapes, missing = _usable(_present(model, dynamics.collisions, robot, absent))
    powerless = [name for name in robot.driven if model.joints[name].effort == 0.0]
    spec = _robot_spec(model, {**dynamics.inertials, **assumed}, shapes)
    _couple(spec, robot)
    for name in robot.driven:
        _add_drive(spec, name, model.joints[name].effort)
    ground = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    try:
        trial = spec.compile()
        touching, depth = _contacts_at_start(trial, robot, positions)
        for first, second in _excluded_pairs(trial, touching):
            spec.add_exclude(bodyname1=first, bodyname2=second)
        # If the robot extends below its root, the ground is lowered.
        ground.pos = [0.0, 0.0, -depth]
        compiled = spec.compile()
    except ValueError as error:
        raise PhysicsError(f"MuJoCo refuses the robot: {error}") from error
    _set_friction(compiled, robot, dynamics)
    notes = (*dynamics.notes, *_notes(tuple(assumed), missing, powerless))
    return Scene(compiled, notes)


def _notes(
    assumed: Sequence[str], missing: Sequence[str], powerless: Sequence[str]
) -> Iterator[str]:
    """Yield notes about links with assumed masses, missing meshes, and joints without effort."""
    if assumed:
        yield f"no mass is stated for {listed(assumed)}: assumed from their lengths"
    if missing:
        yield f"no contact, because the mesh was not found or read: {listed(missing)}"
    if powerless:
        yield f"an effort of 0 is stated for {listed(powerless)}: taken as unlimited"


def _set_friction(model: mujoco.MjModel, robot: SimulatedRobot, dynamics: Dynamics) -> None:
    for name in robot.names:
        friction = dynamics.frictions.get(name)
        if friction is not None:
            dof = model.joint(name).dofadr[0]
            model.dof_damping[dof] = friction.damping
            model.dof_frictionloss[dof] = friction.friction


def place(
    model: mujoco.MjModel, data: mujoco.MjData, robot: SimulatedRobot, positions: FloatArray
) -> None:
    """Set the positions of all joints, at rest.

    Args:
        model: A scene's model.
        data: Its state.
        robot: The robot's joints.
        positions: Positions of the driven joints, shape (n,) [rad or m].
    """
    for name, column, multiplier, offset in zip(
        robot.names, robot.column, robot.multiplier, robot.offset, strict=True
    ):
        data.joint(name).qpos = multiplier * positions[column] + offset
    data.qvel = 0.0
    mujoco.mj_forward(model, data)


def _present(
    model: RobotModel, shapes: Sequence[Visual], robot: SimulatedRobot, absent: Sequence[str]
) -> Iterator[Visual]:
    """Yield the shapes that are not below absent joints."""
    columns = robot.columns(absent)
    others = {robot.names[i] for i in robot.moved_by(columns)}
    above = {joint.child: joint for joint in model.joints.values()}
    for shape in shapes:
        link = shape.link
        while link in above and above[link].name not in others:
            link = above[link].parent
        if link not in above:
            yield shape


def _usable(shapes: Iterator[Visual]) -> tuple[list[tuple[Visual, Path | None]], tuple[str, ...]]:
    """Return the shapes with their mesh files, and the names of unusable meshes."""
    usable: list[tuple[Visual, Path | None]] = []
    missing: dict[str, None] = {}
    readable: dict[str, Path | None] = {}
    for shape in shapes:
        if shape.kind != "mesh":
            if min(shape.size) > 0.0:
                usable.append((shape, None))
            continue
        if shape.file not in readable:
            readable[shape.file] = _readable(shape.file)
        path = readable[shape.file]
        if path is None:
            missing[shape.file] = None
        else:
            usable.append((shape, path))
    return usable, tuple(missing)


def _readable(name: str) -> Path | None:
    """Return a mesh's file if MuJoCo can read it: binary STL, OBJ or MSH."""
    path = find_mesh(name)
    if path is None:
        return None
    spec = mujoco.MjSpec()
    _add_mesh(spec, "mesh", path, (1.0, 1.0, 1.0))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    try:
        spec.compile()
    except ValueError:
        return None
    return path


def _add_mesh(
    spec: mujoco.MjSpec, name: str, path: Path, scale: tuple[float, float, float]
) -> None:
    mesh = spec.add_mesh(name=name, file=str(path), scale=list(scale))
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX  # contacts use the hull, too


def _robot_spec(
    model: RobotModel,
    inertials: Mapping[str, Inertial],
    shapes: Sequence[tuple[Visual, Path | None]],
) -> mujoco.MjSpec:
    """Return the tree of links with joints, masses and shapes."""
    spec = mujoco.MjSpec()
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.balanceinertia = True  # rounded inertias are often impossible
    spec.compiler.degree = False
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.timestep = PHYSICS_STEP
    # Brakes hold; with MuJoCo's default they would creep.
    spec.option.noslip_iterations = 50
    spec.option.noslip_tolerance = 0.0
    # A state that diverges must not be reset to the initial one.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    below: dict[str, list[Joint]] = {}
    for joint in model.joints.values():
        below.setdefault(joint.parent, []).append(joint)
    bodies = {model.root: spec.worldbody.add_body(name=_body(model.root))}
    waiting = [model.root]
    while waiting:
        link = waiting.pop()
        _add_mass(bodies[link], inertials.get(link))
        for joint in below.get(link, ()):
            body = bodies[link].add_body(
                name=_body(joint.child),
                pos=joint.origin.translation,
                quat=wxyz_from_matrix(joint.origin.rotation),
            )
            bodies[joint.child] = body
            if is_moving(joint):
                _add_joint(body, joint)
            waiting.append(joint.child)
    for number, (shape, path) in enumerate(shapes):
        _add_shape(spec, bodies[shape.link], shape, path, number)
    return spec


def _body(link: str) -> str:
    """Return the name of a link's body; MuJoCo uses `world`, as do many robots."""
    return f"link {link}"


def _add_mass(body: mujoco.MjsBody, inertial: Inertial | None) -> None:
    if inertial is None:
        return
    body.explicitinertial = True
    body.mass = inertial.mass
    body.ipos = inertial.link_T_mass.translation
    turn = inertial.link_T_mass.rotation
    # MuJoCo takes a full inertia only along the body's axes.
    i = turn @ inertial.inertia @ turn.T
    body.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]


def _add_joint(body: mujoco.MjsBody, joint: Joint) -> None:
    slides = joint.kind == "prismatic"
    kind = mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE
    # A mimic joint gets no limits, which would bind its master. MuJoCo refuses equal limits; such a
    # joint is held by its drive.
    limited = joint.mimic is None and math.isfinite(joint.lower) and joint.lower < joint.upper
    added = body.add_joint(name=joint.name, type=kind, axis=joint.axis)
    added.limited = int(limited)
    if limited:
        added.range = [joint.lower, joint.upper]
    added.solref_friction = [COUPLING_TIME, 1.0]
    added.solimp_friction = [0.99, 0.999, 1e-3, 0.5, 2.0]


def _add_shape(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, shape: Visual, path: Path | None, number: int
) -> None:
    geom = body.add_geom(
        pos=shape.link_T_body.translation, quat=wxyz_from_matrix(shape.link_T_body.rotation)
    )
    x, y, z = shape.size
    if shape.kind == "box":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.5 * x, 0.5 * y, 0.5 * z]
    elif shape.kind == "cylinder":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [0.5 * x, 0.5 * z, 0.0]
    elif shape.kind == "sphere":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [0.5 * x, 0.0, 0.0]
    elif shape.kind == "capsule":
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CAPSULE, [0.5 * x, 0.5 * z, 0.0]
    elif path is not None:
        name = f"mesh {number}"
        _add_mesh(spec, name, path, shape.size)
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, name


def _couple(spec: mujoco.MjSpec, robot: SimulatedRobot) -> None:
    """Couple mimic joints to their masters."""
    for name, column, multiplier, offset in zip(
        robot.names, robot.column, robot.multiplier, robot.offset, strict=True
    ):
        leader = robot.driven[column]
        if name != leader:
            tie = spec.add_equality(
                type=mujoco.mjtEq.mjEQ_JOINT,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                name1=name,
                name2=leader,
                solref=[COUPLING_TIME, 1.0],
            )
            tie.data[:5] = offset, multiplier, 0.0, 0.0, 0.0


def _add_drive(spec: mujoco.MjSpec, joint: str, effort: float) -> None:
    """Add an actuator; its gains are set later."""
    drive = spec.add_actuator(
        name=joint,
        target=joint,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE,
    )
    drive.forcelimited = int(0.0 < effort < math.inf)
    if drive.forcelimited:
        drive.forcerange = [-effort, effort]


def _contacts_at_start(
    model: mujoco.MjModel, robot: SimulatedRobot, positions: FloatArray
) -> tuple[set[tuple[int, int]], float]:
    """Return the pairs of parts in contact at the start, and the largest depth in the ground."""
    data = mujoco.MjData(model)
    place(model, data, robot, positions)
    touching, depth = set(), 0.0
    for contact in data.contact:
        bodies = model.geom_bodyid[contact.geom]
        if 0 in bodies:
            depth = max(depth, -contact.dist)
        else:
            first, second = model.body_weldid[bodies]
            touching.add((first, second))
    return touching, float(depth)


def _excluded_pairs(
    model: mujoco.MjModel, touching: set[tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of links without contacts: neighbours, and pairs in contact at the start."""
    parent = model.body_weldid[model.body_parentid[model.body_weldid]]
    solid = [i for i in range(1, model.nbody) if model.body_geomnum[i]]
    for i, first in enumerate(solid):
        for second in solid[i + 1 :]:
            a, b = model.body_weldid[first], model.body_weldid[second]
            if a == b:
                continue
            if parent[first] == b or parent[second] == a or {(a, b), (b, a)} & touching:
                yield model.body(first).name, model.body(second).name
