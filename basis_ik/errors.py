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

"""The root of every exception that basis_ik raises.

Exceptions are for faults of construction: a malformed URDF, a chain that does not exist, a bad
argument. What can happen on any cycle of a control loop is a status value instead.
"""


class BasisIkError(Exception):
    """Base class of all basis_ik exceptions; its text is one line that names thing and remedy."""


class SolveArgumentError(BasisIkError):
    """An argument that no solve can start from.

    Attributes:
        argument: Its name.
        value: What was given.
    """

    def __init__(self, argument: str, value: object, wanted: str) -> None:
        given = " ".join(repr(value).split())  # an array's is more than one line
        super().__init__(f"{argument} must be {wanted}, got {given}")
        self.argument = argument
        self.value = value
