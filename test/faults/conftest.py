# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Collects the results of the tests `test_row_NN_...` by row of the catalogue, for the table."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from catalogue import ROWS
from table import Outcome, lines, markdown, not_passed

FOLDER = Path(__file__).parent
ROW = re.compile(r"test_row_(\d+)_")
OUTCOMES = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption(
        "--faults-table",
        metavar="FILE",
        help="write the table of faults to this file; the run fails where a row has not passed",
    )


def pytest_ignore_collect(collection_path, config):
    """Leave out the slow rows with processes unless the command line names faults."""
    named = any("faults" in word for word in config.args)
    return True if collection_path.name.startswith("test_process_") and not named else None


@pytest.fixture
def observed(request):
    """Add an observation to the table: `observed("REJECT(STALE)")`."""
    return lambda text: request.node.user_properties.append(("observed", text))


@pytest.fixture(scope="module")
def shared_rig(module_domain):
    """The rig of a module's rows."""
    from rig import SharedRig  # the pure rows do without ROS

    shared_rig = SharedRig(module_domain)
    yield shared_rig
    shared_rig.close()


@pytest.fixture
def rig(shared_rig):
    """A node and a simulated arm at rest at home; afterwards all commands must have been safe."""
    with shared_rig.use() as rig:
        yield rig


@pytest.fixture
def robot():
    """A robot on the bench, at home; afterwards it must follow a good target, and be safe."""
    from bench_arm import robot_of

    with robot_of() as robot:
        yield robot


def pytest_collection_modifyitems(items):
    """Refuse a test without a row, and a second test of a row."""
    tests = defaultdict(set)
    for item in items:
        found = ROW.match(item.name)
        if found and item.path.parent == FOLDER:
            tests[int(found[1])].add(f"{item.path.name}::{item.originalname}")
    unknown = [name for number in tests.keys() - ROWS for name in tests[number]]
    doubles = [name for names in tests.values() if len(names) > 1 for name in names]
    if unknown or doubles:
        raise pytest.UsageError(
            f"each row has one test; of no row: {sorted(unknown)}, too many: {sorted(doubles)}"
        )


def pytest_configure(config):
    config.stash[OUTCOMES] = defaultdict(Outcome)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    made = yield
    if found := ROW.match(item.name):
        item.config.stash[OUTCOMES][int(found[1])].add(made.get_result())


def pytest_sessionfinish(session):
    """Write the table; where a row has not passed, neither has the run."""
    file = session.config.getoption("--faults-table", None)
    if file:
        outcomes = session.config.stash[OUTCOMES]
        Path(file).write_text(markdown(outcomes))
        if not_passed(outcomes) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--faults-table", None):
        outcomes = config.stash[OUTCOMES]
        terminalreporter.section("faults")
        for line in lines(outcomes):
            terminalreporter.line(" | ".join(line))
        failed = not_passed(outcomes)
        seconds = sum(outcome.seconds for outcome in outcomes.values())
        passed = len(ROWS) - len(failed)
        terminalreporter.line(f"{passed} of {len(ROWS)} rows passed in {seconds:.0f} s")
        if failed:
            terminalreporter.line(f"not passed: {', '.join(map(str, failed))}")
