# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A stream of windows goes on from where the controller has accepted the last one."""

import numpy as np
import pytest
from controller_stand_ins import KnownRule, OpenWay, StateTopic, arm_of, moment, report
from shipped_arms import HOMES, chain_of

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.trajectory_execution import Controller
from basis_ik.arm.execution.window_execution import WindowExecution
from basis_ik.arm.goals import JointGoal
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Phase, Pipeline

NOW = moment(100.0)


@pytest.mark.parametrize(
    ("off", "keeps"), [(0.0, True), (0.9e-4, True), (1.1e-4, False), (0.03, False), (None, False)]
)
def test_a_motion_continues_from_the_held_command(off, keeps):
    """Without a state, or at another reference, it may not have accepted the end of the motion."""
    arm = arm_of(("a", "b"))
    state = ControllerState(StateTopic(), arm.joint_names, NOW)
    controller = Controller(OpenWay(), state, KnownRule(), resumes=True)
    execution = WindowExecution(arm, controller)
    if off is not None:
        state.take(report(100.0, [2.0, 1.0 + off], joint_names=["b", "a"]), NOW)
    assert execution.keeps(np.array([1.0, 2.0])) is keeps


@pytest.mark.parametrize("back", [0.0, 50.0])
def test_a_motion_that_was_recalled_is_given_up_also_if_the_clock_is_set_back(back):
    """The controller rests at its begin, and takes nothing."""
    chain, here = chain_of("ur5e"), HOMES["ur5e"]
    state = ControllerState(StateTopic(), chain.joint_names, NOW)
    controller = Controller(OpenWay(), state, KnownRule(), resumes=True)
    execution = WindowExecution(arm_of(chain.joint_names), controller)
    pipeline, sent = Pipeline(chain, period=0.01), []

    def run(since, seconds, back=0.0):
        for time in np.arange(since, since + seconds, 0.01):
            now = Moment(time, round(1e9 * (time - back)))
            state.take(report(time - back, here, joint_names=list(chain.joint_names)), now)
            execution.advance(pipeline, here, now)
            sent.extend(each.stamp - now.clock for each in execution.outgoing())

    pipeline.set_goal(JointGoal(tuple(here + 0.3)), here)
    execution.begin()
    run(100.0, 0.1)
    execution.brake(pipeline)
    run(100.1, 0.1)
    assert pipeline.phase is Phase.BRAKING
    if back:
        execution.on_clock_jump(Moment(100.2, round(1e9 * (100.2 - back))))
    sent.clear()
    run(100.2, 5.0, back)
    assert pipeline.phase is Phase.IDLE
    # By another clock it is recalled again, by a message that is over by that one.
    assert [begin < 0 for begin in sent] == [True] * bool(back)
