# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Outputs leave an arm at rest, for every end of a motion and every message."""

import math
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from control_msgs.msg import JointTrajectoryControllerState

from basis_ik.arm.goals import JointGoal
from basis_ik.arm.limiter import Motion
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.boundary import LIVE, Moment
from basis_ik.ros.outputs.controller_state import ControllerState
from basis_ik.ros.outputs.goal_output import Begun, FollowJointTrajectoryOutput, Progress
from basis_ik.ros.outputs.output import OutputOptions
from basis_ik.ros.outputs.replacement_rule import NOT_ALLOWED
from basis_ik.ros.outputs.stream_output import VelocityOutput
from basis_ik.ros.outputs.trajectory_output import TrajectoryOutput

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
OFF = 0.01  # rad by which the arm stays behind
NOW = Moment(0.0, 0)


@pytest.fixture
def sent():
    return []


@pytest.fixture
def output(sent):
    publisher = SimpleNamespace(topic_name="/t", publish=lambda m: sent.append(np.array(m.data)))
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher,
        destroy_publisher=lambda _: None,
    )
    options = ("c", ["a"] * 6, 0.01, 0.2, np.full(6, np.pi), NOT_ALLOWED, True, False)
    return VelocityOutput(OutputOptions(node, *options))


@pytest.fixture
def pipeline(output):
    pipeline = Pipeline(RobotModel.from_urdf(URDF).chain(), period=0.01)
    pipeline.set_goal(JointGoal(tuple(HOME + 1.0)), HOME)
    for _ in range(20):
        output.advance(pipeline, HOME, NOW)
    return pipeline


def test_velocities_are_those_of_the_motion(sent, pipeline):
    assert (sent[-1] > 0.1).all()
    assert (sent[-1] <= np.pi + output_gain(pipeline)).all()


def output_gain(pipeline):
    return VelocityOutput.GAIN * np.abs(pipeline.command - HOME).max()


def test_the_last_velocity_is_zero_despite_an_error(sent, output, pipeline):
    output.brake(pipeline)
    for _ in range(500):
        if output.advance(pipeline, HOME + OFF, NOW) is Phase.IDLE:
            break
    assert pipeline.phase is Phase.IDLE
    assert sent[-2].any()
    assert not sent[-1].any()


@pytest.mark.parametrize("how", ["end", "destroy"])
def test_ending_a_motion_at_once_sends_zero(sent, output, pipeline, how):
    output.end(pipeline) if how == "end" else output.destroy()
    assert not sent[-1].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_feedback_that_is_not_finite_is_ignored(bad):
    output = object.__new__(FollowJointTrajectoryOutput)
    still, line = np.zeros((2, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    output._newest, motion = 1, Motion(np.array([0.0, 1.0]), line, still, still)
    output._motion = motion
    output._progress = before = Progress(0.0, 0.5, 1.0, 0.0)
    output._joint_names = ["a", "b"]
    stamp = SimpleNamespace(sec=1, nanosec=0)
    desired = SimpleNamespace(positions=[0.7, bad])
    header = SimpleNamespace(stamp=stamp)
    feedback = SimpleNamespace(header=header, desired=desired, joint_names=[])
    output._on_feedback(1, SimpleNamespace(feedback=feedback))
    assert output._progress == before
    desired.positions = motion.at(0.7)[:, 0]
    output._on_feedback(1, SimpleNamespace(feedback=feedback))
    assert output._progress.elapsed == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("names", "positions", "found"),
    [
        (["finger", "b", "a"], [0.02, 0.7, 0.6], [0.6, 0.7]),
        ([], [0.6, 0.7], [0.6, 0.7]),
        ([], [0.02, 0.6, 0.7], [np.nan, np.nan]),  # whose is which?
        (["a", "b"], [0.6], [np.nan, np.nan]),
        (["a", "finger"], [0.6, 0.02], [0.6, np.nan]),
    ],
)
def test_feedback_is_of_the_joints_that_it_names(names, positions, found):
    output = object.__new__(FollowJointTrajectoryOutput)
    output._joint_names = ["a", "b"]
    desired = SimpleNamespace(positions=positions)
    feedback = SimpleNamespace(joint_names=names, desired=desired)
    np.testing.assert_array_equal(output._desired(feedback), found)


def told(stamp, positions):
    """The feedback of an action: stamp [s] and desired positions."""
    header = SimpleNamespace(stamp=SimpleNamespace(sec=int(stamp), nanosec=round(stamp % 1 * 1e9)))
    desired = SimpleNamespace(positions=positions)
    feedback = SimpleNamespace(header=header, desired=desired, joint_names=[])
    return SimpleNamespace(feedback=feedback)


def test_a_controller_that_has_just_begun_does_not_stand(controller, whole):
    motion = line(0.0)
    whole._send(Begun.at_rest(np.zeros(2)), motion)
    controller.accept()
    whole._on_feedback(1, told(100.04, motion.positions[0]))
    assert whole._begun() is None, "it may not have begun"
    controller.time += 0.1
    whole._on_feedback(1, told(100.1, motion.at(0.06)[:, 0]))
    begun = whole._begun()
    assert begun.end == pytest.approx(motion.at(0.06 + 0.05), abs=1e-9)
    whole._on_feedback(1, told(100.2, motion.at(0.11)[:, 0]))
    assert whole._progress.rate == pytest.approx(0.5), "from then on its pace is known"


def test_the_previous_motion_is_expected_until_acceptance():
    output = object.__new__(FollowJointTrajectoryOutput)
    still, line = np.zeros((2, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    output._motion = motion = Motion(np.array([0.0, 1.0]), line, still, still)
    output._progress, output._lag, output._canceled = Progress(0.0, 0.5, 1.0, 0.0), 0.1, False
    output._newest, output._accepted, output._begun_since = 2, 1, math.inf
    output._passed, output._unanswered = deque(), {2: motion}
    output.name, output._boundary = "follow_joint_trajectory", LIVE
    assert output.expected(NOW) is None
    result = SimpleNamespace(add_done_callback=lambda _: None)
    handle = SimpleNamespace(accepted=True, get_result_async=lambda: result)
    output._on_goal_response(2, SimpleNamespace(result=lambda: handle))
    way = output.expected(NOW)[:, 0]
    assert way.min() == pytest.approx(motion.at(0.4)[0, 0])
    assert way.max() == pytest.approx(motion.at(0.5)[0, 0])


class Handle:
    """A goal that a controller has accepted."""

    accepted = True

    def __init__(self):
        self.cancels, self.asked = 0, []

    def cancel_goal_async(self):
        self.cancels += 1

    def get_result_async(self):
        return SimpleNamespace(add_done_callback=self.asked.append)

    def end(self, status):
        """Answer the latest question for the result."""
        result = SimpleNamespace(status=status, result=SimpleNamespace(error_string=""))
        self.asked[-1](SimpleNamespace(result=lambda: result))


@pytest.mark.parametrize("accepted", ["before", "after"])
def test_an_unaccepted_motion_is_canceled_on_acceptance(accepted):
    output = object.__new__(FollowJointTrajectoryOutput)
    output._newest, output._accepted, output._canceled, output._handle = 1, 0, False, None
    output.name, output._boundary = "follow_joint_trajectory", LIVE
    output._motion = line(0.0)
    output._unanswered = {1: output._motion}
    output._progress, output._begun_since = Progress(0.0, 0.0, 1.0, 0.0), math.inf
    handle = Handle()
    answer = SimpleNamespace(result=lambda: handle)
    if accepted == "before":
        output._on_goal_response(1, answer)
        assert handle.cancels == 0
    output.end(PIPELINE)
    if accepted == "after":
        assert handle.cancels == 0
        output._on_goal_response(1, answer)
    assert handle.cancels == 1


class Controller:
    """An action client and a clock in one: stores goals, and accepts them on request."""

    def __init__(self):
        self.time, self.goals, self.answers, self.silence = 100.0, [], [], 0.0

    def now(self):
        return SimpleNamespace(nanoseconds=round(1e9 * self.time))

    def server_is_ready(self):
        return True

    def send_goal_async(self, goal, feedback_callback):
        self.goals.append(goal)
        return SimpleNamespace(add_done_callback=self.answers.append)

    def accept(self):
        self.handle = Handle()
        self.answers[-1](SimpleNamespace(result=lambda: self.handle))


@pytest.fixture
def controller():
    return Controller()


@pytest.fixture
def whole(controller):
    """An output of whole motions to that controller."""
    output = object.__new__(FollowJointTrajectoryOutput)
    output._client = output._clock = controller
    output._joint_names, output._lag, output._newest, output.sent = ["a", "b"], 0.1, 0, 0
    output._state = SimpleNamespace(
        speed_scaling=1.0,
        stands=False,
        silence=lambda _: controller.silence,
        output=lambda: None,
        reference=lambda: None,
        others=(),
        places=np.zeros(0),
        moved="",
    )
    output._rule, output._widest = SimpleNamespace(by_stamp=True), 0.02
    output._passed, output._brakes = deque(), False
    output._left_at, output._left_since = None, 0
    output._count, output._refused, output._taken = 0, 0, None
    output._unanswered = {}
    output._phase, output._handle, output._ordered = Phase.MOVING, None, False
    output._accepted, output._canceled = 0, False
    output._queried_at = output._silent_at = -math.inf
    output._override, output._halted, output._boundary = 1.0, False, LIVE
    output.name = "follow_joint_trajectory"
    return output


def line(velocity):
    """A motion of two joints with a velocity, 1 s long."""
    still, ends = np.zeros((2, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    return Motion(np.array([0.0, 1.0]), ends, np.full((2, 2), velocity), still)


def moving(stamp):
    """What a controller that moves two joints at 1 rad/s has begun at a stamp."""
    states = np.zeros((1, 2, 3))
    states[..., 1] = 1.0
    return Begun(stamp, np.zeros(1), states)


def test_a_motion_from_rest_begins_when_the_controller_accepts_it(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    stamp = controller.goals[0].trajectory.header.stamp
    assert (stamp.sec, stamp.nanosec) == (0, 0)
    controller.time += 0.4
    controller.accept()
    controller.time += 0.25
    # The answer may have taken all the time since it was sent.
    way = whole.expected(Moment(0.0, controller.now().nanoseconds))[:, 0]
    assert way.max() == pytest.approx(line(0.0).at(0.65)[0, 0])
    assert way.min() == pytest.approx(line(0.0).at(0.15)[0, 0])


def test_before_feedback_the_progress_is_unknown(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.time += 0.1
    controller.accept()
    assert whole._begun() is None
    pipeline = SimpleNamespace(rest=lambda: None, speed_override=1.0)  # which plans nothing
    whole.brake(pipeline)
    assert whole._handle.cancels == 0, "what has come by the next period counts"
    whole.advance(pipeline, np.zeros(2), Moment(0.0, controller.now().nanoseconds))
    assert len(controller.goals) == 1
    assert whole._handle.cancels == 1


@pytest.mark.parametrize(
    ("stamp", "reference", "accepted", "corrected"),
    [
        pytest.param(100.2, [0.25, 0.25], True, True, id="slower than expected"),
        pytest.param(100.2, [0.4001, 0.4001], True, False, id="as expected"),
        pytest.param(100.2, [0.25, 0.15], True, False, id="off its way"),
        pytest.param(99.9, [0.25, 0.25], True, False, id="before the feedback"),
        pytest.param(100.2, [0.25, 0.25], False, False, id="of the motion before"),
    ],
)
def test_the_progress_is_corrected_by_the_controllers_state(
    controller, whole, stamp, reference, accepted, corrected
):
    whole._send(Begun.at_rest(np.zeros(2)), line(1.0))
    if accepted:
        controller.accept()
    whole._motion = line(1.0)
    told = whole._progress = Progress(100.0, 0.2, 1.0, 100.0)
    whole._state.stamp, whole._state.speed_scaling = round(1e9 * stamp), 0.5
    whole._state.reference = lambda: np.array(reference)
    controller.time = 100.21
    whole.advance(PIPELINE, np.zeros(2), Moment(0.0, controller.now().nanoseconds))
    assert whole._progress == (
        pytest.approx((stamp, 0.25, 0.5, told.received_at)) if corrected else told
    )


@pytest.mark.parametrize(
    ("known", "stamp", "when", "elapsed"),
    [
        pytest.param(0.25, 100.1, 100.3, 0.25, id="it came late"),
        pytest.param(0.25, 99.0, 99.0, 0.4, id="clock set back"),
        pytest.param(0.0, 100.1, 100.1, 0.4, id="the first"),
    ],
)
def test_feedback_that_came_late_does_not_set_the_progress_back(
    controller, whole, known, stamp, when, elapsed
):
    whole._send(Begun.at_rest(np.zeros(2)), line(1.0))
    controller.accept()
    whole._motion, whole._progress = line(1.0), Progress(100.3, known, 0.5, 100.0)
    reported = SimpleNamespace(
        header=SimpleNamespace(stamp=Time(sec=int(stamp), nanosec=round(stamp % 1.0 * 1e9))),
        desired=SimpleNamespace(positions=[0.4, 0.4]),
        joint_names=["a", "b"],
    )
    whole._on_feedback(1, SimpleNamespace(feedback=reported))
    assert whole._progress.when == pytest.approx(when)
    assert whole._progress.elapsed == pytest.approx(elapsed)
    assert whole._progress.received_at == pytest.approx(stamp), "it is news all the same"


@pytest.mark.parametrize("later", [0.11, -5.0], ids=["later", "clock set back"])
def test_another_target_waits_until_a_silent_controller_is_heard(controller, whole, later):
    planned = []
    pipeline = SimpleNamespace(
        plan=lambda start, **_: planned.append(start) or line(1.0), speed_override=1.0
    )

    def advance():
        whole.advance(pipeline, np.zeros(2), Moment(0.0, controller.now().nanoseconds))

    whole._motion, whole._progress = None, Progress(0.0, 0.0, 1.0, 0.0)
    whole._begun_since, whole._ordered = math.inf, True
    controller.silence = 0.2
    advance()
    controller.silence = 0.0
    advance()
    assert planned == []
    controller.time += later
    advance()
    assert len(planned) == 1


def test_another_target_waits_for_the_progress(controller, whole):
    planned = []
    pipeline = SimpleNamespace(
        plan=lambda start, **_: planned.append(start) or line(1.0), speed_override=1.0
    )
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    whole._ordered = True
    whole.advance(pipeline, np.zeros(2), Moment(0.0, controller.now().nanoseconds))
    assert planned == []
    controller.accept()
    controller.time += 0.1
    reported = SimpleNamespace(
        header=SimpleNamespace(stamp=Time(sec=100, nanosec=100_000_000)),
        desired=SimpleNamespace(positions=[0.1, 0.1]),
        joint_names=["a", "b"],
    )
    whole._on_feedback(1, SimpleNamespace(feedback=reported))
    whole.advance(pipeline, np.zeros(2), Moment(0.0, controller.now().nanoseconds))
    assert len(planned) == 1
    assert len(controller.goals) == 2


def test_at_zero_override_a_motion_without_feedback_is_canceled(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    controller.time += 1.0  # without feedback
    now = Moment(0.0, controller.now().nanoseconds)
    assert whole.advance(SimpleNamespace(speed_override=0.0), np.zeros(2), now) is Phase.MOVING
    assert whole._handle.cancels == 1
    end = SimpleNamespace(status=GoalStatus.STATUS_CANCELED)
    whole._on_end(1, SimpleNamespace(result=lambda: end))
    motion = Motion(*(part[:1] for part in line(0.0)))
    pipeline = SimpleNamespace(plan=lambda start, **_: motion, speed_override=0.0)
    assert whole.advance(pipeline, np.zeros(2), now) is Phase.MOVING, "it has not arrived"
    pipeline.speed_override = 0.5
    assert whole.advance(pipeline, np.zeros(2), now) is Phase.ARRIVED


PIPELINE = SimpleNamespace(rest=lambda: None, plan=lambda start, **_: line(1.0), speed_override=1.0)


def after(controller, whole, seconds):
    """Advance the output some time later; return its phase."""
    controller.time += seconds
    return whole.advance(PIPELINE, np.zeros(2), Moment(0.0, controller.now().nanoseconds))


@pytest.fixture
def forgotten(controller, whole):
    """An output that cancels a motion of which the controller says nothing; and its handle."""
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    controller.time += 0.6
    whole.brake(PIPELINE)
    return whole, whole._handle


def test_a_motion_that_a_restarted_controller_does_not_know_has_ended(controller, forgotten):
    whole, handle = forgotten
    assert after(controller, whole, 0.0) is Phase.BRAKING
    assert len(handle.asked) == 2, "once on acceptance and once more"
    handle.end(GoalStatus.STATUS_UNKNOWN)
    assert after(controller, whole, 0.01) is Phase.IDLE
    assert whole.failure == "the controller was restarted"
    whole.begin()
    assert after(controller, whole, 0.01) is Phase.MOVING
    assert len(controller.goals) == 2
    assert after(controller, whole, 0.6) is Phase.MOVING
    assert len(handle.asked) == 2, "it says nothing about the next motion"


def test_a_silent_controller_is_asked_once_in_a_while(controller, forgotten):
    whole, handle = forgotten
    for _ in range(20):
        after(controller, whole, 0.1)
    assert 4 <= len(handle.asked) <= 6


def test_a_silent_controller_is_asked_also_when_the_clock_is_set_back(controller, forgotten):
    whole, handle = forgotten
    for count, seconds in enumerate((0.0, -10.0)):
        after(controller, whole, seconds)
        assert len(handle.asked) == 2 + count


def test_a_motion_accepted_by_a_controller_that_was_gone_is_canceled(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.server_is_ready = lambda: False
    assert after(controller, whole, 0.01) is Phase.IDLE
    controller.accept()
    assert controller.handle.cancels == 1


@pytest.mark.parametrize("news", ["feedback", "dead"])
def test_a_controller_is_asked_only_if_it_is_silent_about_the_motion(controller, whole, news):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    handle = whole._handle
    controller.silence = 5.0 if news == "dead" else 0.0
    assert after(controller, whole, 5.0 if news == "dead" else 0.4) is Phase.MOVING
    assert len(handle.asked) == 1


def test_another_answer_about_a_motion_changes_nothing(controller, forgotten):
    whole, handle = forgotten
    after(controller, whole, 0.0)
    handle.end(GoalStatus.STATUS_CANCELED)
    assert after(controller, whole, 0.01) is Phase.BRAKING


@pytest.mark.parametrize("newer", ["sent", "accepted"])
def test_an_answer_about_an_earlier_motion_does_not_end_a_newer_one(controller, whole, newer):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    handle = whole._handle
    if newer == "accepted":
        whole._send(moving(controller.time), line(1.0))
    after(controller, whole, 1.0)
    assert len(handle.asked) == 2
    if newer == "accepted":
        controller.accept()
    else:
        whole._send(moving(controller.time), line(1.0))
    handle.end(GoalStatus.STATUS_UNKNOWN)
    assert after(controller, whole, 0.01) is Phase.MOVING


@pytest.mark.parametrize(("wanted", "phase"), [(True, Phase.MOVING), (False, Phase.BRAKING)])
def test_a_motion_may_still_begin_as_long_as_it_is_not_answered(controller, whole, wanted, phase):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    if not wanted:
        whole.brake(PIPELINE)
    for _ in range(9):
        assert after(controller, whole, 1.0) is phase
    controller.accept()
    assert controller.handle.cancels == (0 if wanted else 1)
    controller.handle.end(GoalStatus.STATUS_CANCELED)
    assert after(controller, whole, 0.01) is Phase.IDLE


def test_a_motion_that_is_never_answered_counts_as_lost_and_is_canceled_if_it_is(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    whole.brake(PIPELINE)
    after(controller, whole, 0.6)
    assert after(controller, whole, 10.0) is Phase.IDLE
    controller.accept()
    assert controller.handle.cancels == 1


def test_a_replacing_motion_has_the_time_of_its_start(controller, whole):
    whole._send(moving(controller.time), line(1.0))
    stamp = controller.goals[0].trajectory.header.stamp
    assert stamp.sec + 1e-9 * stamp.nanosec == pytest.approx(100.0)
    controller.time += 0.25
    controller.accept()
    begun = whole._begun()
    assert begun.stamp == pytest.approx(controller.time - 0.25)
    assert begun.end[:, 0] == pytest.approx(line(1.0).at(0.3)[:, 0])


def test_a_replacing_motion_has_begun_for_a_controller_whose_clock_is_a_little_behind(whole):
    times = np.linspace(0.0, 1.0, 101)
    straight = np.stack([times, times], axis=1)
    ones, zeros = np.ones((101, 2)), np.zeros((101, 2))
    whole._motion, whole._begun_since = Motion(times, straight, ones, zeros), math.inf
    whole._progress = Progress(100.0 - 0.251, 0.0, 1.0, 100.0)
    assert whole._begun().stamp == pytest.approx(100.0 - 0.011)


@pytest.mark.parametrize(
    ("status", "where"),
    [(GoalStatus.STATUS_SUCCEEDED, [1.0, 1.0]), (GoalStatus.STATUS_CANCELED, [0.96, 0.96])],
)
def test_a_motion_begins_at_the_end_of_one_that_succeeded(controller, whole, status, where):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    controller.time += 2.0
    end = SimpleNamespace(status=status, result=SimpleNamespace(error_string=""))
    whole._on_end(1, SimpleNamespace(result=lambda: end))
    assert whole._rests_at(np.full(2, 0.96)).tolist() == where


@pytest.mark.parametrize(("stamp", "where"), [(99, "end"), (101, "reference")])
def test_after_a_motion_only_a_newer_state_tells_where_the_controller_rests(whole, stamp, where):
    places = {"end": np.full(2, 1.0), "reference": np.full(2, 0.9)}
    whole._left_at, whole._left_since = places["end"], 100 * 10**9
    whole._state.stamp, whole._state.reference = stamp * 10**9, lambda: places["reference"]
    whole._state.rests_at = lambda measured, lags: places["reference"]
    assert whole._rests_at(np.zeros(2)) is places[where]


@pytest.mark.parametrize(("since", "rests_at"), [(0.05, "end"), (0.15, "measured")])
def test_a_controller_that_tells_nothing_rests_where_a_lagging_arm_will_be(
    controller, whole, since, rests_at
):
    places = {"end": np.full(2, 1.0), "measured": np.full(2, 0.7)}
    whole._left_at, whole._left_since = places["end"], round(1e9 * (controller.time - since))
    assert whole._rests_at(places["measured"]) is places[rests_at]
    assert whole._rests_at(places["end"] - 0.04) is places["end"], "near it"


def test_a_motion_after_one_that_should_have_ended_begins_when_it_is_taken(controller, whole):
    whole._send(moving(controller.time), line(1.0))
    controller.accept()
    controller.time += 1.2
    whole._progress = whole._progress._replace(received_at=controller.time)
    assert whole._begun().stamp is None
    assert whole._begun().end == pytest.approx(np.array([[1.0, 0.0, 0.0]] * 2))


def test_after_a_jump_of_the_clock_the_arm_is_not_expected_where_it_was_before(controller, whole):
    whole._send(moving(controller.time), line(1.0))
    controller.accept()
    whole._passed.append((controller.time + 50.0, np.full(2, -7.0)))
    now = Moment(0.0, controller.now().nanoseconds)
    assert whole.expected(now).min() == -7.0
    whole._state.on_clock_jump = lambda: None
    whole._left_at, whole._left_since = np.full(2, 1.0), controller.now().nanoseconds
    whole.on_clock_jump()
    assert whole.expected(now).min() == 0.0
    reference = np.full(2, 0.4)
    whole._state.stamp, whole._state.reference = 5 * 10**9, lambda: reference
    whole._state.rests_at = lambda measured, lags: reference
    assert whole._rests_at(np.zeros(2)) is reference, "stamps are earlier now"


def test_a_motion_whose_brake_is_not_sent_yet_is_canceled_at_the_end(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    whole._client = whole._rule = SimpleNamespace(destroy=lambda: None)
    whole._state.destroy = lambda: None
    whole.brake(PIPELINE)
    whole.destroy()
    assert whole._handle.cancels == 1


def test_after_a_rejection_the_motion_that_was_accepted_last_is_braked(controller, whole):
    ends = SimpleNamespace(accepted=False)
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    first = whole._handle
    whole._send(moving(controller.time), line(1.0))
    middle = whole._motion
    whole.brake(PIPELINE)
    after(controller, whole, 0.0)
    assert len(controller.goals) == 3
    accepted = Handle()
    controller.answers[1](SimpleNamespace(result=lambda: accepted))
    assert accepted.cancels == 0, "the newest one replaces it"
    first.end(GoalStatus.STATUS_ABORTED)
    controller.answers[2](SimpleNamespace(result=lambda: ends))
    assert whole._motion is middle
    now = Moment(0.0, controller.now().nanoseconds)
    assert whole.expected(now) is None, "it may be anywhere on it"
    assert after(controller, whole, 0.2) is Phase.BRAKING
    assert accepted.cancels == 1, "without feedback"
    result = SimpleNamespace(
        status=GoalStatus.STATUS_CANCELED, result=SimpleNamespace(error_string="")
    )
    accepted.asked[0](SimpleNamespace(result=lambda: result))
    assert after(controller, whole, 0.01) is Phase.IDLE


def test_after_a_rejection_a_motion_that_is_being_canceled_is_not_moved_again(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    whole._send(moving(controller.time), line(1.0))
    whole.hold(PIPELINE, np.zeros(2), Moment(0.0, 0), np.zeros(2, bool))
    rejection = SimpleNamespace(accepted=False)
    controller.answers[1](SimpleNamespace(result=lambda: rejection))
    whole._on_feedback(1, told(controller.time + 0.1, [0.3, 0.3]))
    assert after(controller, whole, 0.1) is Phase.BRAKING
    assert len(controller.goals) == 2


def test_after_a_rejection_nothing_is_braked_that_has_ended(controller, whole):
    whole._send(Begun.at_rest(np.zeros(2)), line(0.0))
    controller.accept()
    first = whole._handle
    whole._send(moving(controller.time), line(1.0))
    first.end(GoalStatus.STATUS_SUCCEEDED)
    rejection = SimpleNamespace(accepted=False)
    controller.answers[1](SimpleNamespace(result=lambda: rejection))
    assert after(controller, whole, 0.01) is Phase.IDLE
    assert whole.failure == "the controller rejected the motion"


def test_velocities_keep_the_limits_at_any_error(sent, output, pipeline):
    output.advance(pipeline, HOME - 5.0, NOW)
    assert (sent[-1] == np.pi).all()


JOINTS = ["a", "b"]


class Clocks:
    """A node, a controller that publishes its state, and the clocks of both [ns]."""

    def __init__(self):
        self.here, self.ros_time_is_active = 10 * 10**9, False
        self.state = ControllerState(self, "c", JOINTS)

    def create_subscription(self, _, topic, callback, __):
        self.tell = callback
        return SimpleNamespace(topic_name=topic)

    def count_subscribers(self, _):
        return 0

    def get_clock(self):
        return self

    def now(self):
        return SimpleNamespace(nanoseconds=self.here)

    def receive(self, ahead, delays):
        """Hear states of a controller whose clock is ahead; they come after delays [s]."""
        for delay in delays:
            stamp = self.here + round(1e9 * (ahead - delay))
            message = JointTrajectoryControllerState(joint_names=JOINTS)
            message.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
            self.tell(message)
        return self.state.unmet(waits=True)


SOON, OFTEN_LATE = [0.001] * 100, [0.3] * 99 + [0.001]
VARYING = np.linspace(0.0, 0.2, 100)  # s


@pytest.mark.parametrize(
    ("ahead", "delays", "words"),
    [
        (0.0, SOON, ""),
        (0.0, OFTEN_LATE, ""),
        (0.015, SOON, ""),
        (0.03, SOON, "0.029 s ahead of this one: synchronise"),
        (3.0, OFTEN_LATE, "3 s ahead"),
        (-0.05, SOON, ""),
        (-0.2, SOON, "at least 0.201 s old"),
        (0.0, [0.201] * 100, "at least 0.201 s old"),  # the same to this node
        (0.0, 0.05 + VARYING, ""),
        (-0.05, VARYING, ""),
        (0.0, 0.105 + VARYING, "at least 0.105 s old"),
        (-0.15, VARYING, "at least 0.15 s old"),
        (-0.2, SOON[:50], ""),  # they may be late ones
    ],
)
def test_a_clock_offset_is_detected_from_states(ahead, delays, words):
    logged = Clocks().receive(ahead, delays)
    assert words in logged
    assert bool(words) == bool(logged)


def test_a_steady_delay_may_be_the_clocks_or_the_messages():
    late, behind = Clocks().receive(0.0, [0.3] * 100), Clocks().receive(-0.3, [0.0] * 100)
    assert late == behind, "nothing distinguishes the two"
    assert "clock is behind this one (synchronise them), or they are late" in late


def test_in_simulated_time_there_is_one_clock():
    clocks = Clocks()
    clocks.ros_time_is_active = True
    assert clocks.receive(3.0, SOON) == ""


def test_a_pause_of_simulated_time_is_no_silence(monkeypatch):
    clocks = Clocks()
    clocks.ros_time_is_active, clocks.count_publishers = True, lambda _: 1
    clocks.receive(0.0, SOON)
    monkeypatch.setattr("basis_ik.ros.boundary.time", SimpleNamespace(monotonic=lambda: 1e9))
    assert clocks.state.unmet(waits=True) == "", "real time is none of its business"
    clocks.here += 10**9
    assert clocks.state.unmet(waits=True).startswith("the controller is not active")


@pytest.mark.parametrize("jump", [3600, -3600])
def test_a_jump_of_the_clock_is_no_silence_of_the_controller(jump):
    clocks = Clocks()
    clocks.ros_time_is_active, clocks.count_publishers = True, lambda _: 1
    clocks.receive(0.0, SOON)
    clocks.here += jump * 10**9
    clocks.state.on_clock_jump()
    assert clocks.state.unmet(waits=True) == ""
    assert clocks.state.silence(clocks.here) == 0.0
    clocks.here += 10**9
    assert clocks.state.unmet(waits=True).startswith("the controller is not active")
    assert clocks.state.silence(clocks.here) == 1.0


class Streaming(Clocks):
    """The same, for a stream of windows."""

    def create_publisher(self, *_):
        return SimpleNamespace(topic_name="/t")


@pytest.mark.parametrize(
    ("off", "keeps"), [(0.0, True), (0.9e-4, True), (1.1e-4, False), (0.03, False), (None, False)]
)
def test_a_motion_continues_from_the_held_command(off, keeps):
    """Without a state, or at another reference, it may not have accepted the end of the motion."""
    clocks, options = (
        Streaming(),
        ("c", ["a", "b"], 0.01, 0.2, np.ones(2), NOT_ALLOWED, True, False),
    )
    output = TrajectoryOutput(OutputOptions(clocks, *options))
    if off is not None:
        message = JointTrajectoryControllerState(joint_names=["b", "a"])
        message.reference.positions = [2.0, 1.0 + off]
        clocks.tell(message)
    assert output.keeps(np.array([1.0, 2.0])) is keeps
