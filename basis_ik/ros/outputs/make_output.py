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

"""Creates the output that the parameter `command_interface` names."""

from __future__ import annotations

from collections.abc import Callable

from basis_ik.ros.outputs.goal_output import FollowJointTrajectoryOutput
from basis_ik.ros.outputs.output import Output, OutputOptions
from basis_ik.ros.outputs.stream_output import JointStateOutput, PositionOutput, VelocityOutput
from basis_ik.ros.outputs.trajectory_output import TrajectoryOutput

INTERFACES = (
    "joint_trajectory", "position", "velocity", "joint_state", "follow_joint_trajectory",
)  # fmt: skip


def make_output(kind: str, options: OutputOptions) -> Output:
    """Return the output that the parameter `command_interface` names.

    Args:
        kind: One of `INTERFACES`.
        options: The arguments of all outputs.
    """
    outputs: dict[str, Callable[[OutputOptions], Output]] = {
        "joint_trajectory": TrajectoryOutput,
        "position": PositionOutput,
        "velocity": VelocityOutput,
        "joint_state": JointStateOutput,
        "follow_joint_trajectory": FollowJointTrajectoryOutput,
    }
    return outputs[kind](options)
