# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The visual bodies of a robot from its URDF."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from basis_ik.robot.elements import Element, UrdfError, shown
from basis_ik.robot.grammar import MAX_OFFSET, number, numbers, origin_of
from basis_ik.robot.urdf_version import Version
from basis_ik.transforms.rigid import RigidTransform

Triple = tuple[float, float, float]
Color = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Visual:
    """A body of a link.

    Attributes:
        link: The link that it is fixed to.
        link_T_body: Its pose.
        kind: Its shape; the axis of a cylinder or capsule is z.
        size: Extents along its axes [m], those of a capsule without its hemispheres; for a mesh,
            the scale of its coordinates.
        file: A mesh's URI, as in the URDF.
        color: Red, green, blue and opacity, from 0 to 1; None if the URDF states none.
    """

    link: str
    link_T_body: RigidTransform
    kind: Literal["box", "cylinder", "sphere", "capsule", "mesh"]
    size: Triple
    file: str = ""
    color: Color | None = None


def read_visuals(
    robot: Element, tag: Literal["visual", "collision"], version: Version
) -> tuple[tuple[Visual, ...], tuple[str, ...]]:
    """Return the visuals or the collision shapes of a <robot>, and a note if some are omitted.

    Unreadable ones are omitted.
    """
    of_links = [(link, element) for link in robot.all("link") for element in link.all(tag)]
    materials = [*robot.all("material")]
    materials += [material for _, element in of_links for material in element.all("material")]
    # A visual may name a material that another one defines; the first definition counts.
    named = {_name(each): _color(each) for each in reversed(materials) if _color(each)}
    found: list[Visual] = []
    faults: list[UrdfError] = []
    for link, element in of_links:
        colors = [_color(each) or named.get(_name(each)) for each in element.all("material")]
        try:
            bodies = list(_read(_name(link), element, version))
        except UrdfError as error:
            faults.append(error)
            continue
        found += [replace(body, color=colors[0] if colors else None) for body in bodies]
    also = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    omitted = tuple(f"a <{tag}> is omitted{also}: {fault}" for fault in faults[:1])
    return tuple(found), omitted


def _name(element: Element) -> str:
    return element.attributes.get("name", "")


def _color(material: Element) -> Color | None:
    """Return the color that a material defines, or None."""
    stated = next(material.all("color"), None)
    if stated is None or "rgba" not in stated.attributes:
        return None
    try:
        red, green, blue, clear = (
            max(each, 0.0) for each in numbers(stated, "rgba", 4, "color", 1.0)
        )
    except UrdfError:
        return None
    return red, green, blue, clear


def _read(link: str, element: Element, version: Version) -> Iterator[Visual]:
    where = f"{element.tag} of {shown(link)}"
    place = origin_of(element, where, version)
    geometry = element.only("geometry")
    for body in geometry.children if geometry is not None else ():
        if body.tag == "box" and "size" in body.attributes:
            x, y, z = numbers(body, "size", 3, where, MAX_OFFSET)
            yield Visual(link, place, "box", (x, y, z))
        elif body.tag == "cylinder":
            across = 2.0 * number(body, "radius", 0.0, where, MAX_OFFSET)
            length = number(body, "length", 0.0, where, MAX_OFFSET)
            yield Visual(link, place, "cylinder", (across, across, length))
        elif body.tag == "sphere":
            across = 2.0 * number(body, "radius", 0.0, where, MAX_OFFSET)
            yield Visual(link, place, "sphere", (across,) * 3)
        elif body.tag == "capsule":  # also in descriptions of 1.0, as in those of Bullet
            yield Visual(link, place, "capsule", _capsule(body, where))
        elif body.tag == "mesh" and body.attributes.get("filename"):
            x, y, z = 1.0, 1.0, 1.0
            if "scale" in body.attributes:
                x, y, z = numbers(body, "scale", 3, where, MAX_OFFSET)
            yield Visual(link, place, "mesh", (x, y, z), body.attributes["filename"])


def _capsule(body: Element, where: str) -> Triple:
    """Return the extents of a capsule's cylinder [m].

    Raises:
        UrdfError: As `numbers`, or its radius or length is missing, zero or negative.
    """
    radius = number(body, "radius", 0.0, where, MAX_OFFSET)
    length = number(body, "length", 0.0, where, MAX_OFFSET)
    if not (radius > 0.0 and length > 0.0):
        text = f"{where}: <capsule> needs a radius and a length above zero"
        raise UrdfError(text, line=body.line)
    return 2.0 * radius, 2.0 * radius, length
