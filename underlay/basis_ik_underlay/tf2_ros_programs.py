# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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
