# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tables that the kernels of a search share: the content of each row and column.

A chain has m joints and n variables; a mimic joint shares the variable of the joint it follows. All
tables are float64, so each kernel is compiled for one type. The column numbers are constants to the
compiler.
"""

from __future__ import annotations

from typing import NamedTuple

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.normal_equations_kernel import Six as Six
from basis_ik.transforms.rigid_kernel import Nine as Nine

Triple = tuple[float, float, float]
Frame = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]  # fmt: skip
"""A frame (3, 4) by rows, in registers."""

# Frames (3, 4) by rows: the rotation, and the position in the last column.
R00, R01, R02, P0, R10, R11, R12, P1, R20, R21, R22, P2 = range(12)

# `exact` (m + 1, 16): the chain as given. A row for each joint, with its origin, a frame, in
# columns 0 to 11; the last row is the tip's.
PRISMATIC = 12  # not 0: the joint slides along its z
MULTIPLIER, OFFSET = 13, 14  # angle [rad] or length [m] = MULTIPLIER q + OFFSET
VARIABLE = 15  # number of the variable q
ORIGIN = slice(0, 12)

# `joints` (m, 12): the chain reduced, see `prepare.reduce_joints`.
TURN, TURN_OFFSET = 0, 1  # angle [rad] = TURN q + TURN_OFFSET
SLIDE, SLIDE_OFFSET = 2, 3  # length [m] = SLIDE q + SLIDE_OFFSET
TWIST_COSINE, TWIST_SINE = 4, 5  # of the constant rotation about x to the next axis
LINK_X, LINK_Y, LINK_Z = 6, 7, 8  # the constant translation to the next axis [m]
DRIVER = 9  # number of the variable q
IS_FIRST = 10  # not 0: no joint before it has the same variable
IS_ONLY = 11  # not 0: no other joint has the same variable

# `variables` (n, 8 + s): limits, the range of restarts, and the chain's own s starts.
LOWER, UPPER = 0, 1  # limits [rad or m]
SCALE = 2  # 1 [rad], or for a slide the chain's unit of length [m]
START_LOWER, START_UPPER = 3, 4  # range over which further starts are spread [rad or m]
PERIODIC = 5  # not 0: a full turn leaves the pose unchanged
GOLDEN_STEP = 6  # step of the sequence of further starts
COLUMNS = 8  # number of columns before the chain's own starts
LOWER_UPPER = slice(0, 2)

# `weights` (12,): weights and deadbands of the error, along the target's axes and about them.
WX, WY, WZ = 0, 1, 2  # of the position [1/m]; all above 0, or all 0: the position is free
WRX, WRY, WRZ = 3, 4, 5  # of the rotation [1/rad]; all 0: free; only WRZ 0: z is a free axis
BOX_X, BOX_Y, BOX_Z = 6, 7, 8  # deadband of the position, ± [m]; may be infinite
BOX_RX, BOX_RY, BOX_RZ = 9, 10, 11  # deadband of the rotation vector, ± [rad]; may be infinite
POSITION, ROTATION, BOX, ROTATION_BOX = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)

# `work` (n + 2 m + 3, 12): workspace. Its first n rows belong to the variables:
JX, JY, JZ, JRX, JRY, JRZ = range(6)  # Jacobian of the residual by the scaled variable
STEP, BEFORE = 6, 7  # the scaled step, and the variable before it
BEST = 8  # the variable at the least error so far
BOUND_LOWER, BOUND_UPPER = 9, 10  # bounds of the search on the variable
UNFINISHED = 11  # the variable when the steps of a descent were used up
START = 11  # the variable at the start of a tracking step or a pass
GRADIENT, HELD = 0, 8  # Newton's method: half the gradient; not 0: held at a bound
CENTRING = 7  # tracking: the secondary task in the null space
TOWARDS, ASIDE = 0, 1  # look-at: both rows of the ray's Jacobian
BEST_SCOUT, BEFORE_PULL, PULL = 4, 4, 5
# The next m rows belong to the joints: a point on the axis, and its direction.
POINT_X, POINT_Y, POINT_Z, AXIS_X, AXIS_Y, AXIS_Z = range(6)
MOTION_X, MOTION_Y, MOTION_Z = 6, 7, 8  # Newton's method: velocity of the tip
SPIN_X, SPIN_Y, SPIN_Z = 9, 10, 11  # its angular velocity
RATE_X, RATE_Y, RATE_Z = 0, 1, 2  # derivative of the rotation's residual
# Row n + m is the frame target_T_first_joint. Row n + m + 1 is workspace for a frame, or the
# derivative (3, 3) of the rotation's residual by an angular velocity.
D00, D01, D02, D10, D11, D12, D20, D21, D22 = range(9)
# The next m rows belong to the FABRIK sweep: moments of all points beyond a joint.
M00, M01, M02, M10, M11, M12, M20, M21, M22, M0, M1, M2 = range(12)
# The last row is the state of a search that runs in slices.
DESCENT_LEAST, DESCENT_STALLS = 0, 1
SEARCH_START, SEARCH_LEAST, SEARCH_PHASE = 2, 3, 4

# Figures (k, 5) of a batch.
IS_REACHED, STEPS, LAST_START, DISTANCE, ANGLE = range(5)


# Passing a named tuple from Python costs 2 µs, half a solve; a plain tuple costs no more than its
# fields. Kernels that Python calls in a control loop therefore take plain tuples, and name them.
ChainFields = tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]
"""The fields of a `PackedChain`."""
GoalFields = tuple[FloatArray, FloatArray, float, float]
"""The fields of a `PoseGoal`."""


class PackedChain(NamedTuple):
    """A chain in the layout of the kernels."""

    exact: FloatArray
    """(m + 1, 16)."""
    joints: FloatArray
    """(m, 12)."""
    variables: FloatArray
    """(n, 8 + s)."""
    ends: FloatArray
    """(2, 3, 4): root_T_first_joint, last_joint_T_tip."""
    reach: float
    """Upper bound on the tip's distance from the first joint [m]."""


class PoseGoal(NamedTuple):
    """The goal of a search."""

    weights: FloatArray
    """(12,)."""
    target: FloatArray
    """(4, 4) root_T_target."""
    position_tolerance: float
    """[m]."""
    rotation_tolerance: float
    """[rad]."""


class PoseGoals(NamedTuple):
    """The goals and seeds of a batch."""

    weights: FloatArray
    """(12,)."""
    targets: FloatArray
    """(k, 4, 4) root_T_target."""
    seeds: FloatArray
    """(k, n)."""
    position_tolerance: float
    """[m]."""
    rotation_tolerance: float
    """[rad]."""


class Effort(NamedTuple):
    """The budget of a descent, or of all descents of a search together."""

    iterations: int
    """Steps allowed."""
    patience: int
    """Number of steps of a descent that may fail to lower the squared error by 5 %."""
    careful: bool
    """Whether a step that raises the error is taken back (Levenberg-Marquardt). It is slower, but
    converges to the nearest pose if the target cannot be reached."""
