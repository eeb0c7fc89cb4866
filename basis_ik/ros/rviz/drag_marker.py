# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The InteractiveMarker message of the handle that drags a target."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator

from geometry_msgs.msg import Quaternion, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, Marker
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

VIEWER_ROUNDING = 1e-5  # [m] and relative, since viewers compute in single precision
# Names of controls; an axis follows the last two.
BALL_CONTROL, MOVE_CONTROL, TURN_CONTROL = "ball", "move_", "turn_"
HALF_ROOT = math.sqrt(0.5)
# Rotations from the x axis, which controls act along and about, to each axis.
TO_AXIS = {
    "x": Quaternion(w=1.0),
    "y": Quaternion(z=HALF_ROOT, w=HALF_ROOT),
    "z": Quaternion(y=-HALF_ROOT, w=HALF_ROOT),
}


class Mode(enum.Enum):
    """The dragged quantity."""

    POSE = "drag the tip's pose"
    POINT = "drag a point to look at"


class HeldControl:
    """The control that a user holds, according to feedback."""

    def __init__(self) -> None:
        self._held = ("", "", "")

    def is_stray(self, feedback: Feedback) -> bool:
        """Return whether a button is released over a control that is not held.

        Call it with all feedback, because it stores the held control. When a button is released,
        RViz sends a second message for the control under the mouse, with an old pose.
        """
        control = feedback.client_id, feedback.marker_name, feedback.control_name
        if feedback.event_type in (Feedback.MOUSE_DOWN, Feedback.POSE_UPDATE):
            self._held = control
        return feedback.event_type == Feedback.MOUSE_UP and control != self._held


def drag_marker(
    name: str, frame: str, place: RigidTransform, size: float, mode: Mode
) -> InteractiveMarker:
    """Return the marker.

    Args:
        name: Its name; unique within its server.
        frame: Its frame.
        place: Initial frame_T_marker.
        size: Diameter of its rings [m].
        mode: POSE: arrows and rings, six degrees of freedom; POINT: arrows only.
    """
    marker = InteractiveMarker(name=name, description=mode.value, scale=size)
    marker.header.frame_id = frame  # without stamp: it stays in this frame
    marker.pose = pose_message(place)
    marker.controls = [_ball(0.3 * size, mode), *_handles(mode)]
    return marker


def _ball(size: float, mode: Mode) -> InteractiveMarkerControl:
    """Return the control that moves in the plane of the view."""
    ball = Marker(type=Marker.SPHERE, scale=Vector3(x=size, y=size, z=size))
    ball.color = (
        ColorRGBA(r=0.3, g=0.6, b=1.0, a=0.7)
        if mode is Mode.POSE
        else ColorRGBA(r=1.0, g=0.8, b=0.1, a=0.7)
    )
    return InteractiveMarkerControl(
        name=BALL_CONTROL,
        interaction_mode=InteractiveMarkerControl.MOVE_3D,
        always_visible=True,
        markers=[ball],
    )


def _handles(mode: Mode) -> Iterator[InteractiveMarkerControl]:
    for axis, orientation in TO_AXIS.items():
        yield InteractiveMarkerControl(
            name=f"{MOVE_CONTROL}{axis}",
            orientation=orientation,
            interaction_mode=InteractiveMarkerControl.MOVE_AXIS,
        )
        if mode is Mode.POSE:
            yield InteractiveMarkerControl(
                name=f"{TURN_CONTROL}{axis}",
                orientation=orientation,
                interaction_mode=InteractiveMarkerControl.ROTATE_AXIS,
            )
