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
