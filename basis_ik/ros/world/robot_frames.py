# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where frames are: links by the measured joints, all others by tf."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from std_msgs.msg import Header

from basis_ik.arm.admission import Refused
from basis_ik.arm.arm import Arm
from basis_ik.collision.world import Lookup
from basis_ik.robot.joint_path import ChainError, parent_joints
from basis_ik.robot.placement import UnknownPositionError, place_link
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.frame_buffer import FrameBuffer, look_up
from basis_ik.transforms.rigid import RigidTransform


def measured_positions(arms: Sequence[Arm]) -> dict[str, float]:
    """Return the measured positions of a robot's joints by name [rad or m], of all that are known.

    Args:
        arms: Its arms.
    """
    names, values = [], []
    for arm in arms:
        names += [*arm.other_joints, *arm.chain.joint_names]
        values += [*arm.others.positions().tolist(), *arm.measured.positions().tolist()]
    return {n: value for n, value in zip(names, values, strict=True) if isfinite(value)}


class RobotFrames:
    """The frames around and of a robot.

    Args:
        model: The robot.
        arms: Its arms.
        buffer: The transforms; queried with zero timeout.
        now: Returns the clock's time [ns].
        max_age: Returns the largest age of the newest transform of a moving frame [s].

    Attributes:
        now: As given.
    """

    def __init__(
        self,
        model: RobotModel,
        arms: Sequence[Arm],
        buffer: FrameBuffer,
        now: Callable[[], int],
        max_age: Callable[[], float],
    ) -> None:
        self._model, self._arms, self._buffer = model, arms, buffer
        self.now, self._max_age = now, max_age

    def positions(self, positions: Mapping[str, float] | None = None) -> Mapping[str, float]:
        """Return positions of the joints by name [rad or m]; None: as they are measured now."""
        return measured_positions(self._arms) if positions is None else positions

    def lookup(self, reference: str, positions: Mapping[str, float] | None = None) -> Lookup:
        """Return a function that returns reference_T_frame of a frame, or None.

        Args:
            reference: A link.
            positions: Positions of the joints by name; None: as they are measured now.
        """
        places = self.positions(positions)
        return lambda frame: self._between(reference, frame, places)

    def is_carried(self, frame: str) -> bool:
        """Return whether joints of the robot move a frame: it is a link, or hangs on one in tf."""
        above, seen = parent_joints(self._model.joints), set()
        while frame not in self._model.links and frame in self._buffer.parents:
            if frame in seen:
                return False
            seen.add(frame)
            frame = self._buffer.parents[frame]
        while frame in above:
            if above[frame].moves:
                return True
            frame = above[frame].parent
        return False

    def _between(
        self, reference: str, frame: str, positions: Mapping[str, float]
    ) -> RigidTransform | None:
        with contextlib.suppress(ChainError, UnknownPositionError):  # then tf may know it
            return place_link(self._model, reference, frame, positions)
        # tf has the roots of chains for certain: targets are looked up from there.
        for base in dict.fromkeys((*(arm.chain.root for arm in self._arms), reference)):
            base_T_frame = self._from_tf(base, frame)
            if base_T_frame is not None:
                with contextlib.suppress(ChainError, UnknownPositionError):
                    return place_link(self._model, reference, base, positions) @ base_T_frame
        return None

    def _from_tf(self, base: str, frame: str) -> RigidTransform | None:
        """Return base_T_frame; None if there is none, or the newest is too old."""
        found = look_up(self._buffer, base, Header(frame_id=frame))
        if isinstance(found, Refused):
            return None
        # Only for static frames is the latest time zero.
        latest = self._buffer.get_latest_common_time(base, frame).nanoseconds
        is_old = latest and self.now() - latest > 1e9 * self._max_age()
        return None if is_old else found
