# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Meets several constraints on one tree together.

A constraint whose target or bones another one moves is applied after it. Constraints that depend on
each other, in a circle, alternate; their results are those of the final tree.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from basis_ik.bones.constraints import (
    Applied,
    Constraint,
    Point,
    Reach,
    apply_together,
)
from basis_ik.transforms.tree import Basis, TransformTree
from basis_ik.verdict import Verdict


class MeetTuning(NamedTuple):
    """Tuning of the rounds in which constraints that depend on each other are applied."""

    rounds: int = 300
    idle_rounds: int = 3  # rounds without progress before the end
    progress: float = 0.99  # of the least remaining error so far; a round that leaves more is idle


MEET = MeetTuning()

Move = Point | tuple[Reach, ...]


def meet(tree: TransformTree, constraints: Mapping[str, Constraint]) -> dict[str, Applied]:
    """Turn bones until all constraints are met in one tree, as well as possible.

    Args:
        tree: The tree; the constraints' bones are turned.
        constraints: Constraints by name. If they depend on each other, the first is applied first.

    Returns:
        The result of each constraint in the final tree, by name.

    Raises:
        BoneError, BoneChainError, ScaledLimitError: A constraint does not fit the tree.
        UnknownFrameError: A frame is not in the tree.
        LimitError: A limit does not fit its bone.
    """
    before = _before(tree, constraints)
    circles: dict[frozenset[str], list[str]] = {}
    # A constraint needs all that its dependencies need, and more, unless they need each other.
    for name in sorted(constraints, key=lambda name: len(before[name])):
        circles.setdefault(frozenset(before[name]), []).append(name)
    found: dict[str, Applied] = {}
    for circle in circles.values():
        found |= _take_turns(tree, {name: constraints[name] for name in circle})
    return {name: found[name] for name in constraints}


class Needs(NamedTuple):
    """The solvers that constraints need besides those of free bones and single chains.

    Attributes:
        limits: Points-at within limits.
        trees: FABRIK within limits, or on chains that share bones.
    """

    limits: bool = True
    trees: bool = True


def needs(constraints: Collection[Constraint]) -> Needs:
    """Return the solvers that `meet` may need for constraints."""
    points = [each for each in constraints if isinstance(each, Point)]
    reaches = [each for each in constraints if isinstance(each, Reach)]
    shared = any(_share(each, reaches[:i]) for i, each in enumerate(reaches))
    return Needs(
        limits=any(point.limit is not None for point in points),
        trees=shared or any(reach.limits for reach in reaches),
    )


def _before(tree: TransformTree, constraints: Mapping[str, Constraint]) -> dict[str, set[str]]:
    """Return each constraint's direct and indirect dependencies, including itself."""
    before = {
        name: {other for other, second in constraints.items() if _disturbs(tree, second, first)}
        | {name}
        for name, first in constraints.items()
    }
    for between in constraints:
        for names in before.values():
            if between in names:
                names |= before[between]
    return before


def _disturbs(tree: TransformTree, mover: Constraint, other: Constraint) -> bool:
    """Return whether bones that one constraint turns move what another one measures or turns.

    If both turn the same bone, it moves the other's tail, or the next frame of its chain.
    """
    return any(
        frame != bone and tree.common_ancestor(bone, frame) == bone
        for bone in mover.chain[:-1]
        for frame in (*other.chain, other.target)
    )


def _take_turns(tree: TransformTree, circle: Mapping[str, Constraint]) -> dict[str, Applied]:
    """Apply constraints that depend on each other alternately, and keep the best tree."""
    moves = _moves(circle)
    bones = {bone for each in circle.values() for bone in each.chain[:-1]}
    bounds = {name: each.bound(tree) for name, each in circle.items()}
    sizes = [each.size(tree) for each in circle.values()]
    best: dict[str, Applied] = {}
    bases: dict[str, Basis] = {}
    least, idle = math.inf, 0
    for _ in range(MEET.rounds if len(moves) > 1 else 1):
        own: dict[str, Applied] = {}
        for names, move in moves:
            applied = [move.apply(tree)] if isinstance(move, Point) else apply_together(tree, move)
            own |= dict(zip(names, applied, strict=True))
        found = {name: _judged(tree, name, own[name], circle, bounds[name]) for name in circle}
        misses = [each.miss for each in found.values()]
        left = sum(
            math.pi if math.isnan(miss) else miss / size
            for miss, size in zip(misses, sizes, strict=True)
        )
        idle = 0 if left < MEET.progress * least else idle + 1
        if left < least:
            best, least = found, left
            bases = {bone: tree.basis(bone) for bone in bones}
        if idle == MEET.idle_rounds or all(
            each.verdict is Verdict.REACHED for each in found.values()
        ):
            break
    for bone, basis in bases.items():
        tree.move(bone, basis)
    return best


def _judged(
    tree: TransformTree, name: str, own: Applied, circle: Mapping[str, Constraint], bound: float
) -> Applied:
    """Return a constraint's current result; `own` is its result when it was applied."""
    miss = circle[name].miss(tree)
    if miss <= bound:
        return Applied(Verdict.REACHED, miss)
    conflicts = tuple(other for other in circle if other != name)
    if own.verdict is Verdict.REACHED and conflicts:
        return Applied(Verdict.OTHER_TASKS, miss, conflicts)
    return replace(own, miss=miss, conflicts=conflicts)


def _moves(circle: Mapping[str, Constraint]) -> list[tuple[list[str], Move]]:
    """Return the moves with their constraints' names; chains that share bones move together.

    If another constraint points a bone of a chain, the chain distributes its motion over all bones.
    FABRIK's passes move the last bones first and most, and would turn the pointed bone back.
    """
    pointed = {each.bone for each in circle.values() if isinstance(each, Point)}
    moves: list[tuple[list[str], Move]] = []
    for name, constraint in circle.items():
        if isinstance(constraint, Point):
            moves.append(([name], constraint))
            continue
        by_itself = pointed.isdisjoint(constraint.chain[:-1])
        chain = constraint if by_itself else replace(constraint, method="shared")
        names, chains = [name], [chain]
        for others, move in moves.copy():
            if not isinstance(move, Point) and _share(constraint, move):
                moves.remove((others, move))
                names, chains = others + names, [*move, *chains]
        moves.append((names, tuple(chains)))
    return moves


def _share(reach: Reach, others: Sequence[Reach]) -> bool:
    bones = {bone for each in others for bone in each.chain[:-1]}
    return not bones.isdisjoint(reach.chain[:-1])
