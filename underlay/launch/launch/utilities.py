"""Bringing the many forms that launch files use into one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._base import Entities, LaunchDescriptionEntity, Substitution
from ._upstream import upstream_names

if TYPE_CHECKING:
    from .launch_context import LaunchContext


def normalize_to_list_of_substitutions(subs: Any) -> list[Substitution]:
    """Turn a text, path, substitution, or an iterable of them into a list of substitutions.

    Raises:
        TypeError: Anything else; a number in place of a text, for instance.
    """
    from .substitutions import TextSubstitution

    if isinstance(subs, (str, Path, Substitution)) or not isinstance(subs, Iterable):
        subs = [subs]
    result: list[Substitution] = []
    for part in subs:
        if isinstance(part, (str, Path)):
            part = TextSubstitution(text=str(part))
        if not isinstance(part, Substitution):
            kind = type(part).__name__
            raise TypeError(f"'{part}' is a {kind}, where a text or a substitution is needed")
        result.append(part)
    return result


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Perform the substitutions and join their texts."""
    return "".join(context.perform_substitution(sub) for sub in subs)


def evaluate(context: LaunchContext, subs: Any) -> str:
    """Normalise and perform at once."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(subs))


def normalize_to_list_of_entities(entities: Any) -> Entities:
    """Turn None, one entity, or nested iterables of entities into a flat list."""
    if entities is None:
        return []
    if isinstance(entities, LaunchDescriptionEntity):
        return [entities]
    if not isinstance(entities, Iterable):
        raise TypeError(f"'{entities}' is neither an entity of a launch description nor a list")
    return [entity for part in entities for entity in normalize_to_list_of_entities(part)]


def parse_bool(text: str, what: str) -> bool:
    """Read the truth values of launch files: true, 1, on / false, 0, off, in any case.

    Raises:
        ValueError: Any other text; `what` names it.
    """
    if text.strip().lower() in ("true", "1", "on"):
        return True
    if text.strip().lower() in ("false", "0", "off"):
        return False
    raise ValueError(f"{what} must be true or false, not '{text}'")


__getattr__ = upstream_names(
    __name__,
    "create_futures ensure_argument_type is_a is_a_subclass type_utils typing_file_path "
    "visit_all_entities_and_collect_futures",
)
