# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Converts messages from and to YAML, as rosidl_runtime_py does."""

from __future__ import annotations

import importlib
import re
from typing import Any

import yaml

KINDS = {"msg": "message", "srv": "service", "action": "action"}
FLOATS = re.compile(r"(sequence<)?(float|double)\b.*")
LONGEST = 128  # What is longer is cut when it is printed.


def get_type(name: str, kind: str) -> Any:
    """Return the class of an interface, of the kind msg, srv or action.

    Raises:
        ValueError: the name is malformed, or nothing installed has it.
    """
    package, _, short = name.partition(f"/{kind}/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), short)
    except (ImportError, AttributeError, TypeError):
        raise ValueError(f"The passed {KINDS[kind]} type is invalid: '{name}'") from None


def to_yaml(message: Any) -> str:
    """Return a message as YAML, fields in their order."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(
        _plain(message), Dumper=dumper, sort_keys=False, allow_unicode=True, width=2**31 - 1
    )


def _plain(value: Any) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return {name: _plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        return value[:LONGEST] + "..." if len(value) > LONGEST else value
    if isinstance(value, bool | int | float):
        return value
    items = value.tolist() if hasattr(value, "tolist") else value
    plain = [_plain(item) for item in items[:LONGEST]]
    return plain if len(plain) == len(items) else [*plain, "..."]


def filled(message: Any, text: str) -> Any:
    """Set the fields of a message from YAML; return the message.

    Raises:
        ValueError: it is no dictionary in YAML, a field does not exist, or does not take its value.
    """
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"The passed value is not YAML: {' '.join(str(error).split())}") from None
    _fill(message, {} if values is None else values, "")
    return message


def _fill(message: Any, values: Any, path: str) -> None:
    if not isinstance(values, dict):
        what = f"field '{path}'" if path else "the message"
        raise ValueError(f"Failed to populate {what}: a dictionary is needed, not {values!r}")
    message._check_fields = True
    kinds = message.get_fields_and_field_types()
    for name, value in values.items():
        full = f"{path}.{name}" if path else name
        if name not in kinds:
            fields = ", ".join(kinds)
            raise ValueError(f"Failed to populate field: no field '{full}'; there are: {fields}")
        current, kind = getattr(message, name), kinds[name]
        if hasattr(current, "get_fields_and_field_types"):
            _fill(current, value, full)
            continue
        try:
            setattr(message, name, _as_float(value) if FLOATS.fullmatch(kind) else value)
        except (AssertionError, TypeError, ValueError):
            raise ValueError(
                f"Failed to populate field: '{full}' takes {kind}, not {value!r}"
            ) from None


def _as_float(value: Any) -> Any:
    """Return floats in place of what YAML reads from 1 and 1e-3: an integer and a text."""
    if isinstance(value, list):
        return [_as_float(item) for item in value]
    return value if isinstance(value, bool) else float(value)
