# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trigonometric polynomials of degree twelve: values, extrema, roots."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.numerics.jit import helper

HARMONICS = 12
# Rows of a series (3, 16): the coefficients of cos kθ and sin kθ, and their amplitude.
COSINES, SINES, AMPLITUDES = range(3)
TAYLOR_TERMS = 10
LEAST_HALF_WIDTH = 1e-6  # [rad]; within such an interval a series changes by rounding only


@helper
def series_at(series: FloatArray, angle: float) -> tuple[float, float, float]:
    """Return the value of a series and of its first two derivatives at an angle [rad]."""
    turn_c, turn_s, c, s = cos(angle), sin(angle), 1.0, 0.0
    value, slope, bend = 0.0, 0.0, 0.0
    for k in range(HARMONICS + 1):
        part = series[COSINES, k] * c + series[SINES, k] * s
        value += part
        slope += k * (series[SINES, k] * c - series[COSINES, k] * s)
        bend -= k * k * part
        c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
    return value, slope, bend


@helper
def root_of_series(series: FloatArray, low: float, high: float, derivative: int) -> float:
    """Return the root of a series, or of its derivative, between two angles [rad].

    By Newton's method, safeguarded by bisection.
    """
    at_high = series_at(series, high)
    rises, x = (at_high[1] if derivative == 1 else at_high[0]) > 0.0, 0.5 * (low + high)
    for _ in range(100):
        value, slope, bend = series_at(series, x)
        height, steepness, last = value, slope, x
        if derivative == 1:
            height, steepness = slope, bend
        if (height > 0.0) == rises:
            high = x
        else:
            low = x
        x = 0.5 * (low + high)
        if steepness != 0.0 and low <= last - height / steepness <= high:
            x = last - height / steepness
        if abs(x - last) <= 1e-15:
            break
    return x


@helper
def expand_slope(series: FloatArray, angle: float, terms: FloatArray) -> None:
    """Write the Taylor coefficients (10,) of a series' derivative at an angle [rad]."""
    turn_c, turn_s, c, s = cos(angle), sin(angle), 1.0, 0.0
    for j in range(TAYLOR_TERMS):
        terms[j] = 0.0
    for k in range(HARMONICS + 1):
        even = -k * k * (series[COSINES, k] * c + series[SINES, k] * s)
        odd, weight = k * (series[SINES, k] * c - series[COSINES, k] * s), 1.0
        for j in range(0, TAYLOR_TERMS, 2):
            terms[j] += weight * odd
            terms[j + 1] += weight * even / (j + 1)
            weight *= -k * k / ((j + 1.0) * (j + 2.0))
        c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s


@helper
def remainder_of(series: FloatArray) -> float:
    """Return the factor of |x|¹⁰ that bounds the remainder of `expand_slope`."""
    rest = 0.0
    for k in range(HARMONICS + 1):
        part = k * series[AMPLITUDES, k]
        for j in range(TAYLOR_TERMS):
            part *= k / (j + 1.0)
        rest += part
    return rest


@helper
def may_turn_twice(terms: FloatArray, rest: float, half: float) -> bool:
    """Return whether a derivative could have two roots within `half` of the expansion [rad]."""
    value, steepness, power = (
        rest * half**TAYLOR_TERMS,
        rest * TAYLOR_TERMS * half ** (TAYLOR_TERMS - 1),
        1.0,
    )
    for j in range(1, TAYLOR_TERMS):
        if j > 1:
            steepness += j * abs(terms[j]) * power
        power *= half
        value += abs(terms[j]) * power
    return bool(abs(terms[0]) <= value and abs(terms[1]) <= steepness)


@helper
def series_turning_points(series: FloatArray, points: FloatArray) -> int:
    """Write the angles of a series' extrema in increasing order, and the first once more [rad].

    There are at most 24; rounding may add more. On each interval the derivative is expanded about
    the middle. If it may have two roots there, the interval is halved.

    Returns:
        Number of extrema; 0 if `points` is too short for them.
    """
    terms, rest = np.empty(TAYLOR_TERMS), remainder_of(series)
    low, half, number = 0.0, 0.5 * pi / HARMONICS, 0
    before = series_at(series, low)[1]
    while low < 2.0 * pi:
        half = min(half, 0.5 * (2.0 * pi - low))
        expand_slope(series, low + half, terms)
        if half > LEAST_HALF_WIDTH and may_turn_twice(terms, rest, half):
            half *= 0.5
            continue
        high = low + 2.0 * half
        after = series_at(series, high)[1]
        if (before > 0.0) != (after > 0.0):
            if number + 1 == points.shape[0]:
                return 0
            points[number] = root_of_series(series, low, high, 1)
            number += 1
        low, before, half = high, after, 2.0 * half
    points[number] = points[0] + 2.0 * pi
    return number
