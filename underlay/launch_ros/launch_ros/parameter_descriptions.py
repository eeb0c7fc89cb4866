"""Parameters: files, values with a type, and how what a launch file gives becomes a value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch._upstream import upstream_names
from launch.utilities import evaluate, parse_bool


class ParameterValue:
    """A value, text or substitutions, with the type that it is to have.

    Args:
        value: The value.
        value_type: bool, int, float, str, or a list of them such as list[str]. None: a text from
            substitutions is read as YAML.
    """

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.value, self.value_type = value, value_type

    def evaluate(self, context: LaunchContext) -> Any:
        """Return the value.

        Raises:
            ValueError: It cannot be had in that type.
        """
        kind = self.value_type
        if kind is None:
            return evaluate_value(context, "", self.value)
        if get_origin(kind) is not list:
            return _of_type(context, self.value, kind)
        value = self.value
        if isinstance(value, Substitution):
            value = yaml.safe_load(evaluate(context, value))
        return [_of_type(context, item, get_args(kind)[0]) for item in value]


class ParameterFile:
    """A YAML file of parameters."""

    def __init__(self, param_file: SomeSubstitutionsType, *, allow_substs: Any = False) -> None:
        if allow_substs is not False:
            raise NotImplementedError(
                "ParameterFile(allow_substs=...) is part of upstream launch_ros, but not of this "
                "underlay"
            )
        self.param_file = param_file

    def evaluate(self, context: LaunchContext) -> Path:
        """Return the path."""
        return Path(evaluate(context, self.param_file))


def _of_type(context: LaunchContext, value: Any, kind: type) -> Any:
    if isinstance(value, (bool, int, float)):
        value = str(value)
    text = evaluate(context, value)
    return parse_bool(text, "a bool parameter") if kind is bool else kind(text)


def _from_yaml(context: LaunchContext, name: str, subs: Any) -> Any:
    text = evaluate(context, subs)
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise TypeError(
            f"Unable to parse the value of parameter {name} as yaml. If the parameter is meant to "
            "be a string, try wrapping it in launch_ros.parameter_descriptions.ParameterValue("
            "value, value_type=str)"
        ) from error
    return "" if value is None else value


def evaluate_value(context: LaunchContext, name: str, value: Any) -> Any:
    """Return a parameter's value: a bool, int, float, str, or a list of one of them.

    Texts stay texts. Substitutions, alone or in a list with texts, are joined and read as YAML;
    in lists within the list, each gives one item.

    Raises:
        TypeError: It is none of that; the message names the parameter.
    """
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, Substitution):
        value = _from_yaml(context, name, value)
    elif isinstance(value, (list, tuple)):
        text_like = all(isinstance(item, (str, Substitution)) for item in value)
        if text_like and any(isinstance(item, Substitution) for item in value):
            value = _from_yaml(context, name, value)
        else:
            value = [
                _from_yaml(context, name, item)
                if isinstance(item, (list, tuple, Substitution))
                else item
                for item in value
            ]
    if isinstance(value, (list, tuple)):
        return _uniform(name, list(value))
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(
            f"Allowed value types of parameter {name} are bool, int, float, str and lists of them; "
            f"got {type(value).__name__}"
        )
    return value


def _uniform(name: str, items: list[Any]) -> list[Any]:
    kinds = {type(item) for item in items}
    if kinds == {int, float}:
        return [float(item) for item in items]
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        raise TypeError(
            f"Expected a non-empty sequence, with items of uniform type bool, int, float or str, "
            f"for parameter {name}; got {items}"
        )
    return items


def evaluate_dict(context: LaunchContext, parameters: Mapping[Any, Any]) -> dict[str, Any]:
    """Return names, those of nested dicts joined by dots, with their values."""
    result: dict[str, Any] = {}
    for key, value in parameters.items():
        name = evaluate(context, key)
        if isinstance(value, Mapping):
            inner = evaluate_dict(context, value)
            result.update({f"{name}.{inner_name}": item for inner_name, item in inner.items()})
        else:
            result[name] = evaluate_value(context, name, value)
    return result


__getattr__ = upstream_names(__name__, "Parameter")
