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

"""Actions of launch descriptions."""

from .._upstream import upstream_names
from .control import (
    EmitEvent,
    GroupAction,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
    UnregisterEventHandler,
)
from .execute_process import ExecuteProcess
from .include_launch_description import IncludeLaunchDescription
from .settings import (
    DeclareLaunchArgument,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
)
from .timer_action import TimerAction

__all__ = [
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteProcess",
    "GroupAction",
    "IncludeLaunchDescription",
    "LogInfo",
    "OpaqueFunction",
    "RegisterEventHandler",
    "SetEnvironmentVariable",
    "SetLaunchConfiguration",
    "Shutdown",
    "TimerAction",
    "UnregisterEventHandler",
]

__getattr__ = upstream_names(
    __name__,
    "AppendEnvironmentVariable ExecuteLocal ForEach ForLoop Log LogDebug LogError LogWarning "
    "OpaqueCoroutine PopEnvironment PopLaunchConfigurations PushEnvironment "
    "PushLaunchConfigurations RaiseError ReplaceEnvironmentVariables ResetEnvironment "
    "ResetLaunchConfigurations UnsetEnvironmentVariable UnsetLaunchConfiguration",
)
