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

"""Parameters: files, values with a type, and how what a launch file gives becomes a value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch._upstream import upstream_names
from launch.substitutions import TextSubstitution
from launch.utilities import (
    evaluate,
    is_substitution,
    normalize_to_list_of_substitutions,
    parse_bool,
)

_SCALARS = (bool, int, float, str)


class ParameterValue:
    """A value, text or substitutions, with the type that it is to have.

    Args:
        value: The value: a scalar, substitutions, or a list of scalars and substitutions.
        value_type: bool, int, float, str, or a list of one of them such as list[str]; what a
            substitution gives is read so, and what is no substitution must be of it. None: a
            substitution is read as YAML.

    Raises:
        TypeError: The value cannot become one of that type.
        ValueError: There is no such type.
    """

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        is_list = get_origin(value_type) is list
        self.__kind = next(iter(get_args(value_type)), value_type)
        if self.__kind not in (None, *_SCALARS):
            raise ValueError(f"unrecognized data type: {value_type}")
        self.value, self.value_type = value, value_type
        if is_substitution(value):
            self.value = normalize_to_list_of_substitutions(value)
        elif isinstance(value, _SCALARS):
            if is_list or not (self.__kind is None or isinstance(value, self.__kind)):
                raise TypeError(f"value={value!r} is not an instance of {value_type}")
        else:
            self.value = self.__items(value, is_list)

    def __items(self, value: Any, is_list: bool) -> list[Any]:
        if not isinstance(value, Iterable):
            raise TypeError(f"value={value!r} is neither a scalar nor a list nor a substitution")
        items = list(value)
        kinds = {type(item) for item in items if not is_substitution(item)}
        if kinds == {int, float}:
            kinds = {float}
            items = [item if is_substitution(item) else float(item) for item in items]
        wanted = {self.__kind} if self.__kind else set(_SCALARS)
        if (self.__kind and not is_list) or len(kinds) > 1 or not kinds <= wanted:
            raise TypeError(f"value={value!r} is not an instance of {self.value_type}")
        return items

    def evaluate(self, context: LaunchContext) -> Any:
        """Return the value.

        Raises:
            ValueError: It cannot be had in that type.
        """
        value, kind = self.value, self.__kind
        if isinstance(value, _SCALARS):
            return value
        if is_substitution(value):
            text = evaluate(context, value)
            return _list_of(text, kind) if get_origin(self.value_type) else _of_type(text, kind)
        items = [
            _of_type(evaluate(context, item), kind) if is_substitution(item) else item
            for item in value
        ]
        return _checked(items, None, repr(items))


def _of_type(text: str, kind: type | None) -> Any:
    if kind is bool:
        return parse_bool(text, "a bool parameter")
    if kind is not None:
        return kind(text)
    value = _yaml(text) if text else ""
    return _checked(value, None, text) if isinstance(value, list) else _scalar(value, text)


def _list_of(text: str, kind: type) -> list[Any]:
    value = _yaml(text)
    if not isinstance(value, list):
        raise ValueError(f"'{text}' is no list of {kind.__name__}")
    return _checked(value, kind, text)


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"'{text}' cannot be read as YAML: {error}") from error


def _scalar(value: Any, text: str) -> Any:
    if not isinstance(value, _SCALARS):
        raise ValueError(f"'{text}' is {type(value).__name__}, where a scalar or a list is needed")
    return value


def _checked(items: list[Any], kind: type | None, text: str) -> list[Any]:
    """Return a list if all of it is of the type; None: of any one type."""
    kinds = {type(item) for item in items}
    if len(kinds) > 1 or not kinds <= ({kind} if kind else set(_SCALARS)):
        raise ValueError(f"'{text}' is no list of {kind.__name__ if kind else 'one type'}")
    return items


class ParameterFile:
    """A YAML file of parameters.

    Raises:
        TypeError: It is neither a path nor a text nor substitutions, or `allow_substs` no bool.
    """

    def __init__(
        self, param_file: os.PathLike[str] | SomeSubstitutionsType, *, allow_substs: bool = False
    ) -> None:
        if not isinstance(allow_substs, bool):
            raise TypeError(f"allow_substs must be a bool, not {allow_substs!r}")
        if allow_substs:
            raise NotImplementedError(
                "ParameterFile(allow_substs=...) is part of upstream launch_ros, but not of this "
                "underlay"
            )
        self.param_file = param_file
        if not isinstance(param_file, os.PathLike):
            self.param_file = normalize_to_list_of_substitutions(param_file)

    def evaluate(self, context: LaunchContext) -> Path:
        """Return the path."""
        if isinstance(self.param_file, os.PathLike):
            return Path(self.param_file)
        return Path(evaluate(context, self.param_file))


def normalize_dict(parameters: Mapping[Any, Any], prefix: tuple[Substitution, ...] = ()) -> Any:
    """Return values by names, as tuples of substitutions; names of nested dicts are joined by dots.

    Raises:
        TypeError: A name or a value is of a type that parameters cannot have.
    """
    result: dict[tuple[Substitution, ...], Any] = {}
    for key, value in parameters.items():
        name = (*prefix, *normalize_to_list_of_substitutions(key))
        if isinstance(value, Mapping):
            result.update(normalize_dict(value, (*name, TextSubstitution(text="."))))
            continue
        if not isinstance(value, (*_SCALARS, Substitution, ParameterValue)):
            _check_items(value, " + ".join(sub.describe() for sub in name))
        result[name] = value
    return result


def _check_items(value: Any, name: str) -> None:
    for item in value if isinstance(value, (list, tuple)) else [None]:
        if isinstance(item, (list, tuple)):
            normalize_to_list_of_substitutions(item)
        elif not isinstance(item, (*_SCALARS, Substitution)):
            raise TypeError(f"{value!r} cannot be the value of parameter {name}")


def _from_yaml(context: LaunchContext, name: str, subs: Any) -> Any:
    text = evaluate(context, subs)
    try:
        return yaml.safe_load(text) if text else ""
    except yaml.YAMLError as error:
        raise TypeError(
            f"Unable to parse the value of parameter {name} as yaml. If the parameter is meant to "
            "be a string, try wrapping it in launch_ros.parameter_descriptions.ParameterValue("
            "value, value_type=str)"
        ) from error


def evaluate_value(context: LaunchContext, name: str, value: Any) -> Any:
    """Return a parameter's value: a bool, int, float, str, or a list of one of them.

    Texts stay texts. Substitutions, alone or in a list with texts, are joined and read as YAML;
    in lists within the list, each gives one item. Numbers in a list become floats if one is.

    Raises:
        TypeError: It is none of that; the message names the parameter.
    """
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if is_substitution(value):
        value = _from_yaml(context, name, value)
    elif isinstance(value, (list, tuple)) and {type(item) for item in value} == {int, float}:
        value = [float(item) for item in value]
    elif isinstance(value, (list, tuple)):
        value = [
            _from_yaml(context, name, item)
            if isinstance(item, (list, tuple, Substitution))
            else item
            for item in value
        ]
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        if len(kinds) != 1 or not kinds <= set(_SCALARS):
            raise TypeError(
                f"Expected a non-empty sequence, with items of uniform type bool, int, float or "
                f"str, for parameter {name}; got {value}"
            )
    elif not isinstance(value, _SCALARS):
        raise TypeError(
            f"Allowed value types of parameter {name} are bool, int, float, str and lists of them; "
            f"got {type(value).__name__}"
        )
    return value


def evaluate_dict(context: LaunchContext, parameters: Mapping[Any, Any]) -> dict[str, Any]:
    """Return what `normalize_dict` has returned, with names and values evaluated."""
    result: dict[str, Any] = {}
    for key, value in parameters.items():
        name = evaluate(context, key)
        result[name] = evaluate_value(context, name, value)
    return result


__getattr__ = upstream_names(__name__, "Parameter")
