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
