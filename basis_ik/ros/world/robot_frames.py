# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where frames are: links by the measured joints, all others by tf."""

from __future__ import annotations

import contextlib
import copy
from collections import deque
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

REMEMBERED_POSITIONS = 1000  # measured in some seconds


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
        self._past: deque[tuple[int, Mapping[str, float]]] = deque(maxlen=REMEMBERED_POSITIONS)

    def with_clock(self, now: Callable[[], int]) -> RobotFrames:
        """Return the same with another clock, whose measured positions both remember.

        Args:
            now: Returns the clock's time [ns].
        """
        twin = copy.copy(self)
        twin.now = now
        return twin

    def positions(self, positions: Mapping[str, float] | None = None) -> Mapping[str, float]:
        """Return positions of the joints by name [rad or m]; None: as they are measured now."""
        if positions is None:
            positions = measured_positions(self._arms)
            self._past.append((self.now(), positions))
        return positions

    def positions_at(self, time: int) -> Mapping[str, float]:
        """Return positions of the joints by name [rad or m], as they were known nearest to a time.

        Args:
            time: By the clock [ns].
        """
        self.positions()
        return min(tuple(self._past), key=lambda each: abs(each[0] - time))[1]

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
        above, frame = parent_joints(self._model.joints), self._carrier(frame)
        while frame in above:
            if above[frame].moves:
                return True
            frame = above[frame].parent
        return False

    def seen(
        self, reference: str, frame: str, positions: Mapping[str, float]
    ) -> RigidTransform | None:
        """Return reference_T_frame of a sensor's frame when joints were at positions, or None.

        What hangs on a link in tf was where that link was; tf itself has the newest place of it.
        """
        carrier = self._carrier(frame)
        if frame in self._model.links or not carrier:
            return self._between(reference, frame, positions)
        link_T_frame = self._from_tf(carrier, frame)
        with contextlib.suppress(ChainError, UnknownPositionError):
            if link_T_frame is not None:
                return place_link(self._model, reference, carrier, positions) @ link_T_frame
        return None

    def _carrier(self, frame: str) -> str:
        """Return the link that a frame is, or hangs on in tf; empty if there is none."""
        seen: set[str] = set()
        while frame not in self._model.links:
            if frame in seen or frame not in self._buffer.parents:
                return ""
            seen.add(frame)
            frame = self._buffer.parents[frame]
        return frame

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
