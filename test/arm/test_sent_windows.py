# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From its reference alone it is known which window a controller follows, and since when."""

import math

import numpy as np
import pytest

from basis_ik.arm.limiter import Limiter, Motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.sent_windows import WINDOW_MATCH, SentWindows, Suspects, Window

# The numbers themselves: with those of the module no change of them would be seen.
CLOSE = 2e-6
MOVES = 1e-5
NEAR = 1e-3
SAME = 1e-9

PERIOD, MS, EXACT = 0.01, 1_000_000, 2e-5
BEGIN = 1_700_000_000_000_000_123  # as of a real clock
START, GOAL = np.array([0.3, -1.57, 0.8]), np.array([0.9, -1.2, 0.8])
LIMITS = MotionLimits(*(np.full(3, each) for each in (-3.0, 3.0, 1.0, 4.0, 80.0)))


def in_messages(motion):
    """Return a motion whose times are rounded to nanoseconds."""
    return motion._replace(times=1e-9 * np.rint(1e9 * motion.times))


def slow(speed):
    """Return limits for slow motions, as quick as `LIMITS` at 1."""
    return MotionLimits(*LIMITS.scaled(speed, speed, speed))


def to(goal, limits=LIMITS):
    """Return the window of a motion from rest."""
    motion = Limiter(limits, PERIOD, START).remainder(goal)
    return Window(BEGIN, in_messages(motion), BEGIN, settles=True)


def branch(window, joins, goal):
    """Return a window that is the same as another one until a time, and then goes elsewhere."""
    limiter = Limiter(LIMITS, PERIOD, START)
    limiter.go_on(window.at(joins))
    rest = limiter.remainder(goal)
    times, states = window.part(window.begin, joins)
    times += [joins + round(1e9 * time) for time in rest.times[1:]]
    states += list(np.stack(rest[1:], axis=2)[1:])
    return made_of(times, states, joins)


def made_of(times, states, joins):
    """Return the window of given times and states (n, 3)."""
    samples = np.stack(states).transpose(2, 0, 1)
    return Window(times[0], Motion(1e-9 * (np.array(times) - times[0]), *samples), joins, True)


def still(place):
    """Return a window of 0.5 s that moves nothing."""
    states = np.zeros((3, 3))
    states[:, 0] = place
    return made_of([BEGIN, BEGIN + 500 * MS], [states, states], BEGIN)


def observe(sent, window, stamp, *, off=0.0, shifted=False):
    """Observe a reference on a window, or off it."""
    return sent.observe(stamp, window.at(stamp)[:, 0] + off, EXACT, shifted=shifted)


def two():
    """Return two windows that are the same for 0.2 s, after what was sent."""
    first = to(GOAL)
    second = branch(first, BEGIN + 200 * MS, START)
    sent = SentWindows()
    sent.send(first, alone=True)
    sent.send(second)
    return sent, first, second


# Windows -------------------------------------------------------------------------------------


def test_a_window_rests_after_its_last_motion_and_is_over_later():
    window = to(GOAL)
    assert window.end == window.over == BEGIN + round(1e9 * window.motion.times[-1])
    motion = Motion(*(np.concatenate([each, each[-1:]]) for each in window.motion))
    motion.times[-1] += 0.4
    longer = window._replace(motion=motion)
    assert longer.end == window.end
    assert longer.over == window.over + 400 * MS
    assert still(START).end == BEGIN
    assert still(START).over == BEGIN + 500 * MS


def test_an_inexact_stamp_allows_more_in_motion_only():
    window = to(GOAL)
    middle, off = BEGIN + 300 * MS, np.array([CLOSE + 0.9e-4, 0.0, 0.0])
    assert window.at(middle)[0, 1] == pytest.approx(1.0)
    place = window.at(middle)[:, 0]
    assert window.is_at(place + off, middle, CLOSE, 0.91e-4)
    assert not window.is_at(place + off, middle, CLOSE, 0.89e-4)
    assert not window.is_at(place + off[::-1], middle, CLOSE, 0.91e-4), "this one stands still"
    assert not window.is_at(GOAL + off, window.end, CLOSE, 1.0)


def test_a_part_of_a_window_is_exactly_on_it():
    rng, whole = np.random.default_rng(0), branch(to(GOAL), BEGIN + 200 * MS, START)
    longest = whole.end - BEGIN + 200 * MS
    for _ in range(300):
        begin, until = (BEGIN + int(each) for each in np.sort(rng.integers(-200 * MS, longest, 2)))
        times, states = whole.part(begin, until)
        assert times[-1] == until
        np.testing.assert_array_equal(states[-1], whole.at(until))
        if until <= BEGIN:
            assert len(times) == 1
            continue
        assert BEGIN <= times[0] <= max(begin, BEGIN)
        assert (np.diff(times) >= 1000).all()
        part = made_of(times, states, until)
        for time in rng.integers(max(begin, BEGIN), until, 10):
            off = np.abs(part.at(int(time)) - whole.at(int(time)))
            assert (off.max(axis=0) <= [1e-12, 1e-9, 1e-6]).all()


def test_a_part_that_ends_at_a_sample_does_not_repeat_it():
    window = to(GOAL)
    third = BEGIN + round(1e9 * window.motion.times[2])
    for until, count in ((third, 3), (third + 1, 3), (third + 1000, 3), (third + 1001, 4)):
        times, _ = window.part(BEGIN, until)
        assert times[-1] == until
        assert len(times) == count


# A window from rest --------------------------------------------------------------------------


@pytest.mark.parametrize("late", [0, 3, 250])
@pytest.mark.parametrize("phase", [0, 1_234_567, 9_999_999])
def test_the_begin_of_a_window_from_rest_is_found_to_the_nanosecond(late, phase):
    sent, window = SentWindows(), to(GOAL)
    taken = window._replace(begin=BEGIN + late * MS + phase)
    sent.begin(window, START)
    for stamp in range(BEGIN, taken.end + 20 * MS, 10 * MS):
        assert observe(sent, taken, stamp)
        states = taken.at(stamp)
        moves = states[:, 1].max() > MOVES and (states[:, 0] - START).max() > SAME
        if sent.pending:
            assert not moves
            assert sent.newest is window
        else:
            assert abs(sent.newest.begin - taken.begin) <= 2
            assert sent.newest.motion is window.motion
            assert sent.since() == math.inf
            assert sent.over == 0
    assert not sent.pending


@pytest.mark.parametrize("rested", [START, START + 0.02, None])
def test_nothing_is_concluded_from_the_start_and_from_the_rest_before(rested):
    sent, window = SentWindows(), to(GOAL)
    sent.begin(window, rested)
    for k in range(100):
        reference = START if rested is None or k % 2 else rested
        assert sent.observe(BEGIN + k * 10 * MS, reference + 0.9 * SAME, EXACT, shifted=False)
        assert sent.pending
        assert sent.windows == [window]
    assert observe(sent, window._replace(begin=BEGIN + 1700 * MS), BEGIN + 2000 * MS)
    assert not sent.pending
    assert abs(sent.newest.begin - (BEGIN + 1700 * MS)) <= 2


@pytest.mark.parametrize("speed", [1.0, 1e-3])
def test_a_window_from_rest_that_was_missed_has_ended_then(speed):
    sent, window = SentWindows(), to(START + 0.3 * speed, slow(speed))
    sent.begin(window, START)
    stamp = BEGIN + 9000 * MS
    assert sent.observe(stamp, START + 0.3 * speed, EXACT, shifted=False)
    assert not sent.pending
    assert sent.newest.end == stamp


@pytest.mark.parametrize("speed", [0.9e-3, 2e-5])
def test_the_begin_of_a_slow_window_is_found(speed):
    sent, window = SentWindows(), to(START + 0.02, slow(speed))
    sent.begin(window, START)
    assert observe(sent, window._replace(begin=BEGIN + 3 * MS), BEGIN + 2000 * MS)
    assert not sent.pending
    assert abs(sent.newest.begin - (BEGIN + 3 * MS)) <= 100


def test_a_window_that_moves_nothing_is_pending_until_a_reference_is_there():
    sent = SentWindows()
    sent.begin(still(START), START + 0.1)
    assert sent.pending
    assert sent.observe(BEGIN + 10 * MS, START, EXACT, shifted=False)
    assert not sent.pending
    assert sent.newest.begin == BEGIN


def test_a_controller_elsewhere_has_not_taken_a_window_from_rest():
    sent, window = SentWindows(), to(GOAL)
    sent.begin(window, START)
    assert not observe(sent, window, BEGIN + 300 * MS, off=np.array([0.0, 0.0, 2 * CLOSE]))
    assert sent.pending


# A window that continues another -------------------------------------------------------------


def test_the_older_window_is_dropped_once_the_reference_is_on_the_newer_one_alone():
    sent, first, second = two()
    apart = []
    for stamp in range(BEGIN + 100 * MS, BEGIN + 300 * MS, MS):
        assert observe(sent, second, stamp)
        if first.is_at(second.at(stamp)[:, 0], stamp, CLOSE, EXACT):
            assert sent.windows == [first, second]
            assert sent.since() == (second.joins if stamp <= second.joins else math.inf)
        else:
            apart.append(stamp)
            assert sent.windows == [second]
            assert sent.since() == math.inf
    assert BEGIN + 200 * MS < apart[0] < BEGIN + 220 * MS


def test_a_window_that_is_not_taken_is_kept_as_long_as_it_may_be():
    sent, first, second = two()
    assert sent.over == second.over > first.over
    for stamp in range(BEGIN + 100 * MS, sent.over, 10 * MS):
        assert observe(sent, first, stamp)
        assert sent.windows == [first, second]
        if stamp > second.joins + 20 * MS:
            assert sent.since() == second.joins
    assert observe(sent, first, sent.over)
    assert sent.windows == [first]
    assert sent.since() == math.inf


def test_a_late_window_is_found_where_it_then_is():
    sent, first, second = two()
    assert observe(sent, first, BEGIN + 280 * MS)
    assert sent.windows == [first, second]
    assert observe(sent, second, BEGIN + 290 * MS)
    assert sent.windows == [second]


@pytest.mark.parametrize("which", [0, 1])
def test_a_reference_near_a_window_drops_nothing_and_one_farther_is_a_loss(which):
    sent, *windows = two()
    stamp = BEGIN + 500 * MS
    speeds = np.abs(windows[which].at(stamp)[:, 1])
    for part, known in ((0.99, True), (0.1, True), (1.01, False), (100.0, False)):
        stamp += 1  # a new one
        room = np.array([0.0, 0.0, NEAR]) + WINDOW_MATCH.late_time * speeds
        assert observe(sent, windows[which], stamp, off=part * room) is known
        assert sent.windows == windows


def test_a_reference_that_stands_while_all_windows_move_on_is_a_hold():
    sent, first, _ = two()
    stamp = BEGIN + 500 * MS
    here = first.at(stamp)[:, 0] + 10.0 * CLOSE
    for late, off, known in [(0, 0.0, True), (1, 10.0 * SAME, True), (2, 10.0 * SAME, False)]:
        assert sent.observe(stamp + late * MS, here + off, EXACT, shifted=False) is known
    sent, first, _ = two()
    ended = first.end + 100 * MS  # they do not move any more
    for late in range(3):
        there = first.at(ended)[:, 0] + 10.0 * CLOSE
        assert sent.observe(ended + late * MS, there, EXACT, shifted=False)


def test_the_same_stamp_tells_nothing_more():
    sent, first, second = two()
    assert observe(sent, second, BEGIN + 300 * MS)
    assert observe(sent, first, BEGIN + 300 * MS, off=1.0)
    assert sent.windows == [second]
    assert not observe(sent, first, BEGIN + 301 * MS, off=1.0)


def test_of_two_windows_to_the_same_place_the_older_is_dropped_after_both_ends():
    first, joins = to(GOAL), BEGIN + 200 * MS
    limiter, states = Limiter(LIMITS, PERIOD, START), first.at(joins)
    states[:, 1] *= 0.9  # so that it takes longer
    limiter.go_on(states)
    second = Window(joins, in_messages(limiter.remainder(GOAL)), joins, settles=True)
    assert second.end > first.end + 5 * MS
    sent = SentWindows()
    sent.send(first, alone=True)
    sent.send(first._replace(begin=BEGIN + 10_000 * MS))  # it can be taken: nothing is settled
    sent.drop_others()
    sent.send(second)
    for stamp in (first.end + MS, second.end - 1):
        assert sent.observe(stamp, GOAL, EXACT, shifted=False)
        assert sent.windows == [first, second]
    assert sent.observe(second.end, GOAL, EXACT, shifted=False)
    assert sent.windows == [second]


def test_what_was_not_taken_is_dropped_once_nothing_can_be_taken():
    sent, first, second = two()
    for seen, kept in ((sent.over - 1, [first, second]), (sent.over, [first])):
        sent.seen = seen
        sent.settle()
        assert sent.windows == kept
    assert sent.since() == math.inf


def test_a_pending_window_is_not_settled():
    sent, window = SentWindows(), to(GOAL)
    sent.begin(window, START)
    sent.seen = window.over + 1
    sent.settle()
    assert sent.pending
    assert sent.windows == [window]


def test_those_that_are_not_known_to_be_followed_can_be_dropped():
    sent, first, second = two()
    assert sent.newest is second
    sent.drop_others()
    assert sent.windows == [first]
    sent, first, second = two()
    assert observe(sent, second, BEGIN + 202 * MS)  # where it cannot be told from the first one
    sent.drop_others()
    assert sent.windows == [first, second]


def test_a_reference_is_off_windows_that_have_left_its_way():
    first = to(GOAL)
    sent = SentWindows()
    sent.send(first, alone=True)
    sent.send(branch(first, BEGIN + 200 * MS, START))
    sent.send(branch(first, BEGIN + 400 * MS, START))  # at first it is on the way, too
    assert not sent.is_off(NEAR, 0.0)  # nothing was seen
    for after, is_off in ((150, False), (215, False), (300, True)):  # at 215 ms they are close
        observe(sent, first, BEGIN + after * MS)
        assert sent.is_off(NEAR, 0.0) == is_off
    sent.send(first._replace(joins=BEGIN + 250 * MS))
    assert not sent.is_off(NEAR, 0.0)  # that one may be followed


def test_a_window_that_was_taken_to_be_lost_is_found_where_it_then_is():
    sent, first, second = two()
    sent.drop_others()
    assert observe(sent, first, BEGIN + 280 * MS)
    assert observe(sent, second, BEGIN + 290 * MS)
    assert sent.windows == [second]
    assert sent.since() == math.inf
    assert sent.over == 0


def test_a_window_that_is_followed_at_once_is_alone():
    sent, first, second = two()
    sent.send(first, alone=True)
    assert sent.windows == [first]
    assert sent.since() == math.inf
    assert sent.over == second.over


def test_a_window_that_is_taken_cannot_be_taken_again_nor_those_before():
    sent, first, second = two()
    third = to(GOAL)._replace(begin=BEGIN + 500 * MS, joins=BEGIN + 500 * MS)
    sent.send(third)
    sent.drop_others()
    assert observe(sent, first, BEGIN + 100 * MS)
    assert sent.over == third.over > second.over
    sent.send(third)
    assert observe(sent, third, BEGIN + 700 * MS)
    assert sent.windows == [third]
    assert sent.over == third.over, "it was sent twice"
    assert observe(sent, third, BEGIN + 710 * MS)
    assert sent.over == 0


def test_windows_do_not_accumulate_for_a_controller_that_is_never_observed():
    sent, window = SentWindows(), to(GOAL)
    for k in range(1000):
        sent.send(window._replace(begin=BEGIN + 10 * k * MS), alone=True)
    assert len(sent._untaken) <= (window.over - window.begin) // (10 * MS)


def test_the_controller_may_move_until_the_last_of_the_windows_ends():
    sent, first, second = two()
    assert second.end > first.end
    assert sent.ends_after(second.end - 1)
    assert not sent.ends_after(second.end)
    sent.windows.reverse()
    assert sent.ends_after(second.end - 1)
    sent.begin(first, START)
    assert sent.ends_after(first.end + 10_000 * MS), "it has not begun"
    sent.clear()
    assert not sent.ends_after(0)


# A controller that is slow -------------------------------------------------------------------


@pytest.mark.parametrize("late", [2, 30, 700])
def test_a_window_is_placed_again_if_the_controller_is_late_on_its_way(late):
    sent, window = SentWindows(), to(GOAL)
    sent.send(window, alone=True)
    slow = window._replace(begin=BEGIN + late * MS)
    assert observe(sent, slow, slow.begin + 300 * MS, shifted=True)
    assert abs(sent.newest.begin - slow.begin) <= 2
    assert sent.over == 0
    assert observe(sent, slow, slow.begin + 310 * MS), "from then on without a shift"


@pytest.mark.parametrize("delayed", [False, True])
def test_a_window_that_begins_where_it_arrives_is_placed_again_unless_the_arm_stands(delayed):
    sent, window = SentWindows(), to(GOAL)
    sent.send(window, alone=True)
    here = window.at(BEGIN + 300 * MS)[:, 0]
    stamp = BEGIN + 340 * MS
    assert sent.observe(stamp, here, EXACT, shifted=False, delayed=delayed) is delayed
    if delayed:
        assert abs(sent.newest.begin - (stamp - 300 * MS)) <= 2
        assert not sent.observe(stamp + MS, here, EXACT, shifted=False, delayed=True)


def test_a_window_is_placed_again_if_the_controller_stands_on_its_way():
    sent, window = SentWindows(), to(GOAL)
    sent.send(window, alone=True)
    for k in range(20):
        stamp = BEGIN + (350 + 100 * k) * MS
        here = window.at(BEGIN + 300 * MS)[:, 0]
        assert sent.observe(stamp, here, EXACT, shifted=True)
        assert abs(sent.newest.begin - (stamp - 300 * MS)) <= 2


def test_of_two_windows_the_one_is_placed_again_on_whose_way_the_controller_is():
    for which in (0, 1):
        sent, *windows = two()
        slow = windows[which]._replace(begin=BEGIN + 50 * MS)
        assert observe(sent, slow, slow.begin + 400 * MS, shifted=True)
        assert [each.motion for each in sent.windows] == [each.motion for each in windows[which:]]
        assert abs(sent.windows[0].begin - slow.begin) <= 2


def test_a_slow_controller_on_no_windows_way_has_left_them():
    sent, first, second = two()
    off = np.array([0.0, 0.0, 10 * NEAR])
    assert not observe(sent, first, BEGIN + 500 * MS, off=off, shifted=True)
    assert sent.windows == [first, second]


# Rest ----------------------------------------------------------------------------------------


def test_rest_needs_two_equal_references_once_no_window_can_be_taken():
    sent, window = SentWindows(), to(GOAL)
    sent.send(window, alone=True)
    sent.clear()
    assert sent.newest is None
    assert sent.over == window.over
    places = [
        (-30, 0.0, False), (-20, 0.0, False), (-1e-6, 0.0, False),  # they do not count
        (0, 0.0, False), (0, 0.0, False),  # it is the same one
        (10, 0.9, True), (20, 3.0, False), (30, 3.0, True),
    ]  # fmt: skip
    for milliseconds, off, rests in places:
        reference = START + off * SAME
        stamp = sent.over + round(milliseconds * MS)
        assert sent.observe(stamp, reference, EXACT, shifted=False)
        assert (sent.resting is not None) == rests
        assert not rests or np.array_equal(sent.resting, reference)
    sent.clear()
    assert sent.resting is None


# Suspects: what measured joints tell --------------------------------------------------------------

LAG, NOISE = 100 * MS, 1e-3


def watched(place, *, window=None, since=BEGIN + 200 * MS, until=400):
    """Return what is suspected by joints that are at `place(time)`, every 10 ms."""
    suspects = Suspects()
    suspects.suspect([to(GOAL, slow(0.3)) if window is None else window], since, LAG)
    for milliseconds in range(0, until + 1, 10):
        time = since + milliseconds * MS
        suspects.observe(time, place(time))
    return suspects


def test_joints_that_go_the_way_of_a_window_follow_it_also_if_they_lag():
    window = to(GOAL, slow(0.3))
    rng = np.random.default_rng(0)
    for lag in (0, LAG):
        suspects = watched(
            lambda time, lag=lag: window.at(time - lag)[:, 0] + rng.uniform(-NOISE, NOISE, 3),
            window=window,
            until=800,
        )
        assert suspects.followed is window
        assert suspects.in_doubt


def test_joints_that_rest_or_go_elsewhere_follow_no_window():
    window = to(GOAL, slow(0.3))
    rest = window.at(BEGIN + 300 * MS)[:, 0]
    for place in (
        lambda _: rest,
        lambda time: 2.0 * rest - window.at(time)[:, 0],  # back
        lambda time: window.at(time)[:, 0] + [0.06 + 0.05, 0.0, 0.0],  # as fast, but beside it
        lambda time: rest + [1.0, 0.0, 0.0] * (window.at(time)[:, 0] - rest),  # one joint of two
    ):
        suspects = watched(place, window=window)
        assert suspects.followed is None
        assert not suspects.in_doubt
        assert suspects.windows == [window]


def test_joints_that_lag_behind_a_brake_do_not_follow_another_window_yet():
    suspects = watched(lambda time: to(GOAL, slow(0.3)).at(time)[:, 0], until=290)
    assert suspects.followed is None
    assert suspects.in_doubt


def test_a_window_that_hardly_moves_is_doubted_until_it_ends():
    window = to(START + np.array([2e-3, 0.0, 0.0]), slow(0.01))
    left = (window.end - BEGIN) // MS
    for until, doubted in ((left // 2, True), (left + 50, False)):
        suspects = watched(lambda _: START, window=window, since=BEGIN, until=until)
        assert suspects.in_doubt == doubted
        assert suspects.followed is None


def test_a_controller_that_has_stood_for_a_while_is_found_on_its_window_again():
    window = to(GOAL, slow(0.3))
    stands, goes_on = BEGIN + 300 * MS, BEGIN + 900 * MS

    def place(time):
        return window.at(time if time > goes_on else min(time, stands))[:, 0]

    assert not watched(place, window=window, until=600).in_doubt
    assert watched(place, window=window, until=1200).followed is window
