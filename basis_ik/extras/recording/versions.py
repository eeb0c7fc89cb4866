# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sources, libraries and processor, on which the node's numbers depend besides its input."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
from llvmlite import binding

PACKAGE_FOLDER = Path(__file__).parents[2]


def versions() -> dict[str, str]:
    """Return versions of sources, libraries and processor, by name."""
    return {
        "basis_ik": _source(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "transforms3d": version("transforms3d"),
        "coal": "installed" if find_spec("coal") else "",  # it measures depths of collisions
        "python": platform.python_version(),
        "ROS": os.environ.get("ROS_DISTRO", ""),
        "processor": f"{platform.machine()} {binding.get_host_cpu_name()}",
    }


def _source() -> str:
    """Return a digest of the package's sources, because several commits have one version."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE_FOLDER.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
