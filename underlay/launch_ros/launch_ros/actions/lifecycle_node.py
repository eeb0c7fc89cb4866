"""The action that starts a managed node and takes it from state to state."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import lifecycle_msgs.msg
import lifecycle_msgs.srv
from launch import (
    EventHandler,
    LaunchContext,
    LaunchDescriptionEntity,
    SomeSubstitutionsType,
    logging,
)
from launch.actions import EmitEvent
from launch.events import matches_action
from launch.utilities import evaluate, parse_bool

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
# How long the news of a transition may take after the node has said that it is done [s].
_NEWS_GRACE = 1.0


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
        self.__autostart = autostart
        self.__arrived = threading.Event()

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the node; listen to its transitions."""
        started = super().execute(context)
        if context.is_shutdown:
            return started
        node = get_ros_node(context)
        topic = f"{self.node_name}/transition_event"

        def on_transition(message: Any) -> None:  # in the thread of the ROS node
            if message.goal_state.label not in {passing for passing, _ in _STATES.values()}:
                self.__arrived.set()
            context.emit_event_sync(StateTransition(action=self, msg=message))

        node.create_subscription(lifecycle_msgs.msg.TransitionEvent, topic, on_transition, 10)
        client = node.create_client(
            lifecycle_msgs.srv.ChangeState, f"{self.node_name}/change_state"
        )

        def on_change_state(event: ChangeState, context: LaunchContext) -> None:
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(
                None, self.__change_state, context, client, event.transition_id
            )
            context.add_completion_future(work)

        def is_asked(event: Any) -> bool:
            return isinstance(event, ChangeState) and event.lifecycle_node_matcher(self)

        context.register_event_handler(EventHandler(matcher=is_asked, entities=on_change_state))
        if self.__is_autostarted(context):
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

    def __is_autostarted(self, context: LaunchContext) -> bool:
        if isinstance(self.__autostart, bool):
            return self.__autostart
        return parse_bool(evaluate(context, self.__autostart), "autostart")

    def __request(self, transition: int) -> EmitEvent:
        return EmitEvent(
            event=ChangeState(lifecycle_node_matcher=matches_action(self), transition_id=transition)
        )

    def __change_state(self, context: LaunchContext, client: Any, transition: int) -> None:
        """Ask the node for a transition, from a thread of its own, as soon as it can be asked."""
        logger = logging.get_logger(self.name)
        passing, goal = _STATES[transition]
        what = f"transition {transition} (to {goal}) of '{self.node_name}'"
        ended = self.get_asyncio_future()
        assert ended is not None  # it has been executed

        def until(condition: Callable[[], bool]) -> bool:
            while not condition():
                if context.is_shutdown or ended.done():
                    logger.warning(f"Abandoning {what}: the node is not there any more")
                    return False
            return True

        request = lifecycle_msgs.srv.ChangeState.Request()
        request.transition.id = transition
        done = threading.Event()
        try:
            if not until(lambda: client.wait_for_service(timeout_sec=0.1)):
                return
            self.__arrived.clear()
            future = client.call_async(request)
            future.add_done_callback(lambda _: done.set())
            if not until(lambda: done.wait(0.1)):
                return
            if not future.result().success:
                logger.error(f"Failed to make {what}")
            elif not self.__arrived.wait(_NEWS_GRACE):
                # The node had not discovered our subscription yet; who waits must not wait forever.
                news = lifecycle_msgs.msg.TransitionEvent()
                news.start_state.label, news.goal_state.label = passing, goal
                context.emit_event_sync(StateTransition(action=self, msg=news))
        except RuntimeError:  # the ROS node was shut down under our feet
            if not context.is_shutdown:
                raise
