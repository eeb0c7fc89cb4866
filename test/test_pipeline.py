"""From target to command on the shipped UR5e: solved, limited, checked, and silent when done."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik import pipeline
from basis_ik.model.robot import RobotModel
from basis_ik.pipeline import UNSTATED_SPEED, Pipeline, State, speeds
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[1] / "urdf"
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
DOWN = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.45, 0.10, 0.45])
PERIOD = 0.01


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


@pytest.fixture
def pipe(chain):
    return Pipeline(chain, period=PERIOD)


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
    assert pipe.state is State.IDLE


def test_a_target_is_reached_within_limits_and_then_all_is_silent(pipe, chain):
    assert pipe.aim(DOWN, HOME).success
    commands = walk(pipe, HOME)
    assert pipe.state is State.ARRIVED
    assert pipe.step(commands[-1]) is None
    np.testing.assert_allclose(chain.forward(commands[-1]).matrix, DOWN.matrix, atol=2e-5)
    steps = np.abs(np.diff(np.vstack([HOME, commands]), axis=0))
    assert (steps <= chain.velocity * PERIOD + 1e-9).all()
    assert (commands >= chain.lower).all()
    assert (commands <= chain.upper).all()
    assert np.array_equal(commands[-pipe.ARRIVED_REPEATS], commands[-1])


def test_scaling_slows_down(chain):
    lengths = []
    for scaling in (1.0, 0.25):
        pipe = Pipeline(chain, period=PERIOD, velocity_scaling=scaling)
        pipe.aim(DOWN, HOME)
        lengths.append(len(walk(pipe, HOME)) - pipe.ARRIVED_REPEATS)
    assert lengths[1] == pytest.approx(4 * lengths[0], rel=0.05)


def test_motion_starts_from_the_measured_positions_after_rest(pipe):
    pipe.aim(DOWN, HOME)
    walk(pipe, HOME, cycles=20)
    pipe.rest()
    moved = HOME + 0.3
    pipe.aim(DOWN, moved)
    first = pipe.step(moved)
    assert np.abs(first - moved).max() <= np.pi * PERIOD + 1e-9


def test_while_moving_the_lag_of_the_arm_does_not_feed_back(pipe):
    pipe.aim(DOWN, HOME)
    first, second = pipe.step(HOME), pipe.step(HOME)
    np.testing.assert_allclose(second - first, first - HOME, atol=1e-12)


def test_a_resting_target_is_solved_once(pipe, monkeypatch):
    calls = []
    solve = pipeline.solve
    monkeypatch.setattr(pipeline, "solve", lambda *a, **k: calls.append(1) or solve(*a, **k))
    for _ in range(3):
        pipe.aim(DOWN, HOME)
    assert len(calls) == 1
    pipe.aim(DOWN, HOME, position_only=True)
    assert len(calls) == 2


def test_a_state_outside_the_limits_only_moves_inward(pipe, chain):
    outside = HOME.copy()
    outside[2] = chain.upper[2] + 0.05
    pipe.aim(DOWN, outside)
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
    pipe.aim(DOWN, HOME)
    assert pipe.step(HOME) is None
    assert pipe.state is State.UNSAFE


def test_a_solution_outside_the_limits_is_never_sent(pipe, chain, monkeypatch):
    solve = pipeline.solve
    monkeypatch.setattr(
        pipeline, "solve", lambda *a, **k: solve(*a, **k)._replace(positions=chain.upper + 0.5)
    )
    pipe.aim(DOWN, HOME)
    commands = walk(pipe, HOME)
    assert pipe.state is State.UNSAFE
    assert (commands <= chain.upper + 1e-9).all()


def test_an_unreachable_target_is_approached_and_the_missing_distance_told(pipe, chain):
    far = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [1.2, 0.6, 0.6])
    solution = pipe.aim(far, HOME)
    assert not solution.success
    last = walk(pipe, HOME)[-1]
    missing = np.linalg.norm(chain.forward(last).translation - far.translation)
    assert solution.reason.missing == pytest.approx(missing, abs=1e-6)


def test_joints_without_a_stated_speed_go_slowly():
    robot = RobotModel.from_urdf(
        """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
        <joint name="turn" type="continuous"><parent link="a"/><child link="b"/>
          <axis xyz="0 0 1"/></joint>
        <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>
          <axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="0.7" effort="1"/></joint>
        </robot>"""
    )
    assert speeds(robot.chain("a", "c")).tolist() == [UNSTATED_SPEED[0], 0.7]
