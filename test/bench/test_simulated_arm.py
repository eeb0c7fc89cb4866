# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the simulated arm does in exact time: trajectories, goals, faults that are asked for."""

import contextlib
import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectoryPoint,
)
from virtual_node import EPOCH
from virtual_program import Server, VirtualProgram
from world import SECOND, World

from basis_ik.ros.demo import simulated_controller
from basis_ik.ros.demo.simulated_arm import RobotDescriptionError, SimulatedArm

URDF = """<robot name="rig">
<link name="base"/><link name="upper"/><link name="rail"/><link name="hub"/><link name="jaw"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="2" effort="1"/></joint>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="rail"/>
  <axis xyz="1 0 0"/><limit lower="0.1" upper="0.5" velocity="1" effort="1"/></joint>
<joint name="wheel" type="continuous"><parent link="rail"/><child link="hub"/>
  <axis xyz="0 1 0"/><limit velocity="3" effort="1"/></joint>
<joint name="jaw" type="prismatic"><parent link="rail"/><child link="jaw"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="1" velocity="1" effort="1"/>
  <mimic joint="slide" multiplier="-0.5" offset="0.25"/></joint>
</robot>"""
NAMES = ["turn", "slide", "wheel", "jaw"]
LOWER = np.array([-2.0, 0.1, -math.inf, 0.0])
UPPER = np.array([2.0, 0.5, math.inf, 0.2])
SPEED = np.array([2.0, 1.0, 3.0, 0.5])
JOINTS = ["turn", "slide", "wheel"]
PERIOD = 0.008  # s: the default
Result = FollowJointTrajectory.Result


def duration(seconds):
    return Duration(sec=math.floor(seconds), nanosec=round(seconds % 1 * 1e9))


def trajectory(*targets, names=JOINTS, stamp=None, velocities=()):
    """Targets are (time, positions)."""
    message = JointTrajectory(joint_names=list(names))
    if stamp is not None:
        message.header.stamp = stamp
    for seconds, positions in targets:
        message.points.append(
            JointTrajectoryPoint(
                positions=[float(x) for x in positions],
                velocities=[float(x) for x in velocities],
                time_from_start=duration(seconds),
            )
        )
    return message


class Arm(VirtualProgram):
    """The simulated arm, and what a client would do with it."""

    def __init__(self, *parameters):
        given = [word for each in parameters for word in ("-p", each)]
        super().__init__(World(), SimulatedArm, *given)

    @property
    def server(self):
        return Server.newest

    @property
    def joint_states(self):
        return self.sent["/joint_states"]

    @property
    def states(self):
        return self.sent["/joint_trajectory_controller/controller_state"]

    @property
    def at(self):
        return np.array(self.joint_states[-1].position[:3])

    def follow(self, message):
        """Publish a trajectory, and let the arm take it in its next cycle."""
        self.receive("/joint_trajectory_controller/joint_trajectory", message)

    def send(self, *targets, way=None, **fields):
        """Send a goal; return it."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory(*targets, **(way or {})))
        for field, value in fields.items():
            setattr(goal, field, value)
        return self.server.send(goal)

    def outcome(self, goal, within=60.0):
        """Let time pass until a goal has ended; return its status, error code and text.

        The joints are where that cycle has commanded them a cycle later.
        """
        end = self.world.now + SECOND * within
        while goal.status == GoalStatus.STATUS_EXECUTING and self.world.now < end:
            self.run(PERIOD)
        result = goal.result()
        self.run(PERIOD)
        return goal.status, result.error_code, result.error_string

    def set_parameter(self, name, value):
        wish = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, "~/set_parameters", parameters=[wish]).results[0]

    def switch(self, name, value):
        assert self.call(SetBool, f"~/{name}", data=value).success

    def stands_still(self):
        """Return whether the joints do not move for 0.2 s."""
        here = self.at
        self.run(0.2)
        return np.array_equal(self.at, here)

    def check(self):
        """Make sure that all joint states are those of a physical arm."""
        times = np.array([stamp_of(m) for m in self.joint_states])
        positions = np.array([m.position for m in self.joint_states])
        velocities = np.array([m.velocity for m in self.joint_states])
        assert all(m.name == NAMES for m in self.joint_states)
        assert (np.diff(times) > 0).all()
        assert ((positions >= LOWER - 1e-12) & (positions <= UPPER + 1e-12)).all()
        assert (np.abs(velocities) <= SPEED + 1e-9).all()
        np.testing.assert_allclose(positions[:, 3], 0.25 - 0.5 * positions[:, 1], atol=1e-12)
        way = SPEED * 1e-9 * np.diff(times)[:, None] + 1e-12
        assert (np.abs(np.diff(positions, axis=0)) <= way).all()


def stamp_of(message):
    """Return a message's stamp [ns] since the world's beginning."""
    return message.header.stamp.sec * SECOND + message.header.stamp.nanosec - EPOCH


@pytest.fixture(autouse=True)
def _server(monkeypatch):
    monkeypatch.setattr(simulated_controller, "ActionServer", Server)


@pytest.fixture
def arm():
    """An arm that has just been started, at home; all of its motions must be possible."""
    arm = Arm(f"robot_description:={URDF}")
    try:
        arm.run(0.1)
        yield arm
        arm.check()
    finally:
        arm.end()


def test_joint_states_have_all_joints_at_125_hz(arm):
    arm.run(0.4)
    times = [stamp_of(m) for m in arm.joint_states]
    assert set(np.diff(times)) == {8_000_000}
    assert arm.joint_states[-1].name == NAMES


def test_a_trajectory_on_the_topic_is_followed(arm):
    begun = arm.world.now
    arm.follow(trajectory((0.2, (0.2, 0.4, 0.1)), (0.4, (-0.1, 0.2, 0.3))))
    arm.run(0.5)
    by_time = {stamp_of(m) - begun: m.position[:3] for m in arm.joint_states}
    passed = min(by_time.items(), key=lambda item: abs(item[0] - 0.208 * SECOND))[1]
    np.testing.assert_allclose(passed, (0.2, 0.4, 0.1), atol=0.02)
    np.testing.assert_allclose(arm.at, (-0.1, 0.2, 0.3), atol=1e-12)


def test_a_goal_is_accepted_followed_and_reached_with_feedback(arm):
    goal = arm.send((0.6, (0.5, 0.4, -0.5)), way={"velocities": (0, 0, 0)})
    assert goal.accepted
    assert arm.outcome(goal) == (GoalStatus.STATUS_SUCCEEDED, 0, "Goal successfully reached!")
    np.testing.assert_allclose(arm.at, (0.5, 0.4, -0.5), atol=1e-12)
    assert len(goal.feedback) == 12  # at 20 Hz
    reported = goal.feedback[1]
    assert reported.joint_names == JOINTS
    np.testing.assert_allclose(reported.desired.positions, reported.actual.positions, atol=1e-9)
    np.testing.assert_allclose(reported.error.positions, np.zeros(3), atol=1e-9)
    assert 0.0 < reported.actual.positions[0] < 0.5


def test_the_controller_state_has_reference_feedback_error_and_output(arm):
    arm.send((0.0, (1.0, 0.3, 0.0)))
    arm.run(0.1)
    state = arm.states[-1]
    assert state.joint_names == JOINTS
    assert state.error.positions[0] > 0.5
    error = np.subtract(state.reference.positions, state.feedback.positions)
    np.testing.assert_allclose(state.error.positions, error)
    assert state.output.positions == state.reference.positions  # the end is commanded for good
    assert state.speed_scaling_factor == 1.0


def test_the_output_is_a_cycle_ahead_of_the_reference(arm):
    arm.outcome(arm.send((1.0, (0.5, 0.3, 0.0))))
    moving = [state for state in arm.states if 0.1 < state.reference.positions[0] < 0.4]
    ahead = [state.output.positions[0] - state.reference.positions[0] for state in moving]
    np.testing.assert_allclose(ahead, moving[0].reference.velocities[0] * PERIOD)


def test_the_speed_limit_holds_and_the_goal_waits_for_the_arm(arm):
    tolerance = JointTolerance(name="turn", position=0.001)
    begun = arm.world.now
    goal = arm.send((0.05, (1.0, 0.5, 1.5)), goal_tolerance=[tolerance])
    assert arm.outcome(goal)[0] == GoalStatus.STATUS_SUCCEEDED
    assert 1e-9 * (arm.world.now - begun) == pytest.approx(0.5, abs=3 * PERIOD)  # 1 rad at 2 rad/s
    np.testing.assert_allclose(arm.at, (1.0, 0.5, 1.5), atol=1e-9)


def test_a_continuous_joint_takes_the_shorter_way(arm):
    for wheel, there in ((3.0 - math.tau, 3.0), (3.2 - math.tau, 3.2), (1.0, 1.0)):
        arm.outcome(arm.send((0.1, (0.0, 0.3, wheel))))
        arm.run(2.0)
        np.testing.assert_allclose(arm.at, (0.0, 0.3, there), atol=1e-9)


UNFIT = {
    "empty": trajectory(),
    "unknown": trajectory((0.5, (1, 1, 1)), names=["turn", "slide", "elbow"]),
    "missing": trajectory((0.5, (1, 1)), names=["turn", "slide"]),
    "duplicate": trajectory((0.5, (1, 1, 1)), names=["turn", "turn", "slide"]),
    "size": trajectory((0.5, (1, 1))),
    "nan": trajectory((0.5, (1, 1, math.nan))),
    "velocities": trajectory((0.5, (1, 1, 1)), velocities=(0, 0)),
    "moving": trajectory((0.5, (1, 1, 1)), velocities=(0, 0, 1)),
    "time": trajectory((0.5, (1, 1, 1)), (0.5, (1, 1, 1))),
    "past": trajectory((0.5, (1, 1, 1)), stamp=Time(sec=1000)),
}


@pytest.mark.parametrize("unfit", UNFIT.values(), ids=UNFIT)
def test_what_a_controller_refuses_is_refused_by_action_and_topic(arm, unfit):
    assert not arm.server.send(FollowJointTrajectory.Goal(trajectory=unfit)).accepted
    arm.follow(unfit)
    assert arm.stands_still()


def test_the_reason_of_a_refusal_is_in_the_log(arm):
    arm.log.clear()
    arm.send((0.5, (1, 1, 1)), way={"names": ["turn", "slide", "elbow"]})
    arm.follow(trajectory((0.5, (1, math.inf, 1))))
    arm.run(PERIOD)
    assert arm.log == [
        (
            "error",
            "goal refused, INVALID_JOINTS: unknown joint 'elbow'; "
            "the joints are 'turn', 'slide', 'wheel'",
        ),
        (
            "error",
            "trajectory refused, INVALID_GOAL: point 0: "
            "positions of joint 'slide' are not finite (inf)",
        ),
    ]


def test_a_new_goal_aborts_the_active_one(arm):
    first = arm.send((30.0, (1.0, 0.3, 0.0)))
    arm.run(0.1)
    second = arm.send((0.2, (0.1, 0.3, 0.0)))
    text = "Current goal preempted by new incoming action."
    assert arm.outcome(first) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL, text)
    assert arm.outcome(second)[0] == GoalStatus.STATUS_SUCCEEDED
    np.testing.assert_allclose(arm.at, (0.1, 0.3, 0.0), atol=1e-9)


def test_a_trajectory_on_the_topic_replaces_that_of_a_goal(arm):
    goal = arm.send((30.0, (1.0, 0.3, 0.0)))
    arm.run(0.1)
    arm.follow(trajectory((0.3, (-0.2, 0.3, 0.0))))
    assert arm.outcome(goal)[0] == GoalStatus.STATUS_SUCCEEDED
    np.testing.assert_allclose(arm.at, (-0.2, 0.3, 0.0), atol=1e-9)


def test_a_canceled_goal_stops_the_arm(arm):
    goal = arm.send((2.0, (2.0, 0.3, 0.0)))
    arm.run(0.4)
    arm.server.cancel(goal)
    assert arm.outcome(goal) == (GoalStatus.STATUS_CANCELED, Result.SUCCESSFUL, "")
    assert arm.stands_still()
    assert arm.at[0] == pytest.approx(0.4, abs=0.02)


def test_leaving_the_path_aborts_the_goal(arm):
    tolerance = JointTolerance(name="turn", position=0.1)
    goal = arm.send((0.1, (1.5, 0.3, 0.0)), path_tolerance=[tolerance])
    text = "Aborted due to path tolerance violation"
    code = Result.PATH_TOLERANCE_VIOLATED
    assert arm.outcome(goal) == (GoalStatus.STATUS_ABORTED, code, text)
    reported = (
        "tolerance violated, the position is held: on the path, joint 'turn' misses its position"
    )
    assert any(reported in line for line in arm.log.lines())
    arm.run(PERIOD)
    assert arm.stands_still()
    assert arm.at[0] == pytest.approx(SPEED[0] * PERIOD), "where it was in the first cycle"


def test_a_goal_beyond_a_limit_is_aborted_after_its_time(arm):
    begun = arm.world.now
    goal = arm.send(
        (0.2, (0.0, 0.7, 0.0)),
        goal_tolerance=[JointTolerance(name="slide", position=0.01)],
        goal_time_tolerance=duration(0.2),
    )
    status, code, text = arm.outcome(goal)
    # It begins a cycle after it was sent, is late in the cycle after its time, and is heard then.
    assert 1e-9 * (arm.world.now - begun) == pytest.approx(0.4 + 3 * PERIOD, abs=1e-9)
    assert (status, code) == (GoalStatus.STATUS_ABORTED, Result.GOAL_TOLERANCE_VIOLATED)
    assert text.startswith("Aborted due to goal_time_tolerance exceeding by 0.2")
    np.testing.assert_allclose(arm.at, (0.0, 0.5, 0.0), atol=1e-9)


def test_invalid_tolerances_are_ignored(arm):
    tolerance = JointTolerance(name="elbow", position=0.1)
    goal = arm.send((0.05, (0.5, 0.3, 0.0)), path_tolerance=[tolerance])
    assert arm.outcome(goal)[0] == GoalStatus.STATUS_SUCCEEDED
    assert any("the goal's tolerances are ignored" in line for line in arm.log.lines())


def test_a_first_point_ahead_is_approached_at_once(arm):
    """As upstream: a stamp that lies ahead is the time of its first point less its offset."""
    begun = arm.world.now
    stamp = Time(sec=(begun + EPOCH) // SECOND, nanosec=begun % SECOND)
    stamp.sec += 1
    goal = arm.send((0.2, (0.6, 0.3, 0.0)), way={"stamp": stamp})
    arm.run(0.1)
    assert arm.at[0] > 0.0
    assert arm.outcome(goal)[0] == GoalStatus.STATUS_SUCCEEDED
    reached = next(stamp_of(m) for m in arm.joint_states if m.position[0] == 0.6)
    assert 1e-9 * (reached - begun) == pytest.approx(1.2, abs=2 * PERIOD)


def test_an_inactive_controller_accepts_nothing_and_later_holds(arm):
    goal = arm.send((2.0, (2.0, 0.3, 0.0)))
    arm.run(0.4)
    arm.switch("activate", False)
    text = "Current goal cancelled during deactivate transition."
    assert arm.outcome(goal) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL, text)
    here, reported = arm.at, len(arm.states)
    arm.log.clear()
    arm.follow(trajectory((0.1, (0.0, 0.3, 0.0))))
    assert arm.stands_still()
    assert arm.log == []
    assert not arm.send((0.1, (0.0, 0.3, 0.0))).accepted
    assert arm.log == [("error", "goal refused: the controller is inactive")]
    assert len(arm.states) == reported
    arm.switch("activate", True)
    assert arm.stands_still()
    assert len(arm.states) > reported
    np.testing.assert_array_equal(arm.at, here)
    assert arm.outcome(arm.send((0.1, (0.0, 0.3, 0.0))))[0] == GoalStatus.STATUS_SUCCEEDED


def test_an_emergency_stop_holds_the_drives(arm):
    goal = arm.send((1.0, (1.0, 0.3, 0.0)))
    arm.run(0.4)
    arm.switch("emergency_stop", True)
    arm.run(PERIOD)
    assert arm.stands_still()
    assert arm.at[0] == pytest.approx(0.4, abs=0.02)
    arm.run(0.6)
    assert arm.states[-1].output.positions[0] == 1.0
    assert arm.states[-1].error.positions[0] > 0.5
    arm.switch("emergency_stop", False)
    assert arm.outcome(goal)[0] == GoalStatus.STATUS_SUCCEEDED
    arm.run(0.5)
    np.testing.assert_allclose(arm.at, (1.0, 0.3, 0.0), atol=1e-9)


def test_a_blocked_joint_does_not_move_until_it_is_free_again(arm):
    assert arm.set_parameter("blocked_joint", "turn").successful
    arm.send((0.1, (0.2, 0.4, 0.0)))
    arm.run(0.3)
    np.testing.assert_allclose(arm.at, (0.0, 0.4, 0.0), atol=1e-9)
    assert arm.set_parameter("blocked_joint", "").successful
    arm.run(0.3)
    np.testing.assert_allclose(arm.at, (0.2, 0.4, 0.0), atol=1e-9)


def test_speed_scaling_slows_goals_and_is_published(arm):
    begun = arm.world.now
    goal = arm.send((0.4, (0.2, 0.3, 0.0)))
    assert arm.set_parameter("speed_scaling", 0.5).successful
    assert arm.outcome(goal)[0] == GoalStatus.STATUS_SUCCEEDED
    assert 1e-9 * (arm.world.now - begun) == pytest.approx(0.8, abs=2 * PERIOD)
    assert arm.states[-1].speed_scaling_factor == 0.5
    assert arm.set_parameter("speed_scaling", 0.0).successful
    arm.send((0.4, (0.0, 0.3, 0.0)))
    arm.run(2 * PERIOD)
    assert arm.stands_still()


def test_a_goal_keeps_its_tolerances_when_its_trajectory_is_replaced(arm):
    tolerance = JointTolerance(name="turn", position=0.1)
    goal = arm.send((30.0, (1.0, 0.3, 0.0)), path_tolerance=[tolerance])
    arm.run(2 * PERIOD)
    arm.follow(trajectory((0.1, (1.5, 0.3, 0.0))))
    assert arm.outcome(goal)[1] == Result.PATH_TOLERANCE_VIOLATED


def test_a_goal_for_floating_joints_is_refused(arm):
    goal = FollowJointTrajectory.Goal(trajectory=trajectory((0.1, (0.1, 0.3, 0.0))))
    goal.multi_dof_trajectory.points.append(MultiDOFJointTrajectoryPoint())
    assert not arm.server.send(goal).accepted


def test_parameters_may_change_as_upstream(arm):
    def partial():
        return arm.send((0.1, (0.2,)), way={"names": ["turn"]})

    assert not partial().accepted
    assert arm.set_parameter("allow_partial_joints_goal", True).successful
    assert arm.outcome(partial())[0] == GoalStatus.STATUS_SUCCEEDED
    np.testing.assert_allclose(arm.at, (0.2, 0.3, 0.0), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("publish_rate", 500.0),
        ("use_sim_time", True),
        ("constraints.goal_time", math.nan),
        ("constraints.goal_time", -1.0),
        ("constraints.turn.goal", math.inf),
        ("constraints.turn.goal", "wide"),
        ("initial_positions.turn", 1.0),
        ("speed_scaling", 1.1),
        ("blocked_joint", "elbow"),
        ("drive_time_constant", 0.1),
        ("feedback_delay", 0.1),
        ("interpolate_from_desired_state", True),
        ("allow_trajectory_replacement", True),
    ],
)
def test_invalid_parameters_at_run_time_are_refused(arm, name, value):
    answer = arm.set_parameter(name, value)
    assert not answer.successful
    assert answer.reason


def test_an_arm_that_stood_still_makes_up_for_half_a_second_at_most(arm):
    """Its states then fit their stamps, as the real controller's do: on a busy machine, too."""
    arm.follow(trajectory((10.0, (1.0, 0.3, 0.0))))
    arm.run(0.2)
    arm.stalls.add(arm.world.now, 0.45)
    before = arm.at[0]
    arm.run(0.46)
    assert arm.at[0] - before == pytest.approx(0.046, abs=1e-3)
    arm.stalls.add(arm.world.now, 0.52)
    before = arm.at[0]
    arm.run(0.53)
    assert arm.at[0] - before < 2e-3


@pytest.mark.parametrize("by", ["topic", "action"])
def test_what_a_late_arm_takes_does_not_count_in_cycles_of_before(arm, by):
    """As upstream, whose cycles have the present time, however late they are."""
    arm.follow(trajectory((10.0, (1.0, 0.3, 0.0))))
    arm.run(1.0)
    arm.states.clear()
    arm.stalls.add(arm.world.now, 0.3)
    arm.run(0.25)
    stamp = Time(sec=(EPOCH + arm.world.now) // SECOND, nanosec=(EPOCH + arm.world.now) % SECOND)
    there = trajectory((0.0, (0.12, 0.3, 0.0)), (5.0, (1.0, 0.3, 0.0)), stamp=stamp)
    if by == "topic":
        arm.follow(there)
    else:
        arm.server.send(FollowJointTrajectory.Goal(trajectory=there))
    sent = arm.world.now
    arm.run(0.5)
    references = [(stamp_of(each), each.reference.positions[0]) for each in arm.states]
    before = [0.1e-9 * stamp - place for stamp, place in references if stamp < sent]
    assert len(before) > 10
    assert np.ptp(before) < 1e-9, "it is on the way that it had"


@pytest.mark.parametrize("leap", [3600, -3600])
def test_an_arm_whose_clock_leaps_goes_on_as_before(arm, leap):
    arm.follow(trajectory((1.0, (1.0, 0.3, 0.0))))
    arm.run(0.5)
    arm.offset += leap * SECOND
    arm.run(0.1)
    assert arm.at[0] == pytest.approx(0.6, abs=0.02)
    arm.run(0.5)
    assert arm.at[0] == pytest.approx(1.0, abs=1e-9)
    arm.joint_states.clear()  # their times have leapt
    arm.run(0.1)


def test_a_late_arm_takes_the_newest_trajectory_only(arm):
    """As upstream: with a queue, each trajectory that a late arm takes would be an old one."""
    arm.log.clear()
    arm.stalls.add(arm.world.now, 0.05)
    for turn in (0.1, 0.2, math.nan, 0.4):
        arm.follow(trajectory((1.0, (turn, 0.3, 0.0))))
    arm.run(2.0)
    assert arm.log == [], "the others were never looked at"
    np.testing.assert_allclose(arm.at, (0.4, 0.3, 0.0), atol=1e-9)


@contextlib.contextmanager
def another(*parameters):
    """Yield an arm with parameters of its own."""
    arm = Arm(f"robot_description:={URDF}", *parameters)
    try:
        yield arm
    finally:
        arm.end()


def test_two_controllers_can_share_a_robot():
    """Each publishes only its own joints and their mimic joints."""
    for name, published in (("turn", ["turn"]), ("slide", ["slide", "jaw"])):
        with another(f"joints:=[{name}]", "publish_uncontrolled_joints:=false") as arm:
            arm.run(0.1)
            assert {tuple(m.name) for m in arm.joint_states} == {tuple(published)}


def test_cycles_are_periodic_and_drives_lag():
    with another(
        "publish_rate:=500.0",
        "drive_time_constant:=0.03",
        "feedback_delay:=0.02",
        "interpolate_from_desired_state:=true",
        "initial_positions.turn:=0.5",
    ) as arm:
        arm.run(0.1)
        assert arm.at[0] == 0.5
        arm.follow(trajectory((1.0, (1.0, 0.3, 0.0))))
        arm.run(0.9)
        assert set(np.diff([stamp_of(m) for m in arm.joint_states])) == {2_000_000}
        moving = [m for m in arm.states if 0.7 < m.feedback.positions[0] < 0.8]
        lags = [m.error.positions[0] / m.reference.velocities[0] for m in moving]
        np.testing.assert_allclose(lags, 0.03 + 0.02 - 0.001, atol=1e-4)
        # From the last command: the speed of the line is what is left over a second and a cycle.
        np.testing.assert_allclose(moving[0].reference.velocities[0], 0.5 / 1.002, rtol=1e-6)
        arm.check()


def test_an_arm_waits_for_its_description_and_ignores_later_ones():
    arm = Arm()
    try:
        arm.run(1.0)
        assert len(arm.joint_states) == 0
        assert arm.log == [("info", "waiting for a robot description on /robot_description")]
        arm.receive("/robot_description", String(data=URDF))
        arm.run(0.1)
        assert arm.log[-1] == ("info", "simulating 'rig'; controlled: turn, slide, wheel")
        arm.receive("/robot_description", String(data=URDF.replace("rig", "other")))
        arm.run(0.1)
        arm.check()
    finally:
        arm.end()


def test_a_malformed_description_ends_the_node():
    arm = Arm()
    try:
        arm.receive("/robot_description", String(data="<robot name='x'><link></robot>"))
        with pytest.raises(RobotDescriptionError, match="robot_description: line 1: "):
            arm.run(0.1)
    finally:
        arm.end()
