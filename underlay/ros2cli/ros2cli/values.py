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

"""Messages from YAML and to YAML, as rosidl_runtime_py does it."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import Any

import yaml

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
KINDS = {"msg": "message", "srv": "service", "action": "action"}
SEQUENCE = re.compile(
    r"sequence<(?P<element>.*?)(, (?P<bound>\d+))?>|(?P<item>.*)\[(?P<size>\d+)\]"
)


def get_type(name: str, kind: str) -> Any:
    """Return the class of an interface, of the kind msg, srv or action.

    Raises:
        ValueError: the name is malformed, or nothing installed has it.
    """
    package, _, rest = name.partition("/")
    middle, _, short = rest.rpartition("/")
    try:
        if not package or not short or middle not in ("", kind):
            raise ValueError
        return getattr(importlib.import_module(f"{package}.{kind}"), short)
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"The passed {KINDS[kind]} type is invalid: '{name}'") from None


@dataclass(frozen=True)
class Style:
    """How much of a message is printed: `length` cuts long arrays and strings."""

    length: int | None = None
    arrays: bool = True
    strings: bool = True
    flow: bool = False


def to_yaml(message: Any, style: Style = Style()) -> str:
    """Return a message as YAML, fields in their order."""
    return yaml.dump(
        to_plain(message, style),
        Dumper=DUMPER,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=style.flow,
        width=2**31 - 1,
    )


def to_plain(value: Any, style: Style, kind: str = "") -> Any:
    """Return a field's value in what YAML knows; `kind` is the field's declared type."""
    if hasattr(value, "get_fields_and_field_types"):
        kinds = value.get_fields_and_field_types()
        return {name: to_plain(getattr(value, name), style, kinds[name]) for name in kinds}
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        if not style.strings:
            return f"<string length: <{len(value)}>>"
        long = style.length is not None and len(value) > style.length
        return value[: style.length] + "..." if long else value
    if isinstance(value, bool | int | float):
        return value
    if not style.arrays and (match := SEQUENCE.fullmatch(kind)):
        element = (match["element"] or match["item"]).replace("/", "/msg/")
        if match["size"]:
            return f"<array type: {element}[{match['size']}]>"
        bound = f"[{match['bound']}]" if match["bound"] else ""
        return f"<sequence type: {element}{bound}, length: {len(value)}>"
    items = value.tolist() if hasattr(value, "tolist") else value
    plain = [to_plain(item, style) for item in items[: style.length]]
    return plain if len(plain) == len(items) else [*plain, "..."]


def parse(text: str) -> dict[str, Any]:
    """Read the fields of a message from YAML.

    Raises:
        ValueError: it is not YAML, or not a dictionary.
    """
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"The passed value is not YAML: {' '.join(str(error).split())}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ValueError("The passed value needs to be a dictionary in YAML format")
    return values


def fill(message: Any, values: dict[str, Any], path: str = "") -> list[Any]:
    """Set fields of a message, and return the stamps that were given as `now` or `auto`.

    Raises:
        ValueError: a field does not exist, or does not take its value; the message says which.
    """
    if not isinstance(values, dict):
        raise ValueError(f"Failed to populate field: '{path}' takes a dictionary, not {values!r}")
    message._check_fields = True
    kinds = message.get_fields_and_field_types()
    stamps = []
    for name, value in values.items():
        full = f"{path}.{name}" if path else name
        if name not in kinds:
            fields = ", ".join(kinds)
            raise ValueError(f"Failed to populate field: no field '{full}'; there are: {fields}")
        current, kind = getattr(message, name), kinds[name]
        if (kind, value) == ("builtin_interfaces/Time", "now"):
            stamps.append(current)
        elif (kind, value) == ("std_msgs/Header", "auto"):
            stamps.append(current.stamp)
        elif hasattr(current, "get_fields_and_field_types"):
            stamps += fill(current, value, full)
        else:
            stamps += _set(message, name, kind, value, full)
    return stamps


def fill_at_once(message: Any, values: dict[str, Any]) -> None:
    """Set fields of a request or a goal, in which `now` and `auto` stand for nothing.

    Raises:
        ValueError: as `fill`, or one of the two was given.
    """
    if fill(message, values):
        raise ValueError("Failed to populate field: only `topic pub` knows `now` and `auto`")


def _set(message: Any, name: str, kind: str, value: Any, path: str) -> list[Any]:
    match, stamps = SEQUENCE.fullmatch(kind), []
    element = (match["element"] or match["item"]) if match else kind
    if match and not isinstance(value, list | bytes):
        raise ValueError(f"Failed to populate field: '{path}' takes {kind}, not {value!r}")
    if "/" in element:
        items = [get_type(element, "msg")() for _ in value]
        for i, (item, fields) in enumerate(zip(items, value, strict=True)):
            stamps += fill(item, fields, f"{path}[{i}]")
        value = items
    try:
        if "/" not in element:
            value = [_scalar(element, v) for v in value] if match else _scalar(kind, value)
        setattr(message, name, value)
    except (AssertionError, TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Failed to populate field: '{path}' takes {kind}, not {value!r}"
        ) from None
    return stamps


def _scalar(kind: str, value: Any) -> Any:
    if isinstance(value, list | dict) or value is None:
        raise TypeError
    if kind.startswith(("string", "wstring")):
        return str(value)
    if kind == "octet":
        return bytes([value]) if isinstance(value, int) else value.encode("latin-1")
    if kind == "boolean":
        if value not in (True, False):
            raise ValueError
        return bool(value)
    if kind in ("float", "double"):
        return float(value)
    if int(value) != float(value):
        raise ValueError
    return int(value)


def now(node: Any, stamps: list[Any]) -> None:
    """Set the stamps to the node's time."""
    time = node.get_clock().now().to_msg()
    for stamp in stamps:
        stamp.sec, stamp.nanosec = time.sec, time.nanosec
