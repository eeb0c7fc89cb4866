# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A scene graph: named frames, each with a change of basis to its parent."""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms import tree_kernel as kernels
from basis_ik.transforms.checks import TransformError
from basis_ik.transforms.node import SingularMatrixError, TransformNode
from basis_ik.transforms.rigid import RigidTransform, trusted
from basis_ik.transforms.tree_kernel import IntArray

Basis = RigidTransform | TransformNode
"""A frame's basis in its parent: origin and orientation; for a node also centre and scale."""


class UnknownFrameError(TransformError, KeyError):
    """A frame is not in the tree."""

    __str__ = TransformError.__str__  # a KeyError's is the repr of its text

    def __init__(self, frame: str, root: str) -> None:
        super().__init__(f"no frame {frame!r} in the tree of {root!r}")
        self.frame = frame
        self.root = root


class SecondParentError(TransformError):
    """A frame that has a parent, or is the root, was given another."""

    def __init__(self, frame: str, parent: str | None, refused: str) -> None:
        has = "is the root" if parent is None else f"already has parent {parent!r}"
        super().__init__(f"frame {frame!r} {has}, {refused!r} cannot be its parent")
        self.frame = frame
        self.parent = parent
        self.refused = refused


class CycleError(TransformError):
    """A frame would become a child of itself or of a frame below it."""

    def __init__(self, frame: str, parent: str) -> None:
        super().__init__(f"{parent!r} is below {frame!r} and cannot be its parent: a cycle")
        self.frame = frame
        self.parent = parent


class ScaledFrameError(TransformError):
    """A rigid transform was requested, but a frame on the path is scaled."""

    def __init__(self, frame: str, target: str, source: str) -> None:
        super().__init__(
            f"no rigid transform from {source!r} to {target!r}: {frame!r} on the way is scaled; "
            "lookup_node has scale and all"
        )
        self.frame = frame
        self.target = target
        self.source = source


class TransformTree:
    """Frames below one root; moving a frame moves all frames below it.

    A frame may be a transform node with scale, which also scales all frames below it. `lookup`
    refuses paths through scaled frames, `lookup_node` does not.

    Adding, moving and finding a frame take constant time. A look-up takes time proportional to the
    steps between the frames, regardless of the tree's size.
    """

    def __init__(self, root: str) -> None:
        """Create a tree of one frame.

        Args:
            root: Name of the root, which has no parent.
        """
        self._root = root
        self._index = {root: 0}
        self._names = [root]
        # Arrays with a row for each frame; their capacity is doubled when full.
        self._parents: IntArray = np.zeros(8, np.int64)
        self._depths: IntArray = np.zeros(8, np.int64)
        self._pool: FloatArray = np.zeros((8, 4, 4))
        self._bases: list[Basis] = [RigidTransform.identity()]
        self._scaled: set[int] = set()

    @property
    def root(self) -> str:
        """Name of the root, which has no parent."""
        return self._root

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of all frames, parents before children."""
        return tuple(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, frame: object) -> bool:
        return frame in self._index

    def add(self, frame: str, parent: str, parent_T_frame: Basis) -> None:
        """Add a frame.

        Args:
            frame: Name of the new frame.
            parent: Name of its parent.
            parent_T_frame: Its basis in the parent.

        Raises:
            UnknownFrameError: The parent is not in the tree.
            CycleError: The frame exists, and the parent is the frame or below it.
            SecondParentError: The frame exists.
        """
        above = self._find(parent)
        if frame in self._index:
            if self.common_ancestor(frame, parent) == frame:
                raise CycleError(frame, parent)
            raise SecondParentError(frame, self.parent(frame), parent)
        row = len(self._names)
        if row == len(self._parents):
            self._parents = np.concatenate([self._parents, np.zeros_like(self._parents)])
            self._depths = np.concatenate([self._depths, np.zeros_like(self._depths)])
            self._pool = np.concatenate([self._pool, np.zeros_like(self._pool)])
        self._parents[row] = above
        self._depths[row] = self._depths[above] + 1
        self._names.append(frame)
        self._index[frame] = row
        self._bases.append(parent_T_frame)
        self._put(row, parent_T_frame)

    def move(self, frame: str, parent_T_frame: Basis) -> None:
        """Change a frame's basis in its parent; frames below it move, too.

        Raises:
            UnknownFrameError: The frame is not in the tree.
            SecondParentError: The frame is the root, which has no parent.
        """
        row = self._find(frame)
        if row == 0:
            raise SecondParentError(frame, None, "anything")
        self._bases[row] = parent_T_frame
        self._put(row, parent_T_frame)

    def basis(self, frame: str) -> Basis:
        """Return a frame's basis in its parent, as given; the identity for the root.

        Raises:
            UnknownFrameError: The frame is not in the tree.
        """
        return self._bases[self._find(frame)]

    def parent(self, frame: str) -> str | None:
        """Return the name of a frame's parent; None for the root.

        Raises:
            UnknownFrameError: The frame is not in the tree.
        """
        row = self._find(frame)
        return self._names[self._parents[row]] if row else None

    def depth(self, frame: str) -> int:
        """Return the number of steps from the root to a frame.

        Raises:
            UnknownFrameError: The frame is not in the tree.
        """
        return int(self._depths[self._find(frame)])

    def common_ancestor(self, a: str, b: str) -> str:
        """Return the lowest frame that is at or above both.

        Raises:
            UnknownFrameError: A frame is not in the tree.
        """
        row = kernels.common_ancestor(self._parents, self._depths, self._find(a), self._find(b))
        return self._names[row]

    def lookup(self, target: str, source: str) -> RigidTransform:
        """Return target_T_source, which maps coordinates in `source` to coordinates in `target`.

        The path leads up to the lowest common ancestor and down again. Common ancestors above it
        cancel out before any arithmetic (change_of_basis, 2.2).

        Raises:
            UnknownFrameError: A frame is not in the tree.
            ScaledFrameError: A frame on the path is scaled.
        """
        index = self._index
        try:
            to, of = index[target], index[source]
        except KeyError as error:
            raise UnknownFrameError(error.args[0], self._root) from None
        if self._scaled and (scaled := self._scaled_between(to, of)) is not None:
            raise ScaledFrameError(self._names[scaled], target, source)
        m = np.empty((4, 4))
        kernels.lookup(self._parents, self._depths, self._pool, to, of, m)
        return trusted(m)

    def is_rigid(self, target: str, source: str) -> bool:
        """Return whether no frame between two is scaled, so that `lookup` has a result.

        Raises:
            UnknownFrameError: A frame is not in the tree.
        """
        to, of = self._find(target), self._find(source)
        return not self._scaled or self._scaled_between(to, of) is None

    def lookup_node(self, target: str, source: str) -> TransformNode:
        """Return the node with centre zero that is equivalent to the path from `source`.

        It maps coordinates in `source` to coordinates in `target`, through scale and shear. Its
        translation is the position of the source's origin; its rotation is the nearest one. The
        path is that of `lookup`.

        Raises:
            UnknownFrameError: A frame is not in the tree.
            SingularMatrixError: The scale along the path differs too much between directions.
            NodeOverflowError, NotFiniteError: The numbers leave the range of floating point.
        """
        to, of = self._find(target), self._find(source)
        ancestor = self._find(self.common_ancestor(target, source))
        up, down = self._product(of, ancestor), self._product(to, ancestor)
        m = np.eye(4)
        try:
            m[:3] = np.linalg.solve(down[:3, :3], up[:3] - np.outer(down[:3, 3], up[3]))
        except np.linalg.LinAlgError:  # the product of all factors is zero in floating point
            raise SingularMatrixError(down) from None
        return TransformNode.from_matrix(m)

    def _put(self, row: int, parent_T_frame: Basis) -> None:
        self._pool[row] = parent_T_frame.matrix
        if isinstance(parent_T_frame, TransformNode) and not parent_T_frame.is_rigid:
            self._scaled.add(row)
        else:
            self._scaled.discard(row)

    def _scaled_between(self, to: int, of: int) -> int | None:
        """Return the first scaled frame on the path up from `of` and down to `to`, or None."""
        ancestor = kernels.common_ancestor(self._parents, self._depths, to, of)
        for row in (of, to):
            while row != ancestor:
                if row in self._scaled:
                    return row
                row = int(self._parents[row])
        return None

    def _product(self, row: int, ancestor: int) -> FloatArray:
        """Return ancestor_T_frame as a homogeneous matrix, shape (4, 4)."""
        m = np.eye(4)
        while row != ancestor:
            m = self._pool[row] @ m
            row = int(self._parents[row])
        return m

    def _find(self, frame: str) -> int:
        try:
            return self._index[frame]
        except KeyError:
            raise UnknownFrameError(frame, self._root) from None
