# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The limits of a joint from its <limit>, and assumptions instead of placeholders.

Many files have zeros instead of unknown numbers, or huge numbers instead of no limit. The assumed
values never let a joint move farther or faster than the file does. If no value would be safe, there
is an error instead of a guess.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from basis_ik.robot.elements import Element, UrdfError
from basis_ik.robot.grammar import number
from basis_ik.robot.joint_rates import Rates, read_rates
from basis_ik.robot.urdf_version import MOTION_LIMITS, Version, spelled

NO_LIMITS = (-math.inf, math.inf)

PLACEHOLDER_LIMIT = 1000.0
"""Position beyond which a limit means that there is none [rad or m]."""
ASSUMED_RANGE = (2.0 * math.pi, 10.0)
"""Assumed range of a joint with placeholder limits, either way from zero: one turn [rad], [m]."""

PLACEHOLDER_SPEED = (100.0, 10.0)
"""Velocity beyond which a limit means that none is known [rad/s], [m/s]."""
ASSUMED_SPEED = (1.0, 0.1)
"""Assumed velocity limit of a joint without a known one [rad/s], [m/s]."""

_INFINITE = re.compile(r"\s*[+-]?inf(inity)?\s*", re.IGNORECASE | re.ASCII)


class Limits(NamedTuple):
    """The limits of one joint.

    Attributes:
        lower: Lower limit [rad or m]; -inf for none.
        upper: Upper limit [rad or m]; inf for none.
        velocity: Largest speed [rad/s or m/s], above zero; inf for none.
        effort: Largest effort [Nm or N]; inf if not stated.
        acceleration: Largest acceleration [rad/s² or m/s²], above zero; inf if not stated.
        deceleration: Largest deceleration, likewise; `acceleration` if not stated.
        jerk: Largest jerk [rad/s³ or m/s³], above zero; inf if not stated.
        assumed: Assumptions, one line each.
    """

    lower: float
    upper: float
    velocity: float
    effort: float
    acceleration: float = math.inf
    deceleration: float = math.inf
    jerk: float = math.inf
    assumed: tuple[str, ...] = ()


def read_limits(joint: Element, kind: str, where: str, version: Version) -> Limits:
    """Read the <limit> of a revolute, continuous or prismatic joint.

    The master of a mimic joint determines its motion, so missing limits need no assumption.

    Args:
        joint: The <joint>.
        kind: Its type.
        where: Its name in errors and assumptions.
        version: That the description is read by.

    Raises:
        UrdfError: There are no limits, lower is above upper, or a number is invalid.
    """
    limit = joint.only("limit")
    if limit is None:
        limit = Element("limit", {}, joint.line)
    mimics = joint.only("mimic") is not None
    rates = Rates(math.inf, math.inf, math.inf)
    if version.number >= MOTION_LIMITS:
        _check_strictly(limit, kind, where)
        rates = read_rates(limit, kind, where)
    stated = number(limit, "velocity", 0.0, where)
    velocity, slow = _speed(stated, "velocity" in limit.attributes, kind, where)
    if mimics and slow:
        velocity, slow = math.inf, ()
    bounds: tuple[float, float, tuple[str, ...]] = (*NO_LIMITS, ())
    if kind != "continuous":
        bounds = _range(limit, kind, where, mimics, blank=stated == 0.0)
    lower, upper, bounded = bounds
    return Limits(
        lower, upper, velocity, _effort(limit, where), *rates[:3], (*bounded, *slow, *rates.assumed)
    )


def _check_strictly(limit: Element, kind: str, where: str) -> None:
    """Refuse what version 1.2 forbids, but older ones allow.

    Raises:
        UrdfError: One of lower and upper is missing, lower is above upper, or the velocity or
            effort is negative.
    """
    missing = [name for name in ("lower", "upper") if name not in limit.attributes]
    if kind != "continuous" and missing:
        raise UrdfError(
            f"{where} is {kind} and states no {' and no '.join(missing)}, which version"
            f" {spelled(MOTION_LIMITS)} requires; write its lower and upper",
            line=limit.line,
        )
    if not missing and not _bound(limit, "lower", where) <= _bound(limit, "upper", where):
        raise UrdfError(f"{where}: lower is above upper; correct them", line=limit.line)
    for name in ("velocity", "effort"):
        value = number(limit, name, 0.0, where)
        if not value >= 0.0:
            raise UrdfError(f"{where}: {name} {value:g} is negative; correct it", line=limit.line)


def _speed(velocity: float, stated: bool, kind: str, where: str) -> tuple[float, tuple[str, ...]]:
    """Return a usable velocity limit, and the assumption for it."""
    slides = kind == "prismatic"
    if 0.0 < velocity < PLACEHOLDER_SPEED[slides]:
        return velocity, ()
    assumed = ASSUMED_SPEED[slides]
    if velocity < 0.0:  # -1 often means unknown; -0.5 may be an error of sign
        assumed = min(assumed, -velocity)
    statement = "states no top speed"
    if stated:
        statement = f"states velocity {velocity:g}, which is a placeholder"
    unit = "m/s" if slides else "rad/s"
    return assumed, (f"{where} {statement}: at most {assumed:g} {unit} is assumed",)


def _range(
    limit: Element, kind: str, where: str, mimics: bool, blank: bool
) -> tuple[float, float, tuple[str, ...]]:
    """Return lower and upper, and the assumption for them.

    One of the two may be missing; it is then 0, as in URDF.

    Args:
        limit: The <limit>.
        kind: revolute or prismatic.
        where: Name of the joint.
        mimics: Whether it mimics another joint.
        blank: Whether the velocity limit is missing or zero.
    """
    slides = kind == "prismatic"
    lower, upper = _bound(limit, "lower", where), _bound(limit, "upper", where)
    known = bool({"lower", "upper"} & limit.attributes.keys())
    if not known or (lower == upper == 0.0 and blank):
        if mimics and not slides:
            return *NO_LIMITS, (f"{where} states no limits: those of the joint it mimics hold",)
        nothing = "has a <limit> of zeros, a placeholder" if known else "states no limits"
        endless = "" if slides else ", or type continuous if it turns without end"
        raise UrdfError(
            f"{where} is {kind} and {nothing}; write its lower, upper and velocity{endless}",
            line=limit.line,
        )
    most = ASSUMED_RANGE[slides]
    low = -most if lower <= -PLACEHOLDER_LIMIT else lower
    high = most if upper >= PLACEHOLDER_LIMIT else upper
    if not low <= high:
        raise UrdfError(
            f"{where}: lower {lower:g} is above upper {upper:g}; correct them", line=limit.line
        )
    if low == lower and high == upper:
        held = f"{where} has equal limits: it is held at {low:g}"
        return low, high, (held,) if low == high else ()
    text = f"{where} states limits {lower:g} to {upper:g}, which are placeholders"
    if mimics and not slides and low != lower and high != upper:
        return *NO_LIMITS, (f"{text}: those of the joint it mimics hold",)
    return low, high, (f"{text}: {low:.4g} to {high:.4g} {'m' if slides else 'rad'} is assumed",)


def _bound(limit: Element, attribute: str, where: str) -> float:
    """Return a limit, which may be infinite; 0 if it is missing."""
    if _INFINITE.fullmatch(limit.attributes.get(attribute, "")):
        return float(limit.attributes[attribute])
    return number(limit, attribute, 0.0, where, largest=math.inf)


def _effort(limit: Element, where: str) -> float:
    """Return the largest effort; the solvers do not use it, so an invalid one counts as none."""
    try:
        effort = number(limit, "effort", math.inf, where)
    except UrdfError:
        return math.inf
    return effort if effort >= 0.0 else math.inf


def read_soft_limits(joint: Element, lower: float, upper: float, where: str) -> tuple[float, float]:
    """Return the `safety_controller` limits, clipped to the hard ones; infinite if none."""
    safety = joint.only("safety_controller")
    if safety is None or not {"soft_lower_limit", "soft_upper_limit"} <= safety.attributes.keys():
        return NO_LIMITS
    soft_lower = number(safety, "soft_lower_limit", 0.0, where)
    soft_upper = number(safety, "soft_upper_limit", 0.0, where)
    return max(lower, soft_lower), min(upper, soft_upper)
