"""Targets on their way in: admitted, and placed in the chain's root frame through tf."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import yaml
from geometry_msgs.msg import PoseStamped
from rclpy.time import Time
from tf2_ros import Buffer, TransformException

from basis_ik.model.chain import Chain
from basis_ik.motion.admission import (
    PoseTarget,
    Refusal,
    Refused,
    StampRules,
    admit_frame,
    admit_stamp,
    printable,
)
from basis_ik.ros.convert import pose_value, transform_value
from basis_ik.transforms.rigid import RigidTransform


@dataclass
class _Placed:
    """A target and where it is; `follow` says whether it is looked up again every cycle."""

    target: PoseTarget
    root_T_target: RigidTransform
    follow: bool


def carried_links(chain: Chain) -> frozenset[str]:
    """Return the links on a chain that its joints move."""
    link, moving, carried = chain.root, False, set()
    for joint in chain.joints:
        link = joint.child if joint.parent == link else joint.parent
        moving = moving or joint.kind != "fixed"
        if moving:
            carried.add(link)
    return frozenset(carried)


class TargetInput:
    """Holds the newest target: first until tf can place it, then until a newer one is placed.

    A target with a stamp is placed once, with tf at that stamp. One without (zero) means "here,
    now", and is placed again on every cycle, so that the arm follows a moving frame. If that frame
    is carried by the arm itself it is placed only once: "10 cm ahead of the tool" must not be
    chased for ever.

    Args:
        buffer: Where transforms come from; only ever asked with zero timeout.
        chain: What is to reach the targets.
    """

    def __init__(self, buffer: Buffer, chain: Chain) -> None:
        self._buffer = buffer
        self._root_link = chain.root
        self._carried = carried_links(chain)
        self._pending: PoseTarget | None = None
        self._pending_since = 0.0
        self._placed: _Placed | None = None
        self._newest = 0
        self.refusals: Counter[str] = Counter()
        self.last_refusal: Refused | None = None

    def offer(self, message: PoseStamped, *, now: int, steady: float, rules: StampRules) -> None:
        """Admit a message, or count it as refused.

        Args:
            message: The target.
            now: The node's clock [ns].
            steady: A steady clock [s].
            rules: Acceptable stamps.
        """
        header = message.header
        refused = admit_frame(header.frame_id)
        if refused is not None:
            return self._refuse(refused)
        stamp = admit_stamp(
            header.stamp.sec, header.stamp.nanosec, now=now, newest=self._newest, rules=rules
        )
        if isinstance(stamp, Refused):
            return self._refuse(stamp)
        pose = pose_value(message.pose)
        if isinstance(pose, Refused):
            return self._refuse(pose)
        self._newest = max(self._newest, stamp)
        self._pending = PoseTarget(header.frame_id, stamp, pose)
        self._pending_since = steady
        return None

    def locate(self, *, steady: float, patience: float) -> RigidTransform | None:
        """Return the current target's pose in the root frame, or None while there is none.

        Args:
            steady: A steady clock [s].
            patience: How long a new target may wait for its transform [s].
        """
        if self._pending is not None:
            found = self._look_up(self._pending)
            if isinstance(found, RigidTransform):
                follow = self._pending.stamp == 0 and not self._is_carried(self._pending.frame_id)
                self._placed = _Placed(self._pending, found, follow)
                self._pending = None
            elif steady - self._pending_since > patience:
                self._refuse(found)
                self._pending = None
        elif self._placed is not None and self._placed.follow:
            found = self._look_up(self._placed.target)
            if isinstance(found, RigidTransform):
                self._placed.root_T_target = found
            else:
                self._refuse(found)
        return None if self._placed is None else self._placed.root_T_target

    @property
    def target(self) -> PoseTarget | None:
        """The target that `locate` answers for."""
        return None if self._placed is None else self._placed.target

    def clear(self) -> None:
        """Forget all targets; what was received is not replayed."""
        self._pending = self._placed = None

    def _look_up(self, target: PoseTarget) -> RigidTransform | Refused:
        try:
            root_T_frame = self._buffer.lookup_transform(
                self._root_link, target.frame_id, Time(nanoseconds=target.stamp)
            )
        except TransformException as error:
            return Refused(Refusal.NO_TRANSFORM, printable(str(error), 240))
        value = transform_value(root_T_frame.transform)
        return value if isinstance(value, Refused) else value @ target.frame_T_target

    def _is_carried(self, frame_id: str) -> bool:
        frames = yaml.safe_load(self._buffer.all_frames_as_yaml()) or {}
        seen: set[str] = set()
        while frame_id not in seen:
            if frame_id in self._carried:
                return True
            seen.add(frame_id)
            frame_id = frames.get(frame_id, {}).get("parent", frame_id)
        return False

    def _refuse(self, refused: Refused) -> None:
        self.refusals[refused.reason.name] += 1
        self.last_refusal = refused
