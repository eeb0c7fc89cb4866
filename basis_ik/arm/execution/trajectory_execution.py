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

"""What executions by a joint_trajectory_controller have in common."""

from __future__ import annotations

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.execution import Drives, Execution, Link, Rule
from basis_ik.arm.moment import Moment


class TrajectoryExecution(Execution):
    """Knows what a joint_trajectory_controller publishes, and how it replaces trajectories.

    Args:
        drives: What is commanded.
        link: The way to the controller.
        state: What the controller publishes.
        rule: How the controller replaces trajectories.
        now: The present moment.
        resumes: Whether a motion goes on after the controller has scaled its speed to 0.
    """

    def __init__(
        self,
        drives: Drives,
        link: Link,
        state: ControllerState,
        rule: Rule,
        now: Moment,
        *,
        resumes: bool,
    ) -> None:
        super().__init__(link)
        self._joint_names, self._lag = drives.joint_names, drives.lag
        self._state, self._rule, self._now, self._resumes = state, rule, now, resumes

    def _take_time(self, now: Moment) -> None:
        """Let it be now."""
        self._now = now
        self._state.begin_period(now)

    def unmet(self, now: Moment) -> str:
        """Return why no command would be executed; see `Execution.unmet`."""
        self._take_time(now)
        return super().unmet(now)

    def _check(self, now: Moment) -> str:
        self._rule.ask()
        unmet = super()._check(now)
        self.is_silent = not unmet and self._state.is_silent
        return unmet or self._state.unmet(waits=self._resumes)

    def excuse(self, until: float) -> None:
        """Do not take the controller for silent until then; see `Execution.excuse`."""
        self._state.excuse(until)

    def on_clock_jump(self, now: Moment) -> None:
        """Discard all times; see `Execution.on_clock_jump`."""
        super().on_clock_jump(now)
        self._now = now
        self._state.on_clock_jump(now)
