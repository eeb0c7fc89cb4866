# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shapes for constraints on frames: corrected bones, their targets, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from basis_ik.bones.bones import chain_positions
from basis_ik.bones.constraints import Applied, Constraint, Point
from basis_ik.bones.joint import express
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict, shown_angle, shown_length
from basis_ik.view.shapes import (
    GREEN,
    MAGENTA,
    ORANGE,
    WHITE,
    YELLOW,
    Ball,
    Lines,
    Shape,
    Text,
    at,
    dashes,
    joined,
    passes_lines,
)


def status_text(constraint: Constraint, result: Applied) -> str:
    """Return one line: whether a constraint is met, and its error if not."""
    if result.verdict is Verdict.REACHED:
        return "met"
    shown = shown_angle if isinstance(constraint, Point) else shown_length
    text = f"{result.verdict.value}; {shown(result.miss)} are left"
    return f"{text}; conflicts with {', '.join(result.conflicts)}" if result.conflicts else text


def frames_scene(
    tree: TransformTree,
    constraints: Mapping[str, Constraint],
    applied: Mapping[str, Applied],
    passes: Mapping[str, Sequence[tuple[str, FloatArray]]] | None = None,
) -> list[Shape]:
    """Return the shapes, in the frame of the tree's root.

    Bones run from joint to joint: from a frame's origin, or from the centre of a transform node.

    Args:
        tree: The corrected frames; they may be scaled.
        constraints: The constraints by name.
        applied: The results; constraints without one are not shown.
        passes: FABRIK's passes so far, as of `chain_passes`, of the constraints that show them.
    """
    ends = {
        name: np.vstack(
            [
                chain_positions(tree, constraints[name].chain, tree.root),
                express(tree, tree.root, constraints[name].target, np.zeros(3)),
            ]
        )
        for name in applied
    }
    low, high = (edge(np.vstack(list(ends.values())), axis=0) for edge in (np.min, np.max))
    size = 0.1 * float(np.linalg.norm(high - low)) or 0.1
    shapes: list[Shape] = []
    for number, (name, constraint) in enumerate(constraints.items()):
        result = applied.get(name)
        if result is None:
            continue
        shapes += _shapes(tree.root, number, constraint, result, ends[name], size)
        if passes and name in passes:
            shapes.append(passes_lines(passes[name], tree.root, 0.25 * size, number))
            tip = passes[name][-1][1][-1]
            shapes.append(
                Text(
                    name="pass",
                    number=number,
                    frame=tree.root,
                    color=WHITE,
                    pose=at(tip - np.array([0.0, 0.0, size])),
                    text=_pass_text(passes[name], ends[name][-1]),
                    height=0.5 * size,
                )
            )
        line = len(constraints) - number  # the first is on top
        above = np.array([*(0.5 * (low + high))[:2], high[2] + (1.6 + 0.9 * line) * size])
        shapes.append(
            Text(
                name="verdict",
                number=number,
                frame=tree.root,
                color=GREEN if result.verdict is Verdict.REACHED else ORANGE,
                pose=at(above),
                text=f"{name}: {status_text(constraint, result)}",
                height=0.6 * size,
            )
        )
    return shapes


def _pass_text(passes: Sequence[tuple[str, FloatArray]], target: FloatArray) -> str:
    """Return which pass has ended, and what is left after it."""
    name, points = passes[-1]
    if name == "backward":
        left = f"the root is {shown_length(float(np.linalg.norm(points[0] - passes[0][1][0])))} off"
    else:
        left = f"the tip is {shown_length(float(np.linalg.norm(points[-1] - target)))} off"
    return f"start: {left}" if name == "start" else f"{name} pass {len(passes) // 2}: {left}"


def _shapes(
    root: str,
    number: int,
    constraint: Constraint,
    result: Applied,
    ends: FloatArray,
    size: float,
) -> Iterator[Shape]:
    *chain, target = ends

    def lines(name: str, ends: FloatArray, color: tuple[float, float, float, float]) -> Lines:
        width = (0.2 if name == "bones" else 0.05) * size
        return Lines(name=name, number=number, frame=root, color=color, ends=ends, width=width)

    yield lines("bones", joined(chain), WHITE)
    yield Ball(
        name="target",
        number=number,
        frame=root,
        color=YELLOW,
        pose=at(target),
        diameter=0.4 * size,
    )
    if isinstance(constraint, Point):
        yield lines("sight", np.stack([chain[-1], target]), YELLOW)
    elif result.verdict is not Verdict.REACHED:
        yield lines("miss", dashes(chain[-1], target), MAGENTA)
