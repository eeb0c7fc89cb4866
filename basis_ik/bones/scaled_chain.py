# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK with scaled frames in the chain, where a bone's length depends on its rotation.

FABRIK's positions are solved with the current lengths, which change once the bones turn. Therefore
it runs again with the new lengths. Damped Newton steps on the bones' rotations remove the remaining
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.bones.bones import bones_in_object, chain_positions
from basis_ik.bones.joint import JOINT_ORIGIN, express, from_joint, turn_basis
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import Basis, TransformTree


class ScaledTuning(NamedTuple):
    """Tuning of a chain with scaled bones: rounds of FABRIK, then Newton's steps.

    Damping is relative to the mean square of the tip's motion per angle.
    """

    rounds: int = 10  # of FABRIK
    newton_steps: int = 60
    round_gain: float = 0.5  # of the distance; a round that leaves more is the last
    first_damping: float = 1e-3
    least_damping: float = 1e-12
    largest_damping: float = 1e8


SCALED = ScaledTuning()


def reach_scaled(
    tree: TransformTree, frames: Sequence[str], goal: FloatArray, common: str, tolerance: float
) -> None:
    """Turn the bones of a chain so that its tip reaches a goal, or gets closer to it.

    Args:
        tree: The tree; its bones are turned.
        frames: The chain, first bone to tip.
        goal: Goal of the tip in `common`, shape (3,) [m].
        common: The parent frame of the chain.
        tolerance: Distance at which the goal counts as reached [m].

    Raises:
        BoneChainError: The frames are not a chain.
        UnknownFrameError: A frame is not in the tree.
    """
    left = _left(tree, frames, goal, common)
    for _ in range(SCALED.rounds):
        before = _size(left)
        solved = solve_chain(chain_positions(tree, frames, common), goal, tolerance=tolerance)
        kept = _move(tree, bones_in_object(tree, frames, solved.positions, common))
        left = _left(tree, frames, goal, common)
        if not _size(left) < before:
            _move(tree, kept)
        if not tolerance < _size(left) <= SCALED.round_gain * before:
            break
    left, damping = _left(tree, frames, goal, common), SCALED.first_damping
    for _ in range(SCALED.newton_steps):
        if _size(left) <= tolerance:
            return
        jacobian = _jacobian(tree, frames, common)
        square = jacobian @ jacobian.T
        motion = np.trace(square) / 3.0
        if not motion > np.finfo(float).tiny / SCALED.least_damping:
            return  # no rotation moves the tip, as where it is at its joint: nothing to solve
        while damping < SCALED.largest_damping:
            damped = square + damping * motion * np.eye(3)
            kept = _move(tree, _turns(tree, frames, jacobian.T @ np.linalg.solve(damped, left)))
            then = _left(tree, frames, goal, common)
            if _size(then) < _size(left):
                left, damping = then, max(0.1 * damping, SCALED.least_damping)
                break
            _move(tree, kept)
            damping *= 10.0
        else:
            return  # small rotations do not get it closer


def _left(tree: TransformTree, frames: Sequence[str], goal: FloatArray, common: str) -> FloatArray:
    missing: FloatArray = goal - express(tree, common, frames[-1], JOINT_ORIGIN)
    return missing


def _size(vector: FloatArray) -> float:
    return float(np.linalg.norm(vector))


def _move(tree: TransformTree, bases: dict[str, Basis]) -> dict[str, Basis]:
    """Move bones, and return their previous bases."""
    before = {bone: tree.basis(bone) for bone in bases}
    for bone, basis in bases.items():
        tree.move(bone, basis)
    return before


def _jacobian(tree: TransformTree, frames: Sequence[str], common: str) -> FloatArray:
    """Return the Jacobian of the tip in `common` by small rotations of the bones, (3, 3·bones)."""
    columns = []
    for bone in frames[:-1]:
        basis, parent = tree.basis(bone), tree.parent(bone)
        assert parent is not None  # `bones_in_object` has checked it
        x, y, z = from_joint(basis, express(tree, bone, frames[-1], JOINT_ORIGIN))
        crossed = np.array(((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)))  # δ × v = crossed @ δ
        columns.append(tree.lookup_node(common, parent).linear @ basis.rotation @ crossed)
    return np.hstack(columns)


def _turns(tree: TransformTree, frames: Sequence[str], step: FloatArray) -> dict[str, Basis]:
    """Return the bones rotated by rotation vectors [rad], shape (3·bones,)."""
    turns = [RigidTransform.exp(np.append(JOINT_ORIGIN, v)).rotation for v in step.reshape(-1, 3)]
    return {
        bone: turn_basis(tree.basis(bone), turn)
        for bone, turn in zip(frames[:-1], turns, strict=True)
    }
