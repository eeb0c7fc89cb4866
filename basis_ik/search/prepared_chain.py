# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A chain prepared for the searches, and the search as a method."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from basis_ik.closed_form.closed_form import ClosedForm, pack_exact_form
from basis_ik.closed_form.redundant_form import RedundantForm
from basis_ik.descent.pose_search_kernel import DESCENT_PATIENCE, NEAR_SEED, solve_pose
from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    LOWER,
    LOWER_UPPER,
    ORIGIN,
    PERIODIC,
    PRISMATIC,
    ROTATION_BOX,
    SCALE,
    START_LOWER,
    START_UPPER,
    UPPER,
    VARIABLE,
    WRX,
    WRZ,
    ChainFields,
    PackedChain,
)
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.safety_kernel import is_inside

ROTATION_WEIGHT = 0.3
"""Weight of one radian relative to one reach; 0.15 to 0.6 work alike (docs/algorithms.md)."""
ANGLE_ROUNDING = 1e-9  # [rad] of the product of a chain's rotations, with much to spare


class OutsideLimitsError(BasisIkError):
    """A search has ended outside the chain's limits: a bug in basis_ik, whatever the arguments.

    Attributes:
        positions: (n,) [rad or m].
    """

    def __init__(self, positions: FloatArray, limits: tuple[FloatArray, FloatArray]) -> None:
        super().__init__(
            f"a solution outside the joint limits was discarded: {positions.tolist()} is "
            f"not within {limits[0].tolist()} and {limits[1].tolist()}; please report this"
        )
        self.positions = positions


@dataclass(frozen=True, eq=False)
class PreparedChain:
    """A chain in the layout of the kernels, with all data that is computed once.

    The arrays are writable, because numba takes read-only arrays by a path four times slower. They
    are never handed out.
    """

    exact: FloatArray
    """(m + 1, 16), see `descent.tables_kernel`."""
    joints: FloatArray
    """(m, 12), see `reduce_joints`."""
    variables: FloatArray
    """(n, 8 + s), see `descent.tables_kernel`."""
    ends: FloatArray
    """(2, 3, 4) root_T_first_joint and last_joint_T_tip."""
    reach: float
    """Upper bound on the tip's distance from the first joint, rounding included [m]; may be
    infinite."""
    size: float
    """The chain's unit of length [m]: the sum of its lengths, or 1 where that is infinite or 0."""
    limits: tuple[FloatArray, FloatArray]
    """(n,) lower and (n,) upper limits of the chain as given, the same in every variant."""
    middle: FloatArray
    """(n,) `Chain.neutral`, writable."""
    weights: FloatArray
    """(12,) weights of everything that counts, see `descent.tables_kernel`."""
    position_weights: FloatArray
    """(12,) weights of the position alone."""
    target_T_goal: FloatArray | None = None
    """(4, 4) from the target to a frame with the free axis as z, if there is one."""
    closed: ClosedForm | None = None
    """Closed form for the part of the pose that counts, if there is one."""
    closed_position: ClosedForm | None = None
    """Closed form for the position alone, if there is one."""
    redundant: RedundantForm | None = None
    """Closed form of six joints of a redundant chain, if there is one."""

    narrowed: dict[object, PreparedChain] = field(init=False, default_factory=dict)
    """Variants for constraints and rays so far, see `search.pose_constraint.narrow`. A variant
    starts with none: what belongs to a chain with other limits must never be taken for this
    one's."""
    fields: ChainFields = field(init=False)
    """The chain as kernels take it, a plain tuple."""
    spare: list[FloatArray] = field(default_factory=list)
    """Work arrays not in use. Taking from and appending to a list is atomic in Python, so threads
    share it without a lock, and a control loop allocates once."""

    def __post_init__(self) -> None:
        fields = self.exact, self.joints, self.variables, self.ends, self.reach
        object.__setattr__(self, "fields", fields)

    @cached_property
    def exact_form(self) -> FloatArray | None:
        """Table that yields the nearest solution directly, if the closed form is exact."""
        if self.closed is None or not self.closed.exact:
            return None
        return pack_exact_form(
            self.closed.rows, self.weights, self.limits, self.variables, self.exact
        )

    @cached_property
    def of_position(self) -> PreparedChain:
        """The chain with a free orientation."""
        return replace(
            self, weights=self.position_weights, closed=self.closed_position, redundant=None
        )

    @property
    def packed(self) -> PackedChain:
        """The chain as kernels take it where 2 µs do not matter."""
        return PackedChain(*self.fields)

    def take_work(self) -> FloatArray:
        """Return a work array not in use; append it to `spare` afterwards."""
        try:
            return self.spare.pop()
        except IndexError:  # other threads have them all
            return self.new_work()

    def new_work(self) -> FloatArray:
        """Return a work array for the kernels."""
        return np.empty((2 * len(self.joints) + len(self.variables) + 3, 12))

    def search(
        self, weights: FloatArray, target: FloatArray, seed: FloatArray, q: FloatArray,
        tolerances: tuple[float, float], iterations: int, *,
        first: int = 0, last: int = 0, patience: int = DESCENT_PATIENCE, near: float = NEAR_SEED,
        work: FloatArray | None = None,
    ) -> tuple[int, int, int, float, float]:  # fmt: skip
        """Descend from the seed, then from further starts, until a descent arrives and is proven.

        Calls `descent.pose_search_kernel.solve_pose`.

        Args:
            weights: (12,) of what counts: `weights`, `position_weights`, or others like them.
            target: (4, 4) root_T_target.
            seed: (n,) [rad or m].
            q: (n,) result: the solution, or else the best of all descents [rad or m].
            tolerances: Of position [m] and orientation [rad].
            iterations: Steps allowed, all descents together.
            first: Number of the first start; 0 is the seed. Or GO_ON, with the `work` of the call
                that this one continues.
            last: Number of the last start.
            patience: Steps of a descent that may fail to make progress.
            near: A start with a smaller weighted squared error is not swept; infinite: none is.
            work: Workspace; None: an array not in use.

        Returns:
            REACHED; otherwise OUT_OF_REACH, or the status of the last descent (SPENT, STALLED);
            BAD_SEED or BAD_TARGET before any work. Steps; number of the last start; distance [m]
            and angle [rad] left at q.
        """
        memory = self.take_work() if work is None else work
        found = solve_pose(
            self.fields, (weights, target, tolerances[0], tolerances[1]), seed, q, memory,
            (iterations, patience, False), (first, last, near),
        )  # fmt: skip
        if work is None:
            self.spare.append(memory)
        return found

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Which variables (n,) have limits that exclude poses: less than a full turn."""
        low, high = self.variables[:, LOWER], self.variables[:, UPPER]
        matters = (self.variables[:, PERIODIC] == 0.0) | (high - low < 2.0 * np.pi)
        matters &= np.isfinite(low) | np.isfinite(high)
        return np.asarray(matters)

    @cached_property
    def unbounded(self) -> PreparedChain:
        """The chain without any of these limits."""
        return self.without_limits(self.bounded)

    def without_limits(self, lifted: NDArray[np.bool_]) -> PreparedChain:
        """Return the chain without own starts and without the limits of `lifted` variables (n,)."""
        variables = self.variables[:, :COLUMNS].copy()  # own starts were found for the limits
        half = np.where(variables[:, PERIODIC] != 0.0, np.pi, 2.0 * variables[:, SCALE])
        variables[lifted, LOWER], variables[lifted, UPPER] = -np.inf, np.inf
        variables[lifted, START_LOWER] = (self.middle - half)[lifted]
        variables[lifted, START_UPPER] = (self.middle + half)[lifted]
        joints = self.exact[:-1]
        slides = lifted[joints[:, VARIABLE].astype(int)] & (joints[:, PRISMATIC] != 0.0)
        return replace(self, variables=variables, reach=np.inf if slides.any() else self.reach)

    @cached_property
    def turning(self) -> tuple[FloatArray, FloatArray, float] | None:
        """What all joints turn the tip about; None if there is no joint that turns.

        The direction (3,) of the first axis in the root frame, the tip's orientation (3, 3) with
        all joints at 0, and how far the joints can turn the tip about any other direction [rad].
        Where axes a and b differ by an angle, so do rotations about them, by twice that at most:
        Rot(b, q) is S Rot(a, q) S⁻¹, with the rotation S that takes a to b.
        """
        rotation, axes = np.eye(3), []
        for row in self.exact:
            rotation = rotation @ row[ORIGIN].reshape(3, 4)[:, :3]
            axes.append(rotation[:, 2])
        turns = np.array(axes[:-1])[self.exact[:-1, PRISMATIC] == 0.0]
        if not len(turns):
            return None
        apart = np.arctan2(np.linalg.norm(np.cross(turns[0], turns), axis=1), abs(turns @ turns[0]))
        return turns[0], rotation, 2.0 * float(apart.sum())

    def cannot_turn_to(self, goal: FloatArray, off: float, tolerance: float) -> bool:
        """Return whether it is proven that no positions, within limits or not, turn the tip so.

        If no joint turns, every position leaves the same angle. If all axes are parallel, the tip
        keeps its angle to them, and the goal's has to be the same.

        Args:
            goal: (4, 4) root_T_goal.
            off: Angle that some positions leave [rad].
            tolerance: Of the orientation [rad].
        """
        if self.weights[WRX] == 0.0:
            return False
        if self.turning is None:
            return off > tolerance
        axis, tip, other = self.turning
        allowed = other + tolerance + math.hypot(*self.weights[ROTATION_BOX].tolist())
        if not allowed < math.pi:  # as for most arms, at once
            return False
        here, there = axis @ tip, axis @ goal[:3, :3]
        if self.weights[WRZ] == 0.0:  # only z counts
            left = abs(_angle_to_z(here) - _angle_to_z(there))
        else:
            left = math.atan2(float(np.linalg.norm(np.cross(here, there))), float(here @ there))
        return left > allowed + ANGLE_ROUNDING

    def bound_near(self, k: int, q: FloatArray) -> float:
        """Return that limit of a variable that is nearer to q (n,) [rad or m]."""
        lower, upper = self.variables[k, LOWER_UPPER].tolist()
        return float(lower if abs(q[k] - lower) < abs(q[k] - upper) else upper)

    def prove_inside(self, q: FloatArray) -> None:
        """Check positions q (n,) of a solution against the limits of the chain as given.

        A search uses the limits of its variant, so this check must not.

        Raises:
            OutsideLimitsError: A variable is outside, which is a bug in basis_ik.
        """
        lower, upper = self.limits
        if not is_inside(q, lower, upper):
            raise OutsideLimitsError(q, self.limits)

    def tip_position(self, q: FloatArray) -> FloatArray:
        """Return the tip's position (3,) in the root frame at q (n,) [m]."""
        frame = np.empty((3, 4))
        place_exactly(self.exact, q, frame)
        return frame[:, 3]


def _angle_to_z(direction: FloatArray) -> float:
    x, y, z = direction.tolist()
    return math.atan2(math.hypot(x, y), z)
