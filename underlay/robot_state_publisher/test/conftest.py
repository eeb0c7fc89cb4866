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

"""The package itself, and what its tests share, are found where they lie."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("ROS_DOMAIN_ID", "43")
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from rsp_under_test import Listener, Publisher  # noqa: E402


@pytest.fixture
def listener():
    it = Listener()
    yield it
    it.close()


@pytest.fixture
def publisher(tmp_path):
    """Start it: publisher(urdf, **parameters)."""
    started = []

    def start(urdf, **parameters):
        started.append(Publisher(tmp_path, urdf, **parameters))
        return started[-1]

    yield start
    for it in started:
        it.stop()
