"""Interactive markers, named as in the upstream package."""

from interactive_markers.interactive_marker_server import InteractiveMarkerServer
from interactive_markers.menu_handler import MenuHandler

__all__ = ["InteractiveMarkerServer", "MenuHandler"]
