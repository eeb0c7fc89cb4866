# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every test run has a ROS domain of its own: it hears nothing outside and disturbs nothing."""

import collections
import gc
import itertools
import os
import signal
import socket
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

LONGEST_ID = 200

for folder in (
    "ros",
    "extras",
    "extras/web_view",
    "config",
    "collision",
    "arm",
    "numerics",
    "simulation",
    "search",
    "transforms",
    "view",
    "faults",
    "fuzz",
    "bench",
):
    sys.path.insert(0, str(Path(__file__).parent / "test" / folder))


# ROS 2's linters, where they are installed; elsewhere ruff and the tests hold the code to the same.
collect_ignore = [] if find_spec("ament_flake8") else ["test/lint"]
# Without deadlines, for machines under load; derandomised, so that a run can be repeated. As plain
# Python kernels are a hundred times slower, and it is bounds and types that are checked there.
settings.register_profile(
    "basis_ik",
    deadline=None,
    derandomize=True,
    max_examples=5 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 60,
)
settings.load_profile("basis_ik")


LEASE = 15.0  # s; for ten by default DDS keeps a node that was killed
# Each process begins elsewhere: not in the domains of the one before it.
_numbers = itertools.cycle((os.getpid() + n) % 100 + 1 for n in range(100))
_left = collections.deque()  # (time, claim) of the domains that may still have nodes in them


def leave_domain(claim):
    """Give a domain back once no node of before can be seen in it."""
    _left.append((time.monotonic() + LEASE, claim))


def claim_domain():
    """Claim a domain as upstream's domain_coordinator does: by a port, as long as it is open.

    Where all are taken, the one that was left first is waited for.
    """
    while True:
        while _left and _left[0][0] < time.monotonic():
            _left.popleft()[1].close()
        for number in itertools.islice(_numbers, 100):
            claim = socket.socket()
            try:
                claim.bind(("", 32768 + number))
            except OSError:
                claim.close()
                continue
            return number, claim
        if not _left:
            raise RuntimeError("all of the ROS domains 1 to 100 are taken")
        time.sleep(max(_left[0][0] - time.monotonic(), 0.0))


# A run that was started in the background ignores SIGINT, and so would every process under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Progress:
    """Shows how far the tests are, and at once what fails; for test/run.sh, whose lanes are silent.

    Args:
        path: The file to which lines are added.
        title: What the tests are about.
    """

    SHARE = 0.2  # of the tests between two lines
    MODES = "NUMBA_DISABLE_JIT", "BASIS_IK_PLAIN_NUMBA"

    def __init__(self, path, title):
        self._path, self._title = path, title
        self._done = self._total = 0

    def _tell(self, line):
        with open(self._path, "a") as file:
            file.write(f"{line}\n")

    def pytest_collection_finish(self, session):
        """Count the tests."""
        self._total = len(session.items)

    def pytest_runtest_logreport(self, report):
        """Say what has failed, and how it is run alone."""
        if report.failed:
            words = "".join(f"{mode}=1 " for mode in self.MODES if os.environ.get(mode) == "1")
            self._tell(f"""failed: {words}make test ARGS="'{report.nodeid}'\"""")

    def pytest_runtest_logfinish(self):
        """Say now and then how many are done."""
        self._done += 1
        if self._done % max(int(self.SHARE * self._total), 1) == 0:
            self._tell(f"{self._title}: {self._done} of {self._total}")


def pytest_configure(config):
    """Show the progress where it is asked for."""
    path = os.environ.pop("BASIS_IK_TEST_PROGRESS", "")  # not for pytest in a test
    if path:
        config.pluginmanager.register(Progress(path, os.environ["BASIS_IK_TEST_TITLE"]))


def pytest_collection_finish():
    """Leave what is imported and collected to itself: no garbage collection looks through it."""
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Keep ids short: pytest puts them into the environment of every process under test."""
    long = [item.nodeid[:LONGEST_ID] for item in items if len(item.nodeid) > LONGEST_ID]
    if long:
        raise pytest.UsageError("give shorter ids to these tests (`ids=`): " + ", ".join(long))


# Not in a fixture: launch tests are collected as items that have none.
DOMAIN, _CLAIM = claim_domain()
os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


@pytest.fixture(autouse=True)
def handlers_as_before():
    """Programs that a test runs in this process leave their signal handlers behind."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def domain():
    """The ROS domain of this test run."""
    return DOMAIN


@pytest.fixture(scope="module")
def module_domain():
    """A ROS domain for one module alone."""
    number, claim = claim_domain()
    yield number
    leave_domain(claim)


@pytest.fixture
def own_domain():
    """A ROS domain for one test alone."""
    number, claim = claim_domain()
    yield number
    leave_domain(claim)


@pytest.fixture(scope="session")
def ruckig():
    """What the motion profiles are compared with; ROS has the C++ library alone."""
    try:
        import ruckig
    except ImportError:
        pytest.fail("ruckig's Python binding is missing. Get it:  python3 -m pip install ruckig")
    return ruckig
