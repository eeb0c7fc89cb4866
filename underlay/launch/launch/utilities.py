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

"""Bringing the many forms that launch files use into one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import yaml

from ._base import Entities, LaunchDescriptionEntity, Substitution
from ._upstream import upstream_names

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
    result: list[Substitution] = []
    for part in subs:
        if isinstance(part, str):
            part = TextSubstitution(text=part)
        if not isinstance(part, Substitution):
            kind = type(part).__name__
            raise TypeError(f"'{part}' is a {kind}, where a text or a substitution is needed")
        result.append(part)
    return result


def is_substitution(value: Any) -> bool:
    """Return whether it is a substitution, or texts and at least one substitution."""
    if isinstance(value, Substitution):
        return True
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    parts = list(value)
    return all(isinstance(part, (str, Substitution)) for part in parts) and any(
        isinstance(part, Substitution) for part in parts
    )


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Perform the substitutions and join their texts."""
    return "".join(context.perform_substitution(sub) for sub in subs)


def evaluate(context: LaunchContext, subs: Any) -> str:
    """Normalise and perform at once."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(subs))


def checked_entities(entities: Any, where: str) -> Entities:
    """Return an iterable of entities as a list; None is an empty one.

    Raises:
        TypeError: It is something else; `where` says where it comes from.
    """
    if entities is None:
        return []
    if not isinstance(entities, Iterable):
        raise TypeError(f"{where}: a list of entities or None is needed, not {entities!r}")
    result = list(entities)
    for entity in result:
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f"{where}: {entity!r} is no entity of a launch description")
    return result


def normalize_to_bool(value: Any, what: str) -> bool | list[Substitution]:
    """Return a truth value, or the substitutions that will give one.

    Raises:
        TypeError: It is neither; a text, for instance. `what` names it.
    """
    if isinstance(value, bool):
        return value
    if not is_substitution(value):
        raise TypeError(f"{what} must be a bool or a substitution, not {value!r}")
    return normalize_to_list_of_substitutions(value)


def perform_bool(context: LaunchContext, value: bool | list[Substitution], what: str) -> bool:
    """Return the truth of what `normalize_to_bool` has returned; see `parse_bool`."""
    if isinstance(value, bool):
        return value
    return parse_bool(perform_substitutions(context, value), what)


def parse_bool(text: str, what: str) -> bool:
    """Read a truth value as launch files do: 1 and 0, and the words of YAML, as true, yes and on.

    Raises:
        ValueError: Any other text; `what` names it.
    """
    try:
        value = {"1": True, "0": False}[text] if text in ("1", "0") else yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, bool):
        raise ValueError(f"{what} must be true or false, not '{text}'")
    return value


__getattr__ = upstream_names(
    __name__,
    "create_futures ensure_argument_type is_a is_a_subclass normalize_to_list_of_entities "
    "type_utils typing_file_path visit_all_entities_and_collect_futures",
)
