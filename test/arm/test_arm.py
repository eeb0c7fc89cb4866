# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm that is held, stepped and looked at: inputs and times in, outcomes out."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from basis_ik.arm.admission import SPEED_UNITS, Refusal, Refused, StampRules
from basis_ik.arm.arm import Arm, Design, Surroundings
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.chain_state import ChainState, Event, State
from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.execution import Drives
from basis_ik.arm.execution.goal_execution import GoalExecution
from basis_ik.arm.execution.messages import ControllerReport, GoalRequest, Samples, Trajectory
from basis_ik.arm.execution.stream_execution import PositionExecution
from basis_ik.arm.execution.trajectory_execution import Controller
from basis_ik.arm.execution.window_execution import WindowExecution
from basis_ik.arm.goals import Ray
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.measured import StateStamp
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Solved
from basis_ik.arm.settings import Settings
from basis_ik.arm.target_input import FrameStamp, Located
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

MODEL = RobotModel.from_urdf((Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text())
CHAIN = MODEL.chain()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD, START, SECOND = 0.01, 100 * 10**9, 10**9
TABLE = RigidTransform.from_rpy(0.0, 0.0, 0.3, [0.2, 0.0, 0.1])
NEAR = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.40, 0.20, 0.40])
BASE = FrameStamp("base_link", 0, 0)
SETTINGS = Settings(
    stamp_rules=StampRules(max_age=2 * SECOND, max_future=SECOND // 10),
    target_max_reach=2.0,
    transform_timeout=0.5,
    joint_state_timeout=0.2,
    resume_timeout=1.0,
    twist_lasts=0.2,
    units=SPEED_UNITS,
    position_only=False,
    approximate=False,
    solver="descent",
    path="joint",
    singularities="slow",
    jog_slides=False,
    velocity_scaling=1.0,
    acceleration_scaling=1.0,
    speed_override=1.0,
    max_linear_speed=0.0,
    max_angular_speed=0.0,
    position_tolerance=1e-5,
    orientation_tolerance=1e-5,
    goal_tolerance=0.01,
    joint_limit_margin=(),
    tool_frame="",
)


class World:
    """All that an arm asks; time goes by when it is told to.

    Attributes:
        arm: The arm.
        place: Where its joints are (n,).
        sent: All that was sent, with its time [s].
        lines: What it has told.
        frames: Poses of frames in its root frame.
        subscribed: Whether something takes its commands.
        driven: Whether joint states come.
        report: Tells what the controller publishes in a period.
    """

    topic = controller = name = "/state"
    by_stamp = True

    def __init__(self, make):
        self.place, self.sent, self.lines = HOME.copy(), [], []
        self.frames, self.parents = {"table": TABLE}, {"table": "base_link"}
        self.subscribed = self.driven = True
        self.time, self.problems, self.report = 0.0, [], lambda: None
        drives = Drives(CHAIN.joint_names, PERIOD, 0.2, CHAIN.velocity)
        design = Design(
            "", MODEL, CHAIN, Ray((0.0, 0.0, 1.0)), MotionLimits.of_chain(CHAIN),
            SpeedCaps(CHAIN), PERIOD, 0.2, 0.1, {"home": tuple(HOME)},
        )  # fmt: skip
        surroundings = Surroundings(
            self, SimpleNamespace(frame="", chain=CHAIN), self, self,
            lambda: self.time, lambda: 0.0, self.submit, Solved.at_once,
        )  # fmt: skip
        self.execution = make(self, drives)
        self.arm = Arm(design, SETTINGS, self.execution, ChainState(), surroundings)
        self.arm.state.handle(Event.CONFIGURE)
        self.arm.activate()

    # What an arm asks: frames, log, threads, the way to the controller, the controller's topic.

    def locate(self, root, frame_id, stamp):
        if frame_id in self.frames:
            return Located(self.frames[frame_id], stamp)
        return Refused(Refusal.NO_TRANSFORM, f"{frame_id} is not there")

    def warn(self, subject, reason, text, *, lasting=False):
        self.lines.append(text)

    def info(self, *_):
        pass

    info_once = recovered = info

    def submit(self, problem):
        self.problems.append(problem)
        return SimpleNamespace(done=lambda: not self.problems, result=problem)

    def is_due(self):
        return True

    def complaint(self):
        return "" if self.subscribed else "nobody takes commands"

    def nothing(self, *_):
        return ""

    ask = ask_soon = other_commander = waits_for_partial_goals = nothing
    ask_for_partial_goals = forget_partial_goals = nothing
    takes_partial_goals = True

    def count_publishers(self):
        return 1

    def takes_scaling(self):
        return False

    # What a test does.

    @property
    def now(self):
        return Moment(self.time, START + round(1e9 * self.time))

    def step(self):
        """Let a period go by; return what it has decided to send."""
        self.time += PERIOD
        if self.driven:
            clock = self.now.clock
            stamp = StateStamp(*divmod(clock, SECOND), clock, SECOND)
            names = list(CHAIN.joint_names)
            self.arm.take_joint_state(names, self.place.tolist(), self.now.loop, stamp)
        self.report()
        outgoing = self.arm.step(self.now).outgoing
        self.sent += [(self.time, each) for each in outgoing]
        for each in outgoing:
            if isinstance(each, Samples):
                self.place = np.array(each.values)
        return outgoing

    def until(self, state, most=1000):
        """Let time go by until the arm is in a state."""
        for _ in range(most):
            self.step()
            if self.arm.state.state is state:
                return
        raise AssertionError(f"never {state}: {self.arm.state.state}, {self.arm.state.why_not}")

    def tip(self):
        return CHAIN.forward(self.place).matrix


def positions(world, drives):
    return PositionExecution(drives, world)


@pytest.fixture
def world():
    world = World(positions)
    world.until(State.READY)
    return world


def test_a_pose_in_another_frame_is_reached(world):
    table_T_target = TABLE.inverse() @ NEAR
    world.arm.take_pose(FrameStamp("table", 0, 0), table_T_target, world.now)
    world.until(State.ARRIVED)
    np.testing.assert_allclose(world.tip(), NEAR.matrix, atol=1e-4)


def test_the_same_inputs_and_times_lead_to_the_same_commands():
    runs = []
    for _ in range(2):
        world = World(positions)
        world.until(State.READY)
        world.arm.take_pose(BASE, NEAR, world.now)
        world.until(State.ARRIVED)
        runs.append([(when, each.values.tobytes()) for when, each in world.sent])
    assert runs[0] == runs[1]
    assert len(runs[0]) > 50


def test_what_is_refused_moves_nothing(world):
    world.arm.take_pose(FrameStamp("nowhere", 0, 0), NEAR, world.now)
    world.arm.take_pose(BASE, Refused(Refusal.BAD_QUATERNION, "zero"), world.now)
    for _ in range(100):
        assert world.step() == []
    assert world.arm.refusals.counts == {"NO_TRANSFORM": 1, "BAD_QUATERNION": 1}


def test_an_arm_that_is_not_active_takes_nothing(world):
    world.arm.deactivate()
    world.arm.take_pose(BASE, NEAR, world.now)
    for _ in range(10):
        assert world.step() == []
    assert world.arm.targets.newest is None


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (lambda world: world.arm.stop(), State.STOPPED),
        (lambda world: world.arm.deactivate(), State.INACTIVE),
        (lambda world: setattr(world, "driven", False), State.WAITING),
        (lambda world: setattr(world, "subscribed", False), State.WAITING),
        (lambda world: world.arm.take_clock_jump(world.now), State.READY),
    ],
    ids=["stop", "deactivation", "no joint states", "no controller", "clock jump"],
)
def test_whatever_ends_a_motion_the_arm_brakes_within_its_limits(world, end, state):
    world.arm.take_pose(BASE, NEAR, world.now)
    for _ in range(30):
        world.step()
    end(world)
    world.until(state)
    way = np.array([each.values for _, each in world.sent])
    assert np.abs(way[-1] - way[0]).max() > 0.05, "it was moving"
    speed = np.diff(way, axis=0) / PERIOD
    assert (np.abs(speed) <= 1.001 * CHAIN.velocity).all()
    limits = MotionLimits.of_chain(CHAIN)
    assert (np.abs(np.diff(speed, axis=0)) <= 1.001 * limits.acceleration * PERIOD).all()
    assert world.step() == []


def test_a_speed_override_of_zero_lets_the_arm_rest_with_its_target(world):
    world.arm.take_pose(BASE, NEAR, world.now)
    for _ in range(30):
        world.step()
    world.arm.settings = SETTINGS._replace(speed_override=0.0)
    for _ in range(100):
        world.step()
    here = world.place.copy()
    world.step()
    np.testing.assert_array_equal(world.place, here)
    assert world.arm.state.state is State.MOVING
    world.arm.settings = SETTINGS
    world.until(State.ARRIVED)
    np.testing.assert_allclose(world.tip(), NEAR.matrix, atol=1e-4)


def test_the_arm_waits_where_it_is_during_a_long_solve(world):
    world.arm.settings = SETTINGS._replace(approximate=True, solver="fabrik")
    world.arm.take_pose(BASE, RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.05, 0.0, 0.1]), world.now)
    for _ in range(30):
        world.step()
    assert world.problems, "inside the base, which takes long to prove"
    np.testing.assert_array_equal(world.place, HOME)
    world.problems.clear()
    world.until(State.ARRIVED)
    assert not world.arm.pipeline.solution.success


def following(make, where):
    """Return a world whose controller says in every period where its reference is (n,)."""
    names, still = CHAIN.joint_names, [0.0] * len(HOME)

    def executed(world, drives):
        state = ControllerState(world, names, world.now)

        def report():
            here = where().tolist()
            told = ControllerReport(names, world.now.clock, here, still, here, here, still, 1.0)
            state.take(told, world.now)

        world.report = report
        return make(world, drives, state)

    world = World(executed)
    world.until(State.READY)
    return world


def controlled(make):
    """Return the first that is sent to a controller that rests."""
    world = following(make, HOME.copy)
    world.arm.take_pose(BASE, NEAR, world.now)
    for _ in range(100):
        world.step()
    return world.sent[0][1]


def test_a_motion_from_rest_is_one_trajectory_that_begins_when_taken():
    def make(world, drives, state):
        return WindowExecution(drives, Controller(world, state, world, resumes=True))

    outgoing = controlled(make)
    assert isinstance(outgoing, Trajectory)
    assert outgoing.stamp == 0
    motion = outgoing.motion
    np.testing.assert_array_equal(motion.positions[0], HOME)
    reached = CHAIN.forward(motion.positions[-1]).matrix
    np.testing.assert_allclose(reached, NEAR.matrix, atol=1e-4)
    assert not motion.velocities[-1].any()


def test_a_controller_that_falls_silent_elsewhere_does_not_keep_a_stop_from_its_end():
    led = HOME.copy()

    def make(world, drives, state):
        return WindowExecution(drives, Controller(world, state, world, resumes=True))

    world = following(make, lambda: led)
    world.arm.take_pose(BASE, NEAR, world.now)
    while not world.sent:
        world.step()
    begun, sent = world.sent[0]
    for _ in range(30):  # it does what it is told
        world.step()
        led[:] = sent.motion.at(world.time - begun)[:, 0]
    world.arm.stop()
    for _ in range(100):  # and then something else
        led += 0.003
        world.step()
    assert "the controller has left the trajectory" in world.execution.failure
    assert world.arm.state.state is State.BRAKING, "it moves"
    world.report = lambda: None
    world.until(State.STOPPED)


def test_a_motion_from_rest_is_one_goal_that_begins_when_accepted():
    def make(world, drives, state):
        return GoalExecution(drives, Controller(world, state, world, resumes=True))

    outgoing = controlled(make)
    assert isinstance(outgoing, GoalRequest)
    assert outgoing.stamp is None
    np.testing.assert_array_equal(outgoing.motion.positions[0], HOME)
    reached = CHAIN.forward(outgoing.motion.positions[-1]).matrix
    np.testing.assert_allclose(reached, NEAR.matrix, atol=1e-4)
