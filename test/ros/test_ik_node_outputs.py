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

"""Each command interface drives the arm, with safe commands, over DDS."""

import pytest
from robot_bench import down, running


@pytest.mark.parametrize(
    ("interface", "topic"), [("position", "commands"), ("joint_state", "joint_commands")]
)
def test_each_interface_drives_the_arm(domain, interface, topic):
    with running(domain, "-p", f"command_interface:={interface}") as robot:
        robot.reach(down(0.40, 0.20, 0.40), "the arm is there")
        assert robot.interface == topic
        robot.wait(robot.no_commands, "silence")
