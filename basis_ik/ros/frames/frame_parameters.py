# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS parameters of constraints and limits: lists of names, and parameters for each name."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

import numpy as np
from rclpy.node import Node
from transforms3d.euler import euler2mat

from basis_ik.bones.bone_limits import BoneLimitError, Cone, Hinge, Limit, SwingTwist
from basis_ik.bones.constraints import Constraint, Method, Option, Point, Reach
from basis_ik.ros.parameters.parameters import (
    FOREIGN_PARAMETERS,
    as_float,
    check_clock,
    frame_complaint,
    refuse_or_ignore,
    refused,
    warn_of_sections,
)
from basis_ik.transforms.checks import TransformError
from basis_ik.transforms.rigid import RigidTransform, trusted

CONSTRAINT_TYPES: dict[str, tuple[str, ...]] = {
    "points_at": ("bone", "tail", "target"),
    "fabrik": ("chain", "target", "method"),
}
LIMIT_TYPES: dict[str, tuple[str, ...]] = {
    "hinge": ("bone", "axis", "lower", "upper", "rest"),
    "cone": ("bone", "half_angle", "rest"),
    "swing_twist": ("bone", "half_angle", "lower", "upper", "rest"),
}
METHODS: tuple[Method, ...] = get_args(Method)
ROTATION_OPTIONS: tuple[Option, ...] = get_args(Option)
FRAME_DEFAULTS: dict[str, Any] = {
    "update_rate": 50.0, "prefix": "ik/", "frame_max_age": 2.0, "limits": [], "option": 2,
    "pass_time": 0.0,
}  # fmt: skip

_ONE_NUMBER = "a number"
_THREE_NUMBERS = "three numbers"


class FramesParameters(NamedTuple):
    """The parameters of `frames_node`.

    Attributes:
        rate: Update rate [Hz].
        prefix: Prefix of the broadcast frames.
        max_age: Time without a new transform after which a constraint ends [s].
        pass_time: Time for which each of FABRIK's passes is shown [s]; 0: they are not.
        constraints: The constraints by name, in order.
    """

    rate: float
    prefix: str
    max_age: float
    pass_time: float
    constraints: dict[str, Constraint]


def read_constraints(node: Node) -> FramesParameters:
    """Declare and read the parameters that the node's overrides contain.

    With option 1 no limits are kept, which is logged.

    Raises:
        ConfigError: A parameter is missing, unknown, or of the wrong type.
    """
    check_clock(node)
    warn_of_sections(node, ["constraints", *FRAME_DEFAULTS])
    given = {
        name: parameter.value
        for name, parameter in node.get_parameters_by_prefix("").items()
        if not name.startswith(FOREIGN_PARAMETERS)
    }
    names = _take(given, "constraints", list, "a list of names")
    rate = _take(given, "update_rate", float, _ONE_NUMBER, FRAME_DEFAULTS)
    if not 1.0 <= rate <= 1000.0:
        raise refused("update_rate", f"must lie in [1, 1000], not {rate:g}")
    prefix = _take(given, "prefix", str, "text", FRAME_DEFAULTS)
    if not prefix or prefix.startswith("/"):
        raise refused("prefix", f"must not be empty or begin with '/', it is '{prefix}'")
    max_age = _take(given, "frame_max_age", float, _ONE_NUMBER, FRAME_DEFAULTS)
    if not 0.1 <= max_age <= 10000.0:
        raise refused("frame_max_age", f"must lie in [0.1, 10000], not {max_age:g}")
    pass_time = _take(given, "pass_time", float, _ONE_NUMBER, FRAME_DEFAULTS)
    if not 0.0 <= pass_time <= 60.0:
        raise refused("pass_time", f"must lie in [0, 60], not {pass_time:g}")
    option = _take(given, "option", int, "1 or 2", FRAME_DEFAULTS)
    if option not in ROTATION_OPTIONS:
        raise refused("option", f"must be 1 or 2, not {option}")
    limited = _take(given, "limits", list, "a list of names", FRAME_DEFAULTS)
    _check_names("constraints", names)
    _check_names("limits", limited)
    for name in limited:
        if name in names:
            raise refused("limits", f"has '{name}', which is the name of a constraint")
    limits: dict[str, Limit] = {}
    for name in limited:
        bone, limit = _limit(given, name)
        if bone in limits:
            raise refused(f"{name}.bone", f"is '{bone}', which has a limit already")
        limits[bone] = limit
    if option == 1 and limited:
        node.get_logger().warning(
            f"option 1 works in world coordinates and does not keep limits: {', '.join(limited)}"
        )
    kept = limits if option == 2 else {}
    constraints = {name: constraint_of(given, name, kept, option) for name in names}
    turned = {bone for constraint in constraints.values() for bone in constraint.chain[:-1]}
    for name, bone in zip(limited, limits, strict=True):
        if bone not in turned:
            raise refused(f"{name}.bone", f"is '{bone}', which no constraint turns")
    known = _known(names, limited)
    for name in given:
        refuse_or_ignore(node, name, known, ", ".join(known))
    return FramesParameters(rate, prefix, max_age, pass_time, constraints)


def _check_names(parameter: str, names: list[str]) -> None:
    for name in names:
        if not name:
            raise refused(parameter, "has an empty name")
        if names.count(name) > 1:
            raise refused(parameter, f"has '{name}' twice; each must have a name of its own")


def kind_of(given: dict[str, Any], name: str, kinds: dict[str, tuple[str, ...]]) -> str:
    """Take the type of a constraint or limit from the given parameters.

    Raises:
        ConfigError: It is missing, or not one of `kinds`.
    """
    kind: str = _take(given, f"{name}.type", str, f"one of {', '.join(kinds)}")
    if kind not in kinds:
        raise refused(f"{name}.type", f"must be one of {', '.join(kinds)}, not '{kind}'")
    return kind


def constraint_of(
    given: dict[str, Any], name: str, limits: dict[str, Limit], option: Option = 2
) -> Constraint:
    """Take a constraint from the given parameters.

    Args:
        given: The parameters by name; those of the constraint are removed.
        name: Name of the constraint.
        limits: The limit of each bone that has one.
        option: The constraint's option.

    Raises:
        ConfigError: A parameter is missing, or invalid.
    """
    kind = kind_of(given, name, CONSTRAINT_TYPES)
    target = _frame(given, f"{name}.target")
    if kind == "points_at":
        bone, tail = (_frame(given, f"{name}.{key}") for key in ("bone", "tail"))
        if bone in (tail, target):
            raise refused(f"{name}.bone", f"is '{bone}', which is its own tail or target")
        return Point(bone, tail, target, limits.get(bone), option)
    chain = _take(given, f"{name}.chain", list, "a list of frames")
    if len(chain) < 2 or len(set(chain)) < len(chain):
        raise refused(f"{name}.chain", f"must be two or more different frames, not {chain}")
    for frame in chain:
        if complaint := frame_complaint(frame):
            raise refused(f"{name}.chain", complaint)
    key = f"{name}.method"
    method = _take(given, key, str, f"one of {', '.join(METHODS)}", {key: METHODS[0]})
    if method not in METHODS:
        raise refused(key, f"must be one of {', '.join(METHODS)}, not '{method}'")
    own = {bone: limits[bone] for bone in chain[:-1] if bone in limits}
    return Reach(tuple(chain), target, method, own, option)


def check_target(
    name: str, constraint: Constraint, prefix: str, parents: Mapping[str, str]
) -> None:
    """Refuse a constraint that moves its own target; the arguments are `moves_its_target`'s.

    Raises:
        ConfigError: It moves it.
    """
    if moves_its_target(constraint, prefix, parents):
        problem = f"is '{constraint.target}', which '{name}' itself moves"
        raise refused(f"{name}.target", problem)


def moves_its_target(constraint: Constraint, prefix: str, parents: Mapping[str, str]) -> bool:
    """Return whether a target is, or is below, a frame of its own chain or its corrected frame.

    Args:
        constraint: The constraint.
        prefix: Prefix of the corrected frames.
        parents: The parent of each known frame, except the topmost.
    """
    moved = {*constraint.chain, *(prefix + frame for frame in constraint.chain)}
    return not moved.isdisjoint(upwards(constraint.target, parents))


def upwards(frame: str, parents: Mapping[str, str]) -> list[str]:
    """Return a frame and its ancestors; a loop ends before it repeats."""
    way = [frame]
    while (parent := parents.get(way[-1])) is not None and parent not in way:
        way.append(parent)
    return way


def _limit(given: dict[str, Any], name: str) -> tuple[str, Limit]:
    """Return a bone and the limit of its joint."""
    kind = kind_of(given, name, LIMIT_TYPES)
    bone = _frame(given, f"{name}.bone")
    rest = _rest(_three(given, f"{name}.rest", {f"{name}.rest": [0.0, 0.0, 0.0]}), f"{name}.rest")
    keys = [key for key in LIMIT_TYPES[kind] if key in ("half_angle", "lower", "upper")]
    numbers = [_take(given, f"{name}.{key}", float, _ONE_NUMBER) for key in keys]
    try:
        if kind == "hinge":
            return bone, Hinge(rest, _three(given, f"{name}.axis"), *numbers)
        return bone, Cone(rest, *numbers) if kind == "cone" else SwingTwist(rest, *numbers)
    except BoneLimitError as error:
        raise refused(name, f"is not a limit: {error}") from None
    except TransformError as error:
        raise refused(f"{name}.axis", f"is not a direction: {error}") from None


def _rest(rpy: list[float], name: str) -> RigidTransform:
    """Return a rotation about fixed axes x, y, z; no kernels, which may not be compiled yet."""
    if not all(map(math.isfinite, rpy)):
        raise refused(name, f"must be {_THREE_NUMBERS}, not {rpy}")
    m = np.eye(4)
    m[:3, :3] = euler2mat(*rpy)
    return trusted(m)


def _three(given: dict[str, Any], name: str, defaults: dict[str, Any] | None = None) -> list[float]:
    numbers: list[float] = _take(given, name, list, _THREE_NUMBERS, defaults, float)
    if len(numbers) != 3:
        raise refused(name, f"must be {_THREE_NUMBERS}, not {numbers}")
    return numbers


def _frame(given: dict[str, Any], name: str) -> str:
    frame: str = _take(given, name, str, "a frame")
    if complaint := frame_complaint(frame):
        raise refused(name, complaint)
    return frame


def _take(
    given: dict[str, Any],
    name: str,
    kind: type,
    expected: str,
    defaults: dict[str, Any] | None = None,
    items: type = str,
) -> Any:
    value: Any = given.pop(name, (defaults or {}).get(name))
    if value is None:
        raise refused(name, f"is missing; it is {expected}")
    if kind is list and isinstance(value, (list, tuple, array)):
        value = [as_float(item) if items is float else item for item in value]
    elif kind is float:
        value = as_float(value)
    fits = type(value) is kind
    if isinstance(value, list):
        fits = fits and all(type(item) is items for item in value)
    if not fits:
        raise refused(name, f"must be {expected}, not {value!r}")
    return value


def _known(names: list[str], limited: list[str]) -> list[str]:
    """Return the names of all parameters, given those of constraints and limits."""
    valid = ["constraints", *FRAME_DEFAULTS]
    for given, kinds in ((names, CONSTRAINT_TYPES), (limited, LIMIT_TYPES)):
        keys = dict.fromkeys(("type", *(key for parts in kinds.values() for key in parts)))
        valid += [f"{each}.{key}" for each in given for key in keys]
    return valid
