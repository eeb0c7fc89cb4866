"""Constraints as ROS parameters: a list of names, and for each name what it constrains."""

from __future__ import annotations

import difflib
from typing import Any

from rclpy.node import Node

from basis_ik.ros.parameters import FOREIGN, ConfigError, check_clock, frame_complaint, refused
from basis_ik.solvers.constraints import Constraint, Point, Reach

TYPES = {"points_at": ("bone", "tail", "target"), "fabrik": ("chain", "target")}
DEFAULTS = {"update_rate": 50.0, "prefix": "ik/"}


def read_constraints(node: Node) -> tuple[float, str, dict[str, Constraint]]:
    """Read the node's parameters, given as overrides and declared from them.

    Returns:
        Update rate [Hz], prefix of the broadcast frames, constraints by name in their order.

    Raises:
        ConfigError: A parameter is missing, unknown, or of the wrong type; it is named.
    """
    check_clock(node)
    given = {
        name: parameter.value
        for name, parameter in node.get_parameters_by_prefix("").items()
        if not name.startswith(FOREIGN)
    }
    names = _take(given, "constraints", list, "a list of names")
    rate = _take(given, "update_rate", float, "a number with a decimal point", DEFAULTS)
    if not 1.0 <= rate <= 1000.0:
        raise refused("update_rate", f"must lie in [1, 1000], not {rate:g}")
    prefix = _take(given, "prefix", str, "text", DEFAULTS)
    if not prefix or prefix.startswith("/"):
        raise refused("prefix", f"must not be empty or begin with '/', it is '{prefix}'")
    for name in names:
        if not name:
            raise refused("constraints", "has an empty name")
        if names.count(name) > 1:
            raise refused("constraints", f"has '{name}' twice; each must have a name of its own")
    constraints = {name: _constraint(given, name) for name in names}
    if given:
        raise _unknown(next(iter(given)), names)
    return rate, prefix, constraints


def _constraint(given: dict[str, Any], name: str) -> Constraint:
    kind = _take(given, f"{name}.type", str, f"one of {', '.join(TYPES)}")
    if kind not in TYPES:
        raise refused(f"{name}.type", f"must be one of {', '.join(TYPES)}, not '{kind}'")
    target = _frame(given, f"{name}.target")
    if kind == "points_at":
        bone, tail = (_frame(given, f"{name}.{key}") for key in ("bone", "tail"))
        if bone in (tail, target):
            raise refused(f"{name}.bone", f"is '{bone}', which is its own tail or target")
        return Point(bone, tail, target)
    chain = _take(given, f"{name}.chain", list, "a list of frames")
    if len(chain) < 2 or len(set(chain)) < len(chain):
        raise refused(f"{name}.chain", f"wants two or more different frames, not {chain}")
    for frame in chain:
        if complaint := frame_complaint(frame):
            raise refused(f"{name}.chain", complaint)
    return Reach(tuple(chain), target)


def _frame(given: dict[str, Any], name: str) -> str:
    frame: str = _take(given, name, str, "a frame")
    if complaint := frame_complaint(frame):
        raise refused(name, complaint)
    return frame


def _take(
    given: dict[str, Any],
    name: str,
    kind: type,
    wanted: str,
    defaults: dict[str, Any] | None = None,
) -> Any:
    value: Any = given.pop(name, (defaults or {}).get(name))
    if value is None:
        raise refused(name, f"is missing; it is {wanted}")
    if kind is list:
        value = list(value) if isinstance(value, (list, tuple)) else value
    fits = type(value) is kind
    if isinstance(value, list):
        fits = fits and all(isinstance(item, str) for item in value)
    if not fits:
        raise refused(name, f"wants {wanted}, not {value!r}")
    return value


def _unknown(name: str, names: list[str]) -> ConfigError:
    valid = ["constraints", *DEFAULTS]
    valid += [f"{n}.{key}" for n in names for key in ("type", "bone", "tail", "chain", "target")]
    near = difflib.get_close_matches(name, valid, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"valid: {', '.join(valid)}"
    return refused(name, f"does not exist; {hint}")
