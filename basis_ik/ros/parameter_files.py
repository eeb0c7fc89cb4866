"""Which parameter file a key came from: rcl merges them all before anybody can ask."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml


def file_of(key: str, arguments: Sequence[str]) -> str | None:
    """Return the last given parameter file that holds a key, or None.

    Args:
        key: A parameter's full name, `left.tip_link`.
        arguments: Of the command line.
    """
    words = list(arguments)
    files = [value for word, value in itertools.pairwise(words) if word == "--params-file"]
    return next((file for file in reversed(files) if key in _keys(file)), None)


def _keys(file: str) -> set[str]:
    try:
        content = yaml.safe_load(Path(file).read_text())
    except (OSError, yaml.YAMLError):
        return set()
    return set(_below_parameters(content))


def _below_parameters(content: Any) -> list[str]:
    """Return the names of all parameters of all nodes in a file's content."""
    if not isinstance(content, dict):
        return []
    found = []
    for name, value in content.items():
        found += _flat(value) if name == "ros__parameters" else _below_parameters(value)
    return found


def _flat(content: Any) -> list[str]:
    if not isinstance(content, dict):
        return []
    names = []
    for name, value in content.items():
        names += [f"{name}.{below}" for below in _flat(value)] or [str(name)]
    return names
