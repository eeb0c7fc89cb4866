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

"""Work in a thread beside a control loop."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

# s after which a thread that works lets the control loop have the GIL. A thread that calls kernels
# gives it back and takes it again all the time: sooner than this, or nobody else would ever get it.
GIVE_WAY = 1e-5


@contextlib.contextmanager
def giving_way() -> Iterator[None]:
    """Let a control loop have the GIL soon.

    The loop needs the GIL a dozen times in each period; and many new objects would start a garbage
    collection that takes some periods.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(GIVE_WAY)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
