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

"""Texts from what launch files give in their place, and truth values from texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .entities import Substitution

if TYPE_CHECKING:
    from .launch_context import LaunchContext


def normalize_to_list_of_substitutions(subs: Any) -> list[Substitution]:
    """Turn a text, a substitution, or an iterable of them into a list of substitutions.

    Raises:
        TypeError: Anything else; a number or a path in place of a text, for instance.
    """
    from .substitutions import TextSubstitution

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
    """Name substitutions for people, without performing them."""
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
