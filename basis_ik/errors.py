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

"""The base class of all exceptions that basis_ik raises.

Exceptions are for faults of construction: a malformed URDF, a chain that does not exist, an invalid
argument. Outcomes of a control loop's cycle are status values.
"""


class BasisIkError(Exception):
    """Base class of all basis_ik exceptions; the message is one line with fault and remedy."""


class SolveArgumentError(BasisIkError):
    """A solver's argument is invalid.

    Attributes:
        argument: Its name.
        value: The given value.
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        given = " ".join(repr(value).split())  # arrays have several lines
        super().__init__(f"{argument} must be {expected}, got {given}")
        self.argument = argument
        self.value = value
