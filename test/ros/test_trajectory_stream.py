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

"""What the simulated controller and a lagging drive make of the node's stream, in their own time.

The arm is judged by the positions of its drives, 500 a second, by differences.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.control_loop import ControlLoop
from basis_ik.motion.goals import JointGoal, PoseGoal
from basis_ik.motion.limiter import LEAD
from basis_ik.motion.limits import MotionLimits
from basis_ik.motion.simulated_joints import SimulatedJoints
from basis_ik.motion.tolerances import Tolerances
from basis_ik.motion.tracking import Tracking
from basis_ik.motion.trajectory_command import refuse_trajectory
from basis_ik.motion.trajectory_controller import TrajectoryController
from basis_ik.pipeline import Phase, Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.boundary import Moment
from basis_ik.ros.outputs.output import OutputOptions
from basis_ik.ros.outputs.trajectory_messages import to_command, to_point
from basis_ik.ros.outputs.trajectory_output import TrajectoryOutput
from basis_ik.transforms.rigid import RigidTransform

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD, CYCLE = 0.01, 0.002
DRIVES = {"dyn": 0.0, "lag30": 0.03}
BEGIN = 1_000.0  # s
TOLERANCES = Tolerances(np.zeros(6), np.zeros(6), 0.0)


class Bench:
    """The node's output and the arm, in a time of their own."""

    def __init__(
        self, drive, *, desired, rule="not_allowed", blends=False, seed=0, period=PERIOD,
        slowest=6.7e-3,
    ):  # fmt: skip
        self.period, self.slowest = period, slowest  # slowest: latest arrival of a message [s]
        self.chain = RobotModel.from_urdf(URDF).chain()
        self.limits = MotionLimits.of_chain(self.chain)
        self.now, self.random = BEGIN, np.random.default_rng(seed)
        self.on_the_way, self.positions, self.phases = [], [], []
        publisher = SimpleNamespace(topic_name="/t", publish=self._send)
        node = SimpleNamespace(
            create_publisher=lambda *_: publisher,
            create_subscription=self._subscribe,
            get_clock=lambda: SimpleNamespace(now=self._ros_time, ros_time_is_active=False),
        )
        names = self.chain.joint_names
        self.output = TrajectoryOutput(
            OutputOptions(node, "c", names, period, 0.2, self.chain.velocity, rule)
        )
        self.pipeline = Pipeline(self.chain, period=period)
        far = np.full(6, np.inf)
        self.joints = SimulatedJoints(-far, far, far, HOME, time_constant=DRIVES[drive])
        self.controller = TrajectoryController(
            names, np.zeros(6, bool), HOME, TOLERANCES,
            period=CYCLE, interpolate_from_desired_state=desired,
            allow_trajectory_replacement=blends,
        )  # fmt: skip
        self.loop = ControlLoop(self.joints, np.arange(6), self.controller, CYCLE)
        self.due, self.late = self.now, 0.0
        self.dropped = False  # whether the goal is not pursued any more
        self.state_period = 0.0  # period of the controller's states, 0: none [s]
        self.published_at = 0.0

    def _subscribe(self, kind, topic, callback, qos):
        self._on_joint_state = callback
        return SimpleNamespace(topic_name=topic)

    def _ros_time(self):
        return SimpleNamespace(nanoseconds=self.moment.clock)

    def _send(self, message):
        """A message takes 0.6 to 6.7 ms, as recorded, or as long as is told; none overtakes."""
        command = to_command(deserialize_message(message, JointTrajectory), 0)
        assert refuse_trajectory(
            command, self.chain.joint_names, self.now,
            allow_partial_joints=False, allow_final_velocity=False,
        ) is None  # fmt: skip
        latest = self.on_the_way[-1][0] if self.on_the_way else 0.0
        arrival = max(self.now + self.random.uniform(0.6e-3, self.slowest), latest)
        self.on_the_way.append((arrival, command))

    def run(self, seconds, goal=None, lateness=2e-3):
        """Let time pass; the loop is late by up to `lateness`, or dead if that is infinite.

        Args:
            seconds: How long.
            goal: Called with the time, returns the goal at that time; None: none, and no braking.
            lateness: [s].
        """
        end = self.now + seconds
        while self.now < end:
            if np.isfinite(lateness) and self.now >= self.due + self.late:
                self.due, self.late = self.due + self.period, self.random.uniform(0.0, lateness)
                self._work(goal)
            arrived = [command for when, command in self.on_the_way if when <= self.now]
            self.on_the_way = [each for each in self.on_the_way if each[0] > self.now]
            for command in arrived:
                if self.controller.active:  # or else it is lost, as upstream
                    self.controller.follow(command)
            update = self.loop.cycle(self.now)
            if update is not None and 0.0 < self.state_period <= self.now - self.published_at:
                self._publish_states(update.reference)
            self.positions.append(self.joints.positions.copy())
            self.now += CYCLE

    def _publish_states(self, reference):
        self.published_at = self.now
        state = JointTrajectoryControllerState(joint_names=self.chain.joint_names)
        seconds, nanoseconds = divmod(self.moment.clock, 10**9)
        state.header.stamp = Time(sec=seconds, nanosec=nanoseconds)
        state.reference = to_point(reference.positions, reference.velocities)
        self._on_joint_state(state)

    def switch(self, on):
        """Switch the controller on or off; on, it holds the arm where it is."""
        if not on:
            self.controller.deactivate()
            return
        self.controller.activate(TOLERANCES)

    def _work(self, goal):
        measured = self.joints.positions.copy()
        if self.output._unmet and not self.dropped:  # as the chain's controller does
            self.dropped = True
            self.output.brake(self.pipeline)
        elif goal is not None and not self.dropped:
            self.pipeline.set_goal(goal(self.now - BEGIN), measured)
        self.phases.append(self.output.advance(self.pipeline, measured, self.moment))
        self.dropped |= goal is not None and self.phases[-1] is Phase.IDLE

    @property
    def moment(self):
        return Moment(self.now, round(self.now * 1e9))

    def check(self):
        """No joint is more than 2 % too fast; 99 % of accelerations keep to twice the limit."""
        speeds = np.abs(np.diff(self.positions, axis=0)) / CYCLE
        assert (speeds.max(axis=0) <= 1.02 * self.limits.velocity).all()
        rates = np.abs(np.diff(self.positions, 2, axis=0)) / CYCLE**2
        assert (np.quantile(rates, 0.99, axis=0) <= 2.0 * self.limits.acceleration).all()
        return speeds, rates


@pytest.fixture(params=DRIVES)
def drive(request):
    return request.param


# What the node knows of the controller's rule, and whether that blends trajectories.
RULES = {"old": ("not_allowed", False), "new": ("allowed", True), "unknown": ("allowed", False)}


def benched(drive, rule, *, desired=False, **options):
    known, blends = RULES[rule]
    return Bench(drive, desired=desired, rule=known, blends=blends, **options)


@pytest.fixture(params=[False, True], ids=["meas", "des"])
def desired(request):
    return request.param


@pytest.fixture(params=["old", "new"])
def bench(request, drive, desired):
    return benched(drive, request.param, desired=desired)


def to(offset):
    return lambda _: JointGoal(tuple(HOME + offset))


def test_a_motion_at_full_speed_is_smooth_and_arrives(bench):
    bench.run(2.5, to(1.5))
    speeds, _ = bench.check()
    assert (speeds.max(axis=0) > 0.9 * bench.limits.velocity).all()
    assert bench.phases[-1] is Phase.ARRIVED
    np.testing.assert_allclose(bench.joints.positions, HOME + 1.5, atol=1e-6)


def to_and_fro(time):
    """Motions at full speed, three from rest, three from motion."""
    way = [1.0, -0.3, 0.5, -0.5, 0.5, -0.5][int(time / 0.75) % 6]
    return JointGoal(tuple(HOME + way * np.array([1.0, 0.5, -0.5, 1.0, 0.3, 1.0])))


def extremes(bench):
    """The largest acceleration of a command, as a multiple of the limit, and the largest step."""
    steps = np.abs(np.diff(bench.positions, axis=0))
    rates = np.abs(np.diff(bench.positions, 2, axis=0)) / CYCLE**2
    return (rates / bench.limits.acceleration).max(), steps.max()


@pytest.mark.parametrize("period", [0.01, 0.004, 0.002])
@pytest.mark.parametrize("slowest", [0.7e-3, 10.6e-3])
@pytest.mark.parametrize("rule", RULES)
def test_delays_of_up_to_10_ms_keep_the_limits(rule, slowest, period):
    bench = benched("dyn", rule, period=period, slowest=slowest)
    bench.run(4.0, to_and_fro)
    assert extremes(bench)[0] <= 1.05


def test_windows_that_begin_at_their_stamps_are_rough_by_the_new_rule():
    """The simulated controller would tell if the node sent the wrong form."""
    bench = Bench("dyn", desired=False, rule="not_allowed", blends=True)
    bench.run(2.0, to_and_fro)
    assert extremes(bench)[0] > 50.0


def held_up(bench, seconds):
    """Hold up what is sent within 15 ms, and the node, for some time; return the largest step."""
    bench.run(0.4, to(-2.0))
    bench.positions.clear()
    bench.slowest = seconds
    bench.random = SimpleNamespace(uniform=lambda low, high: high if high == seconds else low)
    bench.run(0.015, to(-2.0))
    bench.run(seconds, to(-2.0), lateness=np.inf)
    return extremes(bench)[1]


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.2, 0.3])
def test_a_late_window_leaps_no_further_than_one_that_began_at_its_stamp(seconds):
    stamped = Bench("dyn", desired=False, rule="not_allowed", blends=True)
    assert held_up(benched("dyn", "new"), seconds) < held_up(stamped, seconds)


def test_a_stream_of_targets_is_followed_smoothly(bench):
    def target(time):
        x = 0.45 + 0.1 * np.sin(2.0 * time)
        return PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, 0.1, 0.45]))

    bench.run(2.0, target)  # there first
    bench.positions.clear()
    bench.run(4.0, target)
    bench.check()
    wanted = target(bench.now - BEGIN).root_T_target.translation
    tip = bench.chain.forward(bench.joints.positions).translation
    assert np.linalg.norm(tip - wanted) < 0.2 * 0.08, "0.2 m/s, no more than 80 ms behind"


def test_goals_that_change_in_motion_and_stops_are_smooth(bench):
    rng = np.random.default_rng(1)
    for _ in range(12):
        bench.run(rng.uniform(0.1, 0.6), to(rng.uniform(-1.0, 1.0)))
        if rng.random() < 0.3:
            bench.pipeline.brake()
            bench.run(rng.uniform(0.1, 0.9))
    bench.check()


def test_a_stop_keeps_the_braking_distance(bench, drive):
    bench.run(0.6, to(-2.0))
    before = bench.joints.positions.copy()
    bench.pipeline.brake()
    bench.run(1.0)
    way = np.abs(bench.joints.positions - before)
    speed, limit = bench.limits.velocity, bench.limits.acceleration
    # Braking with limited jerk, the lag of the drive and of 10 ms from the stop to the arm.
    braking = 0.5 * speed**2 / limit + 0.5 * speed * limit / bench.limits.jerk
    assert (way <= 1.2 * braking + speed * (DRIVES[drive] + 0.02)).all()
    assert not np.diff(bench.positions[-50:], axis=0).any() or drive == "lag30"
    bench.check()


def test_the_arm_brakes_if_the_node_ends(bench):
    bench.run(0.6, to(-2.0))
    moving = bench.joints.positions.copy()
    bench.run(1.0, to(-2.0), lateness=np.inf)
    bench.check()
    assert (np.abs(bench.joints.positions - moving) < 1.0).all()
    np.testing.assert_allclose(bench.positions[-1], bench.positions[-100], atol=1e-6)


@pytest.mark.parametrize("gap", [0.015, 0.025, 0.04, 0.08, 0.3, 1.0])
def test_a_stalled_loop_continues_without_a_jump(bench, gap):
    bench.run(0.4, to(-2.0))
    bench.run(gap, to(-2.0), lateness=np.inf)
    bench.due = bench.now
    bench.run(2.0, to(-2.0))
    bench.check()
    speeds = np.abs(np.diff(bench.positions, axis=0)) / CYCLE
    assert (speeds <= 1.02 * bench.limits.velocity).all()
    np.testing.assert_allclose(bench.joints.positions, HOME - 2.0, atol=1e-6)


@pytest.mark.parametrize("milliseconds", range(24, 46, 2))
def test_a_late_loop_sends_no_window_that_comes_after_its_stamp(milliseconds):
    bench = benched("dyn", "new", slowest=5.5e-3)
    bench.run(0.4, to(-2.0), lateness=0.0)
    bench.run(1e-3 * milliseconds, to(-2.0), lateness=np.inf)
    bench.due = bench.now
    bench.run(0.1, to(-2.0), lateness=0.0)
    bench.check()


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.04, 0.3])
@pytest.mark.parametrize("steps", [0, 1])
def test_an_error_in_a_period_causes_no_jump(bench, steps, gap, monkeypatch):
    """The period has `steps` more than one to do, of which the last fails; then the loop stalls."""
    bench.run(0.4, to(-2.0))
    due = bench.output.early // LEAD * (1 + steps)  # periods
    bench.run(0.002 + PERIOD * due, to(-2.0), lateness=np.inf)
    step, left = bench.pipeline.step, iter(range(steps))

    def fail_in_the_end(measured, when):
        next(left)  # StopIteration: the error
        return step(measured, when)

    with monkeypatch.context() as patch:
        patch.setattr(bench.pipeline, "step", fail_in_the_end)
        with pytest.raises(StopIteration):
            bench._work(to(-2.0))
    bench.run(gap, to(-2.0), lateness=np.inf)
    bench.due = bench.now
    bench.run(2.0, to(-2.0))
    bench.check()
    np.testing.assert_allclose(bench.joints.positions, HOME - 2.0, atol=1e-6)


def test_a_clock_that_is_set_back_does_not_stop_the_stream(bench):
    bench.run(0.4, to(-2.0))
    bench.starts = [bench.controller.output.positions.copy()]
    bench.now -= 50.0
    bench.due, bench.on_the_way = bench.now, []
    bench._work(to(-2.0))
    window = bench.output._window
    bench.starts.append(window.positions[0])
    spacing = PERIOD * bench.output.early / LEAD
    np.testing.assert_allclose(window.times[: 1 + LEAD], spacing * np.arange(1 + LEAD))
    before = len(bench.phases)
    bench.run(0.1, to(-2.0))
    assert len(bench.phases) - before >= 9
    assert bench.output.sent > 45 * LEAD / bench.output.early
    assert (np.abs(bench.pipeline.state[:, 1]) > 0.5).all(), "it goes on in motion"
    before, after = bench.starts
    way = np.abs(after - before)
    assert (way <= 0.005 * bench.chain.velocity).all(), "it goes on where it was"


def test_expected_positions_begin_at_the_arm():
    bench = Bench("dyn", desired=True)
    bench.run(PERIOD, to(1.5))
    assert (bench.output.expected(bench.moment) == HOME).all(axis=1).any()


@pytest.mark.parametrize("rule", RULES)
def test_every_command_is_expected(rule):
    bench = benched("dyn", rule)
    bench.run(0.5, to(1.5))
    steps = np.diff(bench.output.expected(bench.moment), axis=0)
    assert (np.abs(steps) <= 1.001 * bench.chain.velocity * PERIOD).all()
    assert (np.abs(steps).max(axis=0) > 0.9 * bench.chain.velocity * PERIOD).all()


@pytest.mark.parametrize("gap", [0.0, 0.03, 0.1])
def test_expected_positions_of_a_late_loop_follow_the_window(gap):
    bench = Bench("dyn", desired=True)
    bench.run(0.3, to(1.5))
    command = bench.pipeline.command.copy()
    bench.run(gap, to(1.5), lateness=np.inf)
    here, way = bench.joints.positions, bench.output.expected(bench.moment)
    assert (way.min(axis=0) <= here).all()
    assert (way.max(axis=0) >= here).all()
    assert (here > command).all() == (gap > 0.0)


def test_a_released_joint_does_not_jump(bench):
    tracking = Tracking(bench.chain.joint_names, np.zeros(6, bool), 0.2, 0.1)
    elbow = bench.chain.joint_names.index("elbow_joint")
    bench.run(0.3, to(-1.5))
    bench.joints.blocked[elbow] = True
    departure = None
    while departure is None and bench.now < BEGIN + 2.0:
        bench.run(PERIOD, to(-1.5))
        measured = bench.joints.positions.copy()
        departure = tracking.check(bench.output.expected(bench.moment), measured)
    assert departure.text.startswith("elbow_joint is")
    assert departure.joints.tolist() == [joint == elbow for joint in range(6)]
    bench.output.hold(bench.pipeline, measured, bench.moment, departure.joints)
    bench.run(0.05)
    bench.joints.blocked[elbow] = False
    released = bench.joints.positions[elbow]
    bench.run(1.0)
    assert abs(bench.joints.positions[elbow] - released) < 1e-3
    bench.check()
    assert bench.phases[-1] is Phase.IDLE


@pytest.mark.parametrize("begin", [0.0, 0.3])
def test_released_drives_do_not_jump(bench, begin):
    tracking = Tracking(bench.chain.joint_names, np.zeros(6, bool), 0.2, 0.1)
    goal = to(np.array([-1.5, -0.3, 0.75, -0.1, 0.5, 1.0]))
    bench.run(begin, goal)
    bench.joints.stopped = True
    departure = None
    while departure is None:
        bench.run(PERIOD, goal)
        measured = bench.joints.positions.copy()
        departure = tracking.check(bench.output.expected(bench.moment), measured)
    bench.output.hold(bench.pipeline, measured, bench.moment, departure.joints)
    bench.run(0.3)
    released = bench.joints.positions.copy()
    bench.joints.stopped = False
    bench.run(1.0)
    assert (np.abs(bench.joints.positions - released) < 5e-3).all()
    bench.check()


@pytest.mark.parametrize("pause", [0.12, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("begin", [0.4, 0.8])
def test_a_briefly_deactivated_controller_does_not_jump(bench, begin, pause):
    bench.state_period = 0.02
    bench.run(begin, to(-2.0))
    bench.switch(False)
    bench.run(pause, to(-2.0))
    held = bench.joints.positions.copy()
    assert np.abs(held - (HOME - 2.0)).max() > 0.05, "it was on its way"
    bench.positions.clear()
    bench.switch(True)
    bench.run(0.1, to(-2.0))
    assert np.abs(np.array(bench.positions) - held).max() < 0.01
    assert bench.dropped
    assert (pause > 0.5) != ("was restarted" in bench.output._unmet)
    bench.run(1.0)
    bench.check()
    assert np.abs(np.array(bench.positions) - held).max() < 0.01
    bench.output._unmet, bench.dropped = "", False  # it checks again, with a new goal
    bench.run(2.5, to(-2.0))
    bench.check()
    np.testing.assert_allclose(bench.joints.positions, HOME - 2.0, atol=1e-6)


@pytest.mark.parametrize("quiet", [0.15, 0.3])
def test_a_controller_without_states_brakes_and_then_continues(bench, quiet):
    """Its states are lost; it is on the way of the stream all the while."""
    bench.state_period = 0.02
    bench.run(0.5, to(-2.0))
    bench.state_period = 0.0
    sent = bench.output.sent
    bench.run(quiet, to(-2.0))
    assert bench.output.sent - sent <= 12, "silent after 0.1 s"
    bench.state_period = 0.02
    bench.run(2.5, to(-2.0))
    bench.check()
    assert not bench.output._unmet
    np.testing.assert_allclose(bench.joints.positions, HOME - 2.0, atol=1e-6)


@pytest.mark.parametrize("state_period", [0.0, 0.02, 0.05, 0.2])
def test_a_low_state_rate_does_not_pause_the_stream(state_period):
    bench = Bench("lag30", desired=False)
    bench.state_period = state_period
    bench.run(1.0)  # it is known how often
    sent = bench.output.sent
    bench.run(1.0, to(-2.0))
    assert bench.output.sent - sent >= 95
