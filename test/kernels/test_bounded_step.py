"""Steps between bounds, against every choice of variables held at a bound."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.kernels.bounded_step import bounded_step, moved_inside

bounded_step = from_python(bounded_step)

RNG = np.random.default_rng(3)


def step_of(equations, b, rows, e, damping, low, high):
    step = np.empty(len(low))
    bounded_step(equations, b, rows, e, damping, low, high, step)
    return step


def cost(rows, e, damping, step):
    return float(np.sum((rows @ step - e) ** 2) + damping * step @ step)


def brute_force(equations, b, rows, e, damping, low, high):
    """Return the least cost, whichever variables are held at a bound."""
    n, best = len(low), None
    for held in product((-1, 0, 1), repeat=n):
        held = np.array(held)
        free = held == 0
        step = np.where(held < 0, low, high)
        a, f = equations[:, free], rows[:, free]
        size, m = int(free.sum()), len(a)
        kkt = np.zeros((size + m, size + m))
        kkt[:size, :size] = f.T @ f + damping * np.eye(size)
        kkt[:size, size:], kkt[size:, :size] = a.T, a
        fixed = ~free
        right = np.concatenate(
            (f.T @ (e - rows[:, fixed] @ step[fixed]), b - equations[:, fixed] @ step[fixed])
        )
        step[free] = np.linalg.lstsq(kkt, right, rcond=None)[0][:size]
        sound = np.allclose(equations @ step, b, atol=1e-8)
        sound = sound and (step >= low - 1e-9).all() and (step <= high + 1e-9).all()
        if sound and (best is None or cost(rows, e, damping, step) < best):
            best = cost(rows, e, damping, step)
    return best


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
    from_python(bounded_step)(
        np.empty((0, 3)), np.empty(0), np.ones((1, 3)), np.array([np.nan]), 0.1,
        np.full(3, -1.0), np.full(3, 1.0), step,
    )  # fmt: skip
    assert step.tolist() == [0.0, 0.0, 0.0]
