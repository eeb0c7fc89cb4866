"""Commands never step too far, never leave the limits, never are NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from basis_ik.motion.limiter import is_safe, step_towards

LOWER, UPPER = np.array([-1.0, -2.0, -np.inf]), np.array([1.0, 2.0, np.inf])
STEP = np.array([0.1, 0.2, 0.3])


def vectors(low, high):
    return hnp.arrays(np.float64, 3, elements=st.floats(low, high))


@given(vectors(-1, 1), vectors(-1, 1), vectors(1e-4, 1.0))
def test_walking_arrives_and_every_step_is_safe(start, goal, step):
    command = start
    for _ in range(int(np.ceil(np.max(np.abs(goal - start) / step))) + 2):
        following = step_towards(command, goal, step)
        assert is_safe(following, command, np.full(3, -1.0), np.full(3, 1.0), step)
        command = following
    assert np.array_equal(command, goal)


def test_joints_arrive_together():
    command = step_towards(np.zeros(3), np.array([1.0, 1.0, 1.0]), STEP)
    np.testing.assert_allclose(command, [0.1, 0.1, 0.1])


@pytest.mark.parametrize(
    ("command", "previous"),
    [
        ([np.nan, 0, 0], [0, 0, 0]),
        ([0, 0, np.inf], [0, 0, 0]),
        ([0, 0, 0], [np.nan, 0, 0]),
        ([0.11, 0, 0], [0, 0, 0]),
        ([1.05, 0, 0], [1.0, 0, 0]),
        ([0, -2.1, 0], [0, -2.0, 0]),
        ([1.3, 0, 0], [1.25, 0, 0]),  # outside and going farther out
        ([-1.3, 0, 0], [-1.25, 0, 0]),
    ],
)
def test_unsafe_commands(command, previous):
    assert not is_safe(np.array(command, float), np.array(previous, float), LOWER, UPPER, STEP)


@pytest.mark.parametrize(
    ("command", "previous"),
    [
        ([0.1, 0.2, 0.3], [0, 0, 0]),
        ([1.2, 0, 99.0], [1.25, 0, 99.0]),
        ([-1.2, -2, 0], [-1.25, -2, 0]),
    ],
)
def test_safe_commands(command, previous):
    assert is_safe(np.array(command, float), np.array(previous, float), LOWER, UPPER, STEP)
