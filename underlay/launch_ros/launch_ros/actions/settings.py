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

"""Actions that hold for all nodes that follow in the same scope."""

from __future__ import annotations

from typing import Any, cast

from launch import Action, LaunchContext, SomeSubstitutionsType
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace

from ..parameter_descriptions import evaluate_dict, normalize_dict


def scoped(context: LaunchContext, name: str) -> list[Any]:
    """Return what has been appended under `name` in this scope."""
    # Upstream keeps these lists among the launch configurations too: scopes then hold for them.
    return cast("list[Any]", context.launch_configurations.get(name, []))


def _append(context: LaunchContext, name: str, item: Any) -> None:
    configurations = cast("dict[str, Any]", context.launch_configurations)
    configurations[name] = [*scoped(context, name), item]


def join_namespaces(outer: str | None, inner: str | None) -> str | None:
    """Return `inner` below `outer`, absolute, or `inner` if it is absolute; None if both are."""
    if outer is None and inner is None:
        return None
    if inner is not None and inner.startswith("/"):
        return "/" + inner.strip("/")
    parts = [part.strip("/") for part in (outer, inner) if part is not None]
    return "/" + "/".join(part for part in parts if part)


class PushRosNamespace(Action):
    """Puts the nodes that follow into a namespace, below the one that is in effect."""

    def __init__(self, namespace: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__namespace = normalize_to_list_of_substitutions(namespace)

    def execute(self, context: LaunchContext) -> None:
        """Set it.

        Raises:
            SubstitutionFailure: No namespace can be called so.
        """
        outer = context.launch_configurations.get("ros_namespace")
        namespace = join_namespaces(outer, perform_substitutions(context, self.__namespace))
        assert namespace is not None  # the inner one is not
        try:
            validate_namespace(namespace)
        except InvalidNamespaceException as error:
            raise SubstitutionFailure(f"the resulting namespace is invalid: {error}") from error
        context.launch_configurations["ros_namespace"] = namespace


PushROSNamespace = PushRosNamespace


class SetParameter(Action):
    """Sets a parameter of the nodes that follow."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        key = tuple(normalize_to_list_of_substitutions(name))
        self.__parameters = normalize_dict({key: value})

    def execute(self, context: LaunchContext) -> None:
        """Add it."""
        for parameter in evaluate_dict(context, self.__parameters).items():
            _append(context, "global_params", parameter)


class SetRemap(Action):
    """Remaps a name in the nodes that follow."""

    def __init__(
        self, src: SomeSubstitutionsType, dst: SomeSubstitutionsType, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__src = normalize_to_list_of_substitutions(src)
        self.__dst = normalize_to_list_of_substitutions(dst)

    def execute(self, context: LaunchContext) -> None:
        """Add it."""
        rule = tuple(perform_substitutions(context, name) for name in (self.__src, self.__dst))
        _append(context, "ros_remaps", rule)
