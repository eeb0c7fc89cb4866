"""Actions about nodes."""

from launch._upstream import upstream_names

from .lifecycle_node import LifecycleNode
from .node import Node
from .settings import PushROSNamespace, PushRosNamespace, SetParameter, SetRemap

__all__ = [
    "LifecycleNode",
    "Node",
    "PushROSNamespace",
    "PushRosNamespace",
    "SetParameter",
    "SetRemap",
]

__getattr__ = upstream_names(
    __name__,
    "ComposableNodeContainer LifecycleTransition LoadComposableNodes ROSTimer RosTimer "
    "SetParametersFromFile SetROSLogDir SetUseSimTime",
)
