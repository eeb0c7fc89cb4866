# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Faults of the machine: no cache, no room on the disk, hours of work."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from motions import FAR, NEAR, set_off
from rig import own_rig

REPOSITORY = Path(__file__).parents[2]
TAKEN_OUT = "rigid_kernel.*"  # kernels that everything needs, and which compile in seconds


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of compiled kernels of which the test may damage some."""
    copy = tmp_path / "cache"
    shutil.copytree(os.environ["NUMBA_CACHE_DIR"], copy)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(copy))
    return copy


@pytest.mark.parametrize("kind", ["cannot be written", "is corrupt"])
def test_row_77_the_cache_of_kernels(own_domain, cache, observed, kind):
    damaged = [path for path in cache.rglob(TAKEN_OUT) if path.suffix in (".nbi", ".nbc")]
    assert damaged
    for path in damaged:
        if kind == "is corrupt":
            os.truncate(path, 40)
        else:
            path.unlink()
    if kind == "cannot be written":
        for lock in list(cache.rglob("lock")):  # of kernels of other text, too
            lock.unlink()
            lock.mkdir()  # what not even root can open
    with own_rig(own_domain) as rig:
        assert f"the kernel cache in {cache}" in rig.log
        assert rig.log.count(kind) == 1, "it is said once, not for each kernel"
        rig.send("base_link", NEAR)
        rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")
    observed(f"a warning that the kernel cache {kind}; it starts without and reaches its target")


def test_row_79_the_disk_is_full(own_domain, tmp_path, observed):
    """As a limit of the process's own files: what it writes then fails as on a full disk."""
    file = tmp_path / "recording.mcap"
    with own_rig(own_domain, node=("-p", f"record:={file}")) as rig:
        set_off(rig)
        full = os.fstat(rig.process.output.fileno()).st_size
        _, most = resource.prlimit(rig.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(rig.process.pid, resource.RLIMIT_FSIZE, (1, most))
        try:
            for target in (NEAR, FAR, NEAR):
                rig.send("nowhere", target, stamped=False)  # which it would log
                rig.send("base_link", target)
                rig.wait(lambda target=target: rig.at(target, 1e-3), "the arm is there")
            assert os.fstat(rig.process.output.fileno()).st_size == full, "nothing was written"
        finally:
            resource.prlimit(rig.process.pid, resource.RLIMIT_FSIZE, (most, most))
        rig.send("base_link", FAR)
        rig.wait(lambda: rig.at(FAR, 1e-3), "the arm is there")
    observed("neither log nor recording can be written: three targets reached")


@pytest.mark.long
def test_row_80_hours_of_work(tmp_path, observed):
    """Two minutes of what `make soak` does in ten, or in hours."""
    file = tmp_path / "soak.json"
    program = str(REPOSITORY / "benchmark" / "soak.py")
    words = ("--minutes", "2", "--seed", "7", "--json", str(file))
    fault = tmp_path / "fault.txt"
    subprocess.run([sys.executable, program, *words, "--fault", str(fault)], check=True)
    reported = json.loads(file.read_text())
    grown = reported["memory_at_end_mb"] - reported["memory_after_first_minute_mb"]
    ages = [reported["command_age_ms"][part]["p99"] for part in ("first_minute", "last_minute")]
    assert grown < 2.0
    rows = reported["rows"]
    waits = [sum(row["waited_s"] for row in half) for half in (rows[:60], rows[60:])]
    # Where the node had to wait longer for the processor, ages tell nothing of the node.
    assert ages[1] < 2.0 * ages[0] + 1.0 or waits[1] > 1.5 * waits[0], waits
    observed(
        f"{sum(reported['deeds'].values())} deeds in 2 minutes: {grown:+.1f} MB in the second; "
        f"commands {ages[0]:.1f} ms old in the first (p99), {ages[1]:.1f} ms in the second"
    )
