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

    It needs it a dozen times in each period; and much that is new would have Python look for
    garbage, for some periods.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(GIVE_WAY)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
