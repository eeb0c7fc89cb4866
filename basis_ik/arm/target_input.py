# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Admission of targets, and their transformation to the chain's root frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from basis_ik.arm.admission import (
    SPEED_UNITS,
    LastRefusal,
    Refusal,
    Refusals,
    Refused,
    Request,
    StampRules,
    Units,
    admit_distance,
    admit_frame,
    admit_joint_names,
    admit_joint_positions,
    admit_joint_velocities,
    admit_place,
    admit_point,
    admit_stamp,
    admit_times,
    admit_twist,
    printable,
)
from basis_ik.arm.goals import ChunkGoal, Goal, PointGoal, PoseGoal, Ray, Triple
from basis_ik.arm.input_filter import (
    JOINTS_CHANGE,
    NO_FILTER,
    POSE_CHANGE,
    Change,
    Filtered,
    FilterRules,
    filtered,
)
from basis_ik.arm.log import Log
from basis_ik.arm.pace import Pace
from basis_ik.arm.targets import (
    ChunkTarget,
    DeviceTarget,
    JointTarget,
    JointVelocityTarget,
    PointTarget,
    PoseTarget,
    Target,
    TwistTarget,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.transforms.rigid import RigidTransform

T = TypeVar("T")
UNMEASURED = Refused(Refusal.NOT_READY, "it is not known where the joints are")
# Targets that expire.
EXPIRING_TARGETS = (TwistTarget, JointVelocityTarget, DeviceTarget)
FIXED_TARGETS = (*EXPIRING_TARGETS, ChunkTarget)  # targets that are transformed once


class FrameStamp(NamedTuple):
    """The frame and the time that a message refers to."""

    frame_id: str
    """The frame."""
    sec: int
    """Seconds of the stamp."""
    nanosec: int
    """And nanoseconds."""


class Located(NamedTuple):
    """What is known of a frame."""

    root_T_frame: RigidTransform | Refused
    """Its pose in the chain's root frame, or why that is none."""
    stamp: int
    """Time of the pose [ns]; 0: the frame is static."""


class Frames(Protocol):
    """The transforms between frames, as tf knows them; it never waits."""

    parents: Mapping[str, str]
    """The parent of each frame."""

    def locate(self, root: str, frame_id: str, stamp: int) -> Located | Refused:
        """Return the pose of a frame at a time, or why it is not known.

        Args:
            root: The frame of the pose.
            frame_id: The frame.
            stamp: The time [ns]; 0: the newest.
        """


class Arrival(NamedTuple):
    """The time at which a target arrived, and the rules for its stamp."""

    now: int
    """The node's clock [ns]."""
    steady: float
    """The control loop's clock [s]."""
    rules: StampRules
    """Acceptable stamps."""
    previewed: bool = False
    """Whether it waits for a go, and is only shown until then."""


class _Waiting(NamedTuple):
    """A target that waits for its transform."""

    target: Target
    request: Request
    since: float
    time: float
    """Time for which it is valid, on the control loop's clock [s]: its stamp, or its arrival."""
    previewed: bool
    """As of its arrival."""


@dataclass
class Placed:
    """A goal and its target.

    Attributes:
        target: The target; None: the goal was `put`.
        request: What identifies its message.
        goal: The goal.
        follow: Whether it is transformed again in every cycle.
        time: Time for which it is valid, as in `_Waiting`; None: now.
    """

    target: Target | None
    request: Request
    goal: Goal
    follow: bool
    time: float | None = None


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
    """Stores the newest target that tf could transform, and targets that wait for a transform.

    At most two targets wait: the newest and the oldest. Thus a stream that is always slightly ahead
    of tf gets through, and one without a transform is refused.

    A target with a stamp is transformed once, with tf at that stamp. A stamp of zero means "here,
    now": the target is transformed in every cycle, so that the arm follows a moving frame. If the
    arm carries that frame, or begins to carry it (a grasped object), the target is transformed only
    once: the arm must not chase "10 cm ahead of the tool" forever. If the newest transform of a
    moving frame is too old, the target is refused or dropped. Twists and joint velocities are
    transformed once, and dropped when they expire.

    Args:
        frames: The transforms.
        chain: The chain that moves to the targets.
        log: Where refusals are told.
        refusals: Counts refusals.
        rest: Returns where the joints rest, or would if they braked now (n,) [rad or m]; None: they
            are not known.
        mimics: The robot's joints that follow another one, and which.
        streams: Whether the arm can follow moving targets. If not, twists are refused, and every
            target is transformed once.

    Attributes:
        tip: The frame in which twists need no tf; it may be assigned.
        reach: Reach of the tip [m]; it may be assigned.
        farthest: Largest distance of a pose from the root in multiples of it; it may be assigned.
        placements: Number of targets and goals accepted so far.
        preview: The target that waits for `go`; None if none does.
        planned: What identifies the target to which a motion is being planned; None: none is.
    """

    def __init__(
        self,
        frames: Frames,
        chain: Chain,
        log: Log,
        refusals: Refusals,
        *,
        rest: Callable[[], FloatArray] | None = None,
        mimics: Mapping[str, str] | None = None,
        streams: bool = True,
    ) -> None:
        self._frames, self._log, self._streams = frames, log, streams
        self._refusals = refusals
        self._root_link, self.tip = chain.root, chain.tip
        self._chain, self._rest, self._mimics = chain, rest, mimics or {}
        self._carried = carried_links(chain)
        self.reach, self.farthest = chain.reach, math.inf
        self._line: list[_Waiting] = []
        self._filtered: dict[str, tuple[str, Filtered[Any]]] = {}  # by input: the frame, and it
        self._taken_at = 0.0
        self._placed: Placed | None = None
        self.preview: Placed | None = None
        self.planned: Request | None = None
        self._newest = self._oldest = self._requests = 0
        self._settled = 1  # refusals of targets with lower numbers are history
        self._recovered: LastRefusal | None = None  # of a frame that is there again
        self.placements = 0

    def offer_pose(
        self,
        at: FrameStamp,
        pose: RigidTransform | Refused,
        arrival: Arrival,
        *,
        position_only: bool,
        straight: bool = False,
        how: FilterRules = NO_FILTER,
    ) -> bool:
        """Accept a pose for the tip, or count a refusal; return whether it was accepted.

        Args:
            at: Its frame and time.
            pose: The pose, or why it is none.
            arrival: When it arrived.
            position_only: As for a `PoseTarget`.
            straight: As for a `PoseTarget`.
            how: How a stream of them is filtered.
        """
        request = self.request("target_pose", at)
        stamp = self._admit_pose(at, pose, arrival, request)
        if stamp is None or isinstance(pose, Refused):
            return False
        pose = self._filter("target_pose", at.frame_id, pose, stamp, arrival, how, POSE_CHANGE)
        target = PoseTarget(at.frame_id, stamp, pose, position_only, straight)
        return self._take(target, arrival, request)

    def offer_point(
        self,
        at: FrameStamp,
        xyz: Triple,
        arrival: Arrival,
        *,
        ray: Ray,
        pace: Pace | None = None,
    ) -> bool:
        """Accept a point for a ray to pass through; return whether it was accepted.

        Args:
            at: Its frame and time.
            xyz: The point [m].
            arrival: When it arrived.
            ray: The ray.
            pace: Bounds on the motion, if it is a goal of the head action.
        """
        name = "target_point" if pace is None else "point_head_action"
        request = self.request(name, at)
        stamp = self._admit(at, arrival, request)
        if stamp is None:
            return False
        point = admit_point(*xyz)
        if isinstance(point, Refused):
            return self.refuse(point, request)
        target = PointTarget(at.frame_id, stamp, point, ray, pace)
        return self._take(target, arrival, request)

    def offer_twist(
        self,
        at: FrameStamp,
        linear: Triple,
        angular: Triple,
        arrival: Arrival,
        *,
        lasts: float,
        units: Units = SPEED_UNITS,
        turns: tuple[str, RigidTransform | None] | None = None,
    ) -> bool:
        """Accept a twist of the tip; return whether it was accepted.

        Args:
            at: Its frame and time.
            linear: In the given units.
            angular: In the given units.
            arrival: When it arrived.
            lasts: Time for which it counts [s].
            units: The units.
            turns: The frame of the angular part, and the pose of the tip in the root, if it is
                known; then both frames are taken where they are by now. None: that of the message.
        """
        request = self.request("twist", at)
        if not self._streams:
            return self.refuse(Refused(Refusal.NOT_STREAMED, "twist"), request)
        stamp = self._admit(at, arrival, request)
        if stamp is None:
            return False
        refused = admit_twist(linear, angular, units.most)
        if refused is not None:
            return self.refuse(refused, request)
        x, y, z = linear
        linear = (x * units.linear, y * units.linear, z * units.linear)
        x, y, z = angular
        angular = (x * units.rotational, y * units.rotational, z * units.rotational)
        expires = arrival.steady + lasts
        frame, in_tip = at.frame_id, at.frame_id == self.tip
        if turns is not None:
            about, tip = turns
            if tip is None:
                return self.refuse(UNMEASURED, request)
            parts = []
            for each, part in ((frame, linear), (about, angular)):
                axes = self.axes_of(each, tip)
                if isinstance(axes, Refused):
                    return self.refuse(axes, request)
                x, y, z = axes.apply_vector(part).tolist()
                parts.append((x, y, z))
            (linear, angular), frame, in_tip = parts, self._root_link, False
        target = TwistTarget(frame, stamp, linear, angular, expires, in_tip)
        return self._take(target, arrival, request)

    def offer_joint_jog(
        self,
        at: FrameStamp,
        names: Sequence[str],
        velocities: Sequence[float],
        arrival: Arrival,
        *,
        lasts: float,
        units: Units = SPEED_UNITS,
        displaces: bool = False,
    ) -> bool:
        """Accept velocities of joints; return whether they were accepted.

        Args:
            at: Their time; the frame has no meaning.
            names: The joints.
            velocities: In the given units.
            arrival: When they arrived.
            lasts: Time for which they count [s].
            units: The units.
            displaces: Whether they came with displacements, which are refused.
        """
        request = self.request("joint_jog", at)
        if not self._streams:
            return self.refuse(Refused(Refusal.NOT_STREAMED, "joint_jog"), request)
        if displaces:
            refused = Refused(Refusal.UNSUPPORTED, "displacements: use velocities")
            return self.refuse(refused, request)
        admitted = admit_joint_velocities(names, velocities, self._chain.joint_names, units.most)
        if isinstance(admitted, Refused):
            return self.refuse(admitted, request)
        stamp = self._admit_stamp(at, arrival, request)
        if stamp is None:
            return False
        scaled = tuple(velocity * units.joint for velocity in admitted)
        return self._take(
            JointVelocityTarget(stamp, scaled, arrival.steady + lasts), arrival, request
        )

    def offer_joint_target(
        self,
        at: FrameStamp,
        names: Sequence[str],
        positions: Sequence[float],
        arrival: Arrival,
        how: FilterRules = NO_FILTER,
    ) -> bool:
        """Accept positions of joints; return whether they were accepted.

        Joints of the chain that are not named stay at the last such target, or come to rest. A
        continuous joint takes the nearest turn. Joints that are not the chain's do not count.

        Args:
            at: Their time; the frame has no meaning.
            names: The joints.
            positions: One for each of them [rad or m].
            arrival: When they arrived.
            how: How a stream of them is filtered.
        """
        request = self.request("joint_target", at)
        columns = admit_joint_names(names, self._chain, self._mimics)
        if isinstance(columns, Refused):
            return self.refuse(columns, request)
        refused = admit_joint_positions(positions, columns, len(names), self._chain)
        if refused is not None:
            return self.refuse(refused, request)
        stamp = self._admit_stamp(at, arrival, request)
        if stamp is None:
            return False
        whole = self._whole([positions], columns)[0]
        if not np.isfinite(whole).all():
            return self.refuse(UNMEASURED, request)
        whole = self._filter("joint_target", "", whole, stamp, arrival, how, JOINTS_CHANGE)
        return self._take(JointTarget(stamp, tuple(whole.tolist())), arrival, request)

    def _filter(
        self, name: str, frame_id: str, sample: T, stamp: int, arrival: Arrival,
        how: FilterRules, change: Change,
    ) -> T:  # fmt: skip
        """Return a sample of an input, filtered with those before it in the same frame."""
        time = arrival.steady - (1e-9 * (arrival.now - stamp) if stamp else 0.0)
        frame, before = self._filtered.get(name, ("", None))
        after = filtered(before if frame == frame_id else None, sample, time, how, change)
        self._filtered[name] = frame_id, after
        value: T = after.value
        return value

    def _whole(self, rows: Sequence[Sequence[float]], columns: Mapping[str, int]) -> FloatArray:
        """Return admitted rows as positions of all joints of the chain (k, n) [rad or m]."""
        chain, newest = self._chain, self.newest
        if isinstance(newest, JointTarget):
            rest = np.array(newest.positions)
        else:
            rest = np.full(len(chain.joint_names), np.nan) if self._rest is None else self._rest()
        # A joint that was measured outside its limits is only moved inward.
        whole = np.tile(np.clip(rest, chain.lower, chain.upper), (len(rows), 1))
        for k, name in enumerate(chain.joint_names):
            if name not in columns:
                continue
            given = np.array([float(row[columns[name]]) for row in rows])
            if chain.continuous[k]:
                given = np.unwrap(given)
                given += math.tau * np.round((rest[k] - given[0]) / math.tau)
            whole[:, k] = given
        return whole

    def admit_device(
        self, at: FrameStamp, pose: RigidTransform | Refused, arrival: Arrival, request: Request
    ) -> int | None:
        """Return the stamp [ns] of a device's pose; count a refusal and return None otherwise."""
        if not self._streams:
            self.refuse(Refused(Refusal.NOT_STREAMED, "device_pose"), request)
            return None
        if isinstance(pose, Refused):
            self.refuse(pose, request)
            return None
        return self._admit(at, arrival, request)

    def axes_of(self, frame_id: str, root_T_tip: RigidTransform) -> RigidTransform | Refused:
        """Return the pose of a frame by now in the root frame, or why it is not known.

        Args:
            frame_id: The frame; empty: the root.
            root_T_tip: That of the tip, which needs no tf.
        """
        if frame_id in ("", self._root_link):
            return RigidTransform.identity()
        return root_T_tip if frame_id == self.tip else self._place_of(frame_id, 0)

    def offer_device(
        self,
        root_T_target: RigidTransform,
        stamp: int,
        arrival: Arrival,
        request: Request,
        expires: float,
        position_only: bool,
    ) -> None:
        """Accept a pose of the tip that a device leads to.

        Args:
            root_T_target: The pose.
            stamp: As admitted [ns].
            arrival: When the device's pose came.
            request: That of the device's pose.
            expires: Steady time at which the motion ends [s].
            position_only: As for a `PoseTarget`.
        """
        target = DeviceTarget(self._root_link, stamp, root_T_target, position_only, expires=expires)
        self._take(target, arrival, request)

    def offer_joint_chunk(
        self,
        at: FrameStamp,
        names: Sequence[str],
        times: Sequence[float],
        rows: Sequence[Sequence[float]],
        arrival: Arrival,
    ) -> bool:
        """Accept positions of joints at given times; return whether they were accepted.

        A single one at its begin counts as of `offer_joint_target`, unfiltered.

        Args:
            at: When the times begin; the frame has no meaning.
            names: The joints, as for `offer_joint_target`.
            times: Since then (k,) [s].
            rows: Their positions then [rad or m].
            arrival: When they arrived.
        """
        request = self.request("joint_chunk", at)
        refused = self._refuse_times(times, "joint_chunk")
        columns = admit_joint_names(names, self._chain, self._mimics)
        if refused is not None:
            return self.refuse(refused, request)
        if isinstance(columns, Refused):
            return self.refuse(columns, request)
        for k, row in enumerate(rows):
            refused = admit_joint_positions(row, columns, len(names), self._chain)
            if refused is not None:
                detail = f"points[{k}]: {refused.detail}"
                return self.refuse(Refused(refused.reason, detail), request)
        stamp = self._admit_stamp(at, arrival, request)
        if stamp is None:
            return False
        whole = self._whole(rows, columns)
        if not np.isfinite(whole).all():
            return self.refuse(UNMEASURED, request)
        if list(times) == [0.0]:  # a position by now, of a stream of single points
            target = JointTarget(stamp, tuple(whole[0].tolist()))
            return self._take(target, arrival, request)
        return self._take_chunk(times, whole, stamp, arrival, request)

    def offer_pose_chunk(
        self,
        at: FrameStamp,
        times: Sequence[float],
        poses: Sequence[RigidTransform | Refused],
        arrival: Arrival,
        *,
        moves: str,
        position_only: bool,
    ) -> bool:
        """Accept poses of the tip at given times; return whether they were accepted.

        They are transformed once.

        Args:
            at: Their frame, and when the times begin.
            times: Since then (k,) [s].
            poses: The poses then, or why one is none.
            arrival: When they arrived.
            moves: The frame that is to be there; empty: the tip.
            position_only: As for a `PoseTarget`.
        """
        request = self.request("pose_chunk", at)
        refused = self._refuse_times(times, "pose_chunk")
        if refused is None and moves not in ("", self.tip):
            text = f"tracked_frame '{printable(moves)}': it must be {self.tip}, or empty"
            refused = Refused(Refusal.UNSUPPORTED, text)
        places: list[RigidTransform] = []
        for k, pose in enumerate(poses if refused is None else ()):
            if isinstance(pose, Refused):
                refused = Refused(pose.reason, f"points[{k}]: {pose.detail}")
                break
            places.append(pose)
        if refused is not None:
            return self.refuse(refused, request)
        stamp = self._admit(at, arrival, request)
        if stamp is None:
            return False
        how = {"frame_id": at.frame_id, "position_only": position_only}
        return self._take_chunk(times, tuple(places), stamp, arrival, request, **how)

    def _refuse_times(self, times: Sequence[float], name: str) -> Refused | None:
        """Refuse a chunk for its times, or because of the output."""
        return admit_times(times) if self._streams else Refused(Refusal.NOT_STREAMED, name)

    def _take_chunk(
        self,
        times: Sequence[float],
        places: FloatArray | tuple[RigidTransform, ...],
        stamp: int,
        arrival: Arrival,
        request: Request,
        **how: Any,
    ) -> bool:
        age = 1e-9 * (arrival.now - stamp) if stamp else 0.0
        since = arrival.steady - age + np.array(times)
        target = ChunkTarget(stamp, since, places, arrival.steady, **how)
        return self._take(target, arrival, request)

    def offer_object(
        self, at: FrameStamp, pose: RigidTransform | Refused, arrival: Arrival
    ) -> Request | None:
        """Accept a pose for what both ends of the chain hold; return its identity, or None.

        Args:
            at: Its frame and time.
            pose: The pose, or why it is none.
            arrival: When it arrived.
        """
        request = self.request("target_object", at)
        return None if self._admit_pose(at, pose, arrival, request) is None else request

    def plan(self, request: Request) -> None:
        """Drop all targets, and let one be planned that is `put` later; it is `planned` till then.

        Args:
            request: What identifies its message.
        """
        self.clear()
        self.planned, self._settled = request, request.number

    def put(self, goal: Goal, request: Request, *, previewed: bool = False) -> None:
        """Set a goal that is already in the root frame, instead of all targets.

        Args:
            goal: The goal.
            request: What identifies its message.
            previewed: As of an `Arrival`.
        """
        if self.planned is request:
            self.planned = None
        self._pass_over(self._line)
        self._line, self._settled = [], request.number
        self._place(Placed(None, request, goal, follow=False), previewed=previewed)

    def go(self) -> Refused | None:
        """Pursue the target that waits for it; return why not, or None."""
        placed = self.preview
        if placed is None:
            return Refused(Refusal.NOT_READY, "there is no preview")
        if placed.follow and placed.target is not None:
            found = self._look_up(placed.target)
            if isinstance(found, Refused):
                return found
        placed.time = None
        self._place(placed)
        return None

    def leave(self, why: str) -> bool:
        """Drop the target that waits for a go; its sender is told, but nobody is warned.

        Args:
            why: The reason, in one line.

        Returns:
            Whether there was one.
        """
        waiting = [each for each in self._line if each.previewed]
        newest = waiting[-1] if waiting else self.preview
        if newest is None:
            return False
        self._line = [each for each in self._line if not each.previewed]
        self.preview, self._settled = None, self._requests + 1
        self._refusals.add(Refused(Refusal.DROPPED, why), newest.request)
        return True

    def stop_following(self, goal: Goal) -> None:
        """Keep a goal of the present target, wherever its frame moves."""
        if self._placed is not None:
            self._placed.goal, self._placed.follow = goal, False

    def request(self, name: str, at: FrameStamp | None = None) -> Request:
        """Return the identity of a message that has just come.

        Args:
            name: Name of its topic, service or action.
            at: Its frame and time, if it has one.
        """
        self._requests += 1
        if at is None:
            return Request(name, self._requests)
        return Request(name, self._requests, at.sec * 1_000_000_000 + at.nanosec)

    def locate(self, *, steady: float, patience: float, oldest: int) -> Goal | None:
        """Return the current target in the root frame, or None while there is none.

        Args:
            steady: The control loop's clock [s].
            patience: Longest time that a new target may wait for its transform [s].
            oldest: Oldest stamp that the newest transform of a moving frame may have [ns].
        """
        self._oldest = oldest
        new = self._advance(steady, patience)
        for placed in (self._placed, self.preview):
            if placed is not None and placed is not new:
                self._follow(placed, steady)
        target = self.target
        if isinstance(target, EXPIRING_TARGETS) and not steady < target.expires:
            self._placed = None
        return None if self._placed is None else self._placed.goal

    def _advance(self, steady: float, patience: float) -> Placed | None:
        """Transform the newest waiting target that has a transform, and refuse late ones.

        Returns:
            The one that was transformed, if any.
        """
        for k in reversed(range(len(self._line))):
            target, request, since, time, previewed = self._line[k]
            found = self._look_up(target)
            if isinstance(found, ChunkGoal) and found.course.end <= steady:
                over = f"its last point was due {steady - found.course.end:.3f} s ago"
                found = Refused(Refusal.STALE, over)
            if not isinstance(found, Refused):
                self._pass_over(self._line[:k])  # older targets are obsolete
                placed = Placed(target, request, found, self._follows(target), time)
                self._place(placed, previewed=previewed)
                del self._line[: k + 1]
                self._log.recovered("target", "targets are valid again")
                return placed
            # Only a missing transform can still become available.
            if found.reason is not Refusal.NO_TRANSFORM or steady - since > patience:
                self.refuse(found, request)
                del self._line[k]
        return None

    def _pass_over(self, waiting: Sequence[_Waiting]) -> None:
        """Let those who sent targets know that others have come before these were pursued."""
        if self.planned is not None:
            self._refusals.know(self.planned)
            self.planned = None
        for each in waiting:
            self._refusals.know(each.request)

    def _place(self, placed: Placed, *, previewed: bool = False) -> None:
        """Pursue a new target or goal, or let it wait for a go."""
        self.preview = placed if previewed else None
        if previewed:
            return
        self._placed = placed
        self.placements += 1
        self._refusals.accept(placed.request)

    def _forget(self, placed: Placed) -> None:
        if placed is self.preview:
            self.preview = None
        else:
            self._placed = None

    def _follow(self, placed: Placed, steady: float) -> None:
        """Transform a target again, if its frame may have moved."""
        if placed.target is None or not placed.follow:
            return
        frame = placed.target.frame_id
        if self.is_carried(frame):
            placed.follow = False
            text = f"the arm now carries '{printable(frame)}' and no longer follows it"
            self._log.info("target", "carried", text)
            return
        found = self._look_up(placed.target)
        if isinstance(found, Refused):
            self.refuse(found, placed.request)
            if found.reason is Refusal.TF_STALE:
                self._forget(placed)
        else:
            if found != placed.goal:
                placed.goal, placed.time = found, steady
            last = self._refusals.last.get(placed.request.input)
            if last is not None and last.request is placed.request:
                self._recovered = last
            self._log.recovered("target", "targets are valid again")

    @property
    def target(self) -> Target | None:
        """The target of the last `locate`; None also for a goal that was `put`."""
        return None if self._placed is None else self._placed.target

    @property
    def stamp(self) -> int | None:
        """Stamp of the target or goal of the last `locate`, as it came [ns]; None: there is none.

        It is 0 if its message has none.
        """
        return None if self._placed is None else self._placed.request.stamp

    @property
    def goal(self) -> Goal | None:
        """The goal of the last `locate`, or one that was `put` since; None if there is none."""
        return None if self._placed is None else self._placed.goal

    @property
    def time(self) -> float | None:
        """Time for which the goal of the last `locate` is valid, on the loop's clock; None: now."""
        return None if self._placed is None else self._placed.time

    def age(self, steady: float) -> float | None:
        """Return the time since the newest target was accepted [s]; None if there is none."""
        return None if self.newest is None else steady - self._taken_at

    @property
    def newest(self) -> Target | None:
        """The newest target, transformed or not; None also for a goal that was `put`.

        Targets that wait for a go do not count.
        """
        line = [each.target for each in self._line if not each.previewed]
        return line[-1] if line else self.target

    @property
    def refusal(self) -> LastRefusal | None:
        """The refusal of the newest target, of any input; None if that was not refused."""
        since = [each for each in self._refusals.last.values() if self._is_open(each)]
        return max(since, key=lambda each: each.request.number, default=None)

    @property
    def answer(self) -> LastRefusal | None:
        """The refusal of the newest target of the active input, at once or later.

        Without an active input it is the newest one of all inputs. None if it was not refused.
        """
        if self._placed is None:
            return self.refusal
        own = self._refusals.last.get(self._placed.request.input)
        return own if own is not None and self._is_open(own) else None

    def _is_open(self, refusal: LastRefusal) -> bool:
        """Return whether a refused target is newer than what was accepted or dropped."""
        return refusal.request.number >= self._settled and refusal is not self._recovered

    @property
    def pursues(self) -> bool:
        """Whether there is a target or goal, transformed or not, that does not wait for a go."""
        return self._placed is not None or not all(each.previewed for each in self._line)

    @property
    def previews(self) -> bool:
        """Whether a target waits for a go, transformed or not."""
        return self.preview is not None or any(each.previewed for each in self._line)

    def drop(self, why: str) -> bool:
        """Drop all targets, and report the newest one like a refused one.

        Args:
            why: The reason, in one line.

        Returns:
            Whether there was one.
        """
        newest = self._line[-1] if self._line else self.preview or self._placed
        request = self.planned if newest is None else newest.request
        if request is None:
            return False
        self.clear()
        self._settled = request.number  # its refusal is no history
        self._refusals.add(Refused(Refusal.DROPPED, why), request)
        return True

    def reject(self, refused: Refused) -> None:
        """Refuse the current target after all; one that waits for its transform stays."""
        placed = self._placed
        if placed is not None:
            self._placed = None
            if not self._line:
                self._settled = placed.request.number
            self.refuse(refused, placed.request)

    def clear(self) -> None:
        """Drop all targets; a refusal before that is history, too."""
        self._pass_over(self._line)
        self._line, self._placed, self.preview = [], None, None
        self._settled = self._requests + 1

    def reset(self) -> None:
        """Drop all targets and stamps, after a jump of the clock."""
        self.clear()
        self._newest, self._filtered = 0, {}

    def _admit(self, at: FrameStamp, arrival: Arrival, request: Request) -> int | None:
        """Return the stamp [ns] of a message with a frame, or None if it was refused."""
        refused = admit_frame(at.frame_id)
        if refused is None:
            return self._admit_stamp(at, arrival, request)
        self.refuse(refused, request)
        return None

    def _admit_pose(
        self, at: FrameStamp, pose: RigidTransform | Refused, arrival: Arrival, request: Request
    ) -> int | None:
        """Return the stamp [ns] of a pose, or None if it was refused."""
        stamp = self._admit(at, arrival, request)
        if stamp is not None and isinstance(pose, Refused):
            self.refuse(pose, request)
            return None
        return stamp

    def _admit_stamp(self, at: FrameStamp, arrival: Arrival, request: Request) -> int | None:
        """Return a message's stamp [ns], or None if it was refused."""
        stamp = admit_stamp(
            at.sec,
            at.nanosec,
            now=arrival.now,
            newest=self._newest,
            rules=arrival.rules,
        )
        if isinstance(stamp, Refused):
            self.refuse(stamp, request)
            return None
        return stamp

    def _take(self, target: Target, arrival: Arrival, request: Request) -> bool:
        self._newest = max(self._newest, target.stamp)
        age = 1e-9 * (arrival.now - target.stamp) if target.stamp else 0.0
        waiting = _Waiting(target, request, arrival.steady, arrival.steady - age, arrival.previewed)
        self._pass_over(self._line[1:])
        self._line, self._settled = [*self._line[:1], waiting], request.number
        self._taken_at = arrival.steady
        return True

    def _look_up(self, target: Target) -> Goal | Refused:
        in_tip = isinstance(target, TwistTarget) and target.in_tip
        if in_tip or target.frame_id in ("", self._root_link):
            return self._goal(target, None)
        place = self._place_of(target.frame_id, target.stamp)
        return place if isinstance(place, Refused) else self._goal(target, place)

    def _place_of(self, frame_id: str, stamp: int) -> RigidTransform | Refused:
        """Return the pose of a frame in the root frame at a time [ns], 0: now; or why not."""
        found = self._frames.locate(self._root_link, frame_id, stamp)
        if isinstance(found, Refused):
            return found
        # For static frames the latest time is zero.
        if stamp == 0 and 0 < found.stamp < self._oldest:
            beyond = (self._oldest - found.stamp) * 1e-9
            text = f"'{printable(frame_id)}': {beyond:.3f} s older than target_max_age"
            return Refused(Refusal.TF_STALE, text)
        return found.root_T_frame

    def _goal(self, target: Target, root_T_frame: RigidTransform | None) -> Goal | Refused:
        """Return a target as a goal in the root frame, or refuse it if it is too far away."""
        goal = target.goal(root_T_frame)
        refused = None
        if isinstance(goal, PoseGoal):
            place = goal.root_T_target.translation.tolist()
            refused = admit_place(place) or admit_distance(place, self.reach, self.farthest)
        elif isinstance(goal, ChunkGoal) and goal.course.poses:
            rows = goal.course.rows
            farthest = rows[np.linalg.norm(rows[:, :3], axis=1).argmax(), :3].tolist()
            refused = admit_place(farthest) or admit_distance(farthest, self.reach, self.farthest)
        elif isinstance(goal, PointGoal):  # one may look as far as one likes
            refused = admit_place(goal.root_point)
        return goal if refused is None else refused

    def _follows(self, target: Target) -> bool:
        if not self._streams or target.stamp != 0 or isinstance(target, FIXED_TARGETS):
            return False
        frame = target.frame_id
        return frame not in ("", self._root_link) and not self.is_carried(frame)

    def is_carried(self, frame_id: str) -> bool:
        """Return whether the chain's joints move a frame."""
        parents, seen = self._frames.parents, set[str]()
        while frame_id not in seen:
            if frame_id in self._carried:
                return True
            seen.add(frame_id)
            frame_id = parents.get(frame_id, frame_id)
        return False

    def refuse(self, refused: Refused, request: Request) -> bool:
        """Count and log a refused target; return False."""
        self._refusals.add(refused, request)
        self._log.warn("target", refused.reason.name, f"target refused: {refused}")
        return False
