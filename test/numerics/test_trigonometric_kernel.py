# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trigonometric polynomials: derivatives, extrema, zeros."""

from itertools import pairwise
from math import pi

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.numerics import trigonometric_kernel as kernel

root_of_series, series_at, series_turning_points = (
    from_python(f) for f in (kernel.root_of_series, kernel.series_at, kernel.series_turning_points)
)


def series_with(rng, zeros):
    """Return a series with given zeros, and other, complex ones."""
    angles = np.linspace(0.0, 2 * pi, 32, endpoint=False)
    values = np.ones(32)
    for zero in zeros:
        values *= np.sin(0.5 * (angles - zero))
    for _ in range(12 - len(zeros) // 2):
        values *= rng.uniform(1.05, 3.0) + np.cos(angles - rng.uniform(-pi, pi))
    series = np.empty((3, 16))
    for k in range(16):
        weight = (2.0 if k else 1.0) / 32
        series[:2, k] = weight * (np.stack([np.cos(k * angles), np.sin(k * angles)]) @ values)
    series[2] = np.hypot(*series[:2])
    return series


def test_series_at_returns_exact_derivatives():
    rng = np.random.default_rng(3)
    series = series_with(rng, [0.3, 1.0])
    for angle in rng.uniform(0.0, 2 * pi, 20):
        value, slope, bend = series_at(series, angle)
        after, before = series_at(series, angle + 1e-6), series_at(series, angle - 1e-6)
        size = series[2].sum()
        assert value == pytest.approx(0.5 * (after[0] + before[0]), abs=1e-9 * size)
        assert slope == pytest.approx((after[0] - before[0]) / 2e-6, abs=1e-7 * size)
        assert bend == pytest.approx((after[1] - before[1]) / 2e-6, abs=1e-6 * size)


def test_all_zeros_are_between_turning_points():
    rng = np.random.default_rng(4)
    for _ in range(sample(100)):
        zeros = np.sort(rng.uniform(0.0, 2 * pi, 2 * rng.integers(0, 6)))
        if len(zeros) and np.diff(zeros, append=zeros[0] + 2 * pi).min() < 0.1:
            continue
        series, points = series_with(rng, zeros), np.empty(25)
        count = series_turning_points(series, points)
        assert count >= max(2, len(zeros))
        assert points[count] == points[0] + 2 * pi
        assert (np.diff(points[: count + 1]) > 0.0).all()
        found = []
        for low, high in pairwise(points[: count + 1]):
            ends = series_at(series, low)[0], series_at(series, high)[0]
            if (ends[0] > 0.0) != (ends[1] > 0.0):
                found.append(root_of_series(series, low, high, 0))
            between = [series_at(series, x)[0] for x in np.linspace(low, high, 20)]
            steps = np.diff(between)
            assert (steps >= -1e-12).all() or (steps <= 1e-12).all()
        assert np.sort(np.remainder(found, 2 * pi)) == pytest.approx(zeros, abs=1e-6)


def test_too_many_turning_points_return_none():
    series = series_with(np.random.default_rng(6), np.arange(0.0, 6.0, 1.0))
    assert series_turning_points(series, np.empty(7)) == 6
    assert series_turning_points(series, np.empty(6)) == 0


def test_turning_points_of_small_values_are_found():
    """Down to a billionth of the series' size."""
    series = series_with(np.random.default_rng(5), 1.0 + np.arange(0.0, 0.8, 0.1))
    points = np.empty(25)
    count = series_turning_points(series, points)
    inside = points[:count][(points[:count] > 1.0) & (points[:count] < 1.7)]
    assert len(inside) == 7
    least = max(abs(series_at(series, x)[0]) for x in inside)
    assert least < 1e-7 * series[2].sum()
