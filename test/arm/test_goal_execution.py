# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whole motions leave an arm at rest, for every end of a motion and every answer."""

import numpy as np
import pytest
from controller_stand_ins import JOINTS, KnownRule, OpenWay, StateTopic, arm_of, moment, report

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.goal_execution import GoalExecution, Progress
from basis_ik.arm.execution.messages import (
    CancelRequest,
    GoalFeedback,
    GoalOutcome,
    GoalRequest,
    GoalResult,
    StatusRequest,
)
from basis_ik.arm.execution.trajectory_execution import Controller
from basis_ik.arm.limiter import Motion
from basis_ik.arm.pipeline import Phase

LAG = 0.1  # s
SAFE = 0.05  # s for which the controller's way is kept


def line(velocity, begin=(0.0, 0.0), samples=2):
    """Return a motion of two joints by 1 rad in 1 s, with a velocity at its samples."""
    times = np.linspace(0.0, 1.0, samples)
    positions = np.add.outer(times, begin)
    return Motion(times, positions, np.full_like(positions, velocity), np.zeros_like(positions))


class Source:
    """A source of motions by 1 rad in 1 s, from wherever it is asked for."""

    speed_override = 1.0

    def __init__(self):
        self.starts, self.velocity, self.samples = [], 0.0, 2

    def rest(self, *, keeps_way=False):
        pass

    def plan(self, start, *, braking, spacing):
        self.starts.append(start)
        return line(self.velocity, start[:, 0], self.samples)

    def is_still_free(self, way):
        return True


class Dialogue:
    """An execution, the controller that answers it, and their clock; answers are by number."""

    def __init__(self):
        self.time, self.measured = 100.0, np.zeros(2)
        self.way, self.source = OpenWay(), Source()
        self.state = ControllerState(StateTopic(), JOINTS, self.now)
        controller = Controller(self.way, self.state, KnownRule(), resumes=True)
        self.execution = GoalExecution(arm_of(lag=LAG), controller)
        self.goals, self.cancels, self.questions = [], [], []

    @property
    def now(self):
        return moment(self.time)

    @property
    def expected(self):
        """Where the first joint should be: the lowest and highest position, or None."""
        way = self.execution.expected(self.now)
        return None if way is None else (way[:, 0].min(), way[:, 0].max())

    def _keep(self):
        kept = {
            GoalRequest: self.goals,
            CancelRequest: self.cancels,
            StatusRequest: self.questions,
        }
        for each in self.execution.outgoing():
            kept[type(each)].append(each)

    def after(self, seconds):
        """Advance some time later; return the phase."""
        self.time += seconds
        phase = self.execution.advance(self.source, self.measured, self.now)
        self._keep()
        return phase

    def order(self):
        """Order a motion, which is sent at once if it may be; return the phase."""
        self.execution.begin()
        return self.after(0.0)

    def brake(self):
        self.execution.brake(self.source)

    def answer(self, number, *, accepted):
        self.execution.take_answer(number, self.now, accepted=accepted)
        self._keep()

    def accept(self, number=1):
        self.answer(number, accepted=True)

    def reject(self, number):
        self.answer(number, accepted=False)

    def feed(self, *desired, number=1, at=None, names=JOINTS):
        """Tell where the controller is; at a stamp [s], or without."""
        self.execution.take_feedback(GoalFeedback(number, at, names, desired), self.now)

    def finish(self, outcome, number=1):
        self.execution.take_result(GoalResult(number, outcome, ""), self.now)

    def tell(self, *reference, at=0.0, speed_scaling=1.0):
        """Publish the controller's state."""
        self.state.take(report(at, reference, speed_scaling=speed_scaling), self.now)

    def replace(self):
        """Replace the first motion, a quarter of which is done, by a second one."""
        self.time += 0.25
        self.feed(0.25, 0.25)
        self.order()
        assert len(self.goals) == 2


@pytest.fixture
def talk():
    """Return a dialogue in which a motion from rest to rest was sent."""
    talk = Dialogue()
    talk.order()
    return talk


@pytest.fixture
def straight():
    """Return a dialogue in which a motion at 1 rad/s was sent, which it has from 0.1 s on."""
    talk = Dialogue()
    talk.source.velocity, talk.source.samples = 1.0, 11
    talk.order()
    return talk


@pytest.fixture
def moving(straight):
    """Return a dialogue in which a motion replaces one that was accepted, and goes on like it."""
    straight.accept()
    straight.replace()
    return straight


def state(positions, velocity):
    """Return the state (n, 3) of joints that have the same velocity."""
    return np.array([[position, velocity, 0.0] for position in positions])


# Feedback ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_feedback_that_is_not_finite_is_ignored(straight, bad):
    straight.accept()
    straight.time += 0.5
    straight.feed(0.5, 0.5)
    straight.feed(0.7, bad)
    assert straight.expected == pytest.approx((0.4, 0.5))
    straight.feed(0.7, 0.7)
    assert straight.expected == pytest.approx((0.6, 0.7))


@pytest.mark.parametrize(
    ("names", "positions", "found"),
    [
        (["finger", "b", "a"], [0.02, 0.7, 0.6], 0.6),
        ([], [0.6, 0.7], 0.6),
        ([], [0.02, 0.6, 0.7], 0.5),  # whose is which?
        (["a", "b"], [0.6], 0.5),
        (["a", "finger"], [0.6, 0.02], 0.5),
    ],
)
def test_feedback_is_of_the_joints_that_it_names(names, positions, found):
    talk = Dialogue()
    talk.source.velocity, talk.source.samples = 1.0, 11
    talk.measured = np.array([0.0, 0.1])
    talk.order()
    talk.accept()
    talk.time += 0.5
    talk.feed(0.5, 0.6)
    talk.feed(*positions, names=names)
    assert talk.expected[1] == pytest.approx(found)


def test_a_controller_that_has_just_begun_does_not_stand(talk):
    talk.accept()
    talk.time += 0.04
    talk.feed(0.0, 0.0)
    talk.order()
    assert len(talk.goals) == 1, "it may not have begun"
    talk.time += 0.06
    talk.feed(*line(0.0).at(0.06)[:, 0])
    talk.after(0.0)
    assert talk.source.starts[-1] == pytest.approx(line(0.0).at(0.06 + SAFE), abs=1e-9)


def test_from_the_second_feedback_on_the_pace_is_known(talk):
    talk.accept()
    for seconds, elapsed in ((0.1, 0.06), (0.1, 0.11)):
        talk.time += seconds
        talk.feed(*line(0.0).at(elapsed)[:, 0])
    talk.order()
    slowed = line(0.0).at(0.11 + 0.5 * SAFE) * 0.5 ** np.arange(3)
    assert talk.source.starts[-1] == pytest.approx(slowed, abs=1e-9)


def test_the_time_within_a_rest_is_taken_from_the_clock():
    """The positions are the same all the time; the motion is left when it goes on."""
    still = np.zeros((4, 2))
    motion = Motion(np.array([0.0, 0.2, 0.5, 1.0]), np.outer([0, 1, 1, 2], [1, 1]), still, still)
    known = Progress(10.1, 0.1, 1.0, 10.1)
    for after in (0.25, 0.4, 0.49):
        found = known.updated(10.0 + after, motion, np.ones(2))
        assert found.elapsed == pytest.approx(after)
        assert found.rate == pytest.approx(1.0)
    slower = known.updated(10.6, motion, motion.at(0.15)[:, 0])
    assert slower.elapsed == pytest.approx(0.15)


def test_before_feedback_the_progress_is_unknown(talk):
    talk.time += 0.1
    talk.accept()
    talk.brake()
    assert talk.after(0.0) is Phase.BRAKING
    assert (len(talk.goals), len(talk.cancels)) == (1, 1)


def test_a_brake_waits_for_the_first_feedback(talk):
    talk.accept()
    talk.brake()
    talk.after(0.06)
    assert talk.cancels == []
    talk.feed(*line(0.0).at(0.06)[:, 0])
    assert talk.after(0.0) is Phase.BRAKING
    assert (len(talk.goals), talk.cancels) == (2, [])


def test_a_motion_without_feedback_for_long_is_canceled(straight):
    straight.accept()
    straight.time += 0.1
    straight.feed(0.1, 0.1)
    straight.brake()
    straight.after(0.6)
    assert (len(straight.goals), len(straight.cancels)) == (1, 1)


@pytest.mark.parametrize(
    ("stamp", "reference", "corrected"),
    [
        pytest.param(100.4, [0.25, 0.25], True, id="slower than expected"),
        pytest.param(100.4, [0.4001, 0.4001], False, id="as expected"),
        pytest.param(100.4, [0.25, 0.15], False, id="off its way"),
        pytest.param(100.1, [0.25, 0.25], False, id="before the feedback"),
    ],
)
def test_the_progress_is_corrected_by_the_controllers_state(straight, stamp, reference, corrected):
    straight.accept()
    straight.feed(0.2, 0.2, at=100.2)
    straight.time = 100.41
    straight.tell(*reference, at=stamp, speed_scaling=0.5)
    straight.order()
    here, pace = (0.255, 0.5) if corrected else (0.41, 1.0)
    begin = state([here + SAFE * pace] * 2, pace)
    assert straight.source.starts[-1] == pytest.approx(begin)


def test_a_state_on_the_motion_before_does_not_correct_the_progress(moving):
    moving.time = 100.35
    moving.tell(0.3, 0.3, at=100.34, speed_scaling=0.5)
    moving.order()
    assert moving.source.starts[-1] == pytest.approx(state([0.35 + SAFE] * 2, 1.0))


def test_feedback_that_came_late_does_not_set_the_progress_back(straight):
    straight.accept()
    straight.feed(0.1, 0.1, at=100.0)
    straight.time = 100.3
    straight.tell(0.25, 0.25, at=100.3, speed_scaling=0.5)
    straight.after(0.0)
    straight.feed(0.4, 0.4, at=100.1)
    straight.time = 100.55
    straight.tell(speed_scaling=0.5)
    straight.order()
    here = 0.25 + 0.5 * 0.25
    begin = state([here + 0.5 * SAFE] * 2, 0.5)
    assert straight.source.starts[-1] == pytest.approx(begin), "it is news all the same"


def test_feedback_after_the_clock_was_set_back_sets_the_progress(straight):
    straight.accept()
    straight.feed(0.25, 0.25, at=100.3)
    straight.time = 99.0
    straight.feed(0.4, 0.4, at=99.0)
    straight.order()
    assert straight.source.starts[-1] == pytest.approx(state([0.4 + SAFE] * 2, 1.0))


def test_the_first_feedback_counts_although_it_is_older_than_the_acceptance(straight):
    straight.time += 0.3
    straight.accept()
    straight.feed(0.4, 0.4, at=100.1)
    straight.order()
    begin = state([0.4 + 0.2 + SAFE] * 2, 1.0)
    assert straight.source.starts[-1] == pytest.approx(begin)


# Where the arm is expected -----------------------------------------------------------------------


def test_the_previous_motion_is_expected_until_acceptance(straight):
    straight.accept()
    straight.time += 0.5
    straight.feed(0.5, 0.5)
    straight.order()
    assert len(straight.goals) == 2
    assert straight.expected is None
    straight.accept(2)
    assert straight.expected == pytest.approx((0.4, 0.5))


def test_a_motion_from_rest_begins_when_the_controller_accepts_it(talk):
    assert talk.goals[0].stamp is None
    talk.time += 0.4
    talk.accept()
    talk.time += 0.25
    # The answer may have taken all the time since it was sent.
    positions = line(0.0).at(0.25 - LAG)[0, 0], line(0.0).at(0.65)[0, 0]
    assert talk.expected == pytest.approx(positions)


def test_after_a_jump_of_the_clock_the_arm_is_not_expected_where_it_was_before(straight):
    straight.accept()
    straight.time += 0.5
    straight.feed(0.5, 0.5)
    straight.after(0.0)
    straight.time = 50.0
    assert straight.expected == pytest.approx((0.0, 0.5))
    straight.execution.on_clock_jump(straight.now)
    assert straight.expected == (0.0, 0.0)


# Where a motion begins ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "where"), [(GoalOutcome.SUCCEEDED, 1.0), (GoalOutcome.CANCELED, 0.96)]
)
def test_a_motion_begins_at_the_end_of_one_that_succeeded(talk, outcome, where):
    talk.accept()
    talk.time += 2.0
    talk.finish(outcome)
    talk.measured = np.full(2, 0.96)
    talk.order()
    assert talk.source.starts[-1] == pytest.approx(state([where] * 2, 0.0))


@pytest.mark.parametrize(("stamp", "where"), [(101.0, 1.0), (103.0, 0.9)])
def test_after_a_motion_only_a_newer_state_tells_where_the_controller_rests(talk, stamp, where):
    talk.accept()
    talk.time = 102.0
    talk.finish(GoalOutcome.SUCCEEDED)
    talk.time, talk.measured = 103.0, np.full(2, 0.9)
    talk.tell(0.9, 0.9, at=stamp)
    talk.order()
    assert talk.source.starts[-1] == pytest.approx(state([where] * 2, 0.0))


def test_after_a_jump_of_the_clock_every_state_is_newer(talk):
    talk.accept()
    talk.time += 2.0
    talk.finish(GoalOutcome.SUCCEEDED)
    talk.time, talk.measured = 5.0, np.full(2, 0.4)
    talk.execution.on_clock_jump(talk.now)
    talk.tell(0.4, 0.4, at=5.0)
    talk.order()
    assert talk.source.starts[-1] == pytest.approx(state([0.4] * 2, 0.0))


@pytest.mark.parametrize(
    ("since", "measured", "where"),
    [
        pytest.param(0.05, 0.7, 1.0, id="it lags"),
        pytest.param(0.15, 0.7, 0.7, id="it was moved"),
        pytest.param(0.15, 0.96, 1.0, id="near it"),
    ],
)
def test_a_controller_that_tells_nothing_rests_where_a_lagging_arm_will_be(
    talk, since, measured, where
):
    talk.accept()
    talk.time += 2.0
    talk.finish(GoalOutcome.SUCCEEDED)
    talk.time, talk.measured = talk.time + since, np.full(2, measured)
    talk.order()
    assert talk.source.starts[-1] == pytest.approx(state([where] * 2, 0.0))


def test_a_motion_after_one_that_should_have_ended_begins_when_it_is_taken(straight):
    straight.accept()
    straight.time += 1.0
    straight.feed(0.9, 0.9)
    straight.time += 0.2
    straight.order()
    assert straight.goals[1].stamp is None
    assert straight.source.starts[-1] == pytest.approx(state([1.0] * 2, 0.0))


# Motions that replace others ---------------------------------------------------------------------


def test_another_target_waits_for_the_progress(talk):
    talk.order()
    assert len(talk.goals) == 1
    talk.accept()
    talk.time += 0.1
    talk.feed(0.1, 0.1)
    talk.after(0.0)
    assert len(talk.goals) == 2


def test_another_target_waits_for_the_end_of_a_motion_that_is_canceled(straight):
    straight.accept()
    straight.time += 0.25
    straight.feed(0.25, 0.25)
    straight.execution.hold(straight.source, np.zeros(2), straight.now, np.zeros(2, bool))
    assert straight.after(0.0) is Phase.BRAKING
    straight.order()
    assert len(straight.goals) == 1
    straight.finish(GoalOutcome.CANCELED)
    straight.after(0.0)
    assert len(straight.goals) == 2


@pytest.mark.parametrize("later", [0.11, -5.0], ids=["later", "clock set back"])
def test_another_target_waits_until_a_silent_controller_is_heard(later):
    talk = Dialogue()
    talk.tell()
    talk.time += 0.2
    talk.order()
    talk.tell()
    talk.after(0.0)
    assert talk.goals == []
    talk.after(later)
    assert len(talk.goals) == 1


def test_a_replacing_motion_has_the_time_of_its_start(moving):
    first, second = moving.goals
    assert second.stamp == pytest.approx(100.2), "since when it is past its last sample"
    assert second.motion.at(0.1) == pytest.approx(first.motion.at(0.3))
    moving.time += 0.25
    moving.accept(2)
    moving.order()
    third = moving.goals[2]
    assert third.stamp == pytest.approx(100.4)
    assert moving.source.starts[-1] == pytest.approx(state([0.5 + SAFE] * 2, 1.0))


def test_a_replacing_motion_has_begun_for_a_controller_whose_clock_is_a_little_behind():
    talk = Dialogue()
    talk.source.velocity, talk.source.samples = 1.0, 101
    talk.order()
    talk.accept()
    talk.time += 0.251
    talk.feed(0.251, 0.251)
    talk.order()
    assert talk.goals[1].stamp == pytest.approx(talk.time - 0.011)


def test_at_zero_override_a_motion_without_feedback_is_canceled(talk):
    talk.accept()
    talk.source.speed_override = 0.0
    assert talk.after(1.0) is Phase.MOVING
    assert len(talk.cancels) == 1
    talk.finish(GoalOutcome.CANCELED)
    talk.source.samples = 1
    assert talk.after(0.0) is Phase.MOVING, "it has not arrived"
    assert talk.order() is Phase.MOVING
    talk.source.speed_override = 0.5
    assert talk.after(0.0) is Phase.ARRIVED


# Ends --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accepted", ["before", "after"])
def test_an_unaccepted_motion_is_canceled_on_acceptance(talk, accepted):
    if accepted == "before":
        talk.accept()
        assert talk.cancels == []
    talk.execution.end(talk.source, talk.now)
    if accepted == "after":
        assert talk.execution.outgoing() == []
        talk.accept()
    talk.after(0.0)
    assert talk.cancels == [CancelRequest(1)]


@pytest.mark.parametrize("sent", [False, True], ids=["to be sent", "sent"])
def test_a_motion_whose_brake_is_not_sent_yet_is_canceled_at_the_end(straight, sent):
    straight.accept()
    straight.time += 0.25
    straight.feed(0.25, 0.25)
    straight.brake()
    if sent:
        straight.after(0.0)
    straight.execution.close()
    assert straight.execution.outgoing() == ([] if sent else [CancelRequest(1)])


def test_a_motion_accepted_by_a_controller_that_was_gone_is_canceled(talk):
    talk.way.ready = False
    assert talk.after(0.01) is Phase.IDLE
    talk.accept()
    assert talk.cancels == [CancelRequest(1)]
    talk.finish(GoalOutcome.CANCELED)
    assert talk.execution.failure == "the controller is gone"


@pytest.mark.parametrize(("wanted", "phase"), [(True, Phase.MOVING), (False, Phase.BRAKING)])
def test_a_motion_may_still_begin_as_long_as_it_is_not_answered(talk, wanted, phase):
    if not wanted:
        talk.brake()
    for _ in range(12 if wanted else 9):
        assert talk.after(1.0) is phase
    talk.accept()
    assert talk.cancels == ([] if wanted else [CancelRequest(1)])
    talk.finish(GoalOutcome.CANCELED)
    assert talk.after(0.01) is Phase.IDLE


def test_a_motion_that_is_never_answered_counts_as_lost_and_is_canceled_if_it_is(talk):
    talk.brake()
    talk.after(0.6)
    assert talk.after(10.0) is Phase.IDLE
    talk.accept()
    assert talk.cancels == [CancelRequest(1)]


# Silent controllers ------------------------------------------------------------------------------


@pytest.fixture
def forgotten(talk):
    """Return a dialogue in which a motion is to be canceled of which nothing has been heard."""
    talk.accept()
    talk.time += 0.6
    talk.brake()
    return talk


def test_a_motion_that_a_restarted_controller_does_not_know_has_ended(forgotten):
    assert forgotten.after(0.0) is Phase.BRAKING
    (question,) = forgotten.questions
    forgotten.execution.take_unknown(question, forgotten.now)
    assert forgotten.after(0.01) is Phase.IDLE
    assert forgotten.execution.failure == "the controller was restarted"
    assert forgotten.order() is Phase.MOVING
    assert len(forgotten.goals) == 2
    assert forgotten.after(0.6) is Phase.MOVING
    assert len(forgotten.questions) == 1, "it says nothing about the next motion"


def test_a_silent_controller_is_asked_once_in_a_while(forgotten):
    for _ in range(20):
        forgotten.after(0.1)
    assert 3 <= len(forgotten.questions) <= 5


def test_a_silent_controller_is_asked_also_when_the_clock_is_set_back(forgotten):
    for count, seconds in enumerate((0.0, -10.0), 1):
        forgotten.after(seconds)
        assert len(forgotten.questions) == count


@pytest.mark.parametrize("news", ["feedback", "dead"])
def test_a_controller_is_asked_only_if_it_is_silent_about_the_motion(talk, news):
    talk.accept()
    if news == "dead":
        talk.tell()
    assert talk.after(5.0 if news == "dead" else 0.4) is Phase.MOVING
    assert talk.questions == []


@pytest.mark.parametrize("newer", ["sent", "accepted"])
def test_an_answer_about_an_earlier_motion_does_not_end_a_newer_one(straight, newer):
    straight.accept()
    if newer == "accepted":
        straight.replace()
    straight.after(1.0)
    (question,) = straight.questions
    if newer == "accepted":
        straight.accept(2)
    else:
        straight.replace()
    straight.execution.take_unknown(question, straight.now)
    assert straight.after(0.01) is Phase.MOVING


# Rejections --------------------------------------------------------------------------------------


def test_after_a_rejection_the_motion_that_was_accepted_last_is_braked(moving):
    end = moving.execution.end_of_motion(moving.source).copy()
    moving.brake()
    moving.after(0.0)
    assert len(moving.goals) == 3
    moving.accept(2)
    assert moving.cancels == [], "the newest one replaces it"
    moving.finish(GoalOutcome.ABORTED, 1)
    moving.reject(3)
    assert moving.execution.end_of_motion(moving.source) == pytest.approx(end)
    assert moving.expected is None, "it may be anywhere on it"
    assert moving.after(0.2) is Phase.BRAKING
    assert moving.cancels == [CancelRequest(2)], "without feedback"
    moving.finish(GoalOutcome.CANCELED, 2)
    assert moving.after(0.01) is Phase.IDLE


def test_the_newest_goal_is_canceled_although_one_before_is_accepted_later(moving):
    moving.brake()
    moving.after(0.0)
    moving.accept(3)
    moving.accept(2)
    moving.execution.hold(moving.source, np.zeros(2), moving.now, np.zeros(2, bool))
    moving.after(0.0)
    assert moving.cancels == [CancelRequest(3)]


def test_after_a_rejection_a_motion_that_is_being_canceled_is_not_moved_again(moving):
    moving.execution.hold(moving.source, np.zeros(2), moving.now, np.zeros(2, bool))
    moving.reject(2)
    moving.time += 0.1
    moving.feed(0.3, 0.3)
    assert moving.after(0.0) is Phase.BRAKING
    assert len(moving.goals) == 2
    assert set(moving.cancels) == {CancelRequest(1)}


def test_after_a_rejection_nothing_is_braked_that_has_ended(moving):
    moving.finish(GoalOutcome.SUCCEEDED)
    moving.reject(2)
    assert moving.after(0.01) is Phase.IDLE
    assert moving.execution.failure == "the controller rejected the motion"
