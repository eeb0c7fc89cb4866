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

"""Work in a thread that must not delay a control loop."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

# s after which a working thread yields the GIL to the control loop. Threads that call kernels
# release and take it all the time: with a longer interval other threads would starve.
GIVE_WAY = 1e-5


@contextlib.contextmanager
def giving_way() -> Iterator[None]:
    """Shorten the switch interval of the GIL, and disable garbage collection.

    The control loop takes the GIL a dozen times per period. The many new objects would start a
    garbage collection, which takes several periods.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(GIVE_WAY)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
