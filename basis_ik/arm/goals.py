# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Goals of a chain, in its root frame."""

from __future__ import annotations

from dataclasses import dataclass

from basis_ik.arm.course import Course
from basis_ik.arm.limiter import Motion
from basis_ik.arm.pace import Pace
from basis_ik.transforms.rigid import RigidTransform

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Ray:
    """A ray fixed to a chain's tip.

    Attributes:
        axis: Its direction in tip coordinates, of any length above zero.
        origin: Where it starts, in tip coordinates [m].
    """

    axis: Triple
    origin: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PoseGoal:
    """Move the tip to a pose.

    Attributes:
        root_T_target: The pose.
        position_only: Leave the orientation free.
        straight: Move the tip there on a line as far as possible, regardless of `path`.
    """

    root_T_target: RigidTransform
    position_only: bool = False
    straight: bool = False


@dataclass(frozen=True)
class PointGoal:
    """Make a ray pass through a point.

    Attributes:
        root_point: The point [m].
        ray: The ray.
        pace: Bounds on the motion; None: as for any other goal.
    """

    root_point: Triple
    ray: Ray
    pace: Pace | None = None


@dataclass(frozen=True)
class TwistGoal:
    """Move the tip with a twist.

    Attributes:
        linear: Velocity of the tip's origin [m/s].
        angular: Angular velocity [rad/s].
        in_tip: Both are along the tip's axes, and turn with it; otherwise along the root's.
    """

    linear: Triple
    angular: Triple
    in_tip: bool = False


@dataclass(frozen=True)
class JointVelocityGoal:
    """Move the joints with velocities.

    Attributes:
        velocities: One for each variable [rad/s or m/s].
    """

    velocities: tuple[float, ...]


@dataclass(frozen=True)
class JointGoal:
    """Move the joints to positions.

    Attributes:
        positions: One for each variable [rad or m].
    """

    positions: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class MotionGoal:
    """Move the joints along a motion.

    Attributes:
        motion: From rest to rest, within all limits.
    """

    motion: Motion

    @property
    def positions(self) -> tuple[float, ...]:
        """Where it ends, one for each variable [rad or m]."""
        return tuple(self.motion.positions[-1].tolist())


@dataclass(frozen=True, eq=False)
class ChunkGoal:
    """Be at places at given times, and rest at the last.

    Attributes:
        course: The places on the loop's clock: positions (n,) [rad or m], or poses of the tip.
        came: Since when the goal is pursued [s].
        position_only: Leave the orientation of poses free.
    """

    course: Course
    came: float
    position_only: bool = False


Goal = PoseGoal | PointGoal | TwistGoal | JointVelocityGoal | JointGoal | MotionGoal | ChunkGoal
JOG_GOALS = (TwistGoal, JointVelocityGoal)  # goals without an end
