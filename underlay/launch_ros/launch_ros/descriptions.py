"""Descriptions of parameters, under the name by which Nav2 imports them."""

from launch._upstream import upstream_names

from .parameter_descriptions import ParameterFile, ParameterValue

__all__ = ["ParameterFile", "ParameterValue"]

__getattr__ = upstream_names(__name__, "ComposableLifecycleNode ComposableNode Parameter")
