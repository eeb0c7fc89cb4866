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

"""Events of managed nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch import Event
from lifecycle_msgs.msg import Transition, TransitionEvent

# By their ids; that to create a node and that to destroy it nobody can ask for.
_TRANSITIONS = {
    getattr(Transition, name): name
    for name in dir(Transition)
    if name.startswith("TRANSITION_")
    and name.endswith(("CONFIGURE", "CLEANUP", "ACTIVATE", "_SHUTDOWN"))
}


class ChangeState(Event):
    """A request to the nodes that the matcher accepts to make a transition.

    Raises:
        ValueError: There is no transition of that id.
    """

    name = "launch_ros.events.lifecycle.ChangeState"

    def __init__(
        self, *, lifecycle_node_matcher: Callable[[Any], bool], transition_id: int
    ) -> None:
        if transition_id not in _TRANSITIONS:
            known = ", ".join(f"{name}: {number}" for number, name in _TRANSITIONS.items())
            raise ValueError(f"transition_id is {transition_id}, and there are only {known}")
        self.lifecycle_node_matcher = lifecycle_node_matcher
        self.transition_id = transition_id


class StateTransition(Event):
    """A managed node has made a transition; states and transition by their labels."""

    name = "launch_ros.events.lifecycle.StateTransition"

    def __init__(self, *, action: Any, msg: TransitionEvent) -> None:
        self.action, self.msg = action, msg
        self.transition = msg.transition.label
        self.start_state, self.goal_state = msg.start_state.label, msg.goal_state.label


def matches_node_name(node_name: str) -> Callable[[Any], bool]:
    """Return a matcher for the node with a name; it starts at the root if it is relative."""
    full_name = node_name if node_name.startswith("/") else f"/{node_name}"
    return lambda action: getattr(action, "node_name", None) == full_name
