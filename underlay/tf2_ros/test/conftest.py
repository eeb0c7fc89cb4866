import socket

import pytest


@pytest.fixture
def domain():
    """A ROS_DOMAIN_ID of its own, claimed as upstream's domain_coordinator does it."""
    for number in range(1, 101):
        with socket.socket() as claim:
            try:
                claim.bind(("", 32768 + number))
            except OSError:
                continue
            yield number
            return
