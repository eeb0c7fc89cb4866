# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

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
