# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Admitted targets, in any frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

from basis_ik.arm.course import Course, pose_rows
from basis_ik.arm.goals import (
    ChunkGoal,
    Goal,
    JointGoal,
    JointVelocityGoal,
    PointGoal,
    PoseGoal,
    Ray,
    Triple,
    TwistGoal,
)
from basis_ik.arm.pace import Pace
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.rigid import RigidTransform


@dataclass(frozen=True)
class PoseTarget:
    """A pose.

    Attributes:
        frame_id: The frame of `frame_T_target`.
        stamp: Time of the pose [ns]; 0 means now, in every cycle.
        frame_T_target: The pose.
        position_only: Leave the orientation free.
        straight: As for a `PoseGoal`.
    """

    frame_id: str
    stamp: int
    frame_T_target: RigidTransform
    position_only: bool = False
    straight: bool = False

    def goal(self, root_T_frame: RigidTransform | None) -> Goal:
        """Return the goal in the chain's root frame; None: the target is in that frame."""
        pose = self.frame_T_target if root_T_frame is None else root_T_frame @ self.frame_T_target
        return PoseGoal(pose, self.position_only, self.straight)


@dataclass(frozen=True)
class DeviceTarget(PoseTarget):
    """A pose that a device leads to, until it expires.

    Attributes:
        expires: Steady time at which the motion ends [s].
    """

    expires: float = math.inf


@dataclass(frozen=True)
class PointTarget:
    """A point to look at.

    Attributes:
        frame_id: The frame of `point`.
        stamp: As for a pose [ns].
        point: The point [m].
        ray: The ray that should pass through it.
        pace: Bounds on the motion; None: as for any other target.
    """

    frame_id: str
    stamp: int
    point: Triple
    ray: Ray
    pace: Pace | None = None

    def goal(self, root_T_frame: RigidTransform | None) -> Goal:
        """Return the goal in the chain's root frame; None: the target is in that frame."""
        if root_T_frame is None:
            return PointGoal(self.point, self.ray, self.pace)
        x, y, z = root_T_frame.apply(self.point).tolist()
        return PointGoal((x, y, z), self.ray, self.pace)


@dataclass(frozen=True)
class TwistTarget:
    """A twist of the tip, until it expires.

    Attributes:
        frame_id: The frame whose axes the velocities refer to.
        stamp: As for a pose [ns].
        linear: [m/s].
        angular: [rad/s].
        expires: Steady time at which the motion ends [s].
        in_tip: Whether the frame is the tip, whose axes turn with it.
    """

    frame_id: str
    stamp: int
    linear: Triple
    angular: Triple
    expires: float
    in_tip: bool = False

    def goal(self, root_T_frame: RigidTransform | None) -> Goal:
        """Return the goal in the chain's root frame; None: the target is in that frame."""
        if self.in_tip or root_T_frame is None:
            return TwistGoal(self.linear, self.angular, self.in_tip)
        v, w = root_T_frame.apply_vector((self.linear, self.angular)).tolist()
        return TwistGoal(tuple(v), tuple(w))


@dataclass(frozen=True)
class JointVelocityTarget:
    """Velocities of the joints, until they expire.

    Attributes:
        stamp: As for a pose [ns].
        velocities: One for each of the chain's joints [rad/s or m/s].
        expires: Steady time at which the motion ends [s].
        frame_id: None, because it has no frame.
    """

    stamp: int
    velocities: tuple[float, ...]
    expires: float
    frame_id: str = ""

    def goal(self, root_T_frame: RigidTransform | None) -> Goal:
        """Return the goal, which has no frame."""
        return JointVelocityGoal(self.velocities)


@dataclass(frozen=True)
class JointTarget:
    """Positions of the joints.

    Attributes:
        stamp: As for a pose [ns].
        positions: One for each of the chain's joints [rad or m].
        frame_id: None, because it has no frame.
    """

    stamp: int
    positions: tuple[float, ...]
    frame_id: str = ""

    def goal(self, root_T_frame: RigidTransform | None) -> Goal:
        """Return the goal, which has no frame."""
        return JointGoal(self.positions)


@dataclass(frozen=True, eq=False)
class ChunkTarget:
    """Places at given times.

    Attributes:
        stamp: As for a pose [ns].
        times: Of the places, on the loop's clock (k,) [s].
        places: Positions of the chain's joints (k, n) [rad or m], or k poses in the frame.
        came: When it came, on the same clock [s].
        frame_id: The frame of poses; positions have none.
        position_only: As for a pose.
    """

    stamp: int
    times: FloatArray
    places: FloatArray | tuple[RigidTransform, ...]
    came: float
    frame_id: str = ""
    position_only: bool = False

    def goal(self, root_T_frame: RigidTransform | None) -> Goal:
        """Return the goal in the chain's root frame; None: the target is in that frame."""
        if not isinstance(self.places, tuple):
            return ChunkGoal(Course(self.times, self.places), self.came)
        poses = self.places
        if root_T_frame is not None:
            poses = tuple(root_T_frame @ each for each in poses)
        course = Course(self.times, pose_rows(poses), poses=True)
        return ChunkGoal(course, self.came, self.position_only)


Target = PoseTarget | PointTarget | TwistTarget | JointVelocityTarget | JointTarget | ChunkTarget
