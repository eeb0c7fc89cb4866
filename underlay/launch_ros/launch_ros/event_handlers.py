"""Handlers of the events of managed nodes."""

from __future__ import annotations

from typing import Any

from launch import EventHandler, SomeEntitiesType

from .events.lifecycle import StateTransition


class OnStateTransition(EventHandler):
    """Answers when a managed node has made a transition.

    Args:
        entities: What to visit.
        target_lifecycle_node: The action of the node; None is any.
        transition: The label of the transition, 'configure' for instance; None is any.
        start_state: The label of the state before; None is any.
        goal_state: The label of the state after; None is any.
        kwargs: See launch.EventHandler.
    """

    def __init__(
        self,
        *,
        entities: SomeEntitiesType,
        target_lifecycle_node: Any = None,
        transition: str | None = None,
        start_state: str | None = None,
        goal_state: str | None = None,
        **kwargs: Any,
    ) -> None:
        def matcher(event: Any) -> bool:
            return (
                isinstance(event, StateTransition)
                and target_lifecycle_node in (None, event.action)
                and transition in (None, event.transition)
                and start_state in (None, event.start_state)
                and goal_state in (None, event.goal_state)
            )

        super().__init__(matcher=matcher, entities=entities, **kwargs)
