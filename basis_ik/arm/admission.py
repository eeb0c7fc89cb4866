# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Admission of inputs: targets and joint states are admitted, or refused with a named reason."""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from basis_ik.descent.pose_search_kernel import LARGEST_ANGLE, LARGEST_LENGTH
from basis_ik.robot.chain import Chain
from basis_ik.transforms.rigid import RigidTransform, from_checked

QUATERNION_NORM_TOLERANCE = 1e-3
# In a message's own frame: ECEF coordinates (REP-105 "earth") stay below 7e6 m.
LARGEST_COORDINATE = 1e8  # [m]
LONGEST_FRAME_ID = 255  # characters
FASTEST_TWIST = 1e3  # [m/s or rad/s], far above any arm's speed
MOST_CHUNK_POINTS = 1000
LONGEST_CHUNK = 600.0  # [s]


class Units(NamedTuple):
    """Units of twists and joint velocities."""

    most: float = FASTEST_TWIST
    """Largest admitted number."""
    linear: float = 1.0
    """Speed for a value of 1 [m/s]."""
    rotational: float = 1.0
    """Angular velocity for a value of 1 [rad/s]."""
    joint: float = 1.0
    """Velocity of a joint for a value of 1 [rad/s or m/s]."""


SPEED_UNITS = Units()  # m/s and rad/s


class Refusal(enum.Enum):
    """Why an input was refused."""

    NON_FINITE = "a value is NaN or infinite"
    OUT_OF_RANGE = "a number is outside its range"
    BAD_QUATERNION = "the quaternion is not of unit length"
    NO_FRAME = "the frame_id is empty"
    BAD_FRAME = "the frame_id is not a valid tf2 name"
    BAD_STAMP = "the stamp is malformed"
    STALE = "the stamp is too old"
    FUTURE = "the stamp lies in the future"
    OUT_OF_ORDER = "the stamp is older than the last accepted one"
    NO_TRANSFORM = "tf has no transform to the chain's root"
    TF_STALE = "the frame's newest transform is too old"
    NOT_READY = "the node is not ready yet"
    NOT_STREAMED = "the command interface only accepts whole motions"
    UNKNOWN_JOINT = "a joint is not one of the chain's"
    UNSUPPORTED = "a part of the message is not supported"
    BAD_GOAL = "a field of the goal is invalid"
    SIZE_MISMATCH = "names and values differ in number"
    DUPLICATE_JOINT = "a joint is named twice"
    UNKNOWN_POSTURE = "the chain has no such posture"
    JUMP = "a joint moved faster than it can"
    UNREACHABLE = "the target cannot be reached, and approximate is false"
    NO_MOTION = "no motion leads there"
    DROPPED = "it was dropped later"


@dataclass(frozen=True)
class Refused:
    """An input that was refused.

    Attributes:
        reason: The rule that it violates.
        detail: The offending part, one line, printable and short.
    """

    reason: Refusal
    detail: str

    def __str__(self) -> str:
        return f"{self.reason.name}: {self.reason.value} ({self.detail})"


class Request(NamedTuple):
    """What identifies a message for its sender.

    Attributes:
        input: Name of its topic, service or action.
        number: Number of the targets of all inputs that have come so far; 0: it is no target.
        stamp: Of its header [ns], as it came; 0 if it has none.
    """

    input: str
    number: int = 0
    stamp: int = 0


class LastRefusal(NamedTuple):
    """A refused message of one input.

    Attributes:
        refused: Why it was refused.
        time: When it was refused, on the clock of `Refusals` [s].
        request: What identifies the message for its sender.
    """

    refused: Refused
    time: float
    request: Request


@dataclass
class Refusals:
    """Counts messages that were accepted or refused, and stores each input's last refusal.

    Attributes:
        clock: Returns the time [s].
        counts: Number of refused messages by reason.
        refused: Number of refused messages by input.
        accepted: Number of accepted targets by input.
        stamps: Stamp of the last target that was accepted, or replaced before; by input [ns].
        last: The last refusal by input; the newest is last.
    """

    clock: Callable[[], float]
    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    stamps: dict[str, int] = field(default_factory=dict)
    last: dict[str, LastRefusal] = field(default_factory=dict)

    def accept(self, request: Request) -> None:
        """Count an accepted target."""
        self.accepted[request.input] += 1
        self.know(request)

    def know(self, request: Request) -> None:
        """Store the stamp of a target that is accepted, or has been replaced before."""
        if request.stamp:
            self.stamps[request.input] = request.stamp

    def add(self, refused: Refused, request: Request) -> LastRefusal:
        """Count a refused message, and return its refusal."""
        self.counts[refused.reason.name] += 1
        self.refused[request.input] += 1
        refusal = LastRefusal(refused, self.clock(), request)
        self.last.pop(request.input, None)
        self.last[request.input] = refusal
        return refusal

    def age(self, refusal: LastRefusal) -> float:
        """Return the time since a refusal [s]."""
        return self.clock() - refusal.time


@dataclass(frozen=True)
class StampRules:
    """Bounds on stamps.

    Attributes:
        max_age: Largest age of a stamp [ns].
        max_future: Largest time by which a stamp may lie ahead [ns].
    """

    max_age: int
    max_future: int


def printable(text: str, length: int = 128) -> str:
    """Return input text for a log line: control characters escaped, at most `length` long."""
    # `ascii` of a whole text would also escape quotes, if it has both kinds.
    escaped = "".join(ascii(each)[1:-1] if each != "'" else each for each in text[: length + 1])
    return escaped if len(escaped) <= length else escaped[: length - 3] + "..."


def admit_frame(frame_id: str) -> Refused | None:
    """Refuse a frame_id that tf2 cannot store."""
    if not frame_id:
        return Refused(Refusal.NO_FRAME, "header.frame_id")
    bad = frame_id.startswith("/") or len(frame_id) > LONGEST_FRAME_ID or not frame_id.isprintable()
    return Refused(Refusal.BAD_FRAME, f"'{printable(frame_id)}'") if bad else None


def admit_stamp(
    sec: int, nanosec: int, *, now: int, newest: int, rules: StampRules
) -> int | Refused:
    """Return a header's stamp in nanoseconds, or why it is refused.

    Args:
        sec: Seconds of the header's stamp.
        nanosec: Nanoseconds of the header's stamp.
        now: The node's clock [ns].
        newest: Stamp of the last accepted message [ns].
        rules: Acceptable stamps.
    """
    if sec < 0 or not 0 <= nanosec < 1_000_000_000:
        return Refused(Refusal.BAD_STAMP, f"sec {sec}, nanosec {nanosec}")
    stamp = sec * 1_000_000_000 + nanosec
    if stamp == 0:
        return 0
    if now - stamp > rules.max_age:
        return Refused(Refusal.STALE, f"{(now - stamp) * 1e-9:.3f} s old")
    if stamp - now > rules.max_future:
        return Refused(Refusal.FUTURE, f"{(stamp - now) * 1e-9:.3f} s ahead")
    if stamp < newest:
        return Refused(Refusal.OUT_OF_ORDER, f"{(newest - stamp) * 1e-9:.3f} s older")
    return stamp


def admit_pose(position: Sequence[float], quaternion: Sequence[float]) -> RigidTransform | Refused:
    """Return a pose message's content as a transform, or why it is refused.

    Args:
        position: x, y, z [m].
        quaternion: x, y, z, w. It is normalised if its length is within 1e-3 of one, and otherwise
            refused; q and -q give the same transform bit for bit.
    """
    x, y, z = map(float, position)
    qx, qy, qz, qw = map(float, quaternion)
    norm = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    # NaN fails every comparison.
    if (
        abs(norm - 1.0) <= QUATERNION_NORM_TOLERANCE
        and abs(x) <= LARGEST_COORDINATE
        and abs(y) <= LARGEST_COORDINATE
        and abs(z) <= LARGEST_COORDINATE
    ):
        return from_checked((qx, qy, qz, qw), (x, y, z))
    numbers = (*position, *quaternion)
    if not all(map(math.isfinite, numbers)):
        return Refused(Refusal.NON_FINITE, f"position {position}, orientation {quaternion}")
    if max(map(abs, numbers)) > LARGEST_COORDINATE:
        return Refused(Refusal.OUT_OF_RANGE, f"position {position}, orientation {quaternion}")
    return Refused(Refusal.BAD_QUATERNION, f"its length is {norm:.6g}")


def admit_point(x: float, y: float, z: float) -> tuple[float, float, float] | Refused:
    """Return a point message's content [m], or why it is refused."""
    point = (x, y, z)
    if not all(map(math.isfinite, point)):
        return Refused(Refusal.NON_FINITE, f"point {point}")
    if max(map(abs, point)) > LARGEST_COORDINATE:
        return Refused(Refusal.OUT_OF_RANGE, f"point {point}")
    return point


def admit_place(root_point: Sequence[float]) -> Refused | None:
    """Refuse a point in the chain's root frame (3,) [m] that is too far away for the solvers."""
    x, y, z = root_point
    if not (abs(x) <= LARGEST_LENGTH and abs(y) <= LARGEST_LENGTH and abs(z) <= LARGEST_LENGTH):
        return Refused(Refusal.OUT_OF_RANGE, f"at {tuple(root_point)} from the chain's root")
    return None


def admit_distance(root_point: Sequence[float], reach: float, most: float) -> Refused | None:
    """Refuse a point that is so far beyond a chain's reach that its units are in doubt.

    Args:
        root_point: In the chain's root frame (3,) [m].
        reach: Reach of the chain [m].
        most: Largest distance from the root, in multiples of the reach.
    """
    distance = math.hypot(*root_point)
    if distance <= most * reach:
        return None
    text = (
        f"{distance:.4g} m from the chain's root, more than {most:g} times its reach of "
        f"{reach:.3g} m: are the units metres?"
    )
    return Refused(Refusal.OUT_OF_RANGE, text)


def admit_twist(
    linear: tuple[float, float, float],
    angular: tuple[float, float, float],
    most: float = FASTEST_TWIST,
) -> Refused | None:
    """Refuse a twist with a number that is not finite, or larger in size than `most`."""
    if not all(map(math.isfinite, (*linear, *angular))):
        return Refused(Refusal.NON_FINITE, f"linear {linear}, angular {angular}")
    if max(map(abs, (*linear, *angular))) > most:
        text = f"linear {linear}, angular {angular}; at most {most:g} each"
        return Refused(Refusal.OUT_OF_RANGE, text)
    return None


def admit_joystick(
    axes: Sequence[float], buttons: Sequence[int], chosen: Sequence[int], enable: int
) -> tuple[float, ...] | Refused:
    """Return what a joystick's axes say of the six parts of a twist, or why they are refused.

    Args:
        axes: From -1 to 1.
        buttons: Whether each is pressed; those that are missing are not.
        chosen: The axis of each of the parts, linear first; -1: none.
        enable: The button without which all parts are zero; -1: none.
    """
    if max(chosen) >= len(axes):
        detail = f"{len(axes)} axes; joy.axes has {max(chosen)}"
        return Refused(Refusal.SIZE_MISMATCH, detail)
    if enable >= 0 and not any(buttons[enable : enable + 1]):
        return 6 * (0.0,)
    return tuple(float(axes[k]) if k >= 0 else 0.0 for k in chosen)


def admit_fraction(value: float) -> float | Refused:
    """Return a number from 0 to 1, or why it is refused."""
    if not math.isfinite(value):
        return Refused(Refusal.NON_FINITE, f"{value}")
    if not 0.0 <= value <= 1.0:
        return Refused(Refusal.OUT_OF_RANGE, f"{value:g} is not in [0, 1]")
    return value


def admit_joint_velocities(
    names: Sequence[str],
    velocities: Sequence[float],
    joint_names: Sequence[str],
    most: float = FASTEST_TWIST,
) -> tuple[float, ...] | Refused:
    """Return a velocity for each joint of a chain, zero for others, or why they are refused.

    Args:
        names: The joints to move.
        velocities: One for each of them.
        joint_names: The joints of the chain.
        most: Largest admitted velocity.
    """
    if len(names) != len(velocities):
        return Refused(Refusal.SIZE_MISMATCH, f"{len(names)} names, {len(velocities)} velocities")
    given = dict(zip(names, map(float, velocities), strict=True))
    if len(given) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        return Refused(Refusal.DUPLICATE_JOINT, f"'{printable(twice)}'")
    for name, velocity in given.items():
        if name not in joint_names:
            known = printable(", ".join(joint_names))
            return Refused(Refusal.UNKNOWN_JOINT, f"'{printable(name, 64)}'; they are {known}")
        if not math.isfinite(velocity):
            return Refused(Refusal.NON_FINITE, f"velocity {velocity} of {name}")
        if abs(velocity) > most:
            text = f"velocity {velocity:g} of {name}; at most {most:g}"
            return Refused(Refusal.OUT_OF_RANGE, text)
    return tuple(given.get(name, 0.0) for name in joint_names)


def admit_joint_names(
    names: Sequence[str], chain: Chain, mimics: Mapping[str, str]
) -> dict[str, int] | Refused:
    """Return the columns of a chain's joints among names, which may have other robots' joints, too.

    Args:
        names: The names.
        chain: The chain.
        mimics: The robot's joints that follow another one, and which.
    """
    columns: dict[str, int] = {}
    known = frozenset(chain.joint_names)
    for k, name in enumerate(names):
        if name in columns:
            return Refused(Refusal.DUPLICATE_JOINT, f"'{printable(name)}'")
        if name in known:
            columns[name] = k
        elif mimics.get(name) in known:
            text = f"'{printable(name, 64)}' follows {mimics[name]}: name that one"
            return Refused(Refusal.UNKNOWN_JOINT, text)
    if not columns:
        named = f"'{printable(names[0], 64)}'" if names else "none is named"
        shown = printable(", ".join(chain.joint_names))
        return Refused(Refusal.UNKNOWN_JOINT, f"{named}; they are {shown}")
    return columns


def admit_times(times: Sequence[float]) -> Refused | None:
    """Refuse times of a chunk's points, since its begin [s], that are too many or do not increase.

    Args:
        times: The times.
    """
    if not 1 <= len(times) <= MOST_CHUNK_POINTS:
        return Refused(Refusal.OUT_OF_RANGE, f"{len(times)} points; from 1 to {MOST_CHUNK_POINTS}")
    before = -math.inf
    for k, time in enumerate(times):
        if not (before < time and abs(time) <= LONGEST_CHUNK):
            text = f"time_from_start of points[{k}] is {time:g} s; they must increase"
            return Refused(Refusal.OUT_OF_RANGE, f"{text}, up to {LONGEST_CHUNK:g} s")
        before = time
    return None


def admit_joint_positions(
    positions: Sequence[float], columns: Mapping[str, int], count: int, chain: Chain
) -> Refused | None:
    """Refuse positions of joints that are not finite, or beyond a limit.

    Args:
        positions: The positions [rad or m].
        columns: Those of the chain's joints.
        count: How many there must be.
        chain: The chain.
    """
    if len(positions) != count:
        return Refused(Refusal.SIZE_MISMATCH, f"{count} names, {len(positions)} positions")
    limits = zip(chain.joint_names, chain.lower.tolist(), chain.upper.tolist(), strict=True)
    for name, lower, upper in limits:
        if name not in columns:
            continue
        value = float(positions[columns[name]])
        if not math.isfinite(value):
            return Refused(Refusal.NON_FINITE, f"position {value} of {name}")
        low, high = max(lower, -LARGEST_ANGLE), min(upper, LARGEST_ANGLE)
        if not low <= value <= high:
            text = f"{name} must lie in [{low:g}, {high:g}], not {value:g}"
            return Refused(Refusal.OUT_OF_RANGE, text)
    return None
