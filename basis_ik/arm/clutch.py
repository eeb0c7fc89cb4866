# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A clutch: while it is held, the tip moves as a device does, from where both were."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from basis_ik.arm.admission import Refused, printable
from basis_ik.arm.input_filter import POSE_CHANGE, Filtered, FilterRules, filtered
from basis_ik.arm.log import Log
from basis_ik.arm.settings import DeviceRules
from basis_ik.arm.target_input import Arrival, FrameStamp, TargetInput
from basis_ik.arm.targets import DeviceTarget
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.rigid import RigidTransform


class ClutchTuning(NamedTuple):
    """Bounds on the motion of a device."""

    # [s]: poses that are closer in time may differ by as much as in that time. Stamps and arrivals
    # are off by it.
    shortest_interval: float = 0.02
    # [rad], since the device was taken: after a larger turn it is taken anew. Near half a turn the
    # shortest rotation changes its direction.
    largest_turn: float = 1.0
    largest_step: float = 2.0  # [rad], turn from one pose to the next


CLUTCH_TUNING = ClutchTuning()


class _Held(NamedTuple):
    """A device and a tip that move together."""

    frame_id: str
    """The device's frame."""
    rules: DeviceRules
    """How its displacement becomes the tip's."""
    root_T_axes: RigidTransform
    """The frame in whose axes the device's displacement is repeated."""
    device: RigidTransform
    """The device's pose to which that of the tip belongs."""
    tip: RigidTransform
    """The tip's pose."""
    seen: Filtered[RigidTransform]
    """The device's last poses, filtered."""
    target: RigidTransform
    """The last pose of the tip."""
    turn: float
    """By what the device has turned since [rad]."""
    time: float
    """Time of the last pose, on the loop's clock [s]."""
    came: float
    """When it came [s]."""
    moved: bool
    """Whether there has been a target."""


class Clutch:
    """Turns a device's poses into targets of the tip, while it is held.

    Nothing moves because of the clutch itself. It must be seen let go once before it counts, and
    again after whatever has ended it from elsewhere: another target, a stop. What is not the hand's
    motion (a jump of the tracker, another frame, a pause) does not move the tip: both are taken
    anew where they are.

    Args:
        targets: Takes the targets.
        tip: Returns the pose of the tip where it rests, or would if the arm braked now; None: it
            is not known.
        log: Where it is told what has happened.
    """

    def __init__(
        self, targets: TargetInput, tip: Callable[[], RigidTransform | None], log: Log
    ) -> None:
        self._targets, self._tip, self._log = targets, tip, log
        self._until = -math.inf  # when it counts as let go, unless it is heard of [s]
        self._blocked = "it was not seen let go"
        self._held: _Held | None = None
        self._seen: Filtered[RigidTransform] | None = None  # poses while it is held, of one frame
        self._frame_id = ""  # that frame
        self._lasts = math.inf
        self.text = ""

    def press(self, held: bool, now: float, lasts: float) -> None:
        """Take a message of the clutch.

        Args:
            held: Whether it is held.
            now: When the message came, on the loop's clock [s].
            lasts: How long it counts, as do the device's poses [s].
        """
        self._lasts = lasts
        if held:
            if self._until == -math.inf:
                self.text = f"blocked: {self._blocked}" if self._blocked else "held"
            self._until = now + lasts
            return
        self._until, self._blocked = -math.inf, ""
        self._release("released")

    def block(self, why: str) -> None:
        """End what it leads, until it is let go.

        Args:
            why: The reason.
        """
        if self._blocked or self._until == -math.inf:
            return
        self._blocked = why
        self._release(f"blocked: {why}")
        self._log.info("clutch", "blocked", f"the clutch must be let go first: {why}")

    def watch(self, now: float) -> None:
        """Release what was not heard of for too long; to be called each period.

        Args:
            now: The loop's clock [s].
        """
        if self._until != -math.inf and not now < self._until:
            self._until = -math.inf
            self._release(f"released: the clutch was silent for {self._lasts:g} s")
        elif self._held is not None and not now < self._held.came + self._lasts:
            self._release(f"released: no pose of the device for {self._lasts:g} s")

    def _release(self, text: str) -> None:
        """Let the arm come to rest, if it is the device that it follows."""
        self._held, self._seen, self.text = None, None, text
        if isinstance(self._targets.newest, DeviceTarget):
            self._targets.clear()

    @property
    def hindrance(self) -> str:
        """Why a clutch that is held leads nothing; empty if it does, or is not held."""
        if not self._blocked or self._until == -math.inf:
            return ""
        return f"the clutch must be let go first: {printable(self._blocked, 64)}"

    def move(
        self,
        at: FrameStamp,
        pose: RigidTransform | Refused,
        arrival: Arrival,
        rules: DeviceRules,
        how: FilterRules,
        *,
        position_only: bool,
    ) -> None:
        """Take a pose of the device; without a clutch that is held it does not count.

        Args:
            at: Its frame, which tf need not know, and its time.
            pose: The pose, or why it is none.
            arrival: When it came.
            rules: How the device's displacement becomes the tip's.
            how: How its poses are filtered.
            position_only: As for a `PoseTarget`.
        """
        self.watch(arrival.steady)
        if self._until == -math.inf or self._blocked:
            return
        targets = self._targets
        own = isinstance(targets.newest, DeviceTarget)
        if targets.pursues and not own:
            if self._held is not None:
                self.block("another target has come")
                return
            targets.clear()  # the arm brakes, and goes on from there
        request = targets.request("device_pose", at)
        stamp = targets.admit_device(at, pose, arrival, request)
        if stamp is None or isinstance(pose, Refused):
            return
        time = arrival.steady - (1e-9 * (arrival.now - stamp) if stamp else 0.0)
        held = self._held
        if held is not None and held.moved and not own:  # the target was refused or dropped
            held = None
        if at.frame_id != self._frame_id:
            self._frame_id, self._seen = at.frame_id, None
        seen = self._seen = filtered(self._seen, pose, time, how, POSE_CHANGE)
        why = "engaged" if held is None else _break(held, at, seen.raw, time, rules)
        if how.outliers and len(seen.recent) < 3:  # none of them is confirmed
            return
        if held is None or why:
            tip = self._tip() if held is None else held.target
            if tip is None:
                return
            axes = targets.axes_of(rules.axes, tip)
            if isinstance(axes, Refused):
                targets.refuse(axes, request)
                return
            moved = held is not None and held.moved
            seen = self._seen = seen.begun()
            self._held = _Held(
                at.frame_id, rules, axes, seen.raw, tip, seen, tip, 0.0, time, arrival.steady, moved
            )
            self.text = "engaged"
            self._log.info("clutch", why.split()[0], f"clutch: {why}")
            return
        if held.turn > CLUTCH_TUNING.largest_turn:
            held = held._replace(device=held.seen.value, tip=held.target)
        way, turn = POSE_CHANGE.between(held.device, seen.value)
        target = _moved(held, turn, way)
        moved = held.moved or bool(turn.any() or way.any())
        self._held = held._replace(
            seen=seen, target=target, turn=float(np.linalg.norm(turn)),
            time=time, came=arrival.steady, moved=moved,
        )  # fmt: skip
        if moved:
            targets.offer_device(target, stamp, arrival, request, self._until, position_only)


def _moved(held: _Held, turn: FloatArray, way: FloatArray) -> RigidTransform:
    """Return the tip's pose for a displacement of the device."""
    axes, rules, tip = held.root_T_axes, held.rules, held.tip
    twist = np.append(np.zeros(3), axes.apply_vector(rules.rotational_scale * turn))
    rotation = RigidTransform.exp(twist).rotation @ tip.rotation
    place = tip.translation + axes.apply_vector(rules.linear_scale * way)
    return RigidTransform.from_rotation_translation(rotation, place)


def _break(
    held: _Held, at: FrameStamp, pose: RigidTransform, time: float, rules: DeviceRules
) -> str:
    """Return why a pose does not continue the hand's motion, or nothing."""
    if at.frame_id != held.frame_id:
        return "the device has another frame"
    if rules != held.rules:
        return "parameters have changed"
    way, turn = np.linalg.norm(POSE_CHANGE.between(held.seen.raw, pose), axis=1).tolist()
    lasted = max(time - held.time, CLUTCH_TUNING.shortest_interval)
    if way > rules.max_linear_speed * lasted:
        return f"jump of the device by {way:.3g} m in {lasted:.3g} s"
    if turn > min(rules.max_angular_speed * lasted, CLUTCH_TUNING.largest_step):
        return f"jump of the device by {turn:.3g} rad in {lasted:.3g} s"
    return ""
