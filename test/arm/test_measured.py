# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint states that are partial, reordered, malformed, or have other robots' joints."""

import math

import numpy as np
import pytest

from basis_ik.arm.admission import Refusal
from basis_ik.arm.measured import MeasuredState, StateStamp


@pytest.fixture
def state():
    return MeasuredState(["a", "b", "c"])


def test_an_unseen_joint_is_infinitely_old(state):
    assert state.silent(5.0, 1.0) == ("a", "b", "c")
    assert np.isnan(state.positions()).all()


def test_order_and_foreign_joints_do_not_matter(state):
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


# Stamps -------------------------------------------------------------------------------------

TIMEOUT = 500_000_000  # ns
CLOCK = 1_000.0  # s; the node's, at the loop's time zero


def stamped(at, now, clock=CLOCK):
    """Return a stamp of the node's time `at` [s] on a state that arrives at the time `now` [s]."""
    sec, nanosec = divmod(round(1e9 * (clock + at)), 1_000_000_000)
    return StateStamp(sec, nanosec, round(1e9 * (clock + now)), TIMEOUT)


def reported(state, position, now, at=None):
    """Update all joints with a common position, stamped with a time `at` if given."""
    stamp = None if at is None else stamped(at, now)
    return state.update(["a", "b", "c"], [position] * 3, now, stamp)


def test_a_state_older_than_the_last_of_one_of_its_joints_is_refused(state):
    assert reported(state, 1.0, now=1.0, at=0.9) is None
    assert reported(state, 2.0, now=1.1, at=0.8).reason is Refusal.OUT_OF_ORDER
    assert state.positions().tolist() == [1.0] * 3
    assert state.update(["x"], [2.0], 1.1, stamped(0.8, 1.1)) is None, "joints of others"
    assert reported(state, 3.0, now=1.2, at=0.9) is None, "as old as the last one"
    assert reported(state, 4.0, now=1.3) is None, "without a stamp"
    assert state.positions().tolist() == [4.0] * 3


@pytest.mark.parametrize(
    ("at", "reason"), [(0.49, Refusal.STALE), (1.51, Refusal.FUTURE)], ids=["old", "ahead"]
)
def test_a_state_far_from_the_clock_is_refused_with_the_distance(state, at, reason):
    refused = reported(state, 1.0, now=1.0, at=at)
    assert refused.reason is reason
    assert "0.510 s" in refused.detail
    assert state.refused is refused
    assert state.silent(1.0, 10.0) == ("a", "b", "c")
    assert reported(state, 1.0, now=1.0, at=0.51) is None
    assert state.refused is None


@pytest.mark.parametrize(("sec", "nanosec"), [(5, 1_000_000_000), (-1, 999_999_999)])
def test_a_malformed_stamp_is_refused(state, sec, nanosec):
    malformed = StateStamp(sec, nanosec, 1_000_000_000 * (sec + 1), TIMEOUT)
    assert state.update(["a"], [1.0], 1.0, malformed).reason is Refusal.BAD_STAMP


def test_a_repeated_state_becomes_old(state):
    for k in range(200):
        refused = reported(state, 1.0, now=0.01 * k, at=0.0)
    assert refused.reason is Refusal.STALE
    assert "steadily" not in refused.detail
    assert state.silent(1.99, 0.5) == ("a", "b", "c")


def test_the_age_of_a_repeated_state_is_that_of_the_first(state):
    for k in range(50):
        assert reported(state, 1.0, now=0.01 * k, at=0.0) is None
    assert state.silent(0.5, 0.5) == ()
    assert state.silent(0.51, 0.5) == ("a", "b", "c")
    assert reported(state, 2.0, now=0.51, at=0.5) is None
    assert state.silent(1.0, 0.5) == ()


def test_a_clock_offset_is_distinguished_from_old_states(state):
    for k in range(100):
        now = 0.01 * k
        refused = reported(state, 1.0, now=now, at=now - 3.0 + 0.02 * (k % 2))
        assert ("steadily" in refused.detail) == (now >= 0.5)
    assert "2.980 s old" in refused.detail


def test_an_old_state_sent_repeatedly_is_no_clock_offset(state):
    for k in range(100):
        stamp = stamped(-3.0, 0.01 * k)._replace(timeout=2_000_000_000)
        refused = state.update(["a", "b", "c"], [1.0] * 3, 0.01 * k, stamp)
        assert "steadily" not in refused.detail


def test_a_jump_of_the_clock_discards_all_states(state):
    reported(state, 1.0, now=100.0, at=100.0)
    state.reset()
    assert state.silent(2.0, 1e9) == ("a", "b", "c")
    assert reported(state, 1.0, now=2.0, at=2.0) is None
    assert state.silent(2.0, 0.5) == ()


# Jumps --------------------------------------------------------------------------------------


@pytest.fixture
def quick():
    """Joints that may move at 1 rad/s; the last one is continuous."""
    return MeasuredState(["a", "b", "c"], np.ones(3), np.array([False, False, True]))


def test_a_joint_faster_than_its_limit_is_a_jump(quick):
    assert reported(quick, 0.0, now=0.0) is None
    assert reported(quick, 0.24, now=0.1) is None
    refused = reported(quick, 0.50, now=0.2)
    assert refused.reason is Refusal.JUMP
    assert "a: by 0.260 in 0.100 s" in refused.detail
    assert quick.positions().tolist() == [0.24] * 3
    assert quick.silent(0.3, 0.5) == ("a", "b", "c"), "nothing is believed"
    assert quick.doubted
    assert reported(quick, 0.10, now=0.3) is None
    assert not quick.doubted, "the newest is known"
    assert quick.silent(0.69, 0.5) == ("a", "b", "c")
    assert quick.refused is refused
    assert quick.silent(0.71, 0.5) == ()
    assert reported(quick, 0.25, now=0.71) is None
    assert quick.refused is None


def test_a_late_state_is_accepted(quick):
    """A late driver publishes a fast motion at once; it continues from there."""
    reported(quick, 0.0, now=0.0)
    assert reported(quick, 0.3, now=0.01).reason is Refusal.JUMP
    assert reported(quick, 0.31, now=0.1).reason is Refusal.JUMP
    assert quick.silent(0.1, 0.5) == ("a", "b", "c")
    assert reported(quick, 0.32, now=0.14) is None
    assert quick.silent(0.14, 0.5) == ()


def test_the_speed_is_checked_by_stamps_if_there_are_any(quick):
    reported(quick, 0.0, now=0.0, at=-0.2)
    assert reported(quick, 0.4, now=0.001, at=0.0) is None, "late, then both at once"
    assert reported(quick, 0.6, now=0.4, at=0.001).reason is Refusal.JUMP, "another place, one time"


def test_a_continuous_joint_may_reset_its_turns(quick):
    quick.update(["c"], [3.12], 0.0)
    assert quick.update(["c"], [-3.12], 0.01) is None
    quick.update(["b"], [3.1], 0.0)
    assert quick.update(["b"], [-3.1], 0.01).reason is Refusal.JUMP


@pytest.mark.parametrize("stamps", [False, True], ids=["unstamped", "stamped"])
def test_a_lasting_jump_is_accepted(quick, stamps):
    reported(quick, 0.0, now=0.0, at=0.0 if stamps else None)
    believed = []
    for k in range(1, 60):
        now = 0.01 * k
        if reported(quick, 2.0 + 0.001 * k, now=now, at=now if stamps else None) is None:
            believed.append(now)
    assert believed[0] == pytest.approx(0.51)
    assert len(believed) == 9, "and from then on"
    assert quick.silent(0.6, 0.5) == ()


def test_a_position_that_keeps_jumping_is_not_accepted(quick):
    reported(quick, 0.0, now=0.0)
    for k in range(1, 90):
        assert reported(quick, 2.0 + k % 2, now=0.01 * k).reason is Refusal.JUMP
    assert quick.silent(0.9, 10.0) == ("a", "b", "c")


def test_contradicting_publishers_are_not_accepted(quick):
    for k in range(1000):
        now = 0.01 * k
        assert reported(quick, 1.0, now=now, at=now) is None
        assert reported(quick, 0.0, now=now, at=now + 0.001).reason is Refusal.JUMP
        assert quick.silent(now, 0.5) == ("a", "b", "c")


def test_an_arm_in_motion_tolerates_jumps_until_the_timeout(quick):
    reported(quick, 0.0, now=0.0)
    for k in range(1, 80):
        now = 0.01 * k
        reported(quick, 0.0, now=now)
        reported(quick, 2.0, now=now)
        held = quick.silent(now, 0.5, moving=True)
        assert held == (() if now <= 0.51 else ("a", "b", "c"))
    reported(quick, 0.0, now=2.78)
    assert quick.silent(2.78, 0.5, moving=True) == ("a", "b", "c")
    reported(quick, 0.0, now=2.8)
    assert quick.silent(2.8, 0.5) == ()
    reported(quick, 2.0, now=2.81)
    assert quick.silent(2.81, 0.5, moving=True) == (), "a new one"
    assert quick.silent(2.81, 0.5) == ("a", "b", "c")


def test_a_pause_of_one_publisher_does_not_resolve_a_contradiction(quick):
    """The other publisher may be right, but was contradicted just before."""
    for k in range(100):
        now = 0.01 * k
        reported(quick, 0.0, now=now)
        reported(quick, 5.0, now=now)
    for k in range(1, 199):
        now = 0.99 + 0.01 * k
        reported(quick, 5.0, now=now)
        assert {"a", "b"} <= set(quick.silent(now, 10.0))
    assert quick.positions().tolist() == [0.0] * 3


@pytest.mark.parametrize("off", [-3.0, 3.0, 0.3], ids=["behind", "ahead", "a little ahead"])
def test_a_clock_offset_of_one_publisher_does_not_resolve_a_contradiction(quick, off):
    for k in range(200):
        now = 0.01 * k
        reported(quick, 0.0, now=now, at=now)
        reported(quick, 1.0, now=now + 0.005, at=now + off)
        assert quick.silent(now + 0.005, 0.5) == ("a", "b", "c")


def test_a_jumping_joint_is_reported(quick):
    quick.update(["a", "b"], [0.0, 0.0], 0.0)
    quick.update(["c"], [0.0], 0.0)
    refused = quick.update(["a", "b"], [0.0, 1.0], 0.01)
    assert refused.reason is Refusal.JUMP
    assert "b: by 1.000" in refused.detail
    assert quick.update(["c"], [0.0], 0.02) is None, "not concerned"
    assert quick.silent(0.02, 0.5) == ("b",)


def test_a_joint_named_many_times_is_found_fast(state):
    """With a count for each name this would take minutes."""
    names = ["a"] * 200_000
    assert state.update(names, [1.0] * len(names), 1.0).reason is Refusal.DUPLICATE_JOINT
