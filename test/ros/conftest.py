import socket
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def domain():
    """A ROS domain of our own, claimed by a port as upstream's domain_coordinator does it."""
    for number in range(1, 101):
        with socket.socket() as claim:
            try:
                claim.bind(("", 32768 + number))
            except OSError:
                continue
            yield number
            return
    raise RuntimeError("all of the ROS domains 1 to 100 are taken")
