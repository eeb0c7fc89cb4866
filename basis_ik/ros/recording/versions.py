# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Sources, libraries and processor, on which the node's numbers depend besides its input."""

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
    """Return versions of sources, libraries and processor, by name."""
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
    """Return a digest of the package's sources, because several commits have one version."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
