"""How joints move when their tip moves with a twist: velocities and accelerations, nothing solved.

A twist is the velocity of the tip's origin [m/s] and the tip's angular velocity [rad/s], along the
axes of the root or of the tip itself.
"""

from __future__ import annotations

from math import sqrt

from basis_ik.kernels.chain import ChainArrays, FloatArray, IntArray, forward_and_jacobian
from basis_ik.kernels.jit import jit
from basis_ik.kernels.normal_equations import solve_symmetric_6

DAMPING = 1e-9  # squared [m or rad]: what moves the tip by less is no way to move it
INSTANT = 1e-4  # half the time over which a derivative is taken [s]


@jit
def _fill_normal(jacobian: FloatArray, normal: FloatArray) -> None:
    """Write J Jᵀ (6, 6), damped; the lower triangle."""
    for r in range(6):
        for c in range(r + 1):
            total = DAMPING if r == c else 0.0
            for k in range(jacobian.shape[1]):
                total += jacobian[r, k] * jacobian[c, k]
            normal[r, c] = total


@jit
def _fill_wanted(
    twist: FloatArray, rate: FloatArray, time: float, tip: FloatArray, in_tip: bool, b: FloatArray
) -> None:
    """Write twist + time rate (6,) along the root's axes."""
    for half in (0, 3):
        x = twist[half] + time * rate[half]
        y = twist[half + 1] + time * rate[half + 1]
        z = twist[half + 2] + time * rate[half + 2]
        for r in range(3):
            if in_tip:
                b[half + r] = tip[r, 0] * x + tip[r, 1] * y + tip[r, 2] * z
        if not in_tip:
            b[half], b[half + 1], b[half + 2] = x, y, z


@jit
def _speeds(
    chain: ChainArrays, twist: FloatArray, rate: FloatArray, time: float, in_tip: bool,
    frames: FloatArray, work: FloatArray, q: FloatArray, speeds: FloatArray,
) -> float:  # fmt: skip
    """Write the least joint velocities (n,) at q that make a twist; return which part is lost."""
    n = q.shape[0]
    tip, jacobian = work[:3, :4], work[3:9, :n]
    normal, b = work[9:15, :6], work[15, :6]
    forward_and_jacobian(chain, q, frames, tip, jacobian)
    _fill_normal(jacobian, normal)
    _fill_wanted(twist, rate, time, tip, in_tip, b)
    x0, x1, x2, x3, x4, x5 = solve_symmetric_6(
        normal[0, 0], normal[1, 0], normal[1, 1], normal[2, 0], normal[2, 1], normal[2, 2],
        normal[3, 0], normal[3, 1], normal[3, 2], normal[3, 3],
        normal[4, 0], normal[4, 1], normal[4, 2], normal[4, 3], normal[4, 4],
        normal[5, 0], normal[5, 1], normal[5, 2], normal[5, 3], normal[5, 4], normal[5, 5],
        b[0], b[1], b[2], b[3], b[4], b[5],
    )  # fmt: skip
    for k in range(n):
        speeds[k] = jacobian[0, k] * x0 + jacobian[1, k] * x1 + jacobian[2, k] * x2
        speeds[k] += jacobian[3, k] * x3 + jacobian[4, k] * x4 + jacobian[5, k] * x5
    wanted, lost = 0.0, 0.0
    for r in range(6):
        made = 0.0
        for k in range(n):
            made += jacobian[r, k] * speeds[k]
        wanted += b[r] * b[r]
        lost += (b[r] - made) ** 2
    return sqrt(lost / wanted) if wanted > 0.0 else 0.0


@jit
def states_on_line(
    origins: FloatArray,
    prismatic: IntArray,
    variables: IntArray,
    multipliers: FloatArray,
    offsets: FloatArray,
    tip: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    continuous: IntArray,
    twist: FloatArray,
    rate: FloatArray,
    in_tip: bool,
    frames: FloatArray,
    work: FloatArray,
    states: FloatArray,
) -> float:
    """Write how joints move whose tip moves with a twist.

    Of all velocities that come nearest to the twist they are the least. Accelerations are the
    velocities' derivative along the motion, by central differences: exact up to INSTANT squared.

    Args:
        origins: Of the chain, as all that is not named here: see `kernels.chain.ChainArrays`.
        prismatic: Likewise.
        variables: Likewise.
        multipliers: Likewise.
        offsets: Likewise.
        tip: Likewise.
        lower: Likewise.
        upper: Likewise.
        continuous: Likewise.
        twist: (6,) of the tip, linear first.
        rate: (6,) its derivative.
        in_tip: Whether both are along the axes of the tip, and turn with it; else of the root.
        frames: (m, 3, 4) work.
        work: (19, max(6, n)) work.
        states: (n, 3) positions, as given; velocities and accelerations, written here.

    Returns:
        Which part of the twist no velocities make, in [0, 1].
    """
    chain = ChainArrays(
        origins, prismatic, variables, multipliers, offsets, tip, lower, upper, continuous
    )
    n = states.shape[0]
    q, speeds, ahead = work[16, :n], work[17, :n], work[18, :n]
    q[:] = states[:, 0]
    lost = _speeds(chain, twist, rate, 0.0, in_tip, frames, work, q, speeds)
    states[:, 1] = speeds
    q[:] = states[:, 0] + INSTANT * states[:, 1]
    _speeds(chain, twist, rate, INSTANT, in_tip, frames, work, q, ahead)
    q[:] = states[:, 0] - INSTANT * states[:, 1]
    _speeds(chain, twist, rate, -INSTANT, in_tip, frames, work, q, speeds)
    for k in range(n):
        states[k, 2] = (ahead[k] - speeds[k]) / (2.0 * INSTANT)
    return lost
