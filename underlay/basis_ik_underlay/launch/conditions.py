# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The condition on which an action is executed."""

from __future__ import annotations

from typing import Any

from .entities import LaunchContext
from .substitutions import evaluate, parse_bool


class IfCondition:
    """Holds for the text true or 1, and not for false or 0, in upper or lower case."""

    def __init__(self, predicate_expression: Any) -> None:
        self._expression = predicate_expression

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether it holds."""
        return parse_bool(evaluate(context, self._expression), "a condition")
