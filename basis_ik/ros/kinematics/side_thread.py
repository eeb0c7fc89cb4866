# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A second node, for callbacks that would delay the control loop."""

from __future__ import annotations

import contextlib
import threading

from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.node import Node


class SideThread:
    """Spins a second node in its own thread.

    Its callbacks run concurrently with the main node's, so shared objects must allow that. Kernels
    release the GIL, so the main thread continues meanwhile.

    Args:
        main: The main node.
        name: Suffix that is appended to its name.

    Attributes:
        node: The second node. Resolve names with the main node, which has the remappings.
    """

    def __init__(self, main: Node, name: str) -> None:
        self.node = Node(
            f"{main.get_name()}_{name}",
            namespace=main.get_namespace(),
            context=main.context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._context = main.context
        self._executor = SingleThreadedExecutor(context=main.context)
        self._executor.add_node(self.node)
        # Not a daemon: a thread that is killed within rcl would crash the process at its end. The
        # thread ends with the context at the latest.
        self._thread = threading.Thread(target=self._spin, name=name)
        self._thread.start()

    def _spin(self) -> None:
        try:
            with contextlib.suppress(ExternalShutdownException, ShutdownException):
                self._executor.spin()
        except RuntimeError:  # rclpy's, of a callback in which the context has ended
            if self._context.ok():
                raise

    def destroy(self) -> None:
        """Finish the current callback, and stop."""
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
