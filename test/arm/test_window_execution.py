# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A stream of windows goes on from where the controller has accepted the last one."""

import numpy as np
import pytest
from controller_stand_ins import KnownRule, OpenWay, StateTopic, arm_of, moment, report

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.trajectory_execution import Controller
from basis_ik.arm.execution.window_execution import WindowExecution

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
