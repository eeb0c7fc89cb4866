"""Tests of running processes: the part of ROS 2 launch_testing that this workspace uses."""

from launch._upstream import upstream_names

from . import actions, asserts, markers, util
from .decorators import parametrize, post_shutdown_test, ready_to_test_action_timeout
from .io_handler import ActiveIoHandler, IoHandler
from .proc_info_handler import ActiveProcInfoHandler, ProcInfoHandler

__all__ = [
    "ActiveIoHandler",
    "ActiveProcInfoHandler",
    "IoHandler",
    "ProcInfoHandler",
    "actions",
    "asserts",
    "markers",
    "parametrize",
    "post_shutdown_test",
    "ready_to_test_action_timeout",
    "util",
]

__getattr__ = upstream_names(
    __name__, "ReadyAggregator event_handlers junitxml legacy ready_aggregator tools"
)
