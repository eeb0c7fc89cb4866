"""Markers of test descriptions."""

from __future__ import annotations

from typing import TypeVar

from launch._upstream import upstream_names

from .decorators import KEEP_ALIVE

T = TypeVar("T")


def keep_alive(test_description: T) -> T:
    """Let the launch go on after its processes have ended, until the tests are through."""
    setattr(test_description, KEEP_ALIVE, True)
    return test_description


__getattr__ = upstream_names(__name__, "retry_on_failure")
