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

"""Handlers of the events of managed nodes."""

from __future__ import annotations

from collections.abc import Callable
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
        matcher: Chooses the events instead of all of these.
        kwargs: See launch.EventHandler.

    Raises:
        RuntimeError: The target is no LifecycleNode.
    """

    def __init__(
        self,
        *,
        entities: SomeEntitiesType,
        target_lifecycle_node: Any = None,
        transition: str | None = None,
        start_state: str | None = None,
        goal_state: str | None = None,
        matcher: Callable[[Any], bool] | None = None,
        **kwargs: Any,
    ) -> None:
        from .actions import LifecycleNode

        if target_lifecycle_node is not None and not isinstance(
            target_lifecycle_node, LifecycleNode
        ):
            raise RuntimeError(
                f"OnStateTransition needs a LifecycleNode as its target, not "
                f"{target_lifecycle_node!r}"
            )

        def is_meant(event: Any) -> bool:
            return (
                isinstance(event, StateTransition)
                and target_lifecycle_node in (None, event.action)
                and transition in (None, event.transition)
                and start_state in (None, event.start_state)
                and goal_state in (None, event.goal_state)
            )

        super().__init__(matcher=matcher or is_meant, entities=entities, **kwargs)
