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

"""The ROS node of the launch process itself, there only once somebody asks for it."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

import rclpy
from launch import LaunchContext
from launch.event_handlers import OnShutdown
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

_NAME = "_launch_ros_node"


def get_ros_node(context: LaunchContext) -> Any:
    """Return the node of this launch; at first use, start spinning it until shutdown."""
    node = getattr(context, _NAME, None)
    if node is None:
        ros = rclpy.Context()
        rclpy.init(args=[], context=ros)
        node = rclpy.create_node(f"launch_ros_{os.getpid()}", context=ros)
        setattr(context, _NAME, node)
        executor = SingleThreadedExecutor(context=ros)
        executor.add_node(node)
        thread = threading.Thread(target=_spin, args=(executor,), daemon=True)
        thread.start()

        def stop(event: Any, context: LaunchContext) -> None:
            ros.try_shutdown()
            thread.join()
            node.destroy_node()

        # Last, so that whoever waits for the node sees the shutdown of the launch first.
        context.register_event_handler(OnShutdown(on_shutdown=stop), append=True)
    return node


def _spin(executor: SingleThreadedExecutor) -> None:
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()
