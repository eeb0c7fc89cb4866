"""Names and numbers in a robot description, by a strict grammar."""

from __future__ import annotations

import re

from basis_ik.model.elements import XACRO_HINT, Element, UrdfError, shown

LARGEST = 1e100
"""No number may be larger: the differences of two must be finite too."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def name_in(element: Element, attribute: str = "name") -> str:
    """Return a name that is there and visible.

    Raises:
        UrdfError: It is missing, blank, or an xacro expression.
    """
    value = element.attributes.get(attribute, "")
    if not value.strip():
        raise UrdfError(f"<{element.tag}> lacks its {attribute}", line=element.line)
    if "${" in value or "$(" in value:
        raise UrdfError(f"{attribute} {shown(value)}: {XACRO_HINT}", line=element.line)
    return value


def numbers(element: Element, attribute: str, count: int, where: str) -> list[float]:
    """Return an attribute's finite numbers, in plain decimal notation.

    `float` would take nan, inf, 1_000, and digits of other scripts: none of these is a length.

    Args:
        element: The element that has the attribute.
        attribute: Its name.
        count: How many numbers it must hold.
        where: What to call the place in an error.

    Raises:
        UrdfError: Another count, or a word that is no finite number.
    """
    value = element.attributes[attribute]
    words = value.split()
    place = f"{where}: <{element.tag} {attribute}={shown(value)}>"
    if "${" in value or "$(" in value:
        raise UrdfError(f"{place}: {XACRO_HINT}", line=element.line)
    if len(words) != count:
        raise UrdfError(f"{place} needs {count} numbers, has {len(words)}", line=element.line)
    for word in words:
        if not _NUMBER.fullmatch(word) or not abs(float(word)) <= LARGEST:
            raise UrdfError(f"{place}: {shown(word)} is no finite number", line=element.line)
    return [float(word) for word in words]


def number(element: Element, attribute: str, default: float, where: str) -> float:
    """Return an attribute's one number, or the default where there is none.

    Raises:
        UrdfError: As `numbers`.
    """
    if attribute not in element.attributes:
        return default
    return numbers(element, attribute, 1, where)[0]
