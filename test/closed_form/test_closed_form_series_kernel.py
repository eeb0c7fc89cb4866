# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The product of the residuals, its series, and its sensitivity to the target."""

from math import pi

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.closed_form import closed_form_series_kernel as kernel
from basis_ik.numerics import trigonometric_kernel

(
    approach_roots, elbow_at, fill_series, find_elbows, residual_of, nearest_elbow, product_at,
    ratio, clearance_at, sensitivity, remainder_at,
) = (
    from_python(getattr(kernel, name))
    for name in (
        "approach_roots", "elbow_at", "fill_series", "find_elbows", "residual_of", "nearest_elbow",
        "product_at", "ratio", "clearance_at", "sensitivity", "remainder_at",
    )
)  # fmt: skip
series_at = from_python(trigonometric_kernel.series_at)


def unit(rng):
    v = rng.normal(size=3)
    return tuple((v / np.linalg.norm(v)).tolist())


def drawn(rng):
    """Return a random arm, and angles of its first four joints that reach its goal."""
    h = [unit(rng) for _ in range(6)]
    a = [tuple(rng.uniform(-0.3, 0.3, 3).tolist()) for _ in range(4)]
    angles = rng.uniform(-pi, pi, 5)
    p, h6_goal = np.zeros(3), turn(h[4], angles[4]) @ h[5]
    for axis, offset, angle in reversed(list(zip(h[:4], a, angles, strict=False))):
        p, h6_goal = turn(axis, angle) @ (np.array(offset) + p), turn(axis, angle) @ h6_goal
    ends = tuple(p.tolist()), tuple(h6_goal.tolist())
    return kernel.MeetingArm(*h[:5], *a, *ends, float(np.dot(h[4], h[5])), 2.0), angles


def turn(axis, angle):
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * across @ across


def workspace():
    return np.empty((5, 4)), np.array([complex(0.4, 0.9) ** k for k in range(4)])


def residuals(arm, angle):
    """Return the residuals of all four elbows, sorted."""
    table, roots = workspace()
    remainder = remainder_at(arm, angle)
    square, _ = find_elbows(arm, remainder, table, roots)
    elbows = [elbow_at(arm, remainder, table, square, root) for root in roots]
    return np.sort_complex([ratio(residual_of(arm, elbow), elbow.scale) for elbow in elbows])


def test_ratio_divides_complex_numbers_and_is_infinite_by_zero():
    assert abs(ratio(3.0 + 1.0j, 0.0j)) == np.inf
    assert ratio(3.0 + 1.0j, 1.0 - 2.0j) == pytest.approx((3.0 + 1.0j) / (1.0 - 2.0j))


def test_approach_roots_finds_all_roots_of_a_quartic():
    rng = np.random.default_rng(0)
    for _ in range(sample(300)):
        k2, k1 = rng.normal(size=2) @ [1, 1j], rng.normal(size=2) @ [1, 1j]
        k0, square = rng.normal(), rng.uniform(-2.0, 2.0)
        _, roots = workspace()
        approach_roots(complex(k2), complex(k1), float(k0), float(square), roots)
        given = np.roots([k2, k1, k0, np.conj(k1) * square, np.conj(k2) * square**2])
        for root in given:
            assert np.abs(roots - root).min() < 1e-6


def test_one_elbow_recovers_the_angles_of_the_target():
    rng = np.random.default_rng(1)
    for _ in range(sample(100)):
        arm, angles = drawn(rng)
        table, roots = workspace()
        remainder = remainder_at(arm, angles[0])
        residual, step, elbow = nearest_elbow(arm, remainder, table, roots)
        assert residual < 1e-9
        assert abs(step) < 1e-6
        cosines = np.cos(angles[[1, 3]]), np.sin(angles[[1, 3]])
        assert np.abs([elbow.c2, elbow.c4] - cosines[0]).max() < 1e-6
        assert np.abs([elbow.s2, elbow.s4] - cosines[1]).max() < 1e-6


def test_the_product_has_twelve_harmonics():
    rng = np.random.default_rng(2)
    for _ in range(sample(40)):
        arm, _ = drawn(rng)
        table, roots = workspace()
        series = np.empty((3, 16))
        noise = fill_series(arm, table, roots, series)
        largest = series[2].max()
        assert noise < 1e-8 * largest
        assert series[2, 13:].max() <= 1e-9 * largest < series[2, 12] * 1e9
        for angle in rng.uniform(0.0, 2 * pi, 5):
            value = series_at(series, angle)[0]
            assert value == pytest.approx(product_at(arm, angle, table, roots), abs=1e-8 * largest)


def test_an_arm_with_product_zero_is_detected():
    """The intersection is on axis 4, which therefore does not move it."""
    arm, _ = drawn(np.random.default_rng(5))
    table, roots = workspace()
    noise = fill_series(arm._replace(a4=(0.0, 0.0, 0.0)), table, roots, np.empty((3, 16)))
    assert noise == np.inf


def test_residuals_have_the_stated_sensitivity():
    rng = np.random.default_rng(6)
    for _ in range(sample(60)):
        arm, angles = drawn(rng)
        table, roots = workspace()
        angle = angles[0] + 0.1
        remainder = remainder_at(arm, angle)
        square, _ = find_elbows(arm, remainder, table, roots)
        elbows = [elbow_at(arm, remainder, table, square, root) for root in roots]
        known = [sensitivity(arm, remainder, elbow) for elbow in elbows]
        here = [ratio(residual_of(arm, elbow), elbow.scale) for elbow in elbows]
        after, before = residuals(arm, angle + 1e-6), residuals(arm, angle - 1e-6)
        shift = 1e-7 * rng.uniform(-1, 1, 3)
        moved = residuals(arm._replace(p=tuple((np.array(arm.p) + shift).tolist())), angle)
        for residual, (slope, amplification) in zip(here, known, strict=True):
            ahead = after[np.abs(after - residual - 1e-6 * slope).argmin()]
            behind = before[np.abs(before - residual + 1e-6 * slope).argmin()]
            if (
                amplification < 1e3
                and np.abs(np.array(here) - residual)[np.array(here) != residual].min() > 0.01
            ):
                assert (ahead - behind) / 2e-6 == pytest.approx(slope, rel=1e-3, abs=1e-3)
                off = np.abs(moved - residual).min()
                assert off <= 1.1 * amplification * np.linalg.norm(shift) + 1e-9


def test_clearance_is_that_of_the_nearest_elbow():
    rng = np.random.default_rng(7)
    arm, angles = drawn(rng)
    table, roots = workspace()
    assert clearance_at(arm, angles[0], table, roots) < 1e-9
    assert clearance_at(arm, angles[0] + 0.3, table, roots) > 1e-6
