"""Every test run has a ROS domain of its own: it hears nothing outside and disturbs nothing."""

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

for folder in ("ros", "config"):
    sys.path.insert(0, str(Path(__file__).parent / "test" / folder))


def claim_domain():
    """Claim a domain as upstream's domain_coordinator does: by a port, as long as it is open."""
    for number in range(1, 101):
        claim = socket.socket()
        try:
            claim.bind(("", 32768 + number))
        except OSError:
            claim.close()
            continue
        return number, claim
    raise RuntimeError("all of the ROS domains 1 to 100 are taken")


# A run that was started in the background ignores SIGINT, and so would every process under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Not in a fixture: launch tests are collected as items that have none.
DOMAIN, _CLAIM = claim_domain()
os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


@pytest.fixture(scope="session")
def domain():
    """The ROS domain of this test run."""
    return DOMAIN


@pytest.fixture
def own_domain():
    """A ROS domain for one test alone."""
    number, claim = claim_domain()
    yield number
    claim.close()
