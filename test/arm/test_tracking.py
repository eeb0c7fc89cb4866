# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm must be within a margin of its recent commands."""

import numpy as np
import pytest

from basis_ik.arm.tracking import RecentCommands, Tracking

NAMES, TURNS = ("pan", "lift"), np.array([True, False])
WAY = np.array([[0.2, -1.0], [0.0, -1.0], [0.5, -1.0]])


@pytest.fixture
def tracking():
    return Tracking(NAMES, TURNS, lag=0.2, margin=0.1)


@pytest.mark.parametrize("measured", [[0.0, -1.0], [0.5, -1.09], [-0.09, -0.91], [0.59, -1.0]])
def test_joints_within_the_margin_of_the_commands_follow(tracking, measured):
    assert tracking.check(WAY, np.array(measured)) is None


@pytest.mark.parametrize(
    ("measured", "lost", "text"),
    [
        ([0.61, -1.0], [True, False], "pan is 0.11 from where it was commanded in the last 0.2 s"),
        ([-0.2, -1.0], [True, False], "pan is 0.2 from"),
        ([0.7, -1.5], [True, True], "lift is 0.5 from"),
        ([0.61, -1.003], [True, True], "pan is 0.11 from"),
        ([0.61, -1.001], [True, False], "pan is 0.11 from"),
        ([0.0, np.nan], [False, True], "lift is nan from"),
        ([0.0, np.inf], [False, True], "lift is inf from"),
    ],
)
def test_joints_too_far_away_are_reported(tracking, measured, lost, text):
    departure = tracking.check(WAY, np.array(measured))
    assert departure.text.startswith(text)
    assert departure.text.endswith("more than 0.1")
    assert departure.joints.tolist() == lost


def test_whole_turns_count_only_for_joints_with_limits(tracking):
    turned = np.array([0.25 + 4.0 * np.pi, -1.0])
    assert tracking.check(WAY, turned) is None
    departure = tracking.check(WAY, np.array([0.25, -1.0 - 2.0 * np.pi]))
    assert departure.joints.tolist() == [False, True]


def test_recent_commands_are_the_newest():
    recent = RecentCommands(3, 1)
    assert recent.newest(5) is None
    for command in (9.0, 1.0, 4.0, 2.0):
        recent.add(np.array([command]))
    assert recent.newest(5).tolist() == [[1.0], [4.0], [2.0]]
    assert recent.newest(2).tolist() == [[4.0], [2.0]]
    recent.clear()
    assert recent.newest(1) is None
