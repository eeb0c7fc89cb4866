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

"""A node beside a control loop, for what would hold the loop up."""

from __future__ import annotations

import contextlib
import threading

from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.node import Node


class SideThread:
    """Serves a node of its own in a thread of its own.

    Callbacks run beside those of the main node: what both touch must bear that. Kernels let the
    main thread run meanwhile.

    Args:
        main: The node that it stands beside; the new one's name begins with its name.
        name: What its name ends with.

    Attributes:
        node: Where to create what is to be served. Names are to be resolved by the main node, whose
            remappings hold.
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
        self._executor = SingleThreadedExecutor(context=main.context)
        self._executor.add_node(self.node)
        # No daemon: torn off in the middle of rcl it would crash the process at its end. It ends
        # with the context, if not before.
        self._thread = threading.Thread(target=self._spin, name=name)
        self._thread.start()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, ShutdownException):
            self._executor.spin()

    def destroy(self) -> None:
        """Finish what is being done, and serve no longer."""
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
