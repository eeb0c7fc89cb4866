# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finds the mesh files that a robot description names."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlparse


def find_mesh(name: str) -> Path | None:
    """Return the file that a URDF names, or None if it does not exist.

    Packages are found as in ROS 2, in the share folders of `AMENT_PREFIX_PATH`.

    Args:
        name: package://PACKAGE/PATH, file:///PATH, or a path.
    """
    address = urlparse(name)
    path = unquote(address.path)
    if address.scheme == "package":
        prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
        places = [Path(prefix, "share", address.netloc + path) for prefix in prefixes]
    elif address.scheme in ("", "file"):
        places = [Path(path)]
    else:
        places = []
    return next((place for place in places if place.is_file()), None)
