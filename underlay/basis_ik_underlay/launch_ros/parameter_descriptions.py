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

"""A parameter's value that is known only at launch time."""

from __future__ import annotations

from typing import Any

from launch import LaunchContext
from launch.substitutions import evaluate, parse_bool


class ParameterValue:
    """A substitution, and the type that it is read as: bool, int, float or str."""

    def __init__(self, value: Any, *, value_type: type) -> None:
        self._value, self._type = value, value_type

    def evaluate(self, context: LaunchContext) -> Any:
        """Return the value.

        Raises:
            ValueError: The text is none of that type.
        """
        text = evaluate(context, self._value)
        return parse_bool(text, "a bool parameter") if self._type is bool else self._type(text)
