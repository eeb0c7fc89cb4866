# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The filter of a tracker's samples: what it costs, and what it leaves alone."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.input_filter import JOINTS_CHANGE, NO_FILTER, POSE_CHANGE, FilterRules, filtered
from basis_ik.transforms.rigid import RigidTransform

PAGE = (Path(__file__).parents[2] / "docs" / "interfaces.md").read_text()
STEP = 0.02  # s


def run(samples, rules, change=JOINTS_CHANGE, step=STEP):
    """Return what a filter makes of samples that come evenly."""
    state, found = None, []
    for k, sample in enumerate(samples):
        state = filtered(state, sample, step * k, rules, change)
        found.append(state.value)
    return found


def column(values):
    return [np.array([each]) for each in values]


def numbers(found):
    return np.array(found)[:, 0]


def pose(x, turn=0.0):
    return (
        RigidTransform.exp([0.0, 0.0, 0.0, 0.0, 0.0, turn])
        @ RigidTransform.from_rpy(0.3, 0.2, 0.1)
        @ RigidTransform.from_rpy(0.0, 0.0, 0.0, (x, 0.0, 0.0))
    )


def test_without_rules_samples_are_what_they_were():
    samples = [pose(k * 0.01, k * 0.02) for k in range(9)]
    assert all(
        one is other
        for one, other in zip(run(samples, NO_FILTER, POSE_CHANGE), samples, strict=True)
    )
    twice = filtered(
        filtered(None, samples[0], 1.0, NO_FILTER, POSE_CHANGE),
        samples[1],
        1.0,
        NO_FILTER,
        POSE_CHANGE,
    )
    assert twice.value is samples[1]


@pytest.mark.parametrize("size", [0.03, 5.0, -5.0])
@pytest.mark.parametrize("where", [2, 5, 9])
def test_a_lone_outlier_has_no_effect_and_a_step_comes_one_sample_later(size, where):
    rules = FilterRules(outliers=True)
    even = np.full(12, 1.0)
    spoiled = even.copy()
    spoiled[where] += size
    assert np.array_equal(numbers(run(column(spoiled), rules)), even)
    stepped = np.where(np.arange(12) < where, 1.0, 1.0 + size)
    found = numbers(run(column(stepped), rules))
    assert np.array_equal(found, np.append(1.0, stepped[:-1]))


def test_a_lone_turn_of_a_pose_leaves_its_place_alone():
    rules = FilterRules(outliers=True)
    samples = [pose(0.01 * k) for k in range(6)]
    samples[3] = samples[3] @ RigidTransform.from_rpy(0.0, 0.0, 1.0)
    found = run(samples, rules, POSE_CHANGE)
    assert all(found[k].is_close(pose(0.01 * max(k - 1, 0)), 1e-12) for k in range(6))


@pytest.mark.parametrize("lag", [0.005, 0.05, 0.3])
@pytest.mark.parametrize("step", [0.005, 0.02])
def test_even_motion_lags_by_the_time_that_was_asked_for(lag, step):
    count = round(20 * (lag + step) / step)
    rules = FilterRules(lag=lag)
    found = numbers(run(column(0.7 * step * np.arange(count)), rules, step=step))
    assert (0.7 * step * (count - 1) - found[-1]) / 0.7 == pytest.approx(lag, rel=1e-6)
    poses = run(
        [pose(0.1 * step * k, 0.2 * step * k) for k in range(count)], rules, POSE_CHANGE, step
    )
    turn = POSE_CHANGE.between(poses[-1], pose(0.0, 0.2 * step * (count - 1)))[1, 2]
    assert turn / 0.2 == pytest.approx(lag, rel=1e-6)


def test_a_dead_band_holds_what_trembles_and_follows_behind():
    rules = FilterRules(dead_band=(0.01, 0.02))
    trembling = [pose(0.009 * (-1) ** k, 0.019 * (-1) ** k) for k in range(8)]
    first = filtered(None, pose(0.0), -STEP, rules, POSE_CHANGE)
    state = first
    for k, each in enumerate(trembling):
        state = filtered(state, each, STEP * k, rules, POSE_CHANGE)
        assert state.value is first.value
    away = [pose(0.0, 0.01 * k) for k in range(30)]
    turn = POSE_CHANGE.between(run(away, rules, POSE_CHANGE)[-1], away[-1])[1, 2]
    assert turn == pytest.approx(0.02, abs=1e-12)


def test_a_pause_begins_anew_and_what_comes_twice_changes_nothing():
    rules = FilterRules(outliers=True, lag=0.1, dead_band=(0.1,))
    one, other = column([1.0, 2.0])
    state = filtered(None, one, 1.0, rules, JOINTS_CHANGE)
    assert filtered(state, other, 1.0, rules, JOINTS_CHANGE) is state
    assert filtered(state, other, 0.9, rules, JOINTS_CHANGE) is state
    assert filtered(state, other, 1.25, rules, JOINTS_CHANGE).value is one
    assert filtered(state, other, 1.2501, rules, JOINTS_CHANGE).value is other


def noise(rules, step):
    """Return the standard deviation that is left of noise of 1."""
    samples = np.random.default_rng(0).normal(size=(1000, 200))
    found = np.array(run(list(samples), rules, step=step))[200:]
    return found.std()


def test_the_page_has_the_price():
    rows = re.findall(r"^\| `(outliers|lag)`(?:, (\d+) ms)? \|(.*)\|$", PAGE, re.MULTILINE)
    assert len(rows) == 4
    for name, ms, cells in rows:
        for rate, cell in zip((30, 50, 90), cells.split("|"), strict=True):
            step = 1.0 / rate
            lag, left = map(float, re.fullmatch(r" (\d+) ms; (\d+) % ", cell).groups())
            outliers = name == "outliers"
            rules = FilterRules(outliers) if outliers else FilterRules(lag=1e-3 * float(ms))
            assert lag == (round(1e3 * step) if outliers else float(ms))
            assert left == pytest.approx(100 * noise(rules, step), abs=0.7)
            if not outliers:  # the geometric series of shares
                assert left == round(100 * math.sqrt(step / (step + 2.0 * rules.lag)))
