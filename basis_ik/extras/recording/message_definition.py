# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The text definition of a message type and of all types that it contains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

SEPARATOR = "=" * 80
# The type of a field, or of a constant: a name of this package, or one with its package.
_TYPE = re.compile(r"^\s*(?:(\w+)/(?:msg/)?)?(\w+)(?:<=\d+)?(?:\[[^]]*\])?\s+\w+", re.M)


@cache
def definition(name: str) -> str:
    """Return the definition of a type, in MCAP's encoding `ros2msg`.

    Args:
        name: Name of the type, `package/msg/Type`.

    Returns:
        The text; empty if the installed packages have no definitions.
    """
    texts, found = dict[str, str](), [name]
    for each in found:
        text = _read(each)
        if text is None:
            return ""
        texts[each] = text
        found += [other for other in _parts(each, text) if other not in found]
    (first, *others) = texts.items()
    below = (f"{SEPARATOR}\nMSG: {each.replace('/msg/', '/')}\n{text}" for each, text in others)
    return "\n".join([first[1], *below])


def _read(name: str) -> str | None:
    package, kind, type_name = name.split("/")
    try:
        share = Path(get_package_share_directory(package))
        return (share / kind / f"{type_name}.msg").read_text()
    except (PackageNotFoundError, OSError):
        return None


def _parts(name: str, text: str) -> Iterator[str]:
    """Yield the types of the fields that are messages; their names have a capital letter."""
    own = name.split("/")[0]
    for package, type_name in _TYPE.findall(text):
        if type_name[0].isupper():
            yield f"{package or own}/msg/{type_name}"
