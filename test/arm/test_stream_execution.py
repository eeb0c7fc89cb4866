# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Streams of velocities keep the limits, and leave an arm at rest for every end of a motion."""

import numpy as np
import pytest
from controller_stand_ins import OpenWay, arm_of, moment
from shipped_arms import HOMES, chain_of

from basis_ik.arm.execution.stream_execution import VelocityExecution
from basis_ik.arm.goals import JointGoal
from basis_ik.arm.pipeline import Phase, Pipeline

HOME, NOW = HOMES["ur5e"], moment(0.0)
OFF = 0.01  # rad by which the arm stays behind
GAIN = 2.0  # 1/s


@pytest.fixture
def execution():
    return VelocityExecution(arm_of(["a"] * 6, lag=0.2, velocity=np.pi), OpenWay())


@pytest.fixture
def sent():
    return []


@pytest.fixture
def advance(execution, sent):
    """Return a function that runs a period, keeps what is sent, and returns the phase."""

    def run(pipeline, measured=HOME):
        phase = execution.advance(pipeline, measured, NOW)
        sent.extend(each.values for each in execution.outgoing())
        return phase

    return run


@pytest.fixture
def pipeline(advance):
    """Return the source of a motion's commands, 0.2 s after its begin."""
    pipeline = Pipeline(chain_of("ur5e"), period=0.01)
    pipeline.set_goal(JointGoal(tuple(HOME + 1.0)), HOME)
    for _ in range(20):
        advance(pipeline)
    return pipeline


def test_velocities_are_those_of_the_motion(sent, pipeline):
    assert (sent[-1] > 0.1).all()
    assert (sent[-1] <= np.pi + GAIN * np.abs(pipeline.command - HOME).max()).all()


def test_velocities_keep_the_limits_at_any_error(sent, advance, pipeline):
    advance(pipeline, HOME - 5.0)
    assert (sent[-1] == np.pi).all()


def test_the_last_velocity_is_zero_despite_an_error(sent, execution, advance, pipeline):
    execution.brake(pipeline)
    for _ in range(500):
        if advance(pipeline, HOME + OFF) is Phase.IDLE:
            break
    assert pipeline.phase is Phase.IDLE
    assert sent[-2].any()
    assert not sent[-1].any()


@pytest.mark.parametrize("how", ["end", "close"])
def test_ending_a_motion_at_once_sends_zero(execution, pipeline, how):
    execution.end(pipeline, NOW) if how == "end" else execution.close()
    (last,) = execution.outgoing()
    assert not last.values.any()
    execution.close()
    assert execution.outgoing() == [], "once is enough"


def test_a_joint_that_does_not_follow_brakes_where_it_is_measured(execution, pipeline):
    before, lost = pipeline.state, np.arange(6) == 2
    execution.hold(pipeline, HOME, NOW, lost)
    there = pipeline.state
    assert there[lost].tolist() == [[HOME[2], 0.0, 0.0]]
    np.testing.assert_array_equal(there[~lost], before[~lost])
    assert pipeline.phase is Phase.BRAKING
    assert execution.expected(NOW) is None, "what was commanded before does not count"
