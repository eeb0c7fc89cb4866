# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A filter of a tracker's samples: a lone outlier, smoothing with a stated lag, a dead band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.goal_motion import PREDICTION_TUNING
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.rigid import RigidTransform

T = TypeVar("T")


class FilterRules(NamedTuple):
    """What is done with the samples of one input."""

    outliers: bool = False
    """Whether a sample counts only when the next one confirms it."""
    lag: float = 0.0
    """By how much the result lags behind even motion [s]."""
    dead_band: tuple[float, ...] = ()
    """Way [m] and turn [rad], or change of a joint [rad or m], that moves nothing; empty: none."""


NO_FILTER = FilterRules()


class Change(NamedTuple):
    """How samples of a kind differ: by parts, such as way and turn, one to a row."""

    between: Callable[..., FloatArray]
    """Returns the change (k, m) from one sample to another."""
    moved: Callable[..., object]
    """Returns a sample that is changed so."""
    picked: Callable[..., object]
    """Returns a sample made of the parts of some, each with the index of its sample."""


@dataclass(frozen=True)
class Filtered(Generic[T]):
    """A filter's samples and results up to a time.

    Attributes:
        time: Of the newest sample [s].
        recent: The last samples, three at most, the newest last.
        raw: The result without lag and dead band.
        smooth: The result without the dead band.
        value: The result.
    """

    time: float
    recent: tuple[T, ...]
    raw: T
    smooth: T
    value: T

    def begun(self) -> Filtered[T]:
        """Return the state in which it has just begun, at `raw`."""
        return Filtered(self.time, self.recent, self.raw, self.raw, self.raw)


def filtered(
    before: Filtered[T] | None, sample: T, time: float, rules: FilterRules, change: Change
) -> Filtered[T]:
    """Return the state of a filter after another sample.

    A sample that is no newer than the last is a repetition, and changes nothing. After a pause the
    filter begins anew: a single target is taken as it is.

    Args:
        before: The state before; None: there is none.
        sample: The sample.
        time: Its time [s].
        rules: What is done.
        change: How samples differ.
    """
    if (
        before is None
        or rules == NO_FILTER
        or time - before.time > PREDICTION_TUNING.longest_interval
    ):
        return Filtered(time, (sample,), sample, sample, sample)
    if not time > before.time:
        return before
    recent = (*before.recent[-2:], sample)
    raw = _middle(recent, change) if rules.outliers else sample
    smooth, value = raw, raw
    if rules.lag:
        lasted = time - before.time
        share = lasted / (lasted + rules.lag)
        smooth = _moved(before.smooth, share * change.between(before.smooth, raw), change)
    if rules.dead_band:
        rows = change.between(before.value, smooth)
        sizes = np.linalg.norm(rows, axis=1)
        beyond = np.maximum(sizes - rules.dead_band, 0.0)
        rows *= np.divide(beyond, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)[:, np.newaxis]
        value = _moved(before.value, rows, change)
    else:
        value = smooth
    return Filtered(time, recent, raw, smooth, value)


def _middle(recent: Sequence[T], change: Change) -> T:
    """Return a sample each of whose parts is that nearest to the others; of two the older."""
    rows = np.array([change.between(recent[0], each) for each in recent])
    apart = np.linalg.norm(rows[:, np.newaxis] - rows, axis=-1).sum(axis=1)
    result: T = change.picked(recent, apart.argmin(axis=0))  # type: ignore[assignment]
    return result


def _moved(sample: T, rows: FloatArray, change: Change) -> T:
    result: T = change.moved(sample, rows)  # type: ignore[assignment]
    return result if rows.any() else sample


def _pose_between(one: RigidTransform, other: RigidTransform) -> FloatArray:
    axis, angle = (other @ one.inverse()).as_axis_angle()
    return np.array([other.translation - one.translation, angle * axis])


def _pose_moved(pose: RigidTransform, rows: FloatArray) -> RigidTransform:
    turn = RigidTransform.exp(np.append(np.zeros(3), rows[1]))
    rotation = turn.rotation @ pose.rotation
    return RigidTransform.from_rotation_translation(rotation, pose.translation + rows[0])


def _pose_picked(poses: Sequence[RigidTransform], parts: NDArray[np.intp]) -> RigidTransform:
    place, turn = (poses[k] for k in parts)
    return RigidTransform.from_rotation_translation(turn.rotation, place.translation)


POSE_CHANGE = Change(_pose_between, _pose_moved, _pose_picked)
"""Of poses: way [m], and rotation vector [rad], along the axes of their frame."""
JOINTS_CHANGE = Change(
    lambda one, other: (other - one)[:, np.newaxis],
    lambda sample, rows: sample + rows[:, 0],
    lambda samples, parts: np.array(samples)[parts, np.arange(len(parts))],
)
"""Of positions of joints (n,) [rad or m]."""
