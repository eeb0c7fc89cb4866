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

"""Conditions on which an action is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._base import Condition, SomeSubstitutionsType
from .utilities import (
    evaluate,
    normalize_to_list_of_substitutions,
    perform_substitutions,
)

if TYPE_CHECKING:
    from .launch_context import LaunchContext

_TRUE, _FALSE = ("true", "1"), ("false", "0")


class InvalidConditionExpressionError(Exception):
    """A condition that evaluates to neither true nor false."""


def evaluate_condition_expression(context: LaunchContext, expression: Any) -> bool:
    """Return the truth of an expression that evaluates to true, 1, false or 0, in any case."""
    text = evaluate(context, expression).strip().lower()
    if text not in _TRUE + _FALSE:
        raise InvalidConditionExpressionError(
            f"invalid condition expression, expected one of {_TRUE + _FALSE} but got '{text}'"
        )
    return text in _TRUE


class IfCondition(Condition):
    """Holds if the expression is true."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(
            predicate=lambda context: evaluate_condition_expression(context, expression)
        )


class UnlessCondition(IfCondition):
    """Holds if the expression is false."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Return the negated truth of the expression."""
        return not super().evaluate(context)


class LaunchConfigurationEquals(Condition):
    """Holds if a launch configuration has a value; None stands for being unset."""

    def __init__(
        self, launch_configuration_name: str, expected_value: SomeSubstitutionsType | None
    ) -> None:
        subs = None
        if expected_value is not None:
            subs = normalize_to_list_of_substitutions(expected_value)

        def equals(context: LaunchContext) -> bool:
            expected = None if subs is None else perform_substitutions(context, subs)
            return context.launch_configurations.get(launch_configuration_name) == expected

        super().__init__(predicate=equals)


class LaunchConfigurationNotEquals(LaunchConfigurationEquals):
    """Holds if a launch configuration does not have a value."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the value differs."""
        return not super().evaluate(context)
