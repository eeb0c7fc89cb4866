# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What hands on the page say, and which of them leads an arm; without ROS or a browser.

A hand is a touch pad, or a headset's controller. It says again and again whether it is held, and
how it has moved along the axes of its view: x to the right, y up, z towards the viewer.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from basis_ik.arm.admission import Refused, admit_pose
from basis_ik.errors import BasisIkError
from basis_ik.transforms.rigid import RigidTransform

# Nobody tells from where a headset, or a pad without a scene, is looked at: from behind the arm,
# along the x axis of its root.
ROOT_T_VIEW = RigidTransform.from_rotation_translation(
    np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.zeros(3)
)
# OpenCV's axes of a camera, as viser has them: x to the right, y down, z into the picture.
CAMERA_T_VIEW = RigidTransform.from_rotation_translation(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
RELEASE_TIME = 0.05  # [s] for which a clutch is not told to be held after it was told to be let go
HAND_SILENCE = 0.15  # [s] without a word after which another hand may lead
HAND_COMMANDS = ("stop", "enable")


class HandError(BasisIkError):
    """A page says what no hand can say."""


class HandPose(NamedTuple):
    """How a hand has moved."""

    arm: str
    """Prefix of the topics of the arm that it leads."""
    hand: str
    """Its name on its page."""
    held: bool
    """Whether its clutch is held."""
    space: int
    """Number of the frame of its pose: another one after the device has lost its place."""
    browser: int | None
    """Which of viser's browsers shows the view; None: none does."""
    view_T_hand: RigidTransform
    """Its pose, along the axes of its view."""


class Grip(NamedTuple):
    """An opening of the gripper."""

    arm: str
    opening: float
    """From 0, closed, to 1, open."""


class Deed(NamedTuple):
    """A stop, or its end."""

    arm: str
    name: str


def read(text: str | bytes) -> HandPose | Grip | Deed:
    """Return what a page says.

    Args:
        text: JSON.

    Raises:
        HandError: It is something else.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise HandError("what it says is no JSON") from None
    if not isinstance(said, dict) or not isinstance(said.get("arm"), str):
        raise HandError("'arm' must be the prefix of an arm's topics")
    arm = said["arm"]
    if "do" in said:
        if said["do"] not in HAND_COMMANDS:
            raise HandError(f"'do' must be one of {', '.join(HAND_COMMANDS)}")
        return Deed(arm, said["do"])
    if "open" in said:
        return Grip(arm, *_numbers(said, "open", 1))
    hand, held, space, browser = (said.get(key) for key in ("hand", "held", "space", "browser"))
    if not isinstance(hand, str) or not hand.isalpha() or len(hand) > 16:
        raise HandError("'hand' must be a short word")
    if not isinstance(held, bool):
        raise HandError("'held' must be true or false")
    if not _is_whole(space) or not (browser is None or _is_whole(browser)):
        raise HandError("'space' must be a whole number, and 'browser' one or null")
    pose = admit_pose(_numbers(said, "place", 3), _numbers(said, "turn", 4))
    if isinstance(pose, Refused):
        raise HandError(f"'place' and 'turn' are no pose: {pose}")
    return HandPose(arm, hand, held, space, browser, pose)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _numbers(said: dict[str, Any], key: str, count: int) -> tuple[Any, ...]:
    values = said.get(key)
    values = values if isinstance(values, list) else [values]
    if len(values) != count or not all(type(each) in (int, float) for each in values):
        raise HandError(f"'{key}' must be {'a number' if count == 1 else f'{count} numbers'}")
    if not all(abs(each) < math.inf for each in values):  # NaN fails it, too
        raise HandError(f"'{key}' must be finite")
    try:
        return tuple(map(float, values))
    except OverflowError:
        raise HandError(f"'{key}' must be finite") from None


class Lead:
    """Which hand leads an arm: the first one, until it lets go or is silent."""

    def __init__(self) -> None:
        self._who = ""
        self._since = self._heard = -math.inf
        self._root_T_view = ROOT_T_VIEW

    def take(
        self, who: str, said: HandPose, now: float, root_T_view: RigidTransform
    ) -> tuple[bool | None, RigidTransform]:
        """Return what to tell the clutch, None: nothing; and the hand's pose along the root's axes.

        A clutch that engages is first told to be let go, and to be held only `RELEASE_TIME` later,
        so that no word of it is lost.

        Args:
            who: Name of the hand, unique among all pages.
            said: What it says.
            now: The time [s].
            root_T_view: The axes of its view now; while it is held, those count that it had at
                first.
        """
        leads = who == self._who
        tells: bool | None = None
        if leads and not said.held:
            self._who, tells = "", False
        elif said.held and not leads and not now - self._heard < HAND_SILENCE:
            self._who, self._since, self._root_T_view = who, now, root_T_view
            leads, tells = True, False
        elif leads and not now - self._since < RELEASE_TIME:
            tells = True
        if leads:
            self._heard = now if said.held else -math.inf
        axes = self._root_T_view
        return tells, axes @ said.view_T_hand @ axes.inverse()

    def lost(self, page: str) -> bool:
        """Return whether the leading hand was of a page that is gone; it then leads no longer.

        Args:
            page: What the names of its hands begin with.
        """
        if not self._who.startswith(page):
            return False
        self._who, self._heard = "", -math.inf
        return True
