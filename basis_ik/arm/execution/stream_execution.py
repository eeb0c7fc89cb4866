# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Executions that send each command of a motion."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.execution.execution import Drives, Execution, Link
from basis_ik.arm.execution.messages import Samples
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.arm.tracking import RecentCommands
from basis_ik.numerics.arrays import FloatArray


class StreamTuning(NamedTuple):
    """Tuning of a stream of commands."""

    most_missed: int = 3  # [periods]: after more missed ones, a motion goes on from rest
    rest_time: float = 0.2  # [s], since the last command, after which the arm is taken to rest
    oldest_state: float = 1.0  # [s], of commands that measured states are compared with, at most


STREAM_TUNING = StreamTuning()


class StreamExecution(Execution):
    """Sends each command; subclasses say as what.

    Args:
        drives: What is commanded.
        link: The way to the controller.
    """

    streams = True

    def __init__(self, drives: Drives, link: Link) -> None:
        super().__init__(link)
        self._period, self._lag = drives.period, drives.lag
        lately = math.ceil((drives.lag + STREAM_TUNING.oldest_state) / drives.period) + 1
        self._recent = RecentCommands(lately, len(drives.joint_names))
        self._commanded_at = -math.inf

    def brake(self, pipeline: Pipeline, *, quickest: bool = False) -> None:
        """Bring the arm to rest as soon as its limits allow; see `Pipeline.brake`."""
        pipeline.brake(quickest=quickest)

    def hold(
        self, pipeline: Pipeline, measured: FloatArray, now: Moment, lost: NDArray[np.bool_]
    ) -> None:
        """Brake; joints that do not follow brake where they are measured; see `Execution.hold`."""
        if pipeline.command is not None:
            states = pipeline.state
            states[lost] = 0.0
            states[lost, 0] = measured[lost]
            pipeline.go_on(states)
        self._recent.clear()
        pipeline.brake(quickest=True)

    def advance(self, pipeline: Pipeline, measured: FloatArray, now: Moment) -> Phase:
        """Send the next command; after a gap from rest. See `Execution.advance`."""
        if pipeline.command is None:
            self._recent.clear()
        elif now.loop - self._commanded_at > (STREAM_TUNING.most_missed + 1) * self._period:
            states = np.zeros((len(pipeline.command), 3))
            states[:, 0] = pipeline.command
            pipeline.go_on(states)
        command = pipeline.step(measured, now.loop + self._period)
        if command is not None:
            self._recent.add(command)
            self._commanded_at = now.loop
            self._send(pipeline, command, measured)
            self.sent += 1
        return pipeline.phase

    @abstractmethod
    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        """Send a command (n,)."""

    def expected(self, now: Moment, age: float = 0.0) -> FloatArray | None:
        """Return the positions between which the arm should be; see `Execution.expected`."""
        if now.loop - self._commanded_at >= STREAM_TUNING.rest_time:
            return None
        return self._recent.newest(math.ceil((self._lag + age) / self._period) + 1)


class PositionExecution(StreamExecution):
    """Sends positions.

    Args:
        drives: What is commanded.
        link: The way to the controller.
    """

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        self._outgoing.append(Samples(command))

    def end(self, pipeline: Pipeline, now: Moment) -> None:
        """Do nothing: without commands the arm stops."""


class VelocityExecution(StreamExecution):
    """Sends velocities: those of the commands plus a correction of the arm's error.

    They are within the joints' limits. The last one is zero.

    Args:
        drives: What is commanded.
        link: The way to the controller.
    """

    GAIN = 2.0  # 1/s: most of the arm's error is corrected in half a second

    def __init__(self, drives: Drives, link: Link) -> None:
        super().__init__(drives, link)
        self._velocity, self._moves = drives.velocity, False

    def _send(self, pipeline: Pipeline, command: FloatArray, measured: FloatArray) -> None:
        self._moves = True
        if pipeline.command is None:  # the last command
            self.close()
        else:
            velocity = pipeline.state[:, 1] + self.GAIN * (command - measured)
            self._outgoing.append(Samples(np.clip(velocity, -self._velocity, self._velocity)))

    def end(self, pipeline: Pipeline, now: Moment) -> None:
        """Send zero, unless it was sent last."""
        self.close()

    def close(self) -> None:
        """Send zero, unless it was sent last."""
        if self._moves:
            self._outgoing.append(Samples(np.zeros(len(self._velocity))))
            self._moves = False
