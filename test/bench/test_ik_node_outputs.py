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

"""Each interface that streams positions drives the arm, at its limits."""

import numpy as np
import pytest
from bench import PERIOD, down, running

from basis_ik.ros.convert import time_message


@pytest.mark.parametrize(
    ("interface", "topic", "field"),
    [
        ("position", "/joint_trajectory_controller/commands", "data"),
        ("joint_state", "/joint_commands", "position"),
    ],
)
def test_each_interface_drives_the_arm(interface, topic, field):
    with running("-p", f"command_interface:={interface}") as robot:
        start, limits = robot.positions, robot.arm.limits
        robot.reach(down(0.40, 0.20, 0.40), 1e-9)
        robot.wait(robot.rests, "silence")
        assert {each.topic for each in robot.commands} == {topic}
        assert set(np.diff([each.time for each in robot.commands])) == {round(1e9 * PERIOD)}
        way = np.array([start, *(getattr(each.message, field) for each in robot.commands)])
        speeds = np.diff(way, axis=0) / PERIOD
        rates = np.diff(speeds, axis=0, prepend=0.0) / PERIOD
        assert (np.abs(speeds) / limits.velocity).max() == pytest.approx(1.0, abs=1e-9)
        assert (np.abs(rates) / limits.acceleration).max() == pytest.approx(1.0, abs=1e-9)
        assert (way == way[-1]).all(axis=1).sum() == 25, "the last command is repeated"
        if interface == "joint_state":
            time, _, message = robot.commands[0]
            assert tuple(message.name) == robot.chain.joint_names
            assert message.header.stamp == time_message(time + robot.boundary.offset)
