# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The variables of a chain: one for each independent joint."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from basis_ik.robot.elements import listed, shown
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.urdf import Joint, Mimic

_Rates = tuple[float, float, float, float]
"""Largest velocity, acceleration, deceleration and jerk."""

_ROUNDING = 1e-9  # limits that cross by less are equal, but written with fewer digits


@dataclass(frozen=True)
class Variable:
    """An independent joint, with limits that also satisfy its mimic joints' limits.

    Attributes:
        name: The joint's name.
        lower: Lower limit [rad or m]; -inf if unlimited.
        upper: Upper limit [rad or m]; +inf if unlimited.
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


def find_variable(name: str, joints: Mapping[str, Joint], mimics: Mapping[str, Mimic]) -> Variable:
    """Return the variable of an independent joint.

    Raises:
        ChainError: A mimic joint's limits exclude all positions of its master.
    """
    lower, upper = -math.inf, math.inf
    rates: _Rates = (math.inf, math.inf, math.inf, math.inf)
    narrowing, multipliers = [], []
    for joint, tie in _driven_by(name, joints, mimics):
        limits = (joint.lower, joint.upper)
        low, high = sorted((limit - tie.offset) / tie.multiplier for limit in limits)
        if joint.name != name and (low > lower + _ROUNDING or high < upper - _ROUNDING):
            narrowing.append(joint.name)
        lower, upper = max(lower, low), min(upper, high)
        if lower > upper + _ROUNDING:
            raise ChainError(
                f"joint {shown(joint.name)} mimics {shown(name)}, and its limits exclude all"
                " positions of that joint; correct the limits or the multiplier",
                joint=joint.name,
            )
        rates = _slower(rates, joint.rates, abs(tie.multiplier))
        multipliers.append(tie.multiplier)
    if math.isinf(lower):
        return _unlimited(name, rates, multipliers)
    if lower > upper:
        lower = upper = 0.5 * (lower + upper)
    lower, upper = lower + 0.0, upper + 0.0  # no -0.0
    note = f"limits of {name} narrowed to {lower:.4g}..{upper:.4g} by its mimics "
    note = note + listed(tuple(narrowing)) if narrowing else ""
    return Variable(name, lower, upper, *rates, False, note)


def _slower(rates: _Rates, own: _Rates, multiplier: float) -> _Rates:
    """Return the largest rates with which a joint that turns `multiplier` times keeps its own."""
    velocity, acceleration, deceleration, jerk = (
        min(rate, each / multiplier) for rate, each in zip(rates, own, strict=True)
    )
    return velocity, acceleration, deceleration, jerk


def _unlimited(name: str, rates: _Rates, multipliers: list[float]) -> Variable:
    """Return the variable of an unlimited joint; it is periodic if its mimic joints are."""
    if all(multiplier == round(multiplier) for multiplier in multipliers):
        return Variable(name, -math.inf, math.inf, *rates, True)
    bound = math.pi * max(1.0 / abs(multiplier) for multiplier in multipliers)
    note = (
        f"{name} is continuous but turns a mimic joint by a fraction of its own turn:"
        f" taken as limited to ±{bound:.4g} rad"
    )
    return Variable(name, -bound, bound, *rates, False, note)


def _driven_by(
    name: str, joints: Mapping[str, Joint], mimics: Mapping[str, Mimic]
) -> Iterator[tuple[Joint, Mimic]]:
    """Yield an independent joint, then all its mimic joints, on the chain or not.

    Faulty ones are omitted: they have no valid limits.
    """
    yield joints[name], Mimic(name, 1.0, 0.0)
    for follower, tie in mimics.items():
        if tie.joint == name and tie.multiplier != 0.0:
            yield joints[follower], tie
