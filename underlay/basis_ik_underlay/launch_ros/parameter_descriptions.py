# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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
