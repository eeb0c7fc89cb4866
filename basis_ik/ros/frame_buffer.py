"""tf's buffer, asked in every cycle which frame hangs on which."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped
from tf2_ros import Buffer


class FrameBuffer(Buffer):
    """A tf buffer that knows the parent of each frame.

    tf2 tells parents only as YAML of the whole tree, too slowly for a control loop.

    Attributes:
        parents: The parent of each frame in the transform that came last.
    """

    def __init__(self) -> None:
        super().__init__()
        self.parents: dict[str, str] = {}

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Store a transform of a frame that moves."""
        super().set_transform(transform, authority)
        self._note(transform)

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Store a transform that holds at all times."""
        super().set_transform_static(transform, authority)
        self._note(transform)

    def _note(self, transform: TransformStamped) -> None:
        # tf2, too, takes names of tf1, which begin with a slash.
        self.parents[transform.child_frame_id.lstrip("/")] = transform.header.frame_id.lstrip("/")
