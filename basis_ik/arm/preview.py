# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that is worked out and shown before anything moves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.clearance import Clearance
from basis_ik.arm.goals import Goal
from basis_ik.arm.pipeline import Job, Phase, Pipeline
from basis_ik.arm.target_input import Placed
from basis_ik.collision.collision_scene import Scene
from basis_ik.numerics.arrays import FloatArray
from basis_ik.solvers.pose.solve import Solution


class PreviewTuning(NamedTuple):
    """Tuning of the previews of motions."""

    step: float = 0.05  # [s], between two commands of a rehearsal, which needs only what it shows
    longest: float = 60.0  # [s], of a motion, which is not rehearsed farther
    retry_time: float = 0.25  # [s], until a target is rehearsed again, because something changes
    moved: float = 0.01  # [rad or m], by which a joint rests elsewhere than a rehearsal began
    lifetime: float = 60.0  # [s], after which a preview is too old to go


PREVIEW_TUNING = PreviewTuning()


class Rehearsal(NamedTuple):
    """What a motion would be."""

    goal: Goal
    """Its goal."""
    solution: Solution | None
    """The solution for it; None for goals that need none."""
    seed: FloatArray
    """Where the joints would go (n,) [rad or m]."""
    way: FloatArray
    """Their way, from where they rest (k, n)."""
    duration: float
    """How long it would take [s]; infinite if longer than `longest`."""
    hindrance: str
    """What would end it before the goal; empty if nothing does."""

    @property
    def reached(self) -> bool:
        """Whether the motion would reach the goal."""
        return not self.hindrance and (self.solution is None or self.solution.success)

    def __str__(self) -> str:
        """Return it in a few words."""
        duration = f"{self.duration:.1f} s" if self.duration < math.inf else "long"
        if self.solution is not None and not self.solution.success:
            return f"{duration}, {self.solution.reason}"
        return f"{duration}, {self.hindrance or 'reached'}"


def rehearse(
    pipeline: Pipeline, caps: SpeedCaps, scene: Scene | None, goal: Goal, start: FloatArray
) -> Rehearsal:
    """Return what the motion of an arm at rest would be.

    Args:
        pipeline: Makes its commands; it is used by this call alone, and so are the others.
        caps: The caps of the pipeline.
        scene: What the caps are to keep apart; None: nothing.
        goal: The goal.
        start: Where the arm rests (n,) [rad or m].
    """
    if scene is not None:
        caps.clearance = Clearance(scene)
    pipeline.set_goal(goal, start)
    while pipeline.waiting:
        pipeline.set_goal(goal, start)
    seed, way, duration = start + pipeline.remaining(start), [start], math.inf
    while PREVIEW_TUNING.step * len(way) <= PREVIEW_TUNING.longest:
        command = pipeline.step(start)
        if command is not None:
            way.append(command)
        if command is None or pipeline.phase is not Phase.MOVING or pipeline.obstacle is not None:
            duration = PREVIEW_TUNING.step * (len(way) - 1)
            break
    unsafe = pipeline.phase.value if pipeline.phase is Phase.UNSAFE else ""
    hindrance = unsafe or str(pipeline.obstacle or "")
    return Rehearsal(goal, pipeline.solution, seed, np.array(way), duration, hindrance)


class Preview:
    """The rehearsal of the motion to a target that waits for a go.

    It goes on elsewhere, and begins again when the target or what is around the arm has changed, or
    the arm rests elsewhere.

    Args:
        submit: Begins a rehearsal.

    Attributes:
        rehearsal: The newest one that has ended; None if there is none.
        ready: Its target, which may be older than the one that waits.
    """

    def __init__(self, submit: Callable[[Callable[[], Rehearsal]], Job[Rehearsal]]) -> None:
        self._submit = submit
        self.clear()

    def clear(self) -> None:
        """Forget the target."""
        self.rehearsal: Rehearsal | None = None
        self._job: Job[Rehearsal] | None = None
        self._asked: tuple[Placed, Goal, object] | None = None
        self._target: Placed | None = None
        self.ready: Placed | None = None
        self._since = self._asked_at = -math.inf

    def update(
        self,
        target: Placed,
        start: FloatArray,
        around: object,
        now: float,
        work: Callable[[Goal, FloatArray], Callable[[], Rehearsal]],
    ) -> None:
        """Rehearse the motion to a target, unless that is known.

        Args:
            target: The target.
            start: Where the arm rests (n,) [rad or m].
            around: What else the motion depends on.
            now: The loop's clock [s].
            work: Returns what rehearses the motion to a goal, from where the arm rests.
        """
        if self._job is not None and self._job.done():
            self.rehearsal, self._job = self._job.result(), None
            self.ready = None if self._asked is None else self._asked[0]
        if target is not self._target:
            self._target, self._since, self._asked_at = target, now, -math.inf
        asked = target, target.goal, around
        known = asked == self._asked and not self._has_moved(start)
        if self._job is None and not known and now >= self._asked_at + PREVIEW_TUNING.retry_time:
            self._asked, self._asked_at = asked, now
            self._job = self._submit(work(target.goal, start))

    def _has_moved(self, start: FloatArray) -> bool:
        """Return whether an arm that rests there (n,) does not where the rehearsal began."""
        return self.rehearsal is not None and bool(
            (np.abs(start - self.rehearsal.way[0]) > PREVIEW_TUNING.moved).any()
        )

    def why_not(self, target: Placed, start: FloatArray, now: float) -> str:
        """Return why not to go to a target as it is shown; empty if nothing is against it.

        Args:
            target: The target that waits.
            start: Where the arm rests (n,) [rad or m].
            now: The loop's clock [s].
        """
        if target is not self.ready:
            return "the preview is not ready yet: look at it, and call ~/go again"
        if now > self._since + PREVIEW_TUNING.lifetime:
            return f"the preview is older than {PREVIEW_TUNING.lifetime:g} s: send the target again"
        if self._has_moved(start):
            return "the arm has moved since the preview: look at it again, and call ~/go again"
        return ""
