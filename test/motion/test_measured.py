"""Joint states as they come: in parts, reordered, with strangers, and broken."""

import math

import numpy as np
import pytest

from basis_ik.motion.admission import Refusal
from basis_ik.motion.measured import MeasuredState


@pytest.fixture
def state():
    return MeasuredState(["a", "b", "c"])


def test_nothing_heard_is_infinitely_old(state):
    assert state.silent(5.0, 1.0) == ("a", "b", "c")
    assert np.isnan(state.positions()).all()


def test_order_and_strangers_do_not_matter(state):
    assert state.update(["c", "x", "a", "b"], [3.0, math.nan, 1.0, 2.0], 1.0) is None
    assert state.positions().tolist() == [1.0, 2.0, 3.0]
    assert state.update(["a", "b", "c"], [4.0, 5.0, 6.0], 2.0) is None
    assert state.positions().tolist() == [4.0, 5.0, 6.0]


def test_ages_are_counted_per_joint(state):
    state.update(["a", "b", "c"], [1.0, 2.0, 3.0], 1.0)
    state.update(["a", "c"], [1.5, 3.5], 2.0)
    assert state.positions().tolist() == [1.5, 2.0, 3.5]
    assert state.silent(2.25, 1.0) == ("b",)
    assert state.silent(1.75, 1.0) == ()


@pytest.mark.parametrize(
    ("names", "positions", "reason"),
    [
        (["a", "b"], [1.0], Refusal.SIZE_MISMATCH),
        (["a"], [1.0, 2.0], Refusal.SIZE_MISMATCH),
        (["a", "b", "a"], [1.0, 2.0, 1.0], Refusal.DUPLICATE_JOINT),
        (["a", "b", "c"], [1.0, math.nan, 3.0], Refusal.NON_FINITE),
        (["c", "b", "a"], [-math.inf, 2.0, 1.0], Refusal.NON_FINITE),
        (["a", "b", "c"], [1.0, 2.0, 1e200], Refusal.OUT_OF_RANGE),
        (["a", "b", "c"], [1.0, -1.1e5, 3.0], Refusal.OUT_OF_RANGE),
    ],
)
def test_a_broken_state_changes_nothing(state, names, positions, reason):
    state.update(["a", "b", "c"], [7.0, 8.0, 9.0], 1.0)
    assert state.update(names, positions, 2.0).reason is reason
    assert state.positions().tolist() == [7.0, 8.0, 9.0]
    assert state.silent(2.5, 1.0) == ("a", "b", "c")


def test_a_state_of_velocities_alone_is_ignored(state):
    assert state.update(["a", "b", "c"], [], 1.0) is None
    assert state.silent(1.0, 10.0) == ("a", "b", "c")


def test_the_same_list_object_with_new_names_is_noticed(state):
    names = ["a", "b", "c"]
    state.update(names, [1.0, 2.0, 3.0], 1.0)
    names.reverse()
    state.update(names, [1.0, 2.0, 3.0], 2.0)
    assert state.positions().tolist() == [3.0, 2.0, 1.0]
