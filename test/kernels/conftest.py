import pytest
from from_python import IS_PLAIN

from basis_ik.solvers import own_starts


@pytest.fixture(scope="session", autouse=IS_PLAIN)
def _few_starts_are_tried():
    """As plain Python the search for a chain's own starts, 8192 descents, takes six seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_starts, "CANDIDATES", own_starts.KEPT)
        patch.setattr(own_starts, "TARGETS", 4)
        yield
