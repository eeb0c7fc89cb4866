# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From target to command on the shipped UR5e: solved, limited, checked, and silent when done."""

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of, worst

from basis_ik.arm import pipeline
from basis_ik.arm.course import Course, pose_rows
from basis_ik.arm.given_motion import at_times, keep_limits
from basis_ik.arm.goals import (
    ChunkGoal,
    JointGoal,
    MotionGoal,
    PointGoal,
    PoseGoal,
    Ray,
    TwistGoal,
)
from basis_ik.arm.limiter import plan_motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import time_path
from basis_ik.arm.pipeline import COMMAND_DRIFT, Phase, Pipeline
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict
from basis_ik.warm_up import prepare

URDF = Path(__file__).parents[2] / "urdf"
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
DOWN = PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.45, 0.10, 0.45]))
PERIOD = 0.01


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


@pytest.fixture
def pipe(chain):
    return Pipeline(chain, period=PERIOD)


def at_rest(positions):
    return np.column_stack([positions, np.zeros((6, 2))])


def test_a_plan_equals_the_steps(pipe):
    assert pipe.plan(at_rest(HOME), braking=False) is None
    pipe.set_goal(DOWN, HOME)
    motion = pipe.plan(at_rest(HOME), braking=False)
    commands = [pipe.step(HOME) for _ in range(40)]
    assert np.allclose(motion.positions[1:41], commands, rtol=0, atol=1e-12)
    braking = pipe.plan(motion.at(0.4), braking=True)
    pipe.brake()
    commands = [pipe.step(HOME) for _ in braking.times[1:]]
    assert np.allclose(braking.positions[1:], commands, rtol=0, atol=1e-12)


def test_an_unsafe_plan_is_not_returned(pipe, monkeypatch):
    pipe.set_goal(DOWN, HOME)
    monkeypatch.setattr(pipeline, "is_safe", lambda *_: False)
    assert pipe.plan(at_rest(HOME), braking=False) is None
    assert pipe.step(HOME) is None
    assert pipe.phase is Phase.UNSAFE


def test_solutions_have_the_array_layout_of_compiled_kernels(pipe, monkeypatch):
    writable = []
    is_equal = pipeline.is_equal

    def watch(command, destination):
        writable.append(destination.flags.writeable)
        return is_equal(command, destination)

    monkeypatch.setattr(pipeline, "is_equal", watch)
    pipe.set_goal(DOWN, HOME)
    pipe.step(HOME)
    assert writable == [True]


def walk(pipe, measured, cycles=2000):
    """Step with a perfect arm; return all commands."""
    commands = []
    for _ in range(cycles):
        command = pipe.step(measured)
        if command is None:
            break
        commands.append(command)
        measured = command
    return np.array(commands)


def test_without_a_target_nothing_is_sent(pipe):
    assert pipe.step(HOME) is None
    assert pipe.phase is Phase.IDLE


def test_a_target_is_reached_within_limits_and_commands_end(pipe, chain):
    pipe.set_goal(DOWN, HOME)
    assert pipe.solution.success
    commands = walk(pipe, HOME)
    assert pipe.phase is Phase.ARRIVED
    assert pipe.step(commands[-1]) is None
    np.testing.assert_allclose(
        chain.forward(commands[-1]).matrix, DOWN.root_T_target.matrix, atol=2e-5
    )
    steps = np.abs(np.diff(np.vstack([HOME, commands]), axis=0))
    assert (steps <= chain.velocity * PERIOD + 1e-9).all()
    assert (commands >= chain.lower).all()
    assert (commands <= chain.upper).all()
    assert np.array_equal(commands[-pipe.ARRIVED_REPEATS], commands[-1])


def test_scaling_slows_down(chain):
    lengths, fastest = [], []
    for velocity, acceleration in ((1.0, 1.0), (0.1, 1.0), (1.0, 0.1)):
        pipe = Pipeline(chain, period=PERIOD)
        pipe.velocity_scaling, pipe.acceleration_scaling = velocity, acceleration
        pipe.set_goal(DOWN, HOME)
        commands = walk(pipe, HOME)
        lengths.append(len(commands) - pipe.ARRIVED_REPEATS)
        fastest.append(np.max(np.abs(np.diff(commands, axis=0)) / (chain.velocity * PERIOD)))
    assert fastest[1] == pytest.approx(0.1)
    assert lengths[1] > 4 * lengths[0]
    assert lengths[2] == pytest.approx(10**0.5 * lengths[0], rel=0.2)


def test_acceleration_and_jerk_are_limited(pipe, chain):
    limits = MotionLimits.of_chain(chain)
    measured, commands = HOME, [HOME, HOME, HOME]
    rng = np.random.default_rng(0)
    for _ in range(40):  # goals that come while others are being gone to, and stops
        if rng.random() < 0.2:
            pipe.brake()
        else:
            pipe.set_goal(JointGoal(tuple(HOME + rng.uniform(-1, 1, 6))), measured)
        commands += list(walk(pipe, measured, rng.integers(1, 60)))
        measured = commands[-1]
    for order, most in ((2, limits.acceleration), (3, limits.jerk)):
        steps = np.abs(np.diff(commands, order, axis=0))
        assert (steps <= most * PERIOD**order * (1 + 1e-6)).all()
        assert steps.max() > 0.9 * most.max() * PERIOD**order


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize(("before", "after"), [(1.0, 0.3), (1.0, 0.8), (0.4, 1.0)])
def test_other_accelerations_change_nothing_of_a_motion_on_its_way(chain, straight, before, after):
    there = HOME + np.array([0.6, 0.4, -0.3, 0.1, 0.2, 0.1])
    goal, top = PoseGoal(chain.forward(there), straight=straight), MotionLimits.of_chain(chain)

    def motion(change_after):
        pipe = Pipeline(chain, period=PERIOD)
        pipe.acceleration_scaling, way = before, [HOME]
        pipe.set_goal(goal, HOME)
        while (command := pipe.step(way[-1])) is not None:
            way.append(command)
            if len(way) > change_after:
                pipe.acceleration_scaling = after
        pipe.set_goal(JointGoal(tuple(HOME)), way[-1])
        back = [pipe.step(way[-1]) for _ in range(10)]
        return np.array(way), np.array(back)

    undisturbed, _ = motion(10**9)
    for periods in range(5, len(undisturbed) - 20, 7):
        way, back = motion(periods)
        assert np.array_equal(way, undisturbed)
        steep = (np.abs(np.diff(back, 2, axis=0)) / PERIOD**2 / top.acceleration).max()
        assert steep == pytest.approx(after, rel=1e-6), "it holds from the next motion on"


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("before", "after"), [(1.0, 0.3), (0.4, 1.0)])
@pytest.mark.parametrize("there", [-0.8, 1.4])
def test_a_new_target_in_motion_has_the_present_acceleration(chain, there, before, after, whole):
    pipe, top = Pipeline(chain, period=PERIOD), MotionLimits.of_chain(chain)
    pipe.acceleration_scaling = before
    pipe.set_goal(JointGoal(tuple(HOME + 0.8)), HOME)
    begun = walk(pipe, HOME, 20)
    pipe.acceleration_scaling = after
    pipe.set_goal(JointGoal(tuple(HOME + there)), begun[-1])
    if whole:
        rates = pipe.plan(pipe.state, braking=False).accelerations
    else:
        rates = np.diff(walk(pipe, begun[-1], 300), 2, axis=0) / PERIOD**2
    steep = (np.abs(rates) / top.acceleration).max(axis=1)
    begin = round(0.15 / PERIOD)  # it changes as quickly as the jerk allows
    assert steep[begin:].max() == pytest.approx(after, rel=1e-6)


def test_a_new_target_that_less_acceleration_would_pass_is_not_passed(pipe):
    pipe.set_goal(JointGoal(tuple(HOME + 0.8)), HOME)
    begun = walk(pipe, HOME, 30)
    pipe.acceleration_scaling = 0.3
    pipe.set_goal(JointGoal(tuple(HOME + 0.85)), begun[-1])
    way = np.append(begun, walk(pipe, begun[-1], 500), axis=0)
    assert way.max(axis=0) == pytest.approx(HOME + 0.85, abs=1e-9)


def test_a_whole_motion_from_mid_motion_ends_at_the_goal_with_other_accelerations(pipe):
    pipe.set_goal(JointGoal(tuple(HOME + 0.5)), HOME)
    motion = pipe.plan(at_rest(HOME), braking=False)
    pipe.acceleration_scaling = 0.2
    for share in np.linspace(0.1, 0.9, 9):
        rest = pipe.plan(motion.at(share * motion.times[-1]), braking=False)
        assert rest.positions.max(axis=0) == pytest.approx(HOME + 0.5, abs=1e-9)


def test_given_limits_are_kept(chain):
    limits = MotionLimits.of_chain(chain, np.full(6, 0.5), np.full(6, 2.0))
    pipe = Pipeline(chain, period=PERIOD, limits=limits)
    pipe.set_goal(DOWN, HOME)
    commands = walk(pipe, HOME, 5000)
    assert pipe.phase is Phase.ARRIVED
    assert np.abs(np.diff(commands, 2, axis=0)).max() == pytest.approx(0.5 * PERIOD**2)
    assert np.abs(np.diff(commands, 3, axis=0)).max() == pytest.approx(2.0 * PERIOD**3)


def test_a_target_that_moves_is_followed_without_lag(pipe, chain):
    measured, late = HOME, []
    for k in range(200):
        x = 0.45 + 0.1 * np.sin(0.5 * np.pi * k * PERIOD)
        target = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, 0.1, 0.45])
        pipe.set_goal(PoseGoal(target), measured)
        measured = pipe.step(measured)
        late.append(np.linalg.norm(chain.forward(measured).translation - target.translation))
    # The target's fastest is 1.6 mm in a period.
    assert max(late[100:]) < 3e-3


def test_motion_starts_from_the_measured_positions_after_rest(pipe):
    pipe.set_goal(DOWN, HOME)
    walk(pipe, HOME, cycles=20)
    pipe.rest()
    moved = HOME + 0.3
    pipe.set_goal(DOWN, moved)
    first = pipe.step(moved)
    assert np.abs(first - moved).max() <= np.pi * PERIOD + 1e-9


@pytest.mark.parametrize(
    ("beside", "moved", "from_command"),
    [(0.03, 0.0, True), (0.049, 0.004, True), (0.051, 0.0, False), (0.03, 0.006, False)],
    ids=["beside", "just beside", "too far beside", "moved by others"],
)
def test_an_arm_beside_its_last_command_continues_from_it(pipe, beside, moved, from_command):
    pipe.set_goal(JointGoal(tuple(HOME + 0.2)), HOME)
    walk_beside(pipe, HOME, beside)
    arm = HOME + 0.2 + beside - moved
    pipe.set_goal(JointGoal(tuple(HOME)), arm)
    start = HOME + 0.2 if from_command else arm
    assert np.abs(pipe.step(arm) - start).max() < 1e-3
    pipe.brake()
    last = walk_beside(pipe, arm, beside)
    pipe.begin_where_measured()
    pipe.set_goal(JointGoal(tuple(HOME)), last)
    assert np.abs(pipe.step(last) - last).max() < 1e-3, "the controller may be another one"


def test_an_arm_that_has_left_the_end_of_a_motion_does_not_go_back_there(pipe):
    pipe.set_goal(JointGoal(tuple(HOME + 0.2)), HOME)
    arm = walk_beside(pipe, HOME, 0.0)
    pipe.velocity_scaling = 0.01
    pipe.set_goal(JointGoal(tuple(HOME)), arm)
    for _ in range(5):
        arm = pipe.step(arm)
    pipe.speed_override = 0.0
    for _ in range(20):
        arm = pipe.step(arm)
    assert 1e-4 < np.abs(arm - HOME - 0.2).max() < COMMAND_DRIFT
    pipe.rest()
    pipe.speed_override = 1.0
    pipe.set_goal(JointGoal(tuple(HOME)), arm)
    assert (pipe.step(arm) < arm).all()


def walk_beside(pipe, measured, beside):
    """Step with an arm that stands beside its commands; return where it comes to rest."""
    while (command := pipe.step(measured)) is not None:
        measured = command + beside
    return measured


def test_while_moving_the_lag_of_the_arm_does_not_feed_back(chain):
    pipes = [Pipeline(chain, period=PERIOD) for _ in range(2)]
    for pipe in pipes:
        pipe.set_goal(DOWN, HOME)
    prompt = walk(pipes[0], HOME, 50)
    late = [pipes[1].step(HOME) for _ in range(50)]
    assert np.array_equal(prompt, late)


def test_a_resting_target_is_solved_once(pipe, monkeypatch):
    calls = []
    solve = pipeline.solve
    monkeypatch.setattr(pipeline, "solve", lambda *a, **k: calls.append(1) or solve(*a, **k))
    for _ in range(3):
        pipe.set_goal(DOWN, HOME)
    assert len(calls) == 1
    pipe.set_goal(replace(DOWN, position_only=True), HOME)
    assert len(calls) == 2


def test_a_state_outside_the_limits_only_moves_inward(pipe, chain):
    outside = HOME.copy()
    outside[2] = chain.upper[2] + 0.05
    pipe.set_goal(DOWN, outside)
    commands = walk(pipe, outside)
    elbow = np.concatenate([[outside[2]], commands[:, 2]])
    beyond = elbow > chain.upper[2]
    assert beyond[0]
    assert (np.diff(elbow)[beyond[:-1]] < 0).all()
    assert not beyond[-1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_solution_that_is_not_finite_is_never_sent(pipe, monkeypatch, bad):
    solve = pipeline.solve

    def broken(*args, **kwargs):
        solution = solve(*args, **kwargs)
        return solution._replace(positions=np.full(6, bad))

    monkeypatch.setattr(pipeline, "solve", broken)
    pipe.set_goal(DOWN, HOME)
    assert pipe.step(HOME) is None
    assert pipe.phase is Phase.UNSAFE


def test_a_solution_outside_the_limits_is_not_used(pipe, chain, monkeypatch):
    solve = pipeline.solve
    monkeypatch.setattr(
        pipeline, "solve", lambda *a, **k: solve(*a, **k)._replace(positions=chain.upper + 0.5)
    )
    pipe.set_goal(DOWN, HOME)
    assert pipe.step(HOME) is None
    assert pipe.phase is Phase.UNSAFE


def test_a_bad_solution_on_the_way_brakes(pipe, chain, monkeypatch):
    pipe.set_goal(JointGoal(tuple(HOME + 1.0)), HOME)
    underway = walk(pipe, HOME, 20)
    solve = pipeline.solve
    monkeypatch.setattr(
        pipeline, "solve", lambda *a, **k: solve(*a, **k)._replace(positions=np.full(6, np.nan))
    )
    pipe.set_goal(DOWN, HOME)
    commands = np.vstack([underway, walk(pipe, HOME)])
    assert pipe.phase is Phase.UNSAFE
    assert np.abs(np.diff(commands, 2, axis=0)).max() <= 4.001 * np.pi * PERIOD**2
    assert np.array_equal(commands[-1], commands[-pipe.ARRIVED_REPEATS])
    monkeypatch.undo()
    pipe.set_goal(JointGoal(tuple(HOME)), commands[-1])
    np.testing.assert_array_equal(walk(pipe, commands[-1])[-1], HOME)
    assert pipe.phase is Phase.ARRIVED


def test_a_command_that_fails_the_last_check_is_not_sent(pipe, monkeypatch):
    pipe.set_goal(DOWN, HOME)
    monkeypatch.setattr(pipe._limiter, "step", lambda *a: HOME + 0.1)
    assert pipe.step(HOME) is None
    assert pipe.phase is Phase.UNSAFE


def test_a_failed_command_brakes_from_the_last_one(pipe, chain, monkeypatch):
    pipe.set_goal(JointGoal(tuple(HOME + 1.0)), HOME)
    commands = list(walk(pipe, HOME, 30))
    step = pipe._limiter.step
    monkeypatch.setattr(pipe._limiter, "step", lambda *a: step(*a) + 0.5)
    commands.append(pipe.step(HOME))
    assert pipe.phase is Phase.UNSAFE
    monkeypatch.undo()
    commands += list(walk(pipe, HOME))
    limits = MotionLimits.of_chain(chain)
    for order, most in ((2, limits.acceleration), (3, limits.jerk)):
        steps = np.abs(np.diff(commands, order, axis=0))
        assert (steps <= most * PERIOD**order * (1 + 1e-6)).all()
    assert np.array_equal(commands[-1], commands[-2]), "at rest"


def test_if_braking_is_unsafe_nothing_is_sent(pipe, monkeypatch):
    pipe.set_goal(JointGoal(tuple(HOME + 1.0)), HOME)
    walk(pipe, HOME, 30)
    monkeypatch.setattr(pipeline, "is_safe", lambda *_: False)
    assert pipe.step(HOME) is None
    assert pipe.command is None


def test_the_motion_continues_from_a_given_state(pipe, chain):
    pipe.set_goal(JointGoal(tuple(HOME + 1.0)), HOME)
    walk(pipe, HOME, 30)
    states = np.column_stack([HOME + 0.5, np.full((6, 2), 0.1)])
    pipe.go_on(states)
    first = pipe.step(HOME)
    assert np.abs(first - states[:, 0]).max() < 0.2 * PERIOD
    pipe.brake()
    assert walk(pipe, HOME)[-1] == pytest.approx(HOME + 0.5, abs=0.01)


def test_the_missing_distance_ignores_turns_of_continuous_joints():
    turning = RobotModel.from_urdf(
        (URDF / "ur5e.urdf")
        .read_text()
        .replace(
            '<joint name="wrist_3_joint" type="revolute">',
            '<joint name="wrist_3_joint" type="continuous">',
        )
    ).chain()
    pipe = Pipeline(turning, period=PERIOD)
    assert not pipe.missing(HOME).any()
    pipe.set_goal(JointGoal(tuple(HOME + 0.1)), HOME)
    turned = HOME + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * np.pi])
    np.testing.assert_allclose(pipe.missing(turned), 0.1)


class Later:
    """Solves that end when a test says so."""

    def __init__(self):
        self.ended = False

    def submit(self, problem):
        return SimpleNamespace(done=lambda: self.ended, result=problem)


@pytest.fixture
def later():
    return Later()


@pytest.fixture
def patient(chain, later):
    """A pipeline whose long solves are those."""
    return Pipeline(chain, period=PERIOD, submit=later.submit)


def spent_at_first(monkeypatch, since=0):
    """Let short solves from some on not suffice; return the iterations of all solves."""
    solve, asked = pipeline.solve, []

    def short(*args, max_iterations, **kwargs):
        solution = solve(*args, max_iterations=max_iterations, **kwargs)
        asked.append(max_iterations)
        spent = max_iterations == pipeline.QUICK_STEPS and len(asked) > since
        return solution._replace(verdict=Verdict.BUDGET_SPENT) if spent else solution

    monkeypatch.setattr(pipeline, "solve", short)
    return asked


def test_the_arm_goes_on_during_a_long_solve(patient, later, monkeypatch):
    asked = spent_at_first(monkeypatch, since=1)
    patient.set_goal(DOWN, HOME)
    kept = patient.solution
    other = PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.45, -0.20, 0.45]))
    for _ in range(400):
        patient.set_goal(other, HOME)
        measured = patient.step(HOME)
    assert patient.waiting
    assert patient.solution is None
    np.testing.assert_array_equal(measured, kept.positions)
    assert patient.phase is Phase.MOVING, "it is not there, nor known to be"
    later.ended = True
    patient.set_goal(other, HOME)
    assert not patient.waiting
    assert patient.solution.success
    np.testing.assert_array_equal(walk(patient, HOME)[-1], patient.solution.positions)
    assert asked == [pipeline.QUICK_STEPS, pipeline.QUICK_STEPS, pipeline.MAX_ITERATIONS]


@pytest.mark.parametrize("poses", [False, True])
def test_the_arm_stays_on_its_course_while_a_pose_is_solved_for(
    patient, later, chain, monkeypatch, poses
):
    spent_at_first(monkeypatch)
    rows = HOME + np.outer(np.linspace(0.0, 0.3, 4), np.ones(6))
    places = pose_rows([chain.forward(row) for row in rows]) if poses else rows
    course = Course(0.2 * np.arange(4), places, poses=poses)
    patient.set_goal(ChunkGoal(course, 0.0), HOME)
    commands = [patient.step(HOME, PERIOD * k) for k in range(20)]
    patient.set_goal(DOWN, HOME)
    commands += [patient.step(HOME, PERIOD * k) for k in range(20, 150)]
    assert patient.waiting
    assert patient.solution is None, "that of the pose"
    assert chain.forward(commands[-1]).is_close(chain.forward(rows[-1]), 1e-4)
    later.ended = True
    patient.set_goal(DOWN, HOME)
    assert chain.forward(walk(patient, HOME)[-1]).is_close(DOWN.root_T_target, 1e-5)


def test_poses_are_solved_by_fabrik_if_selected(pipe, chain):
    pipe.solver = "fabrik"
    pipe.set_goal(DOWN, HOME)
    passes = pipe.solution.passes
    assert pipe.solution.success
    assert passes.count > 0
    commands = walk(pipe, HOME)
    assert pipe.phase is Phase.ARRIVED
    assert chain.forward(commands[-1]).is_close(DOWN.root_T_target, 1e-5)
    pipe.set_goal(PointGoal((0.9, -0.5, 0.7), Ray((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))), HOME)
    assert pipe.solution.passes is None
    pipe.solver = "descent"
    pipe.set_goal(DOWN, HOME)
    assert pipe.solution.passes is None


def test_long_passes_run_in_a_thread(pipe, monkeypatch):
    solve, asked = pipeline.solve, []

    def watched(*args, max_iterations, **kwargs):
        asked.append(max_iterations)
        return solve(*args, max_iterations=max_iterations, **kwargs)

    monkeypatch.setattr(pipeline, "solve", watched)
    pipe.solver = "fabrik"
    inside = PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.05, 0.0, 0.1]))  # the base
    pipe.set_goal(inside, HOME)
    assert pipe.waiting
    while pipe.waiting:
        pipe.set_goal(inside, HOME)
    assert asked == [pipeline.QUICK_PASSES, pipeline.MAX_ITERATIONS]
    assert not pipe.solution.success
    assert pipe.solution.passes.count > pipeline.QUICK_PASSES
    assert pipe.solution.verdict is not Verdict.BUDGET_SPENT


def test_an_outdated_solution_is_dropped(patient, later, monkeypatch):
    with monkeypatch.context() as slow:
        spent_at_first(slow)
        patient.set_goal(DOWN, HOME)
        assert patient.waiting
        patient.set_goal(JointGoal(tuple(HOME + 0.1)), HOME)
        assert not patient.waiting
        later.ended = True
    patient.set_goal(DOWN, HOME)
    assert walk(patient, HOME)[-1] == pytest.approx(patient.solution.positions)


def test_an_unreachable_target_is_approached_with_the_missing_distance(pipe, chain):
    far = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [1.2, 0.6, 0.6])
    pipe.set_goal(PoseGoal(far), HOME)
    solution = pipe.solution
    assert not solution.success
    last = walk(pipe, HOME)[-1]
    missing = np.linalg.norm(chain.forward(last).translation - far.translation)
    assert solution.reason.missing == pytest.approx(missing, abs=1e-6)


@pytest.fixture(autouse=True, scope="module")
def _compiled(chain):
    prepare(chain)


def test_a_point_is_looked_at_along_the_ray(pipe, chain):
    point, ray = (0.6, -0.4, 0.5), Ray((0.0, 0.0, 1.0), (0.05, 0.0, 0.1))
    pipe.set_goal(PointGoal(point, ray), HOME)
    root_T_tip = chain.forward(walk(pipe, HOME)[-1])
    line = np.array(point) - root_T_tip.apply(ray.origin)
    along = root_T_tip.apply_vector(ray.axis)
    assert pipe.solution.success
    assert np.arccos(along @ line / np.linalg.norm(line)) < 2e-5


def test_joint_positions_are_reached(pipe):
    wanted = HOME + 0.1
    pipe.set_goal(JointGoal(tuple(wanted)), HOME)
    np.testing.assert_allclose(walk(pipe, HOME)[-1], wanted, atol=1e-12)
    assert pipe.solution is None


def test_a_twist_moves_the_tip_and_braking_keeps_it_on_its_line(pipe, chain):
    start = chain.forward(HOME)
    pipe.set_goal(TwistGoal((0.1, 0.0, -0.05), (0.0, 0.0, 0.0)), HOME)
    commands = walk(pipe, HOME, 50)
    assert pipe.phase is Phase.MOVING
    pipe.brake()
    commands = np.vstack([commands, walk(pipe, commands[-1])])
    assert pipe.phase is Phase.IDLE
    assert np.array_equal(commands[-1], commands[-pipe.ARRIVED_REPEATS])
    line = np.array([0.1, 0.0, -0.05]) / np.hypot(0.1, 0.05)
    for q in commands:
        travel = chain.forward(q).translation - start.translation
        assert np.linalg.norm(travel - (travel @ line) * line) < 1e-6
        np.testing.assert_allclose(chain.forward(q).rotation, start.rotation, atol=1e-6)
    # The way of 0.5 s at full speed, less what speeding up takes and more what braking does.
    assert travel @ line == pytest.approx(0.5 * np.hypot(0.1, 0.05), rel=0.02)


def test_a_bad_solution_after_a_twist_brakes_on_the_line(pipe, chain, monkeypatch):
    pipe.set_goal(TwistGoal((0.0, 0.2, 0.0), (0.0, 0.0, 0.0)), HOME)
    walk(pipe, HOME, 30)
    solve = pipeline.solve
    monkeypatch.setattr(
        pipeline, "solve", lambda *a, **k: solve(*a, **k)._replace(positions=np.full(6, np.nan))
    )
    pipe.set_goal(DOWN, HOME)
    last = walk(pipe, HOME)[-1]
    assert pipe.phase is Phase.UNSAFE
    travel = chain.forward(last).translation - chain.forward(HOME).translation
    assert np.abs(travel[[0, 2]]).max() < 1e-6


def test_a_twist_into_a_limit_is_reported(pipe, chain):
    pipe.set_goal(TwistGoal((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), in_tip=True), HOME)
    last = walk(pipe, HOME, 1500)[-1]
    assert pipe.solution.verdict is Verdict.LIMIT
    assert pipe.solution.reason.joint == "wrist_3_joint"
    assert str(pipe.solution.reason) == "wrist_3_joint is held by its limit 6.283"
    assert chain.upper[5] - 1e-3 < last[5] <= chain.upper[5]
    reported = pipe.solution
    pipe.step(last)
    assert pipe.solution is reported
    pipe.set_goal(TwistGoal((0.0, 0.0, 0.0), (0.0, 0.0, -1.0), in_tip=True), HOME)
    assert walk(pipe, last, 50)[-1][5] < last[5] - 0.1
    assert pipe.solution is None


def test_at_a_limit_the_reason_does_not_flicker(pipe, chain):
    pipe.set_goal(TwistGoal((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), in_tip=True), HOME)
    logged = []
    for _ in range(1000):
        pipe.step(HOME)
        logged.append(None if pipe.solution is None else pipe.solution.verdict)
    assert sum(a is not b for a, b in itertools.pairwise(logged)) == 1
    assert logged[-1] is Verdict.LIMIT


def test_a_new_goal_or_rest_discards_a_twist(pipe):
    up = TwistGoal((0.0, 0.0, 0.1), (0.0, 0.0, 0.0))
    pipe.set_goal(up, HOME)
    walk(pipe, HOME, 30)
    assert pipe._jog.moving
    pipe.rest()
    pipe.set_goal(up, HOME)
    assert not np.array_equal(pipe.step(HOME), HOME), "it speeds up at once, from rest"
    pipe.set_goal(DOWN, HOME)
    pipe.step(HOME)
    assert not pipe._jog.moving


def test_a_motion_is_braked_before_a_twist_begins(chain):
    pipe, other = Pipeline(chain, period=PERIOD), Pipeline(chain, period=PERIOD)
    for each in (pipe, other):
        each.set_goal(DOWN, HOME)
        walk(each, HOME, 20)
    pipe.set_goal(TwistGoal((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)), HOME)
    other.brake()
    braking = walk(other, HOME)[: -other.ARRIVED_REPEATS + 1]
    commands = walk(pipe, HOME, len(braking) + 50)
    assert len(braking) > 10
    assert np.array_equal(commands[: len(braking)], braking)
    rise = chain.forward(commands[-1]).translation - chain.forward(braking[-1]).translation
    assert rise[2] > 0.03
    assert np.abs(rise[:2]).max() < 1e-6


def test_a_pose_starts_from_the_state_of_a_twist(pipe, chain):
    limits = MotionLimits.of_chain(chain)
    pipe.set_goal(TwistGoal((0.3, 0.0, 0.0), (0.0, 0.0, 0.5)), HOME)
    commands = [HOME, HOME, HOME, *walk(pipe, HOME, 40)]
    pipe.set_goal(DOWN, HOME)
    commands += list(walk(pipe, HOME, 40))
    pipe.set_goal(TwistGoal((0.0, 0.2, 0.0), (0.0, 0.0, 0.0)), HOME)
    commands += list(walk(pipe, HOME, 60))
    pipe.set_goal(DOWN, HOME)
    commands += list(walk(pipe, HOME))
    assert pipe.phase is Phase.ARRIVED
    for order, most in ((1, limits.velocity), (2, limits.acceleration), (3, limits.jerk)):
        steps = np.abs(np.diff(commands, order, axis=0))
        assert (steps <= most * PERIOD**order * (1 + 1e-3)).all()


def test_braking_ends_at_rest_and_commands_end(pipe):
    pipe.set_goal(DOWN, HOME)
    walk(pipe, HOME, 10)
    pipe.brake()
    assert pipe.goal is None
    assert pipe.phase is Phase.BRAKING
    commands = walk(pipe, HOME)
    assert np.array_equal(commands[-1], commands[-pipe.ARRIVED_REPEATS])
    assert pipe.phase is Phase.IDLE
    assert pipe.step(HOME) is None


def test_braking_at_rest_sends_nothing(pipe):
    pipe.brake()
    assert pipe.phase is Phase.IDLE
    assert pipe.step(HOME) is None


def given(chain, *rows):
    """Return a goal that leads from HOME over rows of positions relative to it."""
    limits = MotionLimits.of_chain(chain)
    way = HOME + np.array([np.zeros(6), *rows])
    return MotionGoal(
        keep_limits(time_path(way, limits.scaled(1.0, 1.0, 1.0)), limits, chain.joint_names)
    )


OVER = ([0.4, 0.2, -0.3, 0.0, 0.1, 0.5], [0.8, -0.2, 0.2, 0.3, 0.0, 0.9])


def test_a_given_motion_is_followed_to_its_end(pipe, chain):
    goal = given(chain, *OVER)
    pipe.set_goal(goal, HOME)
    commands = walk(pipe, HOME)
    expected = [goal.motion.at(PERIOD * (k + 1))[:, 0] for k in range(100)]
    assert np.allclose(commands[:100], expected, rtol=0.0, atol=1e-12)
    assert np.array_equal(commands[-1], goal.motion.positions[-1])
    assert pipe.phase is Phase.ARRIVED


def test_a_given_motion_that_is_stopped_brakes_from_its_state(pipe, chain):
    pipe.set_goal(given(chain, *OVER), HOME)
    commands = [pipe.step(HOME) for _ in range(60)]
    speed = pipe.state[:, 1]
    pipe.brake(quickest=True)
    commands += walk(pipe, HOME).tolist()
    assert pipe.phase is Phase.IDLE
    limits = MotionLimits.of_chain(chain)
    second = np.diff(commands, 2, axis=0) / PERIOD**2
    assert (np.abs(second) <= limits.acceleration * 1.03).all()
    fastest = np.abs(speed) + 0.5 * limits.acceleration**2 / limits.jerk
    stopping = 0.5 * fastest**2 / limits.acceleration + 0.1 * fastest
    assert (np.abs(np.subtract(commands[-1], commands[59])) <= stopping).all()


def test_a_given_motion_that_is_dropped_brakes_on_its_way(pipe, chain):
    goal = given(chain, *OVER)
    pipe.set_goal(goal, HOME)
    commands = [pipe.step(HOME) for _ in range(40)]
    assert pipe.remainder() is not None
    pipe.brake()
    commands.append(pipe.step(HOME))
    assert pipe.remainder() is None, "it is found step by step"
    commands += walk(pipe, HOME).tolist()
    assert pipe.phase is Phase.IDLE
    assert not np.allclose(commands[-1], goal.motion.positions[-1], rtol=0.0, atol=0.01)
    way = at_times(goal.motion, np.linspace(0.0, goal.motion.times[-1], 20_000))[0]
    for command in commands[40:]:
        assert np.abs(way - command).max(axis=1).min() < 3e-4
    limits = MotionLimits.of_chain(chain)
    second = np.diff(commands, 2, axis=0) / PERIOD**2
    assert (np.abs(second) <= limits.acceleration * 1.03).all()


def test_a_given_motion_that_was_left_is_not_braked_on(pipe, chain):
    pipe.set_goal(given(chain, *OVER), HOME)
    commands = [pipe.step(HOME) for _ in range(40)]
    pipe._along.lost = True  # as by an obstacle
    commands += [pipe.step(HOME) for _ in range(4)]
    pipe.brake()
    commands += walk(pipe, HOME).tolist()
    assert pipe.phase is Phase.IDLE
    second = np.diff(commands, 2, axis=0) / PERIOD**2
    assert (np.abs(second) <= MotionLimits.of_chain(chain).acceleration * 1.03).all()


def test_a_command_of_a_given_motion_that_is_unsafe_is_not_sent(pipe, chain, monkeypatch):
    pipe.set_goal(given(chain, *OVER), HOME)
    sent = [pipe.step(HOME) for _ in range(60)]
    answers = iter([False])
    is_safe = pipeline.is_safe
    monkeypatch.setattr(
        pipeline, "is_safe", lambda *each: next(answers, None) is None and is_safe(*each)
    )
    sent.append(pipe.step(HOME))
    assert pipe.phase is Phase.UNSAFE
    second = np.diff(sent, 2, axis=0) / PERIOD**2
    limits = MotionLimits.of_chain(chain)
    assert (np.abs(second) <= limits.acceleration * 1.03).all(), "it brakes from the one before"


def test_a_given_motion_from_afar_is_unsafe(pipe, chain):
    pipe.set_goal(given(chain, *OVER), HOME + 0.2)
    assert pipe.step(HOME + 0.2) is None
    assert pipe.phase is Phase.UNSAFE


def test_a_given_motion_that_was_left_goes_on_from_rest(pipe, chain):
    goal = given(chain, *OVER)
    pipe.set_goal(goal, HOME)
    for _ in range(60):
        pipe.step(HOME)
    states = pipe.state
    states[0, 0] += 1e-2
    pipe.go_on(states)
    commands = walk(pipe, HOME)
    assert np.array_equal(commands[-1], goal.motion.positions[-1])
    second = np.diff([states[:, 0], *commands], 2, axis=0) / PERIOD**2
    assert (np.abs(second) <= MotionLimits.of_chain(chain).acceleration * 1.03).all()


def test_a_plan_of_a_given_motion_off_its_way_is_to_brake(pipe, chain):
    goal = given(chain, *OVER)
    pipe.set_goal(goal, HOME)
    pipe.plan(at_rest(HOME), braking=False)
    states = goal.motion.at(0.6)
    states[0, 0] += 1e-2
    braking = pipe.plan(states, braking=False)
    assert braking.times[-1] < 0.4
    assert not braking.velocities[-1].any()


@pytest.mark.parametrize("brakes", [False, True])
def test_an_arm_on_its_way_to_a_given_motion_stops_within_the_limits_and_goes_on(brakes):
    chain = chain_of("ur5e")
    limits, begin = MotionLimits.of_chain(chain), HOMES["ur5e"]
    motion = plan_motion(limits.scaled(1.0, 1.0, 1.0), begin, begin + 0.5, 0.02)
    pipe, goal = Pipeline(chain, period=0.01), MotionGoal(motion)
    way = [begin + 0.08] * 3
    pipe.set_goal(goal, way[-1])

    def step(periods):
        for _ in range(periods):
            if (command := pipe.step(way[-1])) is not None:
                way.append(command)

    step(12)
    if brakes:
        pipe.brake()
    else:
        pipe.speed_override = 0.0
    step(60)
    assert np.array_equal(way[-1], way[-2])
    pipe.speed_override = 1.0
    pipe.set_goal(goal, way[-1])
    step(300)
    assert worst(way, limits, 0.01).max() <= 1.03, "quintics between samples"
    assert np.allclose(way[-1], begin + 0.5)
