# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Steps between bounds, against every choice of variables held at a bound."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.numerics.bounded_step_kernel import Rows, bounded_step, leaves, moved_inside

bounded_step, leaves = from_python(bounded_step), from_python(leaves)

RNG = np.random.default_rng(3)


def step_of(equations, b, rows, e, damping, low, high):
    step = np.empty(len(low))
    bounded_step(Rows(equations, b), Rows(rows, e), damping, low, high, step)
    return step


def cost(rows, e, damping, step):
    return float(np.sum((rows @ step - e) ** 2) + damping * step @ step)


def brute_force(equations, b, rows, e, damping, low, high):
    """Return the least cost, whichever variables are held at a bound."""
    n, m = len(low), len(b)
    held = np.array(list(product((-1, 0, 1), repeat=n)))
    kkt = np.zeros((len(held), n + m, n + m))
    kkt[:, :n, :n] = rows.T @ rows + damping * np.eye(n)
    kkt[:, :n, n:], kkt[:, n:, :n] = equations.T, equations
    right = np.tile(np.concatenate((rows.T @ e, b)), (len(held), 1))
    choice, variable = np.nonzero(held)  # their equations say that they are at their bounds
    kkt[choice, variable] = np.eye(n + m)[variable]
    right[choice, variable] = np.where(held < 0, low, high)[choice, variable]
    steps = (np.linalg.pinv(kkt) @ right[..., np.newaxis])[:, :n, 0]
    sound = np.isclose(steps @ equations.T, b, atol=1e-8).all(axis=1)
    sound &= ((steps >= low - 1e-9) & (steps <= high + 1e-9)).all(axis=1)
    return min(cost(rows, e, damping, step) for step in steps[sound])


@pytest.mark.parametrize("a", [0, 1, 2, 3])
@pytest.mark.parametrize("c", [1, 3, 5])
def test_the_step_is_the_best_of_all_choices_of_held_variables(a, c):
    n = 5
    for _ in range(sample(12)):
        equations, rows = RNG.normal(size=(a, n)), RNG.normal(size=(c, n))
        low, high = -RNG.uniform(0, 0.4, n), RNG.uniform(0, 0.4, n)
        low[RNG.random(n) < 0.3] = 0.0
        b, e = np.zeros(a), RNG.normal(size=c)
        step = step_of(equations, b, rows, e, 1e-3, low, high)
        assert (step >= low).all()
        assert (step <= high).all()
        best = brute_force(equations, b, rows, e, 1e-3, low, high)
        assert np.allclose(equations @ step, b, atol=1e-9)
        assert cost(rows, e, 1e-3, step) <= best * (1 + 1e-7) + 1e-12


def test_other_right_sides_are_met_within_wide_bounds():
    for _ in range(sample(40)):
        equations, rows = RNG.normal(size=(2, 6)), RNG.normal(size=(3, 6))
        low, high = -RNG.uniform(0.2, 1, 6), RNG.uniform(0.2, 1, 6)
        b, e = equations @ RNG.uniform(0.1 * low, 0.1 * high), RNG.normal(size=3)
        step = step_of(equations, b, rows, e, 1e-3, low, high)
        assert np.allclose(equations @ step, b, atol=1e-9)
        best = brute_force(equations, b, rows, e, 1e-3, low, high)
        assert cost(rows, e, 1e-3, step) <= best * (1 + 1e-7) + 1e-12


def test_equations_that_say_the_same_twice_are_counted_once():
    equations = RNG.normal(size=(2, 6))
    doubled = np.concatenate((equations, 2.0 * equations, equations[:1] + equations[1:]))
    b = RNG.normal(size=2) * 0.1
    right = np.concatenate((b, 2.0 * b, [b.sum()]))
    rows, e = RNG.normal(size=(3, 6)), RNG.normal(size=3)
    bounds = np.full(6, 9.0)
    one = step_of(equations, b, rows, e, 1e-6, -bounds, bounds)
    two = step_of(doubled, right, rows, e, 1e-6, -bounds, bounds)
    assert np.allclose(one, two, atol=1e-9)
    assert np.allclose(equations @ one, b, atol=1e-12)
    assert np.allclose(rows @ one, e, atol=1e-3)


def test_a_bound_on_joints_together_is_an_equation_with_a_variable_more():
    """Low ≤ g s ≤ high is g s = t / ε with t between ε low and ε high; ε keeps t undamped."""
    axes = [np.linspace(-0.3, 0.3, 61)] * 3
    grid, held, small = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 3), 0, 1e-3
    bounds = np.full(3, 0.3)
    for _ in range(sample(40)):
        together, low, high = RNG.normal(size=3), -RNG.uniform(0, 0.2), RNG.uniform(0, 0.2)
        rows, e = RNG.normal(size=(2, 3)), 0.3 * RNG.normal(size=2)
        step = step_of(
            np.append(together, -1.0 / small)[np.newaxis], np.zeros(1),
            np.hstack([rows, np.zeros((2, 1))]), e, 1e-3,
            np.append(-bounds, small * low), np.append(bounds, small * high),
        )[:3]  # fmt: skip
        assert low - 1e-9 <= together @ step <= high + 1e-9
        held += min(together @ step - low, high - together @ step) < 1e-9
        allowed = grid[(grid @ together >= low) & (grid @ together <= high)]
        costs = ((allowed @ rows.T - e) ** 2).sum(axis=1) + 1e-3 * (allowed**2).sum(axis=1)
        assert cost(rows, e, 1e-3, step) <= costs.min() + 1e-9
    assert held > 0


def test_without_rows_the_step_is_the_shortest():
    equations, b = RNG.normal(size=(2, 5)), RNG.normal(size=2)
    bounds = np.full(5, np.inf)
    step = step_of(equations, b, np.empty((0, 5)), np.empty(0), 1.0, -bounds, bounds)
    assert np.allclose(step, np.linalg.pinv(equations) @ b)


def test_a_step_that_no_bound_allows_is_still_between_them_and_finite():
    equations, b = np.ones((1, 3)), np.array([5.0])
    low, high = np.zeros(3), np.full(3, 0.5)
    step = step_of(equations, b, np.eye(3), np.ones(3), 1e-3, low, high)
    assert np.allclose(step, high)
    assert (step <= high).all()
    still = step_of(equations, b, np.eye(3), np.ones(3), 1e-3, low, np.zeros(3))
    assert np.array_equal(still, low)


@pytest.mark.parametrize(
    ("there", "end"), [(0.5, 0.5), (-9.0, -1.0), (9.0, 2.0), (np.inf, 2.0), (np.nan, 0.25)]
)
def test_moves_end_at_the_bounds_and_a_nan_moves_nothing(there, end):
    assert from_python(moved_inside)(0.25, there, -1.0, 2.0) == end


def test_a_step_that_is_no_number_is_none():
    step = np.empty(3)
    none, wanted = Rows(np.empty((0, 3)), np.empty(0)), Rows(np.ones((1, 3)), np.array([np.nan]))
    bounded_step(none, wanted, 0.1, np.full(3, -1.0), np.full(3, 1.0), step)
    assert step.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "push", "expected"),
    [(-1.0, -0.3, True), (-1.0, 0.3, False), (1.0, 0.3, True), (1.0, -0.3, False),
     (-1.0, -0.1, False), (1.0, 0.1, False), (0.0, 9.0, False), (0.0, -9.0, False)],
)  # fmt: skip
def test_a_variable_leaves_only_at_a_bound_and_if_pushed_enough(value, push, expected):
    assert leaves(value, -1.0, 1.0, push, 0.2) is expected
