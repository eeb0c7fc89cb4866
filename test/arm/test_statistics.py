# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Counts, rates and windows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.arm.statistics import ArmMeter, LoopMeter, Rate, Window


@given(st.lists(st.floats(-1e6, 1e6), max_size=40), st.integers(1, 12))
def test_a_window_keeps_the_newest(values, size):
    window = Window(size)
    for value in values:
        window.add(value)
    assert sorted(window.values()) == sorted(values[-size:])
    assert window.count == len(values)
    low, middle, high = window.quantiles(0.0, 0.5, 1.0)
    if values:
        assert (low, high) == (min(values[-size:]), max(values[-size:]))
        assert middle == pytest.approx(np.median(values[-size:]))
    else:
        assert np.isnan([low, middle, high]).all()


def test_a_windows_values_are_a_copy():
    window = Window(3)
    window.add(1.0)
    window.values()[0] = 5.0
    assert window.quantiles(1.0) == (1.0,)


def test_a_rate_is_that_since_the_last_call():
    rate = Rate()
    rate.count += 7
    assert math.isnan(rate.since_last_call(10.0))  # since when is not known
    rate.count += 50
    assert rate.since_last_call(10.5) == 100.0
    assert rate.since_last_call(12.5) == 0.0
    assert math.isnan(rate.since_last_call(12.5))
    assert rate.count == 57


def test_a_loop_in_time_misses_nothing():
    meter = LoopMeter(0.01)
    for k in range(100):
        jitter = 0.004 * (-1) ** k
        meter.begin(k * 0.01 + jitter / 2)
        meter.end(k * 0.01 + jitter / 2 + 0.001)
    assert meter.missed == 0
    assert meter.turns.count == 100
    assert meter.work.quantiles(1.0)[0] == pytest.approx(0.001)


@pytest.mark.parametrize(("gap", "missed"), [(1.4, 0), (1.6, 1), (2.0, 1), (4.9, 4), (0.2, 0)])
def test_missed_periods_are_counted(gap, missed):
    meter = LoopMeter(0.01)
    meter.begin(5.0)
    meter.begin(5.0 + gap * 0.01)
    assert meter.missed == missed


def test_an_end_without_a_beginning_is_ignored():
    meter = LoopMeter(0.01)
    meter.end(3.0)
    assert meter.work.count == 0


def test_solves_are_counted_by_verdict():
    meter = ArmMeter()
    for seconds, verdict in ((1e-5, "REACHED"), (3e-5, "TOO_FAR"), (2e-5, "REACHED")):
        meter.solved(seconds, verdict)
    assert meter.verdicts == {"REACHED": 2, "TOO_FAR": 1}
    assert meter.solve_time.quantiles(0.5, 1.0) == (2e-5, 3e-5)
