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
