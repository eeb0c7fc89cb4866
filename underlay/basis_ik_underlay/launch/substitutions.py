# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Texts that are known only at launch time, and functions that evaluate them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .entities import LaunchContext, Substitution


class TextSubstitution(Substitution):
    """A literal text."""

    def __init__(self, *, text: str) -> None:
        self.text = text

    def describe(self) -> str:
        """Quote the text."""
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.text


class SubstitutionOfTexts(Substitution):
    """A substitution whose arguments are texts, evaluated before it is performed itself."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = [normalize_to_list_of_substitutions(part) for part in arguments]

    def describe(self) -> str:
        """Name the class and the arguments."""
        return f"{type(self).__name__}({', '.join(map(describe, self._arguments))})"

    def perform(self, context: LaunchContext) -> str:
        """Evaluate the arguments, then itself."""
        return self._of(context, *[perform_substitutions(context, x) for x in self._arguments])


class LaunchConfiguration(SubstitutionOfTexts):
    """The value of a launch configuration, such as an argument of the launch file."""

    def __init__(self, variable_name: Any) -> None:
        super().__init__(variable_name)

    def _of(self, context: LaunchContext, *texts: str) -> str:
        (name,) = texts
        if name not in context.launch_configurations:
            raise RuntimeError(f"launch configuration '{name}' does not exist")
        return context.launch_configurations[name]


class PathJoinSubstitution(SubstitutionOfTexts):
    """Path components joined, each a text or a substitution."""

    def __init__(self, substitutions: Iterable[str | Substitution]) -> None:
        super().__init__(*normalize_to_list_of_substitutions(substitutions))

    def _of(self, context: LaunchContext, *texts: str) -> str:
        return os.path.join(*texts)


def normalize_to_list_of_substitutions(subs: Any) -> list[Substitution]:
    """Turn a text, a substitution, or an iterable of them into a list of substitutions.

    Raises:
        TypeError: Anything else; a number or a path in place of a text, for instance.
    """
    if isinstance(subs, (str, Substitution)) or not isinstance(subs, Iterable):
        subs = [subs]
    result = [TextSubstitution(text=part) if isinstance(part, str) else part for part in subs]
    for part in result:
        if not isinstance(part, Substitution):
            kind = type(part).__name__
            raise TypeError(f"'{part}' is a {kind}, where a text or a substitution is needed")
    return result


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Perform the substitutions and join their texts."""
    return "".join(sub.perform(context) for sub in subs)


def evaluate(context: LaunchContext, subs: Any) -> str:
    """Normalise and perform at once."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(subs))


def describe(subs: Iterable[Substitution]) -> str:
    """Describe substitutions for people, without performing them."""
    return " + ".join(sub.describe() for sub in subs)


def parse_bool(text: str, what: str) -> bool:
    """Return the truth value of true, 1, false or 0, in any case.

    Raises:
        ValueError: Any other text; `what` names it.
    """
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.strip().lower() not in values:
        raise ValueError(f"{what} must be true or false, not '{text}'")
    return values[text.strip().lower()]
