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

"""The buffer of a node: lookups that can wait for the transform to arrive."""

from collections.abc import Callable
from functools import partial
from threading import Condition
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.task import Future
from rclpy.time import Time
from tf2_msgs.srv import FrameGraph
from tf2_py import BufferCore

from tf2_ros.buffer_interface import NOT_AT_ALL, BufferInterface

Attempt = Callable[[], tuple[int, str]]


class Buffer(BufferCore, BufferInterface):
    """Transforms of the last `cache_time` (10 s by default).

    Given a node, it also serves them as YAML on `tf2_frames`, and is cleared when the node's clock
    jumps back or changes its source. A lookup with a timeout blocks its thread: inside a callback,
    somebody else must be spinning the listener.
    """

    def __init__(self, cache_time: Duration | None = None, node: Node | None = None) -> None:
        BufferCore.__init__(self, cache_time)
        BufferInterface.__init__(self)
        self._changed = Condition(self._lock)
        self._awaited: list[tuple[Future, Attempt]] = []
        if node is not None:
            self.srv = node.create_service(FrameGraph, "tf2_frames", self._serve_frames)
            self.clock = node.get_clock()
            backwards = JumpThreshold(min_forward=None, min_backward=Duration(seconds=-1))
            self.jump_handle = self.clock.create_jump_callback(
                backwards, post_callback=self.time_jump_callback
            )

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Add a sample of a moving frame, and wake who waits for it."""
        super().set_transform(transform, authority)
        self._wake()

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Add a transform that holds at all times, and wake who waits for it."""
        super().set_transform_static(transform, authority)
        self._wake()

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = NOT_AT_ALL
    ) -> TransformStamped:
        """The transform from source to target at a time (zero: the latest).

        Raises:
            TransformException: It is not known by the end of the timeout.
        """
        self._wait(partial(self.can_transform_core, target_frame, source_frame, time), timeout)
        return self.lookup_transform_core(target_frame, source_frame, time)

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
        timeout: Duration = NOT_AT_ALL,
    ) -> TransformStamped:
        """The source frame at its time from the target frame at another, across a fixed frame.

        Raises:
            TransformException: It is not known by the end of the timeout.
        """
        frames = target_frame, target_time, source_frame, source_time, fixed_frame
        self._wait(partial(self.can_transform_full_core, *frames), timeout)
        return self.lookup_transform_full_core(*frames)

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Time,
        timeout: Duration = NOT_AT_ALL,
        return_debug_tuple: bool = False,
    ) -> Any:
        """Whether the transform is known by the end of the timeout.

        As upstream, 1 or 0; with `return_debug_tuple`, that and the reason.
        """
        attempt = partial(self.can_transform_core, target_frame, source_frame, time)
        self._wait(attempt, timeout)
        return attempt() if return_debug_tuple else attempt()[0]

    def can_transform_full(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
        timeout: Duration = NOT_AT_ALL,
        return_debug_tuple: bool = False,
    ) -> Any:
        """As `can_transform`, for `lookup_transform_full`."""
        frames = target_frame, target_time, source_frame, source_time, fixed_frame
        attempt = partial(self.can_transform_full_core, *frames)
        self._wait(attempt, timeout)
        return attempt() if return_debug_tuple else attempt()[0]

    async def lookup_transform_async(
        self, target_frame: str, source_frame: str, time: Time
    ) -> TransformStamped:
        """Await what `lookup_transform` gives."""
        await self.wait_for_transform_async(target_frame, source_frame, time)
        return self.lookup_transform_core(target_frame, source_frame, time)

    async def lookup_transform_full_async(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
    ) -> TransformStamped:
        """Await what `lookup_transform_full` gives."""
        frames = target_frame, target_time, source_frame, source_time, fixed_frame
        await self.wait_for_transform_full_async(*frames)
        return self.lookup_transform_full_core(*frames)

    def wait_for_transform_async(self, target_frame: str, source_frame: str, time: Time) -> Future:
        """A future that is done, with True, once `lookup_transform` succeeds."""
        return self._future(partial(self.can_transform_core, target_frame, source_frame, time))

    def wait_for_transform_full_async(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
    ) -> Future:
        """A future that is done, with True, once `lookup_transform_full` succeeds."""
        frames = target_frame, target_time, source_frame, source_time, fixed_frame
        return self._future(partial(self.can_transform_full_core, *frames))

    def time_jump_callback(self, time_jump: TimeJump) -> None:
        """Clear: what was known belongs to another time."""
        get_logger("tf2_buffer").warning("Detected jump back in time. Clearing tf buffer.")
        self.clear()

    def _wait(self, attempt: Attempt, timeout: Duration) -> None:
        if timeout > NOT_AT_ALL:
            with self._changed:
                self._changed.wait_for(lambda: attempt()[0], timeout.nanoseconds / 1e9)

    def _future(self, attempt: Attempt) -> Future:
        future = Future()
        with self._lock:
            if attempt()[0]:
                future.set_result(True)
            else:
                self._awaited.append((future, attempt))
        return future

    def _wake(self) -> None:
        ready, waiting = [], []
        with self._changed:
            self._changed.notify_all()
            for future, attempt in self._awaited:
                if not future.cancelled():
                    (ready if attempt()[0] else waiting).append((future, attempt))
            self._awaited = waiting
        for future, _ in ready:  # outside the lock: this runs callbacks of others
            future.set_result(True)

    def _serve_frames(
        self, _: FrameGraph.Request, response: FrameGraph.Response
    ) -> FrameGraph.Response:
        response.frame_yaml = self.all_frames_as_yaml()
        return response
