# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The tables that kernels of a search share: what each row and column holds.

A chain has m joints and n variables; joints that mimic each other share a variable. All tables are
float64, so that a kernel has one type for each. The columns are constants to the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.normal_equations_kernel import Six as Six

Triple = tuple[float, float, float]
Frame = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]  # fmt: skip
"""The numbers of a frame (3, 4) by rows, in registers."""
Nine = tuple[float, float, float, float, float, float, float, float, float]
"""The numbers of a matrix (3, 3) by rows."""

# Frames (3, 4), written by rows: the rotation, and the place in the last column.
R00, R01, R02, P0, R10, R11, R12, P1, R20, R21, R22, P2 = range(12)

# `exact` (m + 1, 16): the chain as it was given. Each joint's origin, a frame in columns 0 to 11,
# and how it moves; the last row is the tip's.
PRISMATIC = 12  # not 0: it slides along its z
MULTIPLIER, OFFSET = 13, 14  # its angle [rad] or length [m] by its variable
VARIABLE = 15  # number of that variable
ORIGIN = slice(0, 12)

# `joints` (m, 12): the chain reduced, see `prepare.reduce_joints`.
TURN, TURN_OFFSET = 0, 1  # its angle [rad] by its variable
SLIDE, SLIDE_OFFSET = 2, 3  # its length [m] by its variable
TWIST_COSINE, TWIST_SINE = 4, 5  # of the constant turn about x to the next axis
LINK_X, LINK_Y, LINK_Z = 6, 7, 8  # the constant shift to the next axis [m]
DRIVER = 9  # number of the variable
IS_FIRST = 10  # not 0: no joint before it has the same variable
IS_ONLY = 11  # not 0: no other joint has the same variable

# `variables` (n, 8 + s): limits, fresh starts, and s starts that suit the chain.
LOWER, UPPER = 0, 1  # limits [rad or m]
SCALE = 2  # 1 rad, or for a slide the chain's unit of length [m]
START_LOWER, START_UPPER = 3, 4  # between which fresh starts are spread [rad or m]
PERIODIC = 5  # not 0: a full turn changes nothing
GOLDEN_STEP = 6  # of the sequence by which fresh starts are spread
COLUMNS = 8  # before the chain's own starts
LOWER_UPPER = slice(0, 2)

# `weights` (12,): what counts of the error, along the target's axes and about them.
WX, WY, WZ = 0, 1, 2  # of the position [1/m]; all above 0, or all 0: it is free
WRX, WRY, WRZ = 3, 4, 5  # of the rotation [1/rad]; all 0: it is free; z alone 0: a free axis
BOX_X, BOX_Y, BOX_Z = 6, 7, 8  # deadband of the position [m], maybe infinite
BOX_RX, BOX_RY, BOX_RZ = 9, 10, 11  # deadband of the rotation vector [rad], maybe infinite
POSITION, ROTATION, BOX, ROTATION_BOX = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)

# `work` (n + 2 m + 3, 12), what kernels work in. The first n rows are the variables'.
JX, JY, JZ, JRX, JRY, JRZ = range(6)  # the residual's Jacobian, by the scaled variable
STEP, BEFORE = 6, 7  # the step, scaled, and where the variable was before it
BEST = 8  # where the least error so far was
BOUND_LOWER, BOUND_UPPER = 9, 10  # between which the search may move it
UNFINISHED = 11  # where a descent stood when its steps were used up
START = 11  # where a tracking step or a pass starts
GRADIENT, HELD = 0, 8  # of Newton's method: half the gradient; not 0: it stands at its bound
CENTRING = 7  # of tracking: what pulls the self-motion
TOWARDS, ASIDE = 0, 1  # of a ray: both rows of its Jacobian
BEST_SCOUT, BEFORE_PULL, PULL = 4, 4, 5
# Then the joints' m rows: a point of the axis, and its direction.
POINT_X, POINT_Y, POINT_Z, AXIS_X, AXIS_Y, AXIS_Z = range(6)
MOTION_X, MOTION_Y, MOTION_Z = 6, 7, 8  # of Newton's method: how the joint moves the tip
SPIN_X, SPIN_Y, SPIN_Z = 9, 10, 11  # and turns it
RATE_X, RATE_Y, RATE_Z = 0, 1, 2  # and changes the rotation's residual
# Row n + m is the frame target_T_first_joint; row n + m + 1 a frame to work in, or how the
# rotation's residual changes with an angular velocity, (3, 3) by rows.
D00, D01, D02, D10, D11, D12, D20, D21, D22 = range(9)
# Then m rows of the FABRIK sweep: moments of all points beyond a joint.
M00, M01, M02, M10, M11, M12, M20, M21, M22, M0, M1, M2 = range(12)
# In the last row a search in slices keeps where it stands.
DESCENT_LEAST, DESCENT_STALLS = 0, 1
SEARCH_START, SEARCH_LEAST, SEARCH_PHASE = 2, 3, 4

# Figures (k, 5) of a batch.
IS_REACHED, STEPS, LAST_START, DISTANCE, ANGLE = range(5)


# A named tuple costs 2 µs on the way in from Python, half a solve; a plain one no more than its
# fields one by one. Kernels that Python calls in a control loop take plain tuples, and name them.
ChainFields = tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]
"""The fields of a `PackedChain`."""
GoalFields = tuple[FloatArray, FloatArray, float, float]
"""The fields of a `PoseGoal`."""


class PackedChain(NamedTuple):
    """A chain as kernels take it."""

    exact: FloatArray
    """(m + 1, 16)."""
    joints: FloatArray
    """(m, 12)."""
    variables: FloatArray
    """(n, 8 + s)."""
    ends: FloatArray
    """(2, 3, 4): root_T_first_joint, last_joint_T_tip."""
    reach: float
    """No tip is farther than this from the first joint [m]."""


class PoseGoal(NamedTuple):
    """What a search is to reach."""

    weights: FloatArray
    """(12,)."""
    target: FloatArray
    """(4, 4) root_T_target."""
    position_tolerance: float
    """[m]."""
    rotation_tolerance: float
    """[rad]."""


class PoseGoals(NamedTuple):
    """What the searches of a batch are to reach, and where they start."""

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
    """How long a descent, or all descents of a search together, may go on."""

    iterations: int
    """Steps allowed."""
    patience: int
    """How many steps of a descent may fail to lower the squared error by 5 %."""
    careful: bool
    """Whether each step that does not descend is taken back (Levenberg-Marquardt). It is slower,
    but settles on the nearest pose where the target cannot be reached."""
