# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest

from basis_ik.simulation.tolerances import JointTolerance, Tolerances, exceeded

JOINTS = ("a", "b")
DEFAULT = Tolerances(
    path=np.array([0.1, 0.0]),
    goal=np.array([0.01, 0.02]),
    goal_time=2.0,
)


def wished(path=(), goal=(), goal_time=0.0):
    return DEFAULT.with_overrides(JOINTS, path, goal, goal_time)


def test_without_overrides_the_defaults_apply():
    same = wished()
    np.testing.assert_array_equal(same.path, DEFAULT.path)
    np.testing.assert_array_equal(same.goal, DEFAULT.goal)
    assert same.goal_time == 2.0


def test_zero_keeps_minus_one_removes_and_a_number_replaces():
    changed = wished(
        path=[JointTolerance("b", 0.3, 0.0), JointTolerance("a", -1.0, 0.0)],
        goal=[JointTolerance("a", 0.0, -1.0), JointTolerance("b", -1.0, 0.5)],
        goal_time=-1.0,
    )
    np.testing.assert_array_equal(changed.path, [0.0, 0.3])
    np.testing.assert_array_equal(changed.goal, [0.01, 0.0])
    assert changed.goal_time == 0.0
    assert wished(goal_time=5.0).goal_time == 5.0


@pytest.mark.parametrize("value", [-0.5, -2.0, math.nan, math.inf])
def test_an_invalid_override_is_refused_by_name(value):
    assert "position tolerance" in wished(path=[JointTolerance("a", value, 0.0)])
    assert "velocity tolerance" in wished(goal=[JointTolerance("b", 0.0, value)])
    assert "goal_time_tolerance" in wished(goal_time=value)


def test_an_override_for_an_unknown_joint_is_refused():
    assert wished(goal=[JointTolerance("c", 0.1, 0.0)]) == "tolerance for unknown joint 'c'"
    assert len(wished(goal=[JointTolerance("\x1b" * 500, 0.1, 0.0)])) < 120


def test_the_defaults_are_never_written_to():
    wished(path=[JointTolerance("a", 7.0, 7.0)])
    assert DEFAULT.path[0] == 0.1


def test_an_error_within_its_tolerance_is_accepted():
    assert exceeded(np.array([0.1, 99.0]), DEFAULT.path, JOINTS) == ""


@pytest.mark.parametrize("error", [0.11, -0.11, math.nan, math.inf])
def test_an_error_beyond_its_tolerance_is_reported(error):
    missed = exceeded(np.array([error, 0.0]), DEFAULT.path, JOINTS)
    assert missed.startswith("joint 'a' misses its position by ")
    assert missed.endswith(", 0.1 allowed")
