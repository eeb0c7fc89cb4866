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

"""The root of all exceptions of basis_ik.

Exceptions report faults of construction: a malformed URDF, a chain that does not exist, a bad
argument. Outcomes of a control cycle are status values instead.
"""


class BasisIkError(Exception):
    """Base class of all basis_ik exceptions; its text is one line with the fault and a remedy.

    Those about what a caller gave are ValueErrors too.
    """


class SolveArgumentError(BasisIkError, ValueError):
    """An argument of a solver has a wrong type, shape or range.

    Attributes:
        argument: Its name.
        value: What was given.
    """

    def __init__(self, argument: str, value: object, required: str) -> None:
        given = " ".join(repr(value).split())  # an array's has several lines
        super().__init__(f"{argument} must be {required}, got {given}")
        self.argument = argument
        self.value = value
