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

"""Where launch descriptions come from."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from . import logging
from ._base import SomeSubstitutionsType
from ._upstream import upstream_names
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

_OTHER_FORMATS = {"xml": "launch_xml", "yaml": "launch_yaml", "yml": "launch_yaml"}


class InvalidLaunchFileError(Exception):
    """A launch file that cannot be loaded."""


class InvalidPythonLaunchFileError(InvalidLaunchFileError):
    """A Python file without `generate_launch_description`."""


def get_launch_description_from_python_launch_file(
    python_launch_file_path: str,
) -> LaunchDescription:
    """Execute a Python launch file and return what its `generate_launch_description` returns.

    Raises:
        InvalidPythonLaunchFileError: It has no such function.
    """
    loader = SourceFileLoader("python_launch_file", python_launch_file_path)
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None  # a source file loader always has one
    module = module_from_spec(spec)
    loader.exec_module(module)
    if not hasattr(module, "generate_launch_description"):
        raise InvalidPythonLaunchFileError(
            f"launch file at '{python_launch_file_path}' does not contain the required function "
            "'generate_launch_description()'"
        )
    description: LaunchDescription = module.generate_launch_description()
    return description


def get_launch_description_from_any_launch_file(launch_file_path: str) -> LaunchDescription:
    """Load a launch file of any format that is available; here that is Python.

    Raises:
        FileNotFoundError: There is no such file.
        InvalidLaunchFileError: The file is of another format, or its code raised.
    """
    if not Path(launch_file_path).is_file():
        raise FileNotFoundError(f"no launch file at '{launch_file_path}'")
    extension = Path(launch_file_path).suffix[1:]
    if extension in _OTHER_FORMATS:
        raise InvalidLaunchFileError(
            f"'{launch_file_path}' needs {_OTHER_FORMATS[extension]}, which is part of upstream "
            "launch, but not of this underlay: only Python launch files can be used"
        )
    try:
        return get_launch_description_from_python_launch_file(launch_file_path)
    except Exception as error:
        raise InvalidLaunchFileError(
            f"Caught exception when trying to load file of format [{extension}]: "
            f"{type(error).__name__}: {error}"
        ) from error


class LaunchDescriptionSource:
    """A launch description, given or, in subclasses, loaded from a location."""

    def __init__(
        self,
        launch_description: LaunchDescription | None = None,
        location: SomeSubstitutionsType = "",
        method: str = "unspecified mechanism from a script",
    ) -> None:
        self.__launch_description = launch_description
        self.__location = normalize_to_list_of_substitutions(location)
        self.__expanded_location: str | None = None
        self.method = method

    @property
    def location(self) -> str:
        """The path, once it is known; until then the substitutions that make it."""
        if self.__expanded_location is not None:
            return self.__expanded_location
        return " + ".join(sub.describe() for sub in self.__location)

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Return the description if its location needs nothing that only a launch knows."""
        try:
            return self.get_launch_description(LaunchContext())
        except Exception as error:  # a launch file is free to raise anything
            logging.get_logger().debug(f"cannot look into {self.location} yet: {error}")
            return None

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return the description, loaded at the first call."""
        if self.__launch_description is None:
            self.__expanded_location = perform_substitutions(context, self.__location)
            self.__launch_description = self._get_launch_description(self.__expanded_location)
        return self.__launch_description

    def _get_launch_description(self, location: str) -> LaunchDescription:
        raise NotImplementedError(f"{type(self).__name__} does not say how it loads a file")


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A Python launch file."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path, "interpreted python launch file")

    def _get_launch_description(self, location: str) -> LaunchDescription:
        return get_launch_description_from_python_launch_file(location)


class AnyLaunchDescriptionSource(LaunchDescriptionSource):
    """A launch file whose extension tells its format."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path, "any launch file")

    def _get_launch_description(self, location: str) -> LaunchDescription:
        return get_launch_description_from_any_launch_file(location)


__getattr__ = upstream_names(
    __name__,
    "FrontendLaunchDescriptionSource get_launch_description_from_frontend_launch_file "
    "load_python_launch_file_as_module",
)
