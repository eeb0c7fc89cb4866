# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a user may change of an arm while it exists, and checks of positions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from basis_ik.arm.admission import StampRules, Units
from basis_ik.arm.input_filter import FilterRules
from basis_ik.arm.singularity import Singularities
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.pose_constraint import PoseConstraint, Six, Triple

# Drives that overshoot leave a joint slightly outside its limits. Farther outside than this, its
# encoder or the model is wrong, or the arm was moved by hand.
MOST_OUTSIDE_HINGE = 0.5  # [rad]
MOST_OUTSIDE_SLIDE = 0.1  # [m]

# Joints do not move the tip in a direction if they move it by less than this [its reach or rad],
# per unit of them.
LEAST_TIP_GAIN = 1e-6

Postures = Mapping[str, tuple[float, ...] | str]
"""Positions (n,) by the name of the posture [rad or m], NaN of a joint that stays; or its fault."""


class DeviceRules(NamedTuple):
    """How the displacement of a device becomes that of the tip."""

    axes: str = ""
    """The frame in whose axes it is repeated; empty: the root."""
    linear_scale: float = 1.0
    """Way of the tip for one of the device."""
    rotational_scale: float = 1.0
    """The same of their turns."""
    max_linear_speed: float = 3.0
    """Speed from which a change of the device's pose is a jump [m/s]."""
    max_angular_speed: float = 15.0
    """The same of its turning [rad/s]."""


class JoystickRules(NamedTuple):
    """What the axes of a joystick mean."""

    axes: tuple[int, ...]
    """The axis of each of the six parts of a twist, linear first; -1: none."""
    enable: int
    """The button that must be held; -1: none."""
    units: Units
    """The twist at full deflection."""


class Wish(NamedTuple):
    """What of a pose counts, and which of its solutions is wanted."""

    constraint: PoseConstraint | None = None
    """What counts; None: all of it. It has no weights."""
    weights: Six | None = None
    """Of errors along and about the target's axes, where a pose is out of reach; None: as nothing
    else is said, the position first."""
    posture: tuple[float, ...] = ()
    """Positions that the joints are to be near to (n,) [rad or m]; empty: none."""
    elbow: tuple[str, Triple] | None = None
    """A link of the chain, and the point in the root frame that it is to be near to [m]; it comes
    before the posture. None: none."""

    near: bool = False
    """Whether the position comes first, and the nearest orientation there counts as reached."""

    @property
    def prefers(self) -> bool:
        """Whether some of the solutions of a pose are better than others."""
        return bool(self.posture) or self.elbow is not None

    @property
    def weighted(self) -> PoseConstraint | None:
        """The constraint with the weights."""
        if self.weights is None:
            return self.constraint
        return replace(self.constraint or PoseConstraint(), weights=self.weights)


@lru_cache(maxsize=16)  # it is asked for whenever a parameter changes, between two commands
def is_spatial(chain: Chain) -> bool:
    """Return whether the tip moves and turns in all directions, so that it reaches whole poses."""
    scale = np.array([*3 * [1.0 / chain.reach], *3 * [1.0]])[:, np.newaxis]
    low, high = (np.clip(each, -np.pi, np.pi) for each in (chain.lower, chain.upper))
    samples = np.random.default_rng(0).uniform(low, high, (10, len(low)))
    ranks = (np.linalg.matrix_rank(scale * chain.jacobian(q), tol=LEAST_TIP_GAIN) for q in samples)
    return bool(max(ranks) == 6)


def allowance(position: Sequence[float], turn: Sequence[float]) -> PoseConstraint | None:
    """Return what counts of a pose within tolerances; None: all of it.

    About an axis with π or more the tip may turn freely. If that is one axis alone, the other two
    tolerances bound how far it is tilted.

    Args:
        position: Largest distance along each of the target's axes [m]; one for all; empty: 0.
        turn: Largest angle about each of them [rad]; one for all; empty: 0.
    """
    box, angles = (_three(each) for each in (position, turn))
    free = [k for k, angle in enumerate(angles) if angle >= math.pi]
    if len(free) == 3:
        return PoseConstraint(orientation=False, box=box)
    if len(free) == 1:
        axis, tilt = np.eye(3)[free[0]], np.where(np.arange(3) == free[0], 0.0, angles)
        return PoseConstraint(free_axis=axis, box=box, rotation_box=tilt)
    if not any((*box, *angles)):
        return None
    bounds = [math.inf if angle >= math.pi else angle for angle in angles]
    return PoseConstraint(box=box, rotation_box=bounds)


def _three(values: Sequence[float]) -> Triple:
    x, y, z = values if len(values) == 3 else (*values, 0.0)[:1] * 3
    return x, y, z


class Settings(NamedTuple):
    """The settings of an arm; docs/parameters.md has what they mean."""

    stamp_rules: StampRules
    """Acceptable stamps of targets."""
    target_max_reach: float
    """Largest distance of a pose from the root, in multiples of the reach."""
    transform_timeout: float
    """Longest time that a target waits for its transform [s]."""
    joint_state_timeout: float
    """Longest time without joint states [s]."""
    resume_timeout: float
    """Longest gap of joint states after which the arm goes on [s]."""
    twist_lasts: float
    """Time for which a twist, joint velocities, a device's pose or a held clutch count [s]."""
    units: Units
    """Units of twists and joint velocities."""
    position_only: bool
    """Whether poses leave the orientation free."""
    approximate: bool
    """Whether to move as close as possible to a target out of reach."""
    solver: Literal["descent", "fabrik"]
    """As for `Pipeline`."""
    path: Literal["joint", "straight", "straight_or_joint"]
    """As for `Pipeline`."""
    singularities: Singularities
    """As for `Pipeline`."""
    jog_slides: bool
    """As for `Pipeline`."""
    velocity_scaling: float
    """Fraction of the joints' velocity limits, in (0, 1]."""
    acceleration_scaling: float
    """Fraction of the joints' acceleration limits, in (0, 1]."""
    speed_override: float
    """Factor on the speed of every motion, in [0, 1]."""
    max_linear_speed: float
    """Cap on the speed of capped links [m/s]; 0: none."""
    max_angular_speed: float
    """The same of their turning [rad/s]."""
    position_tolerance: float
    """Largest position error of a solution [m]."""
    orientation_tolerance: float
    """Largest orientation error of one [rad]."""
    goal_tolerance: float
    """Largest distance of a joint from the goal at which the arm has arrived [rad or m]."""
    joint_limit_margin: tuple[float, ...]
    """By how much the chain's limits are narrower than the robot's; empty: not [rad or m]."""
    tool_frame: str
    """The frame that moves to the targets; empty: the chain's tip."""
    follow_drag: Literal["live", "release", "confirm"] = "live"
    """When the arm goes to a target that is dragged; with `confirm`, to any single one."""
    device: DeviceRules = DeviceRules()
    """How a device leads the tip."""
    wish: Wish = Wish()
    """What of poses counts, and which solutions are wanted."""
    angular_frame: str = ""
    """The frame of the angular part of twists; empty: that of the linear part."""
    filters: Mapping[str, FilterRules] = MappingProxyType({})
    """How samples are filtered, by the input; without one they are not."""


def outside(chain: Chain, margin: Sequence[float], measured: FloatArray) -> str:
    """Return which joint is too far outside its limits to move by itself, or nothing.

    Args:
        chain: The chain; its limits are those of the joints, less a margin.
        margin: That margin, one for all joints or one for each; empty: none [rad or m].
        measured: Positions (n,) [rad or m]; NaN where they are not known.
    """
    apart = np.array(margin) if margin else 0.0
    lower, upper = chain.lower - apart, chain.upper + apart
    most = np.where(chain.prismatic, MOST_OUTSIDE_SLIDE, MOST_OUTSIDE_HINGE)
    beyond = np.maximum(lower - measured, measured - upper)
    if not (beyond > most).any():
        return ""
    k = int(np.nanargmax(beyond / most))
    return (
        f"{chain.joint_names[k]} is at {measured[k]:.4g}, {beyond[k]:.4g} outside its limits "
        f"[{lower[k]:.4g}, {upper[k]:.4g}]: check its encoder and the robot description, or move "
        "it back by the robot's own means"
    )


def misplaced(chain: Chain, positions: Sequence[float]) -> str | None:
    """Return what is wrong with joint positions (n,) [rad or m], or None."""
    names = chain.joint_names
    if len(positions) != len(names):
        return f"{len(names)} positions are needed ({', '.join(names)}), not {len(positions)}"
    for name, value, low, high in zip(names, positions, chain.lower, chain.upper, strict=True):
        if not (np.isfinite(value) and low <= value <= high):
            return f"{name} must lie in [{low:g}, {high:g}], not {value:g}"
    return None
