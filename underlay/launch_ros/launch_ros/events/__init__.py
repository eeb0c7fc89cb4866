"""Events of nodes."""

from . import lifecycle
from .lifecycle import matches_node_name

__all__ = ["lifecycle", "matches_node_name"]
