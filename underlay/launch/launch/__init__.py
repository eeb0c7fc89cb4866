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

"""Describes, starts and watches processes: the part of ROS 2 launch that this workspace uses."""

from . import (
    actions,
    conditions,
    event_handlers,
    events,
    launch_description_sources,
    logging,
    substitutions,
    utilities,
)
from ._base import (
    Action,
    Condition,
    Event,
    LaunchDescriptionEntity,
    SomeEntitiesType,
    SomeSubstitutionsType,
    Substitution,
)
from ._upstream import upstream_names
from .event_handlers import BaseEventHandler, EventHandler
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_sources import InvalidLaunchFileError, LaunchDescriptionSource
from .launch_service import LaunchService

__all__ = [
    "Action",
    "BaseEventHandler",
    "Condition",
    "Event",
    "EventHandler",
    "InvalidLaunchFileError",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchDescriptionSource",
    "LaunchService",
    "SomeEntitiesType",
    "SomeSubstitutionsType",
    "Substitution",
    "actions",
    "conditions",
    "event_handlers",
    "events",
    "launch_description_sources",
    "logging",
    "substitutions",
    "utilities",
]

__getattr__ = upstream_names(
    __name__, "LaunchIntrospector descriptions frontend launch_introspector"
)
