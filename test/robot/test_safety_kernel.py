# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from basis_ik.robot.safety_kernel import is_inside, is_safe

LOWER, UPPER = np.array([-1.0, -2.0, -np.inf]), np.array([1.0, 2.0, np.inf])
STEP = np.array([0.1, 0.2, 0.3])


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


@pytest.mark.parametrize("positions", [[1.0, -2.0, 1e300], [-1.0, 2.0, -1e300], [0, 0, 0]])
def test_inside(positions):
    assert is_inside(np.array(positions, float), LOWER, UPPER)


@pytest.mark.parametrize("bad", [[1.1, 0, 0], [0, -2.1, 0], [np.nan, 0, 0], [0, 0, np.inf]])
def test_outside(bad):
    assert not is_inside(np.array(bad, float), LOWER, UPPER)
