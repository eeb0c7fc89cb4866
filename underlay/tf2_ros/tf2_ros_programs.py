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

"""How the programs start and stop: SIGINT and SIGTERM end them with status 0 at any moment.

rclpy's own signal handling is left out: it shuts the context down in another thread, and what is
being created or shut down at that moment then fails.
"""

import importlib
import signal
import sys
from collections.abc import Callable
from threading import Event
from typing import Any


def static_transform_publisher() -> int:
    """Run the program; its exit status."""
    return _run("static_transform_publisher")


def tf2_echo() -> int:
    """Run the program; its exit status."""
    return _run("tf2_echo")


def _run(program: str) -> int:
    stop = Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stop.set())
    # Only now, because importing rclpy takes long enough for a signal to come meanwhile.
    return importlib.import_module(f"tf2_ros.{program}").main(stop)


def spin(make_node: Callable[[], Any], stop: Event) -> None:
    """Spin a node until it is told to stop."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = make_node()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.1)  # a signal is only seen in between
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
