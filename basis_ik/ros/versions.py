"""What the numbers that the node computes may depend on, besides what it is told."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

import numba
import numpy as np
from llvmlite import binding

PACKAGE = Path(__file__).parents[1]


def versions() -> dict[str, str]:
    """Return what computes, by name: sources, libraries and processor."""
    return {
        "basis_ik": _source(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "transforms3d": version("transforms3d"),
        "python": platform.python_version(),
        "ROS": os.environ.get("ROS_DISTRO", ""),
        "processor": f"{platform.machine()} {binding.get_host_cpu_name()}",
    }


def _source() -> str:
    """Return a digest of the package's sources: a version does not tell one commit from another."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
