# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The browsers' cameras: all that is to be seen fits into the free part of each window."""

from __future__ import annotations

import numpy as np
from viser import ViserServer

from basis_ik.numerics.arrays import FloatArray
from basis_ik.view.camera import View, fitted

SAME_VIEW = 0.02  # relative: smaller changes of a window or a camera are none


class Cameras:
    """Places the camera of each browser when what is to be seen, or its window, has changed.

    A camera that its user has moved stays when the window changes, and one browser's camera when
    another one comes.

    Args:
        server: viser's server.
    """

    def __init__(self, server: ViserServer) -> None:
        self._server = server
        self._key, self._points = "", np.zeros((0, 3))
        self._placed: dict[int, tuple[str, float, View]] = {}  # key, aspect and view by browser

    def look(self, key: str, points: FloatArray) -> bool:
        """Set what is to be seen; return whether it is something else than before.

        Args:
            key: Its name; cameras are placed anew if it is another one.
            points: Shape (n, 3) [m].
        """
        is_new = key != self._key
        if is_new:
            self._key, self._points = key, points
        return is_new

    def update(self) -> None:
        """Place the cameras that need it."""
        if not self._key:
            return
        for browser, client in self._server.get_clients().items():
            camera = client.camera
            key, aspect, view = self._placed.get(browser, ("", 0.0, None))
            if key == self._key and (
                abs(camera.aspect / aspect - 1.0) < SAME_VIEW
                or (view is not None and not _near(camera.position, view))
            ):
                continue
            view = fitted(self._points, camera.fov, camera.aspect)
            self._placed[browser] = self._key, camera.aspect, view
            # In this order: moving a camera also moves the point that it looks at.
            camera.position, camera.look_at = view


def _near(position: FloatArray, view: View) -> bool:
    distance = float(np.linalg.norm(view.position - view.look_at))
    return float(np.linalg.norm(position - view.position)) < SAME_VIEW * distance
