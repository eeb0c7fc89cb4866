# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads joints from URDF elements, by a strict grammar.

URDF's defaults apply (origin: identity, axis: x). If a mistake could move an arm wrongly, the joint
is marked as faulty: no chain can contain it, and chains that do not need it are not affected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import Element, UrdfError, listed, read_xml, shown
from basis_ik.robot.grammar import MAX_OFFSET, check_name, name_in, number, numbers, origin_of
from basis_ik.robot.joint_limits import NO_LIMITS, Limits, read_limits, read_soft_limits
from basis_ik.robot.urdf_version import Version, version_of
from basis_ik.robot.visuals import Visual, read_visuals
from basis_ik.robot.vocabulary import foreign_notes, refuse_foreign
from basis_ik.transforms.rigid import RigidTransform

MOVING = ("revolute", "continuous", "prismatic")
JOINT_KINDS = (*MOVING, "fixed", "floating", "planar")
UNKNOWN_KIND = "unknown"
"""Kind of a joint whose type is not one of `JOINT_KINDS`."""

MIN_AXIS = 1e-6
"""Length below which a joint axis counts as zero."""
ROUNDED_AXIS = 0.01
"""Deviation of a joint axis from unit length that is not reported."""


def _unit(vector: list[float], length: float) -> FloatArray:
    array = np.array([value / length for value in vector])
    array.setflags(write=False)
    return array


_DEFAULT_AXIS = _unit([1.0, 0.0, 0.0], 1.0)


@dataclass(frozen=True)
class Mimic:
    """A mimic relation: value = multiplier * (value of `joint`) + offset [rad or m]."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a URDF.

    Attributes:
        name: Its name, unique in the robot.
        kind: One of `JOINT_KINDS`, or `UNKNOWN_KIND`.
        parent: Parent link.
        child: Child link.
        origin: parent_T_joint at value zero; the child link's frame is the joint's.
        axis: Unit axis in the joint frame, shape (3,), read-only; x if the kind has none.
        lower: Lower limit [rad or m]; -inf for continuous, floating and planar, 0 for fixed joints.
        upper: Upper limit [rad or m]; +inf or 0 for these.
        velocity: Largest speed [rad/s or m/s]; if not stated, an assumed one, or inf for a joint
            that does not move independently.
        effort: Largest effort [Nm or N]; inf if not stated. The solvers do not use it.
        acceleration: Largest acceleration [rad/s² or m/s²]; inf if not stated.
        deceleration: Largest deceleration, likewise; `acceleration` if not stated.
        jerk: Largest jerk [rad/s³ or m/s³]; inf if not stated.
        mimic: Its mimic relation, or None.
        soft_lower: `safety_controller` limit, at or above `lower`; -inf if none.
        soft_upper: `safety_controller` limit, at or below `upper`; +inf if none.
        assumed: Assumptions beyond the URDF, one line each.
        fault: Why no chain can contain the joint, and the remedy; empty if one can. Of a faulty
            joint only names and kind are meaningful.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: RigidTransform
    axis: FloatArray
    lower: float
    upper: float
    velocity: float
    effort: float
    acceleration: float
    deceleration: float
    jerk: float
    mimic: Mimic | None
    soft_lower: float
    soft_upper: float
    assumed: tuple[str, ...] = ()
    fault: str = ""

    @property
    def moves(self) -> bool:
        """Whether the joint has one degree of freedom: revolute, continuous or prismatic."""
        return self.kind in MOVING

    @property
    def rates(self) -> tuple[float, float, float, float]:
        """Largest velocity, acceleration, deceleration and jerk."""
        return self.velocity, self.acceleration, self.deceleration, self.jerk

    @property
    def unit(self) -> str:
        """Unit of the joint's value: rad or m."""
        return "m" if self.kind == "prismatic" else "rad"

    def at(self, value: float) -> RigidTransform:
        """Return parent_T_child at a value [rad or m]; floating and planar joints stay put."""
        if not self.moves:
            return self.origin
        if self.kind == "prismatic":
            along = self.axis * value
            return self.origin @ RigidTransform.from_rpy(0.0, 0.0, 0.0, along)
        return self.origin @ RigidTransform.from_axis_angle(self.axis, value)


def read_urdf(
    text: str,
) -> tuple[str, list[str], list[Joint], tuple[str, ...], tuple[Visual, ...], tuple[Visual, ...]]:
    """Read a URDF text.

    Args:
        text: The whole document, xacro expanded.

    Returns:
        The robot's name (may be empty), its link names and its joints, in document order, notes
        about what is not understood, the links' visuals, and their collision shapes. That they form
        a tree is not checked.

    Raises:
        UrdfError: See `basis_ik.robot.elements.read_xml`; or an element or number is invalid.
    """
    robot = read_xml(text)
    if robot.tag != "robot":
        raise UrdfError(
            f"the root element is <{robot.tag[:80]}>, a URDF has <robot>", line=robot.line
        )
    version, odd_version = version_of(robot)
    name = robot.attributes.get("name", "")
    check_name(name, robot)
    links = [name_in(link) for link in robot.all("link")]
    calls = dict.fromkeys(e.tag for e in robot.children if e.tag.startswith("xacro:"))
    calls.pop("xacro:property", None)
    calls.pop("xacro:arg", None)
    missing = f"skipped, because xacro did not expand them: {listed(tuple(calls))}"
    joints = [_joint(e, version) for e in robot.all("joint")]
    visuals, unreadable = read_visuals(robot, "visual", version)
    collisions, unusable = read_visuals(robot, "collision", version)
    notes = (
        *odd_version,
        *(missing,) * bool(calls),
        *foreign_notes(robot, version),
        *unreadable,
        *unusable,
    )
    return name, links, joints, notes, visuals, collisions


def _joint(element: Element, version: Version) -> Joint:
    """Read a <joint>; every error names it.

    Name, parent and child must be valid, because the tree depends on them. Any other error becomes
    the joint's fault, and only matters to chains that need the joint.
    """
    name = name_in(element)
    where = f"joint {shown(name)}"
    try:
        parent, child = _ends(element, where)
    except UrdfError as error:
        error.joint = name
        raise
    try:
        return _read_joint(element, version, name, parent, child, where)
    except UrdfError as error:
        kind = element.attributes.get("type", "")
        return Joint(
            name=name,
            kind=kind if kind in JOINT_KINDS else UNKNOWN_KIND,
            parent=parent,
            child=child,
            origin=RigidTransform.identity(),
            axis=_DEFAULT_AXIS,
            lower=0.0,
            upper=0.0,
            velocity=math.inf,
            effort=math.inf,
            acceleration=math.inf,
            deceleration=math.inf,
            jerk=math.inf,
            mimic=None,
            soft_lower=NO_LIMITS[0],
            soft_upper=NO_LIMITS[1],
            fault=str(error),
        )


def _ends(element: Element, where: str) -> tuple[str, str]:
    """Return the names of parent and child link."""
    names = []
    for tag in ("parent", "child"):
        end = element.only(tag)
        if end is None:
            raise UrdfError(f"{where} lacks <{tag} link=...>", line=element.line)
        names.append(name_in(end, "link"))
    return names[0], names[1]


def _read_joint(
    element: Element, version: Version, name: str, parent: str, child: str, where: str
) -> Joint:
    kind = element.attributes.get("type", "")
    if kind not in JOINT_KINDS:
        raise UrdfError(
            f"{where} has type {shown(kind)}; a URDF knows {', '.join(JOINT_KINDS)}",
            line=element.line,
        )
    moves = kind in MOVING
    refuse_foreign(element, moves, version, where)
    axis, scaled = _axis(element.only("axis") if moves else None, where)
    bounds = (0.0, 0.0) if kind == "fixed" else NO_LIMITS
    limits = Limits(*bounds, math.inf, math.inf)
    if moves:
        limits = read_limits(element, kind, where, version)
    soft = read_soft_limits(element, limits.lower, limits.upper, where) if moves else NO_LIMITS
    return Joint(
        name=name,
        kind=kind,
        parent=parent,
        child=child,
        origin=origin_of(element, where, version),
        axis=axis,
        lower=limits.lower,
        upper=limits.upper,
        velocity=limits.velocity,
        effort=limits.effort,
        acceleration=limits.acceleration,
        deceleration=limits.deceleration,
        jerk=limits.jerk,
        mimic=_mimic(element.only("mimic"), where) if moves else None,
        soft_lower=soft[0],
        soft_upper=soft[1],
        assumed=(*scaled, *limits.assumed),
    )


def _axis(axis: Element | None, where: str) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the unit axis, and the assumption for it."""
    if axis is None:
        return _DEFAULT_AXIS, ()
    if "xyz" not in axis.attributes:
        raise UrdfError(f"{where}: <axis> lacks xyz; give a direction", line=axis.line)
    vector = numbers(axis, "xyz", 3, where)
    length = math.hypot(*vector)
    if not length >= MIN_AXIS:
        raise UrdfError(f"{where}: its axis is zero; give a direction", line=axis.line)
    text = f"{where} has an axis of length {length:.4g}: its direction is used"
    return _unit(vector, length), () if abs(length - 1.0) <= ROUNDED_AXIS else (text,)


def _mimic(mimic: Element | None, where: str) -> Mimic | None:
    if mimic is None:
        return None
    master = name_in(mimic, "joint")
    multiplier = number(mimic, "multiplier", 1.0, where)
    offset = number(mimic, "offset", 0.0, where)
    if not (multiplier == 0.0 or 1.0 / MAX_OFFSET <= abs(multiplier) <= MAX_OFFSET):
        text = f"{where}: mimic multiplier {multiplier:g} is out of range"
        raise UrdfError(text, line=mimic.line)
    if not abs(offset) <= MAX_OFFSET:
        raise UrdfError(f"{where}: mimic offset {offset:g} is out of range", line=mimic.line)
    return Mimic(master, multiplier, offset)
