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
