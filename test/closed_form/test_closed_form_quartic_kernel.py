# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Roots of two harmonics, and pairs of angles."""

from math import pi

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.closed_form import closed_form_quartic_kernel as kernel

Equation = kernel.Equation
height_at, roots_of, solve_pair, turning_points = (
    from_python(f)
    for f in (kernel.height_at, kernel.roots_of, kernel.solve_pair, kernel.turning_points)
)
GRID = np.linspace(-pi, pi, 20_001)


def heights(wave, angles):
    c, a, b, d, e = wave
    return (
        c
        + a * np.cos(angles)
        + b * np.sin(angles)
        + d * np.cos(2 * angles)
        + e * np.sin(2 * angles)
    )


def roots(wave, error=1e-9, slack=1e-9, default=9.0):
    angles, errors = np.empty(4), np.empty(4)
    count, margin = roots_of(tuple(map(float, wave)), error, slack, default, angles, errors)
    return angles[:count], errors[:count], margin


def drawn(rng, kind):
    """Return a random wave; some have no first or second harmonic, or one in phase."""
    wave = rng.normal(size=5)
    wave[0] *= rng.choice([0.0, 0.3, 1.0])
    if kind == 1:
        wave[3:] *= rng.choice([0.0, 1e-14, 1e-9, 1e-3])
    elif kind == 2:
        wave[1:3] *= rng.choice([0.0, 1e-14, 1e-9, 1e-3])
    elif kind == 3:
        wave[rng.integers(1, 3)] = wave[rng.integers(3, 5)] = 0.0
    return wave


@pytest.mark.parametrize("kind", range(4))
def test_the_roots_are_the_changes_of_sign(kind):
    rng = np.random.default_rng(kind)
    for _ in range(sample(500)):
        wave = drawn(rng, kind)
        found, errors, _ = roots(wave)
        steep = np.abs(np.gradient(heights(wave, GRID), GRID)).max()
        assert np.abs(heights(wave, found)).max(initial=0.0) <= 1e-12 * (1.0 + steep)
        signs = heights(wave, GRID) > 0.0
        changes = GRID[:-1][signs[1:] != signs[:-1]]
        for angle in changes:
            off = np.abs(np.remainder(found - angle + pi, 2 * pi) - pi)
            assert off.min(initial=np.inf) < 1e-3
        assert len(changes) <= len(found) <= 4
        assert (errors >= 0.0).all()


@pytest.mark.parametrize("kind", range(4))
def test_turning_points_are_roots_of_the_slope(kind):
    rng = np.random.default_rng(10 + kind)
    for _ in range(sample(500)):
        wave = drawn(rng, kind)
        points = np.empty(5)
        count = turning_points(tuple(wave.tolist()), points)
        assert count in (2, 4)
        assert points[count] == points[0] + 2 * pi
        assert (np.diff(points[: count + 1]) >= 0.0).all()
        between = np.linspace(points[:count], points[1 : count + 1], 200)
        steps = np.diff(heights(wave, between), axis=0)
        size = np.abs(wave[1:]).sum()
        assert ((steps >= -1e-9 * size).all(axis=0) | (steps <= 1e-9 * size).all(axis=0)).all()


def test_the_margin_is_the_least_value_at_an_extremum():
    # cos 2θ − 0.9 turns round at 1, 0.1 above, and at −1.
    found, errors, margin = roots((-0.9, 0.0, 0.0, 1.0, 0.0), error=1e-3)
    assert len(found) == 4
    assert margin == pytest.approx(100.0)
    assert errors == pytest.approx(np.full(4, 1e-3 / (2.0 * np.sqrt(1.0 - 0.81))))
    found, _, margin = roots((-1.1, 0.0, 0.0, 1.0, 0.0), error=1e-3)
    assert len(found) == 0
    assert margin == pytest.approx(100.0)


def test_an_extremum_within_the_slack_is_a_root():
    wave = (-1.001, 0.0, 0.0, 1.0, 0.0)
    assert len(roots(wave)[0]) == 0
    found, errors, _ = roots(wave, slack=1e-2)
    assert np.sort(np.remainder(found + 0.1, 2 * pi)) == pytest.approx([0.1, pi + 0.1])
    assert (errors == np.inf).all()


def test_a_constant_wave_returns_the_default():
    assert roots((0.0, 0.0, 0.0, 0.0, 0.0))[0].tolist() == [9.0]
    assert roots((0.5, 0.0, 0.0, 0.0, 0.0))[0].tolist() == []
    assert roots((0.0, 0.0, 0.0, 0.0, 0.0))[2] == 0.0


def test_a_pair_of_angles_is_recovered_with_error_bounds():
    rng = np.random.default_rng(20)

    def at(plane, angle):
        return plane[0] + plane[1] * np.cos(angle) + plane[2] * np.sin(angle)

    for _ in range(sample(300)):
        planes = rng.normal(size=(4, 3))
        alpha, beta = rng.uniform(-pi, pi, 2)
        planes[0, 0] += at(planes[2], beta) - at(planes[0], alpha)
        planes[1, 0] += at(planes[3], beta) - at(planes[1], alpha)
        left, left2, right, right2 = (tuple(each.tolist()) for each in planes)
        pairs = np.empty((4, 4))
        one, other = Equation(left, right, 1e-6), Equation(left2, right2, 1e-6)
        count, margin = solve_pair(one, other, 1e-9, 0.0, pairs)
        off = np.abs(np.remainder(pairs[:count, :2] - [alpha, beta] + pi, 2 * pi) - pi)
        assert off.max(axis=1).min() < 1e-6 if margin > 1e3 else count > 0
        for a, b, _, _ in pairs[:count]:
            assert at(planes[0], a) == pytest.approx(at(planes[2], b), abs=1e-6)
            assert at(planes[1], a) == pytest.approx(at(planes[3], b), abs=1e-6)
        if margin > 1e3:
            moved, others = (left[0] + 1e-6, *left[1:]), np.empty((4, 4))
            solve_pair(one._replace(left=moved), other, 1e-9, 0.0, others)
            turned = np.abs(np.remainder(others - pairs + pi, 2 * pi) - pi)[:count]
            assert (turned[:, :2] <= 1.1 * pairs[:count, 2:]).all()
