"""URDF elements to joint descriptions, by a strict grammar.

Where the URDF format has a default it is used (origin: identity, axis: x). Where a mistake could
move an arm wrongly there is an error instead of a guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from basis_ik.kernels.chain import FloatArray
from basis_ik.model.elements import Element, UrdfError, read_xml, shown
from basis_ik.model.grammar import check_name, name_in, number, numbers
from basis_ik.transforms.rigid import RigidTransform

MOVING = ("revolute", "continuous", "prismatic")
KINDS = (*MOVING, "fixed", "floating", "planar")

MAX_OFFSET = 1e6
"""Largest coordinate of a joint origin [m], and largest mimic multiplier and offset."""
MIN_AXIS = 1e-6
"""Length below which a joint axis counts as zero."""


@dataclass(frozen=True)
class Mimic:
    """A joint's tie to another: value = multiplier * (value of `joint`) + offset [rad] or [m]."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint, as the URDF states it.

    Attributes:
        name: Unique in the robot.
        kind: One of `KINDS`.
        parent: Parent link.
        child: Child link.
        origin: parent_T_joint at value zero; the child link's frame is the joint's.
        axis: Unit axis in the joint frame, shape (3,), read-only; x where the kind has none.
        lower: Lower limit [rad] or [m]; -inf for continuous, floating and planar, 0 for fixed.
        upper: Upper limit; +inf and 0 likewise.
        velocity: Largest speed [rad/s] or [m/s]; inf where none is stated.
        effort: Largest effort [Nm] or [N]; inf where none is stated.
        mimic: What the joint follows, or None.
        soft_lower: `safety_controller` limit, narrower than or equal to `lower`; -inf if none.
        soft_upper: The same above.
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
    mimic: Mimic | None
    soft_lower: float
    soft_upper: float

    @property
    def moves(self) -> bool:
        """Whether the joint has one degree of freedom: revolute, continuous or prismatic."""
        return self.kind in MOVING

    @property
    def unit(self) -> str:
        """Unit of the joint's value: rad or m."""
        return "m" if self.kind == "prismatic" else "rad"


def read_urdf(text: str) -> tuple[str, list[str], list[Joint]]:
    """Read a URDF text.

    Args:
        text: The whole document, xacro expanded.

    Returns:
        The robot's name (may be empty), its link names and its joints, in document order. Whether
        they form a tree is not checked here.

    Raises:
        UrdfError: See `basis_ik.model.elements.read_xml`; or an element or number is bad.
    """
    robot = read_xml(text)
    if robot.tag != "robot":
        raise UrdfError(
            f"the root element is <{robot.tag[:80]}>, a URDF has <robot>", line=robot.line
        )
    name = robot.attributes.get("name", "")
    check_name(name, robot)
    links = [name_in(link) for link in robot.all("link")]
    return name, links, [_joint(e) for e in robot.all("joint")]


def _joint(element: Element) -> Joint:
    """Read one <joint>; every error names it."""
    name = name_in(element)
    try:
        return _read_joint(element, name, f"joint {shown(name)}")
    except UrdfError as error:
        error.joint = name
        raise


def _read_joint(element: Element, name: str, where: str) -> Joint:
    kind = element.attributes.get("type", "")
    if kind not in KINDS:
        raise UrdfError(
            f"{where} has type {shown(kind)}; a URDF knows {', '.join(KINDS)}", line=element.line
        )
    ends = []
    for tag in ("parent", "child"):
        end = element.only(tag)
        if end is None:
            raise UrdfError(f"{where} lacks <{tag} link=...>", line=element.line)
        ends.append(name_in(end, "link"))
    moves = kind in MOVING
    lower, upper, velocity, effort = _limits(element, kind, where)
    soft = _soft_limits(element, lower, upper, where) if moves else (-math.inf, math.inf)
    return Joint(
        name=name,
        kind=kind,
        parent=ends[0],
        child=ends[1],
        origin=_origin(element, where),
        axis=_axis(element.only("axis") if moves else None, where),
        lower=lower,
        upper=upper,
        velocity=velocity,
        effort=effort,
        mimic=_mimic(element.only("mimic"), where) if moves else None,
        soft_lower=soft[0],
        soft_upper=soft[1],
    )


def _origin(joint: Element, where: str) -> RigidTransform:
    origin = joint.only("origin")
    xyz, rpy = [0.0] * 3, [0.0] * 3
    if origin is not None:
        xyz = numbers(origin, "xyz", 3, where) if "xyz" in origin.attributes else xyz
        rpy = numbers(origin, "rpy", 3, where) if "rpy" in origin.attributes else rpy
        if not max(abs(value) for value in xyz) <= MAX_OFFSET:
            raise UrdfError(f"{where}: its origin is beyond {MAX_OFFSET:g} m", line=origin.line)
    return RigidTransform.from_rpy(rpy[0], rpy[1], rpy[2], xyz)


def _axis(axis: Element | None, where: str) -> FloatArray:
    vector = [1.0, 0.0, 0.0]
    if axis is not None:
        if "xyz" not in axis.attributes:
            raise UrdfError(f"{where}: <axis> lacks xyz", line=axis.line)
        vector = numbers(axis, "xyz", 3, where)
        length = math.hypot(*vector)
        if not length >= MIN_AXIS:
            raise UrdfError(f"{where}: its axis is zero; give a direction", line=axis.line)
        vector = [value / length for value in vector]
    array = np.array(vector)
    array.setflags(write=False)
    return array


def _limits(joint: Element, kind: str, where: str) -> tuple[float, float, float, float]:
    """Return lower, upper, velocity, effort of a joint."""
    free = (-math.inf, math.inf, math.inf, math.inf)
    if kind not in MOVING:
        return (0.0, 0.0, math.inf, math.inf) if kind == "fixed" else free
    limit = joint.only("limit")
    if limit is None:
        if kind == "continuous":
            return free
        raise UrdfError(f"{where} is {kind} and lacks <limit>", line=joint.line)
    lower, upper = _range(limit, kind, where)
    velocity = number(limit, "velocity", math.inf, where)
    if not velocity > 0.0:
        raise UrdfError(
            f"{where}: velocity {velocity:g} must be above zero; state its top speed",
            line=limit.line,
        )
    effort = number(limit, "effort", math.inf, where)
    if not effort >= 0.0:
        raise UrdfError(f"{where}: effort {effort:g} is negative", line=limit.line)
    return lower, upper, velocity, effort


def _range(limit: Element, kind: str, where: str) -> tuple[float, float]:
    """Return lower and upper; of the two, one may be left out and is then 0, as URDF has it."""
    lower = number(limit, "lower", 0.0, where)
    upper = number(limit, "upper", 0.0, where)
    if kind == "continuous":
        return -math.inf, math.inf
    given = limit.attributes.keys()
    if not {"lower", "upper"} & given:
        raise UrdfError(f"{where} is {kind}; its <limit> lacks lower and upper", line=limit.line)
    if "velocity" not in given:
        raise UrdfError(f"{where} is {kind}; its <limit> lacks velocity", line=limit.line)
    if not lower <= upper:
        raise UrdfError(f"{where}: lower {lower:g} is above upper {upper:g}", line=limit.line)
    return lower, upper


def _soft_limits(joint: Element, lower: float, upper: float, where: str) -> tuple[float, float]:
    """Return the `safety_controller` limits, clipped to the hard ones; infinite if none."""
    safety = joint.only("safety_controller")
    if safety is None or not {"soft_lower_limit", "soft_upper_limit"} <= safety.attributes.keys():
        return -math.inf, math.inf
    soft_lower = number(safety, "soft_lower_limit", 0.0, where)
    soft_upper = number(safety, "soft_upper_limit", 0.0, where)
    return max(lower, soft_lower), min(upper, soft_upper)


def _mimic(mimic: Element | None, where: str) -> Mimic | None:
    if mimic is None:
        return None
    master = name_in(mimic, "joint")
    multiplier = number(mimic, "multiplier", 1.0, where)
    offset = number(mimic, "offset", 0.0, where)
    if not (multiplier == 0.0 or 1.0 / MAX_OFFSET <= abs(multiplier) <= MAX_OFFSET):
        raise UrdfError(f"{where}: mimic multiplier {multiplier:g} is absurd", line=mimic.line)
    if not abs(offset) <= MAX_OFFSET:
        raise UrdfError(f"{where}: mimic offset {offset:g} is absurd", line=mimic.line)
    return Mimic(master, multiplier, offset)
