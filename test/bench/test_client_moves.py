# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves by the client at random, with all that ends them: each verdict is true of the measured arm.

The judge has kinematics of its own, and knows what else has happened to the arm.
"""

import numpy as np
import pytest
from bench import HOME, Robot, running
from moveit_client import joints_at, motion_goal
from shipped_arms import Kinematics, urdf_of
from std_msgs.msg import String
from std_srvs.srv import SetBool
from virtual_client import beside

from basis_ik.client import (
    MotionError,
    MotionTimeoutError,
    NodeError,
    NotReachedError,
    ReplacedError,
    StoppedError,
    TargetRefusedError,
)
from basis_ik.transforms.rigid import RigidTransform

THERE = 0.01  # m: the default of goal_tolerance, 0.01 rad of a joint, at an arm of 1 m
SETTLED = 1e-4  # m and rad: once the drives have come to rest
REACH = 0.85 + 0.1 + 0.1  # m: no target so far from the shoulder is reached
SHOULDER = np.array([0.0, 0.0, 0.1625])
MILLISECOND = 10**6


def off(pose, matrix):
    """Return the distance [m] and the angle [rad] between a pose and a matrix (4, 4)."""
    turn = pose.rotation.T @ matrix[:3, :3]
    cosine = 0.5 * (np.trace(turn) - 1.0)
    sine = 0.5 * np.linalg.norm(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    return np.linalg.norm(pose.translation - matrix[:3, 3]), np.arctan2(sine, cosine)


class Campaign:
    """A client's moves, and a judge of what it is told.

    Args:
        robot: The robot.
        arm: The client.
        rng: Of all that is drawn.
    """

    def __init__(self, robot, arm, rng):
        self.robot, self.arm, self.rng = robot, arm, rng
        self.forward = Kinematics(urdf_of("ur5e"), "tool0")
        self.sent = 0  # outputs of the controller before the last target

    # What is measured ------------------------------------------------------------------------

    def miss(self, target):
        return off(target, self.forward(self.robot.positions))

    def is_at(self, target, distance=THERE, angle=3.0 * THERE):
        here = self.miss(target)
        return here[0] <= distance and here[1] <= angle

    def was_at(self, target):
        """Return whether the arm has been at a pose since the last target was sent."""
        outputs = self.robot.arm.outputs[self.sent :]
        poses = self.forward(np.array([self.robot.positions, *(each for _, each in outputs)]))
        near = np.linalg.norm(poses[:, :3, 3] - target.translation, axis=1) <= THERE
        return any(off(target, each)[1] <= 3.0 * THERE for each in poses[near])

    def rests(self):
        """Return whether the arm rests, once its drives have had time to come to rest."""
        self.robot.run(0.5)
        before = self.robot.positions.copy()
        self.robot.run(0.1)
        return np.abs(self.robot.positions - before).max() < 1e-3

    # Targets ---------------------------------------------------------------------------------

    def near(self):
        """Return a pose that the arm reaches: that of some positions beside its home."""
        positions = HOME + self.rng.uniform(-0.6, 0.6, 6)
        return RigidTransform.from_matrix(self.forward(positions))

    def far(self):
        """Return a pose beyond the reach."""
        way = self.rng.normal(size=3)
        place = SHOULDER + way / np.linalg.norm(way) * self.rng.uniform(REACH, 1.8)
        return RigidTransform.from_rotation_translation(self.near().rotation, place)

    # What becomes of a motion ----------------------------------------------------------------

    def end_of(self, motion):
        """Wait for a motion; return what it is told: None, or the error."""
        try:
            motion.wait()
        except (MotionError, NodeError) as error:
            return error
        return None

    def reached(self, target):
        assert self.is_at(target), self.miss(target)
        self.robot.run(0.5)
        assert self.is_at(target, SETTLED, SETTLED), self.miss(target)

    def judge(self, error, target, allowed):
        """Check one end of a motion that nothing but what is allowed may have ended."""
        assert self.was_at(target) if error is None else type(error) in allowed, repr(error)

    # Deeds -----------------------------------------------------------------------------------

    def start(self, target):
        """Begin a motion, and let it go on for some time."""
        self.sent = len(self.robot.arm.outputs)
        motion = self.arm.move_to(target, wait=False)
        self.robot.run(self.rng.uniform(0.0, 1.5))
        return motion

    def do_reach(self):
        target = self.near()
        assert self.end_of(self.arm.move_to(target, wait=False)) is None
        self.reached(target)

    def do_look(self):
        point = self.rng.uniform((-1.0, -1.0, 0.0), (1.0, 1.0, 2.0))
        error = self.end_of(self.arm.look_at(point, wait=False))
        self.robot.run(0.5)
        here = self.forward(self.robot.positions)
        line = point - here[:3, 3]
        aside = np.arctan2(np.linalg.norm(np.cross(here[:3, 2], line)), here[:3, 2] @ line)
        if error is None:
            assert aside < 1e-3, aside
        else:
            assert type(error) is NotReachedError, repr(error)
            assert aside > 1e-3, aside

    def do_beyond(self):
        target = self.far()
        error = self.end_of(self.arm.move_to(target, wait=False))
        assert type(error) is NotReachedError, repr(error)
        assert self.rests()
        missing = float(error.status.values["missing_distance"])
        assert abs(self.miss(target)[0] - missing) < 1e-3
        assert missing > np.linalg.norm(target.translation - SHOULDER) - REACH

    def do_nowhere(self):
        self.robot.wait(self.rests, "rest")
        here = self.robot.positions.copy()
        error = self.end_of(self.arm.move_to(self.near(), "no_such_frame", wait=False))
        assert type(error) is TargetRefusedError, repr(error)
        assert np.abs(self.robot.positions - here).max() < 1e-3

    def do_replace(self):
        first, second = self.near(), self.near()
        motion = self.start(first)
        error = self.end_of(self.arm.move_to(second, wait=False))
        assert error is None, repr(error)
        self.reached(second)
        self.judge(self.end_of(motion), first, [ReplacedError])

    def do_stream(self):
        """Targets that change faster than they are reached."""
        motions = []
        for _ in range(self.rng.integers(2, 6)):
            target = self.near()
            motions.append(self.arm.move_to(target, wait=False))
            self.robot.run(self.rng.uniform(0.0, 0.2))
        *before, last = motions
        assert self.end_of(last) is None
        self.reached(target)
        assert {type(self.end_of(each)) for each in before} == {ReplacedError}

    def do_stop(self):
        target = self.near()
        motion = self.start(target)
        self.arm.stop()
        assert self.rests()
        here = self.robot.positions.copy()
        self.judge(self.end_of(motion), target, [StoppedError])
        error = self.end_of(self.arm.move_to(self.near(), wait=False))
        assert type(error) in (TargetRefusedError, StoppedError), repr(error)
        assert np.abs(self.robot.positions - here).max() < 1e-3
        self.arm.enable()

    def do_no_time(self):
        target = self.near()
        seconds = self.rng.uniform(0.0, 1.0)
        self.sent = len(self.robot.arm.outputs)
        error = self.end_of(self.arm.move_to(target, timeout=seconds, wait=False))
        self.judge(error, target, [MotionTimeoutError])
        second = self.near()
        assert self.end_of(self.arm.move_to(second, wait=False)) is None
        self.reached(second)

    def do_event(self):
        """Somebody else stops all arms of the node, as MoveIt does."""
        target = self.near()
        motion = self.start(target)
        self.robot.topic("trajectory_execution_event").publish(String(data="stop"))
        self.robot.run(0.05)
        error = self.end_of(motion)
        self.judge(error, target, [TargetRefusedError])

    def do_stop_by_other(self):
        target = self.near()
        motion = self.start(target)
        self.robot.call(SetBool, "enable", data=False)
        self.judge(self.end_of(motion), target, [StoppedError])
        assert self.rests()
        self.arm.enable()

    def do_other(self):
        """Somebody else sends a target, with a stamp or without."""
        target, theirs = self.near(), self.near()
        motion = self.start(target)
        self.robot.send("base_link", theirs, stamp=self.rng.choice(["now", None]))
        self.robot.run(0.05)
        self.judge(self.end_of(motion), target, [ReplacedError])

    def do_goal(self):
        """Somebody else's goal for MoveIt ends the motion, and is perhaps canceled."""
        target = self.near()
        motion = self.start(target)
        there = HOME + self.rng.uniform(-0.5, 0.5, 6)
        goal = motion_goal(
            joints_at(dict(zip(self.robot.chain.joint_names, there.tolist(), strict=True))),
            max_velocity_scaling_factor=1.0,
            max_acceleration_scaling_factor=1.0,
        )
        sent = self.robot.act("move_action", goal)
        self.judge(self.end_of(motion), target, [ReplacedError, TargetRefusedError])
        if self.rng.random() < 0.5:
            self.robot.run(self.rng.uniform(0.0, 1.0))
            sent.is_cancel_requested = True
        self.robot.end_of(sent)

    def do_jog(self):
        target = self.near()
        motion = self.start(target)
        self.robot.jog("base_link", self.rng.uniform(-0.1, 0.1, 3))
        self.robot.run(0.05)
        self.judge(self.end_of(motion), target, [ReplacedError])

    def do_home(self):
        target = RigidTransform.from_matrix(self.forward(HOME))
        if self.rng.random() < 0.5:
            assert self.end_of(self.arm.home(wait=False)) is None
            self.reached(target)
            return
        motion = self.arm.home(wait=False)
        self.robot.run(self.rng.uniform(0.0, 1.0))
        second = self.near()
        assert self.end_of(self.arm.move_to(second, wait=False)) is None
        self.reached(second)
        assert type(self.end_of(motion)) in (ReplacedError, type(None))

    def do_displace(self):
        """Something else moves the arm at rest; the same target brings it back."""
        target = self.near()
        assert self.end_of(self.arm.move_to(target, wait=False)) is None
        self.robot.wait(self.robot.rests, "no window is left that would lead it back")
        moved = self.robot.positions + self.rng.uniform(-0.2, 0.2) * (np.arange(6) == 2)
        self.robot.positions = np.clip(moved, self.robot.chain.lower, self.robot.chain.upper)
        self.robot.run(self.rng.uniform(0.1, 1.5))  # its controller says where it is
        error = self.end_of(self.arm.move_to(target, wait=False))
        assert error is None, repr(error)
        assert self.is_at(target), self.miss(target)

    def do_silence(self):
        """The driver says nothing for a while."""
        target = self.near()
        motion = self.start(target)
        self.robot.publishing = False
        self.robot.run(self.rng.uniform(0.1, 2.5))
        self.robot.publishing = True
        error = self.end_of(motion)
        self.judge(error, target, [TargetRefusedError])
        self.robot.wait(lambda: self.arm.status.state != "WAITING", "it is heard again")

    def do_pause(self):
        """The speed override is 0 for a while."""
        target = self.near()
        motion = self.start(target)
        assert self.robot.set_parameter("speed_override", 0.0).successful
        self.robot.run(self.rng.uniform(0.0, 1.0))
        assert self.robot.set_parameter("speed_override", 1.0).successful
        assert self.end_of(motion) is None
        assert self.is_at(target), self.miss(target)

    def do_deactivate(self):
        target = self.near()
        motion = self.start(target)
        assert self.robot.transit("deactivate")
        self.judge(self.end_of(motion), target, [NodeError])
        assert self.rests()
        assert self.robot.transit("activate")
        self.robot.wait(lambda: self.arm.status.state == "READY", "it is active again")

    def play(self, moves):
        """Make moves of all kinds, each as often as the others, in any order."""
        deeds = [name for name in dir(self) if name.startswith("do_")]
        for k in range(moves):
            turn = k % len(deeds)
            if not turn:
                order = self.rng.permutation(deeds)
            try:
                getattr(self, order[turn])()
            except Exception as error:
                raise AssertionError(f"move {k}, {order[turn]}: {error}") from error


@pytest.fixture
def robot():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        yield robot


@pytest.fixture
def client(robot):
    with beside(robot) as (arm, _):
        yield arm


@pytest.mark.parametrize("seconds", [0.2, 2.0])
def test_a_jog_of_which_nothing_was_taken_is_told(robot, client, seconds):
    here = robot.positions.copy()
    with pytest.raises(TargetRefusedError, match="NO_TRANSFORM"):
        client.jog((0.0, 0.0, 0.05), frame="no_such_frame", seconds=seconds)
    assert np.array_equal(robot.positions, here)
    client.jog((0.0, 0.0, 0.05), seconds=0.2)
    assert not np.array_equal(robot.positions, here)


def test_the_motion_that_was_started_last_is_waited_for(robot, client):
    assert client.wait() is client.status
    client.move_to(Campaign(robot, client, np.random.default_rng(1)).near(), wait=False)
    assert client.wait().state == "ARRIVED"
    client.move_to((9.0, 0.0, 0.0), wait=False)
    with pytest.raises(NotReachedError):
        client.wait()


def test_a_service_that_starts_again_is_waited_for(robot, client, monkeypatch):
    ready = robot.time + 2.0
    monkeypatch.setattr(client._home, "service_is_ready", lambda: robot.time > ready)
    client.home()
    assert robot.time > ready
    monkeypatch.setattr(client._home, "service_is_ready", lambda: False)
    with pytest.raises(NodeError, match="home does not answer"):
        client.home()


def test_a_node_with_the_names_of_a_move_group_is_met():
    with running("-r", "~/compute_fk:=compute_fk") as robot, beside(robot) as (arm, _):
        assert arm.where()[1] == "base_link"


def test_a_closed_client_says_so(client):
    client.close()
    for act in (client.where, client.home, lambda: client.go_to("home")):
        with pytest.raises(NodeError, match="this client is closed"):
            act()


MORE = [pytest.param(100, seed, marks=pytest.mark.long) for seed in range(1, 11)]


@pytest.mark.parametrize(("moves", "seed"), [(20, 0), *MORE])
def test_what_a_client_is_told_is_true(moves, seed):
    rng = np.random.default_rng(seed)
    robot = Robot("-p", f"home:={HOME.tolist()}", lag=[0.0, 0.05][seed % 2], seed=seed)
    try:
        robot.wait_status(state="READY")
        with beside(robot) as (arm, statuses):
            statuses.delay = (0, 50 * MILLISECOND * (seed % 3))
            Campaign(robot, arm, rng).play(moves)
    finally:
        robot.end()
