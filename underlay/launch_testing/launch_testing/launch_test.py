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

"""The `launch_test` command."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from launch import LaunchDescription

from .loader import LoadTestsFromPythonModule
from .test_runner import LaunchTestRunner


def _load(path: str) -> ModuleType:
    name = os.path.basename(path).removesuffix(".py").replace(".", "_")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise FileNotFoundError(f"Test file '{path}' does not exist or is no Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "generate_test_description"):
        raise AttributeError(f"Test file '{path}' has no generate_test_description function")
    return module


def _print_arguments(description: LaunchDescription) -> None:
    print("Arguments (pass arguments as '<name>:=<value>'):")
    arguments = description.get_launch_arguments()
    for argument in arguments:
        print(f"\n    '{argument.name}':\n        {argument.description}")
        if argument.default_value is not None:
            default = " + ".join(sub.describe() for sub in argument.default_value)
            print(f"        (default: {default})")
    if not arguments:
        print("\n  No arguments.")


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not (name and separator):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form <name>:=<value>")
    return name, value


def main(argv: list[str] | None = None) -> int:
    """Run the tests of a file; return 0 if all passed."""
    parser = argparse.ArgumentParser(
        prog="launch_test",
        description="Launch integration testing tool. (For JUnit XML, run the file by pytest.)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="Run with verbose output")
    parser.add_argument(
        "-s",
        "--show-args",
        "--show-arguments",
        action="store_true",
        help="Show arguments that may be given to the launch test",
    )
    parser.add_argument("test_file")
    parser.add_argument(
        "launch_arguments", nargs="*", type=_pair, help="Arguments in '<name>:=<value>' format"
    )
    args = parser.parse_args(argv)
    try:
        runs = LoadTestsFromPythonModule(_load(args.test_file), name=args.test_file)
        if args.show_args:
            _print_arguments(runs[0].normalized_test_description()[0])
            return 0
        results = LaunchTestRunner(runs, args.launch_arguments, args.verbose).run()
    except Exception as error:  # whatever the file's own code raises
        parser.error(f"{type(error).__name__}: {error}")
    for result in results:
        if not result.wasSuccessful():
            print(f"\n{result.report()}")
    failed = sum(not result.wasSuccessful() for result in results)
    tests = sum(result.tests_run for result in results)
    print(f"\n{tests} tests in {len(results)} launches; {failed} launches failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
