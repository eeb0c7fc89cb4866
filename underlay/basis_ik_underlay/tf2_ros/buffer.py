# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The buffer: messages in, messages out, from any thread."""

import math
import sys
from threading import RLock

from geometry_msgs.msg import TransformStamped
from rclpy.time import Time

from tf2_ros.history import (
    IDENTITY,
    Bracket,
    History,
    Pose,
    Sample,
    TransformException,
    compose,
    interpolate,
    inverse,
    seconds,
)

_NORM_TOLERANCE = 10e-3  # of the squared length of a quaternion, as upstream

# Frames upwards from one, each with the link below it; the first one has none.
_Chain = dict[str, Bracket | None]


class Buffer:
    """Stores transforms of the last 10 s and answers where one frame is relative to another.

    Time zero means the latest time at which every link in question is known. A lookup raises
    TransformException if it fails: there is no such frame, frames form a loop or are in separate
    trees, or something is not known at that time.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._names: set[str] = set()  # every frame met so far, parents included
        self._histories: dict[str, History] = {}

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Add a sample. An invalid one is refused on stderr; upstream returns nothing either."""
        self._insert(transform, authority, False)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Add a transform that holds at all times."""
        self._insert(transform, authority, True)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time
    ) -> TransformStamped:
        """The transform that maps coordinates of the source frame into the target frame."""
        with self._lock:
            if target_frame != source_frame:  # a frame is known relative to itself
                self._admit("lookupTransform", target_frame, source_frame)
            stamp = time.nanoseconds or self._latest_common_time(target_frame, source_frame)
            pose = self._relative(target_frame, source_frame, stamp)
        message = TransformStamped(child_frame_id=source_frame)
        message.header.frame_id = target_frame
        # A `Time` refuses what a message may have: times before 1970.
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        t, q = message.transform.translation, message.transform.rotation
        (t.x, t.y, t.z), (q.x, q.y, q.z, q.w) = pose
        return message

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> Time:
        """The latest time at which every link between two frames is known; zero if all static."""
        with self._lock:
            self._admit("get_latest_common_time", target_frame, source_frame)
            return Time(nanoseconds=self._latest_common_time(target_frame, source_frame))

    def clear(self) -> None:
        """Forget the history of the moving frames. Names and static transforms stay."""
        with self._lock:
            for frame, history in self._histories.items():
                if not history.static:
                    self._histories[frame] = History(False)

    def all_frames_as_yaml(self) -> str:
        """Every frame with its parent."""
        with self._lock:
            found = {frame: history.parent() for frame, history in self._histories.items()}
        lines = [f"{frame}:\n  parent: '{parent}'\n" for frame, parent in found.items() if parent]
        return "".join(lines) or "[]"

    def _insert(self, transform: TransformStamped, authority: str, static: bool) -> None:
        child = transform.child_frame_id.removeprefix("/")
        parent = transform.header.frame_id.removeprefix("/")
        t, q = transform.transform.translation, transform.transform.rotation
        stamp = transform.header.stamp  # which may be negative, unlike rclpy's Time
        stamp = stamp.sec * 10**9 + stamp.nanosec
        sample = Sample(stamp, parent, (t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
        refusals = _refusals(child, sample, authority)
        for refusal in refusals:
            print(f"Error:   {refusal}", file=sys.stderr)
        if refusals:
            return
        with self._lock:
            self._names |= {child, parent}
            # A change between static and moving starts anew.
            if child not in self._histories or self._histories[child].static != static:
                self._histories[child] = History(static)
            accepted = self._histories[child].insert(sample)
        if not accepted:
            print(
                f"Warning: TF_OLD_DATA ignoring data from the past for frame {child} "
                f"at time {seconds(stamp)} according to authority {authority}",
                file=sys.stderr,
            )

    def _admit(self, function: str, *frames: str) -> None:
        for place, frame in enumerate(frames):
            if frame not in self._names:
                argument = f"{function} argument {('target', 'source')[place]}_frame"
                raise TransformException(f'"{frame}" passed to {argument} does not exist. ')

    def _above(self, frame: str, stamp: int) -> tuple[_Chain, TransformException | None]:
        """The chain upwards, and what ends it below the root: a link that is not known then."""
        chain: _Chain = {frame: None}
        while frame in self._histories:
            try:
                bracket = self._histories[frame].bracket(stamp)
            except TransformException as error:
                return chain, error
            frame = bracket[0].parent
            if frame in chain:
                links = " -> ".join([*chain, frame])
                text = f"The tf tree is invalid because it contains a loop: {links}"
                raise TransformException(text)
            chain[frame] = bracket
        return chain, None

    def _latest_common_time(self, target: str, source: str) -> int:
        """Judged by each frame's newest parent; static links do not count."""
        chains = [self._above(frame, 0)[0] for frame in (source, target)]
        if target == source:
            links = list(chains[0].values())[1:2]
        else:
            common = _common(target, source, *chains)
            links = [link for chain in chains for link in _below(chain, common)]
        return min((link[0].stamp for link in links if link[0].stamp), default=0)

    def _relative(self, target: str, source: str, stamp: int) -> Pose:
        """target_T_source."""
        (rising, missing), (falling, gap) = self._above(source, stamp), self._above(target, stamp)
        common = _common(target, source, rising, falling, gap or missing)
        common_T_source, common_T_target = (
            _product(_below(chain, common), stamp) for chain in (rising, falling)
        )
        return compose(inverse(common_T_target), common_T_source)


def _common(
    target: str,
    source: str,
    rising: _Chain,
    falling: _Chain,
    gap: TransformException | None = None,
) -> str:
    """The first frame that is above both."""
    for frame in rising:
        if frame in falling:
            return frame
    if gap is not None:
        frames = f"when looking up transform from frame [{source}] to frame [{target}]"
        raise TransformException(f"{gap}, {frames}") from None
    raise TransformException(
        f"Could not find a connection between '{target}' and '{source}' because they are not part "
        "of the same tree.Tf has two or more unconnected trees."
    )


def _below(chain: _Chain, top: str) -> list[Bracket]:
    """The links up to a frame."""
    frames = list(chain)
    return [chain[frame] for frame in frames[1 : frames.index(top) + 1]]


def _product(links: list[Bracket], stamp: int) -> Pose:
    pose = IDENTITY
    for bracket in links:
        pose = compose(interpolate(bracket, stamp), pose)
    return pose


def _refusals(child: str, sample: Sample, authority: str) -> list[str]:
    numbers = sample.translation + sample.rotation
    nan = any(map(math.isnan, numbers))
    squared_length = sum(number * number for number in sample.rotation)
    # NaN counts as one, too.
    denormalized = not abs(squared_length - 1.0) < _NORM_TOLERANCE
    named = child and sample.parent and child != sample.parent
    if named and not nan and not denormalized:
        return []
    about = f'Ignoring transform for child_frame_id "{child}" from authority "{authority}" because'
    faults = {
        f"TF_SELF_TRANSFORM: {about} frame_id is the same": child == sample.parent,
        f"TF_NO_CHILD_FRAME_ID: {about} child_frame_id not set": not child,
        f"TF_NO_FRAME_ID: {about} frame_id not set": not sample.parent,
        f"TF_NAN_INPUT: {about} of a nan value in {numbers}": nan,
        f"TF_DENORMALIZED_QUATERNION: {about} of an invalid quaternion {sample.rotation}": (
            denormalized
        ),
    }
    return [text for text, found in faults.items() if found]
