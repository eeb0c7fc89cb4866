"""A scene graph: named frames, each a change of basis away from its parent."""

from __future__ import annotations

import numpy as np

from basis_ik.kernels import tree as kernels
from basis_ik.kernels.rigid import FloatArray
from basis_ik.kernels.tree import IntArray
from basis_ik.transforms.checks import TransformError
from basis_ik.transforms.rigid import RigidTransform, trusted


class UnknownFrameError(TransformError):
    """A frame is not in the tree."""

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
    """A frame was to become a child of itself or of a frame below it."""

    def __init__(self, frame: str, parent: str) -> None:
        super().__init__(f"{parent!r} is below {frame!r} and cannot be its parent: a cycle")
        self.frame = frame
        self.parent = parent


class TransformTree:
    """Frames from one root down; moving a frame moves everything below it.

    Adding, moving and naming a frame take constant time; looking one frame up from another takes
    time proportional to the steps between them, whatever the size of the tree.
    """

    def __init__(self, root: str) -> None:
        """Make a tree of one frame.

        Args:
            root: Name of the frame that has no parent.
        """
        self._root = root
        self._index = {root: 0}
        self._names = [root]
        # Arrays with room to spare, doubled when full: a frame is a row.
        self._parents: IntArray = np.zeros(8, np.int64)
        self._depths: IntArray = np.zeros(8, np.int64)
        self._pool: FloatArray = np.zeros((8, 4, 4))

    @property
    def root(self) -> str:
        """Name of the frame that has no parent."""
        return self._root

    @property
    def frames(self) -> tuple[str, ...]:
        """All names, parents before children."""
        return tuple(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, frame: object) -> bool:
        return frame in self._index

    def add(self, frame: str, parent: str, parent_T_frame: RigidTransform) -> None:
        """Add a frame below one that is there.

        Args:
            frame: New name.
            parent: Name of its parent.
            parent_T_frame: Where the frame is in its parent.

        Raises:
            UnknownFrameError: The parent is not in the tree.
            CycleError: The frame is there, and the parent is it or below it.
            SecondParentError: The frame is there already.
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
        self._pool[row] = parent_T_frame.matrix
        self._parents[row] = above
        self._depths[row] = self._depths[above] + 1
        self._names.append(frame)
        self._index[frame] = row

    def move(self, frame: str, parent_T_frame: RigidTransform) -> None:
        """Put a frame, with everything below it, elsewhere in its parent.

        Raises:
            UnknownFrameError: The frame is not in the tree.
            SecondParentError: The frame is the root, which is nowhere.
        """
        row = self._find(frame)
        if row == 0:
            raise SecondParentError(frame, None, "anything")
        self._pool[row] = parent_T_frame.matrix

    def parent(self, frame: str) -> str | None:
        """Return the name of a frame's parent, None for the root.

        Raises:
            UnknownFrameError: The frame is not in the tree.
        """
        row = self._find(frame)
        return self._names[self._parents[row]] if row else None

    def depth(self, frame: str) -> int:
        """Return how many steps a frame is below the root.

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

        The way goes up to the lowest common ancestor and down again: what both frames hang from is
        not multiplied and undone, it cancels out before any arithmetic (change_of_basis, 2.2).

        Raises:
            UnknownFrameError: A frame is not in the tree.
        """
        index = self._index
        try:
            to, of = index[target], index[source]
        except KeyError as error:
            raise UnknownFrameError(error.args[0], self._root) from None
        m = np.empty((4, 4))
        kernels.lookup(self._parents, self._depths, self._pool, to, of, m)
        return trusted(m)

    def _find(self, frame: str) -> int:
        try:
            return self._index[frame]
        except KeyError:
            raise UnknownFrameError(frame, self._root) from None
