"""The scalar pieces of a descent: sine and cosine, and the error of a pose."""

from __future__ import annotations

from math import sqrt

from basis_ik.kernels.jit import inlined


@inlined
def sine_cosine(x: float) -> tuple[float, float]:
    """Return sin x and cos x within 1e-15 for |x| < 1e5.

    Half the cost of two library calls, since both share one range reduction (Cody and Waite) and
    branchless polynomials (the minimax coefficients of fdlibm's k_sin and k_cos).
    """
    turns = (x * 0.6366197723675814 + 6755399441055744.0) - 6755399441055744.0
    r = (x - turns * 1.5707963267341256) - turns * 6.077100506506192e-11
    w = r * r
    s = 2.75573137070700676789e-06 + w * (
        -2.50507602534068634195e-08 + w * 1.58969099521155010221e-10
    )
    s = -1.66666666666666324348e-01 + w * (
        8.33333333332248946124e-03 + w * (-1.98412698298579493134e-04 + w * s)
    )
    s = r + r * w * s
    c = -2.75573143513906633035e-07 + w * (
        2.08757232129817482790e-09 + w * -1.13596475577881948265e-11
    )
    c = 4.16666666666666019037e-02 + w * (
        -1.38888888888741095749e-03 + w * (2.48015872894767294178e-05 + w * c)
    )
    c = 1.0 - 0.5 * w + w * w * c
    quadrant = int(turns) & 3
    if quadrant & 1:
        s, c = c, s
    return (-s if quadrant & 2 else s), (-c if (quadrant + 1) & 2 else c)


@inlined
def rotation_error(
    r00: float, r01: float, r02: float,
    r10: float, r11: float, r12: float,
    r20: float, r21: float, r22: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return 2 sin(θ/2) times the axis that undoes a rotation: the log without its arctangent.

    It grows monotonically up to half a turn and agrees with the rotation vector to second order.
    """
    four = 1.0 + r00 + r11 + r22  # 4 cos²(θ/2)
    x, y, z = r12 - r21, r20 - r02, r01 - r10
    if four > 1e-4:
        f = 1.0 / sqrt(four)
        return x * f, y * f, z * f
    # Near half a turn the skew part vanishes; the axis is the longest column of R + I.
    a, b, c = 1.0 + r00, 0.5 * (r10 + r01), 0.5 * (r20 + r02)
    if r11 >= r00 and r11 >= r22:
        a, b, c = 0.5 * (r10 + r01), 1.0 + r11, 0.5 * (r21 + r12)
    elif r22 >= r00:
        a, b, c = 0.5 * (r20 + r02), 0.5 * (r21 + r12), 1.0 + r22
    f = sqrt((4.0 - four) / (a * a + b * b + c * c))
    if a * x + b * y + c * z < 0.0:
        f = -f
    return a * f, b * f, c * f


@inlined
def axis_error(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return 2 sin(θ/2) times the axis that turns the direction (x, y, z) onto z."""
    if z < -0.9999999:  # antiparallel: any axis across will do
        return 2.0, 0.0, 0.0
    f = sqrt(2.0 / (1.0 + z))
    return y * f, -x * f, 0.0


@inlined
def beyond(x: float, half: float) -> float:
    """Return how far x lies outside the interval from -half to half, with its sign."""
    return x - min(max(x, -half), half)
