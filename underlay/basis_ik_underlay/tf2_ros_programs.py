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

"""How programs start and stop: SIGINT and SIGTERM end them with status 0 at any moment."""

import importlib
import signal
from threading import Event


def run(module: str, function: str) -> int | None:
    """Call a function with an event that a signal sets; return what it returns."""
    stop = Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stop.set())
    # Imported only now: importing rclpy takes long enough for a signal to arrive meanwhile.
    return getattr(importlib.import_module(module), function)(stop)
