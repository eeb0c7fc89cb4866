"""Which part of a target pose is wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from basis_ik.errors import BasisIkError
from basis_ik.kernels.aim import perpendicular
from basis_ik.solvers.prepared import PreparedChain

FloatArray = npt.NDArray[np.float64]
Triple = tuple[float, float, float]

MOST_KEPT = 64  # a box that changes on every call must not fill the memory


class WantedError(BasisIkError):
    """Something is wanted that makes no sense.

    Attributes:
        argument: Which argument.
        value: What was given.
    """

    def __init__(self, argument: str, value: object, wanted: str) -> None:
        super().__init__(f"{argument} must be {wanted}, got {value!r}")
        self.argument = argument
        self.value = value


@dataclass(frozen=True)
class Wanted:
    """What a solution has to satisfy; by default the whole pose.

    Attributes:
        position: Whether the tip's position counts.
        orientation: Whether its orientation counts.
        free_axis: An axis of the target, in the target's coordinates, about which the tip may turn
            freely: what a drill, a welding torch or a suction cup needs, and all that an arm of
            five joints can give.
        box: How far from the target the tip may be along each of the target's axes [m];
            infinite leaves the position along that axis free.
    """

    position: bool = True
    orientation: bool = True
    free_axis: Triple | None = None
    box: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not self.position and not self.orientation:
            raise WantedError("orientation", self.orientation, "wanted if position is not")
        if len(self.box) != 3 or not all(half >= 0.0 for half in self.box):
            raise WantedError("box", self.box, "three lengths, 0 or more")
        if self.free_axis is not None:
            if len(self.free_axis) != 3 or not 1e-6 < math.hypot(*self.free_axis) < math.inf:
                raise WantedError("free_axis", self.free_axis, "a direction")
            if not self.orientation:
                raise WantedError("free_axis", self.free_axis, "None if orientation is free")


def narrow(ready: PreparedChain, wanted: Wanted) -> PreparedChain:
    """Return the chain made ready for what is wanted of it, from memory after the first time."""
    kept = ready.narrowed.get(wanted)
    if kept is None:
        if len(ready.narrowed) >= MOST_KEPT:
            ready.narrowed.clear()
        kept = ready.narrowed[wanted] = _narrow(ready, wanted)
    return kept


def _narrow(ready: PreparedChain, wanted: Wanted) -> PreparedChain:
    full, position = ready.full.copy(), ready.position.copy()
    full[6:] = position[6:] = wanted.box
    if not wanted.position:
        full[:3] = position[:3] = 0.0
    if not wanted.orientation:
        full[3:6] = 0.0
    reach = ready.reach + math.hypot(*wanted.box) if wanted.position else math.inf
    if wanted.free_axis is None:
        return replace(ready, full=full, position=position, reach=reach)
    full[5] = 0.0
    turn = _frame_about(wanted.free_axis)
    exact, ends = ready.exact.copy(), ready.ends.copy()
    ends[1] = ends[1] @ turn
    exact[-1, :12] = ends[1].reshape(12)
    return replace(
        ready, full=full, position=position, reach=reach, exact=exact, ends=ends, target_T_goal=turn
    )


def _frame_about(axis: Triple) -> FloatArray:
    """Return a rotation (4, 4) with the axis as its third column."""
    frame = np.eye(4)
    z = np.array(axis) / math.hypot(*axis)
    x = np.empty(3)
    perpendicular(z, x)
    frame[:3, 0], frame[:3, 1], frame[:3, 2] = x, np.cross(z, x), z
    return frame
