# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Constraints of a node: those that do not fit their frames are left out, and all are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from basis_ik.bones.constraints import Applied, Constraint, Point
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.view.frames import status_text

Met = TypeVar("Met")


class LeftOut(NamedTuple):
    """Why a constraint is not applied, and whether it is a fault, which no waiting ends."""

    why: str
    fault: bool = False

    def __str__(self) -> str:
        return self.why if self.fault else f"waiting: {self.why}"


def met_apart(
    meet: Callable[[Mapping[str, Constraint]], Met], constraints: Mapping[str, Constraint]
) -> tuple[Met | None, dict[str, LeftOut]]:
    """Meet constraints together, without those that do not fit their frames or an earlier one.

    Args:
        meet: Meets some of them, from the same frames each time.
        constraints: The constraints by name.

    Returns:
        What `meet` returned for those that fit, None if there are none, and why the others do not.
    """
    try:
        return meet(constraints), {}
    except BasisIkError:
        met, fit, left_out = None, dict[str, Constraint](), dict[str, LeftOut]()
    for name, constraint in constraints.items():
        try:
            met = meet(fit | {name: constraint})
        except BasisIkError as error:
            left_out[name] = LeftOut(str(error), fault=True)
        else:
            fit[name] = constraint
    return met, left_out


def status_of(
    node: str, name: str, constraint: Constraint, result: Applied | LeftOut
) -> DiagnosticStatus:
    """Return the status of a constraint: whether it is met, and its error, or why it is left out.

    Args:
        node: Name of the node.
        name: Name of the constraint.
        constraint: The constraint.
        result: Its result.
    """
    if isinstance(result, LeftOut):
        text, fits = str(result), not result.fault
        level = DiagnosticStatus.WARN if fits else DiagnosticStatus.ERROR
        values = {"verdict": "WAITING" if fits else "FAULT"}
    else:
        text, unit = (
            status_text(constraint, result),
            "rad" if isinstance(constraint, Point) else "m",
        )
        level = DiagnosticStatus.OK if result.success else DiagnosticStatus.WARN
        values = {
            "verdict": result.verdict.name,
            f"miss_{unit}": f"{result.miss:.9g}",
            "conflicts": ", ".join(result.conflicts),
        }
    return DiagnosticStatus(
        level=level,
        name=f"{node}: {name}",
        message=text,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )


def turns_of(
    before: Mapping[str, RigidTransform], tree: TransformTree, bones: Iterable[str]
) -> dict[str, str]:
    """Return by how much each bone was turned, as a correction on the right and on the left.

    On the right it is in the bone's own coordinates, about its origin. On the left it is in those
    of the root, about the bone's joint there.

    Args:
        before: parent_T_bone of the bones before the correction.
        tree: The corrected frames; rigid.
        bones: The bones.
    """
    values = {}
    for bone in bones:
        above = tree.parent(bone)
        assert above is not None  # what turns has a parent
        axis, angle = (before[bone].inverse() @ tree.lookup(above, bone)).as_axis_angle()
        joint = tree.lookup(tree.root, bone)
        turned = f"{np.degrees(angle):.1f}° about"
        values[f"turn.{bone}"] = f"{turned} {_shown(axis)}"
        values[f"turn.{bone}.{tree.root}"] = (
            f"{turned} {_shown(joint.apply_vector(axis))} through {_shown(joint.translation)} m"
        )
    return values


def _shown(three: FloatArray) -> str:
    return " ".join(f"{each:.3f}" for each in three.round(3) + 0.0)  # no -0.000
