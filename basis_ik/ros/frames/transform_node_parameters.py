# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS parameters of a tree of transform nodes: names, parents and fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from basis_ik.bones.constraints import Constraint, Point
from basis_ik.ros.frames.frame_parameters import (
    CONSTRAINT_TYPES,
    METHODS,
    check_target,
    constraint_of,
    kind_of,
    upwards,
)
from basis_ik.ros.parameters.parameters import (
    Declaration,
    Parameters,
    frame_complaint,
    names_complaint,
    refused,
)
from basis_ik.transforms.node import NODE_FIELDS, FieldError, TransformNode, field_numbers

TREE_PARAMETERS = (
    Declaration(
        "root",
        "world",
        "tf frame that is the parent of nodes without a parent.",
        read_only=True,
        check=frame_complaint,
    ),
    Declaration(
        "nodes", [], "Names of the nodes; each is a tf frame.", read_only=True,
        check=names_complaint,
    ),
    Declaration(
        "combine",
        [],
        "Names of the chains of nodes; each chain is combined into one node.",
        read_only=True,
        check=names_complaint,
    ),
    Declaration(
        "constraints",
        [],
        "Names of the constraints on nodes.",
        read_only=True,
        check=names_complaint,
    ),
    Declaration("update_rate", 20.0, "Rate of frames and markers [Hz].", 1.0, 1e3, read_only=True),
    Declaration("box_size", 0.2, "Edge of the drawn boxes, before scaling [m].", 1e-3, 1e3, True),
)  # fmt: skip
NODE_PARENT = Declaration("parent", "", "Its parent node; empty: the root.", read_only=True)
NODE_CHAIN = Declaration(
    "chain", [], "Nodes, outermost first, each the parent of the next.", read_only=True
)
# For each constraint: those that its type has in `CONSTRAINT_TYPES`.
CONSTRAINT_PARAMETERS = {
    each.name: each
    for each in (
        Declaration(
            "type", "", f"{' or '.join(f'`{kind}`' for kind in CONSTRAINT_TYPES)}.", read_only=True
        ),
        Declaration(
            "target",
            "",
            "The node, or the root, to point at, or to reach with the tip's origin.",
            read_only=True,
        ),
        Declaration(
            "bone", "", "Of `points_at`: the node that turns about its centre.", read_only=True
        ),
        Declaration(
            "tail", "", "Of `points_at`: a node below it, at the bone's other end.", read_only=True
        ),
        Declaration(
            "chain", [], "Of `fabrik`: nodes of the chain, first bone to tip.", read_only=True
        ),
        Declaration(
            "method",
            METHODS[0],
            "Of `fabrik`: as in `frames_node`.",
            read_only=True,
            choices=METHODS,
        ),
    )
}
# With larger values a chain's products could overflow.
_METRES, _FACTOR, _RADIANS = 1e6, 1e6, 1e6
_RANGES = {
    "center": (-_METRES, _METRES, "Fixed point of rotation and scale [m]."),
    "rotation": (-_RADIANS, _RADIANS, "Axis and angle [rad]."),
    "scale": (1.0 / _FACTOR, _FACTOR, "Factors along the axes of scaleOrientation."),
    "scaleOrientation": (-_RADIANS, _RADIANS, "Axis and angle [rad]."),
    "translation": (-_METRES, _METRES, "Translation in the parent [m]."),
}


def _field_complaint(field: str, value: object) -> str | None:
    try:
        field_numbers(field, value)  # type: ignore[arg-type]
    except FieldError as error:
        return error.problem
    return None


# For each node: `<node>.center` and so on, named as in VRML and X3D.
FIELD_PARAMETERS = tuple(
    Declaration(
        field, list(default), _RANGES[field][2], *_RANGES[field][:2],
        element=float, check=partial(_field_complaint, field),
    )
    for field, default in NODE_FIELDS.items()
)  # fmt: skip


class Layout(NamedTuple):
    """The parameters that are fixed at start."""

    root: str
    parents: dict[str, str]
    """Parent of each node, parents before children."""
    chains: dict[str, tuple[str, ...]]
    """Nodes of each chain to be combined, outermost first."""
    constraints: dict[str, Constraint]
    """Constraints by name; their frames are nodes, and a target may be the root."""
    rate: float


def declare(parameters: Parameters) -> Layout:
    """Declare all parameters.

    Raises:
        ConfigError: A value is invalid, or a parameter does not exist.
    """
    parameters.declare(TREE_PARAMETERS)
    root, *lists = (parameters[name] for name in ("root", "nodes", "combine", "constraints"))
    names, chains, constraints = lists
    if not names:
        raise refused("nodes", "is empty")
    taken = [root]
    for parameter, given in (("nodes", names), ("combine", chains), ("constraints", constraints)):
        for name in given:
            if name in taken:
                raise refused(parameter, f"has '{name}', which is a frame's name already")
            taken.append(name)
    for name in names:
        parameters.declare((NODE_PARENT, *FIELD_PARAMETERS), f"{name}.")
    for name in chains:
        parameters.declare((NODE_CHAIN,), f"{name}.")
    given_constraints = {name: _declared(parameters, name) for name in constraints}
    parameters.refuse_unknown()
    given_parents = {name: parameters[f"{name}.parent"] or root for name in names}
    parents = _in_order(given_parents, root)
    return Layout(
        root,
        parents,
        {name: _chain(name, parameters[f"{name}.chain"], parents) for name in chains},
        {name: _constraint(name, given, parents) for name, given in given_constraints.items()},
        parameters["update_rate"],
    )


def node_of(parameters: Parameters, name: str) -> TransformNode:
    """Return a node from the current values of its parameters."""
    return TransformNode.from_fields(
        {field: parameters[f"{name}.{field}"] for field in NODE_FIELDS}
    )


def _in_order(given: Mapping[str, str], root: str) -> dict[str, str]:
    """Return parents by name, parents first.

    Raises:
        ConfigError: A parent does not exist, or is a descendant of its child.
    """
    for name, parent in given.items():
        if parent != root and parent not in given:
            known = ", ".join((root, *given))
            raise refused(f"{name}.parent", f"is '{parent}', which is not one of {known}")
    ordered: dict[str, str] = {}
    while len(ordered) < len(given):
        ready = [n for n, p in given.items() if n not in ordered and (p == root or p in ordered)]
        if not ready:
            name = next(n for n in given if n not in ordered)
            raise refused(f"{name}.parent", f"is '{given[name]}', which leads back to '{name}'")
        ordered.update((name, given[name]) for name in ready)
    return ordered


def _chain(name: str, chain: list[str], parents: Mapping[str, str]) -> tuple[str, ...]:
    if len(chain) < 2:
        raise refused(f"{name}.chain", f"must be two or more nodes, not {chain}")
    for node in chain:
        if node not in parents:
            known = ", ".join(parents)
            raise refused(f"{name}.chain", f"has '{node}', which is not one of {known}")
    for above, below in pairwise(chain):
        if parents[below] != above:
            link = f"'{below}' after '{above}', but its parent is '{parents[below]}'"
            raise refused(f"{name}.chain", f"has {link}")
    return tuple(chain)


def _declared(parameters: Parameters, name: str) -> dict[str, Any]:
    """Declare the parameters of a constraint; return those that are set, by their full names.

    Raises:
        ConfigError: A value is invalid.
    """

    def given(*keys: str) -> dict[str, Any]:
        parameters.declare((CONSTRAINT_PARAMETERS[key] for key in keys), f"{name}.")
        values = {f"{name}.{key}": parameters[f"{name}.{key}"] for key in keys}
        return {key: value for key, value in values.items() if value}

    kind = given("type")
    return kind | given(*CONSTRAINT_TYPES[kind_of(dict(kind), name, CONSTRAINT_TYPES)])


def _constraint(name: str, given: dict[str, Any], parents: Mapping[str, str]) -> Constraint:
    """Return a constraint whose nodes are where it needs them.

    Raises:
        ConfigError: They are not, or a parameter is missing.
    """
    constraint = constraint_of(given, name, {})
    is_point = isinstance(constraint, Point)
    keys = ("bone", "tail") if is_point else len(constraint.chain) * ("chain",)
    said = "is" if is_point else "has"
    for key, node in zip(keys, constraint.chain, strict=True):
        if node not in parents:
            known = ", ".join(parents)
            raise refused(f"{name}.{key}", f"{said} '{node}', which is not one of {known}")
    for key, (above, below) in zip(keys[1:], pairwise(constraint.chain), strict=True):
        if above not in upwards(below, parents):
            raise refused(f"{name}.{key}", f"{said} '{below}', which is not below '{above}'")
    frames = dict.fromkeys((*parents.values(), *parents))  # the root, too
    if constraint.target not in frames:
        known = ", ".join(frames)
        raise refused(f"{name}.target", f"is '{constraint.target}', which is not one of {known}")
    check_target(name, constraint, "", parents)
    return constraint
