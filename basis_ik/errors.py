"""The root of every exception that basis_ik raises.

Exceptions are for faults of construction: a malformed URDF, a chain that does not exist, a bad
argument. What can happen on any cycle of a control loop is a status value instead.
"""


class BasisIkError(Exception):
    """Base class of all basis_ik exceptions; its text is one line that names thing and remedy."""
