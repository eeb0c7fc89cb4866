"""Launch for ROS nodes: the part of ROS 2 launch_ros that this workspace uses."""

from launch._upstream import upstream_names

from . import (
    actions,
    descriptions,
    event_handlers,
    events,
    parameter_descriptions,
    substitutions,
)

__all__ = [
    "actions",
    "descriptions",
    "event_handlers",
    "events",
    "parameter_descriptions",
    "substitutions",
]

__getattr__ = upstream_names(
    __name__, "get_default_launch_description ros_adapters utilities parameters_type"
)
