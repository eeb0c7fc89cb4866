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

"""Clear errors for what upstream has and this underlay has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class NotInUnderlayError(ImportError):
    """A name of the upstream package that this underlay does not provide.

    Not an AttributeError: `from x import y` would replace that by a message that says less.
    """


def _sentence(what: str, package: str) -> str:
    return f"{what} is part of upstream {package}, but not of this underlay"


def upstream_names(module: str, names: str) -> Callable[[str], Any]:
    """Make the `__getattr__` of a module that lacks some of upstream's names.

    Args:
        module: The dotted name of the module.
        names: Upstream's names that are missing here, separated by blanks.

    Returns:
        A function that raises NotInUnderlayError for those names, AttributeError for all others.
    """
    missing = frozenset(names.split())

    def module_getattr(name: str) -> Any:
        if name in missing:
            raise NotInUnderlayError(_sentence(f"{module}.{name}", module.partition(".")[0]))
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return module_getattr


def refuse_arguments(owner: object, given: Iterable[str], upstream: str) -> None:
    """Refuse left-over keyword arguments, telling upstream's from unknown ones.

    Args:
        owner: The object under construction.
        given: Names of the arguments that nothing has consumed.
        upstream: Upstream's arguments that are missing here, separated by blanks.

    Raises:
        NotImplementedError: An argument that upstream has.
        TypeError: An argument that nobody has.
    """
    name, package = type(owner).__name__, type(owner).__module__.partition(".")[0]
    for argument in given:
        if argument in upstream.split():
            raise NotImplementedError(_sentence(f"{name}({argument}=...)", package))
        raise TypeError(f"{name}() got an unexpected keyword argument '{argument}'")
