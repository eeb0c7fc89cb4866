# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The variables of a chain: one for each independent joint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from basis_ik.robot.elements import listed, shown
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.link_tree import Tree
from basis_ik.robot.urdf import Joint, Mimic

_Rates = tuple[float, float, float, float]
"""Largest velocity, acceleration, deceleration and jerk."""

_Driven = tuple[Joint, Mimic]
"""A mimic joint and its relation to its independent joint."""

_MIMIC_LIMIT_ROUNDING = 1e-9  # limits that cross by less are equal, but written with fewer digits


@dataclass(frozen=True)
class Variable:
    """An independent joint.

    Attributes:
        name: The joint's name.
        lower: Lower limit [rad or m]; -inf if unlimited. Mimic joints do not narrow it, unless the
            model has `mimic_limits`, or a continuous joint drives a slide.
        upper: Upper limit [rad or m], likewise; +inf if unlimited.
        velocity: Largest speed with which no mimic joint exceeds its own [rad/s or m/s].
        acceleration: Largest acceleration [rad/s² or m/s²], likewise; inf if none is stated.
        deceleration: Largest deceleration, likewise.
        jerk: Largest jerk [rad/s³ or m/s³], likewise.
        continuous: Whether a full turn returns all its joints to the same place.
        note: The assumption, or nothing.
    """

    name: str
    lower: float
    upper: float
    velocity: float
    acceleration: float
    deceleration: float
    jerk: float
    continuous: bool
    note: str = ""


def tie_of(joint: Joint, mimics: Mapping[str, Mimic]) -> Mimic:
    """Return a joint's relation to its independent joint; that of an independent joint is 1:1."""
    return mimics.get(joint.name, Mimic(joint.name, 1.0, 0.0))


def find_variable(name: str, model: Tree) -> Variable:
    """Return the variable of an independent joint.

    The limits of mimic joints are mostly copies of a driver's, or placeholders. So they bind only
    in a model with `mimic_limits`. But a continuous joint that drives slides has no other limits.

    Raises:
        ChainError: Limits of a mimic joint that bind exclude all positions of its master.
    """
    joint, driven = model.joints[name], tuple(_driven_by(name, model))
    binding: list[_Driven] = []
    free: list[_Driven] = []
    for follower, tie in driven:
        is_end = math.isinf(joint.lower) and follower.kind == "prismatic"
        (binding if model.mimic_limits or is_end else free).append((follower, tie))
    lower, upper, narrowing = _narrowed(joint, binding)
    if lower > upper + _MIMIC_LIMIT_ROUNDING:
        raise ChainError(
            f"joint {shown(narrowing[-1])} mimics {shown(name)}, and its limits exclude all"
            " positions of that joint; correct the limits or the multiplier",
            joint=narrowing[-1],
        )
    rates = joint.rates
    for follower, tie in driven:
        rates = _slower(rates, follower.rates, abs(tie.multiplier))
    notes = [_disagreement(joint, free)]
    if math.isinf(lower):
        return _unlimited(name, rates, [tie.multiplier for _, tie in driven], notes)
    if lower > upper:
        lower = upper = 0.5 * (lower + upper)
    lower, upper = lower + 0.0, upper + 0.0  # no -0.0
    if narrowing:
        span = f"{lower:.4g}..{upper:.4g}"
        notes.append(f"limits of {name} narrowed to {span} by its mimics {listed(narrowing)}")
    return Variable(name, lower, upper, *rates, False, _joined(notes))


def _narrowed(joint: Joint, driven: Iterable[_Driven]) -> tuple[float, float, tuple[str, ...]]:
    """Return the limits that a joint and its mimic joints have in common, and who narrows them.

    If there are none, the lower limit is above the upper, because of the last of those joints.
    """
    lower, upper = joint.lower, joint.upper
    names = []
    for follower, tie in driven:
        limits = (follower.lower, follower.upper)
        low, high = sorted((limit - tie.offset) / tie.multiplier for limit in limits)
        if low > lower + _MIMIC_LIMIT_ROUNDING or high < upper - _MIMIC_LIMIT_ROUNDING:
            names.append(follower.name)
        lower, upper = max(lower, low), min(upper, high)
        if lower > upper + _MIMIC_LIMIT_ROUNDING:
            break
    return lower, upper, tuple(names)


def _disagreement(joint: Joint, free: Iterable[_Driven]) -> str:
    """Return the note about mimic joints whose limits are narrower but do not bind, or nothing."""
    lower, upper, names = _narrowed(joint, free)
    if not names:
        return ""
    effect = f"leave {joint.name} {lower:.4g}..{upper:.4g}"
    if lower > upper + _MIMIC_LIMIT_ROUNDING:
        effect = f"exclude all positions of {joint.name}"
    return f"limits of mimic joints do not bind: those of {listed(names)} would {effect}"


def _joined(notes: Iterable[str]) -> str:
    return "; ".join(filter(None, notes))


def _slower(rates: _Rates, own: _Rates, multiplier: float) -> _Rates:
    """Return the largest rates with which a joint that turns `multiplier` times keeps its own."""
    velocity, acceleration, deceleration, jerk = (
        min(rate, each / multiplier) for rate, each in zip(rates, own, strict=True)
    )
    return velocity, acceleration, deceleration, jerk


def _unlimited(name: str, rates: _Rates, multipliers: list[float], notes: list[str]) -> Variable:
    """Return the variable of an unlimited joint; it is periodic if its mimic joints are."""
    if all(multiplier == round(multiplier) for multiplier in multipliers):
        return Variable(name, -math.inf, math.inf, *rates, True, _joined(notes))
    bound = math.pi * max(1.0, *(1.0 / abs(multiplier) for multiplier in multipliers))
    whole = (
        f"{name} is continuous but turns a mimic joint by a fraction of its own turn:"
        f" taken as limited to ±{bound:.4g} rad"
    )
    return Variable(name, -bound, bound, *rates, False, _joined([*notes, whole]))


def _driven_by(name: str, model: Tree) -> Iterator[_Driven]:
    """Yield all mimic joints of an independent joint, on the chain or not.

    Faulty ones are omitted: they have no valid limits.
    """
    for follower, tie in model.mimics.items():
        if tie.joint == name and tie.multiplier != 0.0:
            yield model.joints[follower], tie
