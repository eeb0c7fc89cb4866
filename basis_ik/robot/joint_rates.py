# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The limits of a joint's acceleration, deceleration and jerk from its <limit>.

URDF has them from version 1.2 on. The motion has one limit of acceleration, in which it speeds up
and brakes: the smaller of the two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from basis_ik.robot.elements import Element, UrdfError
from basis_ik.robot.grammar import number

LEAST_RATE = 1e-3
"""Least limit of acceleration and jerk [rad or m, per s² or s³]; below, a joint hardly moves."""
MOST_ACCELERATION = 1e6
"""Acceleration beyond which a limit means that there is none [rad/s² or m/s²]."""
MOST_JERK = 1e9
"""Jerk beyond which a limit means that there is none [rad/s³ or m/s³]."""


class Rates(NamedTuple):
    """The limits of one joint's acceleration and jerk.

    Attributes:
        acceleration: Largest acceleration [rad/s² or m/s²], above zero; inf if not stated.
        deceleration: Largest deceleration, likewise; `acceleration` if not stated.
        jerk: Largest jerk [rad/s³ or m/s³], above zero; inf if not stated.
        assumed: Assumptions, one line each.
    """

    acceleration: float
    deceleration: float
    jerk: float
    assumed: tuple[str, ...] = ()


def read_rates(limit: Element, kind: str, where: str) -> Rates:
    """Read the limits of acceleration and jerk of a <limit>.

    Args:
        limit: The <limit>.
        kind: Type of the joint.
        where: Name of the joint in errors and assumptions.

    Raises:
        UrdfError: A limit is no finite number, or below `LEAST_RATE`.
    """
    notes: list[str] = []
    acceleration = _rate(limit, "acceleration", MOST_ACCELERATION, where, notes)
    deceleration = acceleration
    if "deceleration" in limit.attributes:
        deceleration = _rate(limit, "deceleration", MOST_ACCELERATION, where, notes)
    jerk = _rate(limit, "jerk", MOST_JERK, where, notes)
    if acceleration != deceleration:
        least = min(acceleration, deceleration)
        unit = "m/s²" if kind == "prismatic" else "rad/s²"
        notes.append(
            f"{where} states different limits of acceleration and deceleration: at most"
            f" {least:g} {unit} in both"
        )
    return Rates(acceleration, deceleration, jerk, tuple(notes))


def _rate(limit: Element, attribute: str, most: float, where: str, notes: list[str]) -> float:
    """Return a limit of acceleration or jerk; inf if it is missing or a placeholder.

    Args:
        limit: The <limit>.
        attribute: Its attribute.
        most: Value beyond which it is a placeholder.
        where: Name of the joint.
        notes: Gets the assumption.

    Raises:
        UrdfError: As `number`, or it is below `LEAST_RATE`.
    """
    value = number(limit, attribute, math.inf, where)
    if not value >= LEAST_RATE:
        raise UrdfError(
            f"{where}: {attribute} {value:g} lets it hardly move; write {LEAST_RATE:g} or more, or"
            " leave it out",
            line=limit.line,
        )
    if value <= most:
        return value
    if attribute in limit.attributes:
        notes.append(f"{where} states {attribute} {value:g}, which is a placeholder: ignored")
    return math.inf
