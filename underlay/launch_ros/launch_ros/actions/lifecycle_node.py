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

"""The action that starts a managed node and takes it from state to state."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import lifecycle_msgs.msg
import lifecycle_msgs.srv
from launch import LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType, logging
from launch.actions import EmitEvent
from launch.event_handlers import _FunctionHandler
from launch.events import matches_action
from launch.utilities import normalize_to_bool, perform_bool

from .._ros_node import get_ros_node
from ..event_handlers import OnStateTransition
from ..events.lifecycle import ChangeState, StateTransition
from .node import Node

_Transition = lifecycle_msgs.msg.Transition
_SHUTDOWN = ("shuttingdown", "finalized")
# The labels of the state on the way and of the state that each transition leads to.
_STATES = {
    _Transition.TRANSITION_CONFIGURE: ("configuring", "inactive"),
    _Transition.TRANSITION_CLEANUP: ("cleaningup", "unconfigured"),
    _Transition.TRANSITION_ACTIVATE: ("activating", "active"),
    _Transition.TRANSITION_DEACTIVATE: ("deactivating", "inactive"),
    _Transition.TRANSITION_UNCONFIGURED_SHUTDOWN: _SHUTDOWN,
    _Transition.TRANSITION_INACTIVE_SHUTDOWN: _SHUTDOWN,
    _Transition.TRANSITION_ACTIVE_SHUTDOWN: _SHUTDOWN,
}
_PASSING = {passing for passing, _ in _STATES.values()} | {"errorprocessing"}
# How long the news of a transition may take after the node has said that it is done [s].
_NEWS_GRACE = 1.0
# How long an answer may take before the node is asked what state it is in [s].
_ANSWER_GRACE = 2.0


class _GoneError(Exception):
    """The node, or the whole launch, has come to its end."""


class LifecycleNode(Node):
    """Starts a managed node, answers ChangeState events and emits StateTransition events.

    Args:
        name: The name of the node.
        namespace: Its namespace.
        autostart: Configure and activate it once it is up.
        kwargs: See launch_ros.actions.Node.
    """

    def __init__(
        self,
        *,
        name: SomeSubstitutionsType,
        namespace: SomeSubstitutionsType,
        autostart: bool | SomeSubstitutionsType = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
        self.__autostart = normalize_to_bool(autostart, "autostart")
        self.__arrived = threading.Event()

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the node; listen to its transitions."""
        started = super().execute(context)
        if context.is_shutdown:
            return started
        node = get_ros_node(context)
        topic = f"{self.node_name}/transition_event"

        def on_transition(message: Any) -> None:  # in the thread of the ROS node
            if message.goal_state.label not in _PASSING:
                self.__arrived.set()
            context.emit_event_sync(StateTransition(action=self, msg=message))

        node.create_subscription(lifecycle_msgs.msg.TransitionEvent, topic, on_transition, 10)
        change = node.create_client(
            lifecycle_msgs.srv.ChangeState, f"{self.node_name}/change_state"
        )
        look = node.create_client(lifecycle_msgs.srv.GetState, f"{self.node_name}/get_state")

        def on_change_state(event: ChangeState, context: LaunchContext) -> None:
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(
                None, self.__change_state, context, change, look, event.transition_id
            )
            context.add_completion_future(work)

        def is_asked(event: Any) -> bool:
            return isinstance(event, ChangeState) and event.lifecycle_node_matcher(self)

        context.register_event_handler(_FunctionHandler(matcher=is_asked, answer=on_change_state))
        if perform_bool(context, self.__autostart, "autostart"):
            context.register_event_handler(
                OnStateTransition(
                    target_lifecycle_node=self,
                    start_state="configuring",
                    goal_state="inactive",
                    entities=[self.__request(_Transition.TRANSITION_ACTIVATE)],
                    handle_once=True,
                )
            )
            return [*(started or []), self.__request(_Transition.TRANSITION_CONFIGURE)]
        return started

    def __request(self, transition: int) -> EmitEvent:
        return EmitEvent(
            event=ChangeState(lifecycle_node_matcher=matches_action(self), transition_id=transition)
        )

    def __change_state(
        self, context: LaunchContext, change: Any, look: Any, transition: int
    ) -> None:
        """Ask the node for a transition, from a thread of its own, as soon as it can be asked."""
        logger = logging.get_logger(self.name)
        passing, goal = _STATES[transition]
        what = f"transition {transition} (to {goal}) of '{self.node_name}'"
        try:
            while not self.__comes(context, change.service_is_ready):
                pass
            self.__arrived.clear()
            if not self.__is_made(context, change, look, transition):
                logger.error(f"Failed to make {what}")
            elif not self.__arrived.wait(_NEWS_GRACE):
                # The node had not discovered our subscription yet; who waits must not wait forever.
                news = lifecycle_msgs.msg.TransitionEvent()
                news.start_state.label, news.goal_state.label = passing, goal
                context.emit_event_sync(StateTransition(action=self, msg=news))
        except _GoneError:
            logger.warning(f"Abandoning {what}: the node is not there any more")
        except RuntimeError:  # the ROS node was shut down under our feet
            if not context.is_shutdown:
                raise

    def __is_made(self, context: LaunchContext, change: Any, look: Any, transition: int) -> bool:
        """Ask for a transition until the node answers, or is in the state that it leads to.

        The answer gets lost when the node has not discovered our reader yet.
        """
        request = lifecycle_msgs.srv.ChangeState.Request()
        request.transition.id = transition
        asked = change.call_async(request)
        while not self.__comes(context, asked.done):
            looked = look.call_async(lifecycle_msgs.srv.GetState.Request())
            if not self.__comes(context, looked.done):
                continue  # the node is at work, or this answer was lost, too
            state = looked.result().current_state.label
            if state == _STATES[transition][1]:
                return True
            if state not in _PASSING and not asked.done():
                asked = change.call_async(request)
        return bool(asked.result().success)

    def __comes(self, context: LaunchContext, condition: Callable[[], bool]) -> bool:
        """Wait for a condition; return whether it holds within the grace.

        Raises:
            _GoneError: Nothing will come any more.
        """
        ended = self.get_asyncio_future()
        assert ended is not None  # it has been executed
        end = time.monotonic() + _ANSWER_GRACE
        while not condition():
            if context.is_shutdown or ended.done():
                raise _GoneError
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True
