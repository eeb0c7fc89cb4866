# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command: what it shows, and how its processes share the work, fail and end."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from basis_ik import warm_up, warm_up_command
from basis_ik.__main__ import main
from basis_ik.warm_up import Step
from basis_ik.warm_up_command import KilledError, compile_here


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def pretend(monkeypatch):
    """Simulate the compilation of three kernels of four, until released."""
    go_on = threading.Event()
    tell = []
    monkeypatch.setattr(warm_up, "when_compiling", tell.append)
    monkeypatch.setattr(warm_up_command, "count_ready", lambda: (3, 4))

    def compile_something():
        tell[0]()
        assert go_on.wait(60.0)

    return go_on, compile_something


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (Terminal(), "[######################        ] 3 of 4 kernels"),
        (io.StringIO(), "compiling, 3 of 4 kernels: slow one\n"),
    ],
)
def test_progress_is_shown_during_compilation(pretend, out, words):
    go_on, compile_something = pretend
    write = out.write

    def watched(text):
        if "3 of 4" in text:
            go_on.set()
        return write(text)

    out.write = watched
    compile_here([Step("slow one", compile_something)], out)
    assert words in out.getvalue()
    assert out.getvalue().count("3 of 4") == 1 or out.isatty()
    assert "compiled in " in out.getvalue().splitlines()[-1]
    assert out.getvalue().endswith(" s: slow one\n")


def test_a_full_cache_is_reported():
    out = Terminal()
    compile_here([Step("quick one", lambda: None)], out)
    assert out.getvalue() == "nothing to compile: all kernels are in the cache\n"


FAKE = """
import os, sys, time
from pathlib import Path
from basis_ik.warm_up import Step
from basis_ik.numerics.jit import jit
from basis_ik.warm_up_command import compile_in_processes, is_cached

HERE = Path(__file__).parent

@jit
def double(x):
    return 2 * x

def touch(name):
    (HERE / f"{name}.{os.getpid()}").touch()

def meet(name):
    touch(name)
    while len(list(HERE.glob("met-*"))) < 2:
        time.sleep(0.01)

def sharing():
    return [Step("met-a", lambda: meet("met-a")), Step("met-b", lambda: meet("met-b"))]

def failing():
    return [Step("division", lambda: 1 // 0), Step("long", lambda: time.sleep(600.0))]

def killed():
    return [Step("kill", lambda: os.kill(os.getpid(), 9)), Step("long", lambda: time.sleep(600.0))]

def endless():
    def sleep(name):
        touch(name)
        time.sleep(600.0)
    return [Step(name, lambda name=name: sleep(name)) for name in ("endless-a", "endless-b")]

def ending():
    return [*endless()[:1], Step("endless-b", lambda: touch("endless-b"))]

def adding():
    return [Step("float", lambda: double(1.0)), Step("int", lambda: double(1))]

def look():
    print(is_cached(adding()), len(double.overloads))

if __name__ == "__main__" and sys.argv[1] == "look":
    look()
elif __name__ == "__main__":
    try:
        compile_in_processes(globals()[sys.argv[1]], 2, sys.stdout)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture
def start(tmp_path):
    """Start a program that runs the named steps in two processes; always end it."""
    script = tmp_path / "script.py"
    script.write_text(FAKE)
    started = []

    def start(name):
        process = subprocess.Popen(
            [sys.executable, str(script), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={
                **os.environ,
                "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
                "NUMBA_DISABLE_JIT": "0",
            },
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_two_processes_share_the_steps(start, tmp_path):
    process = start("sharing")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines()[-1].endswith(" s: met-a, met-b")
    assert len({path.suffix for path in tmp_path.glob("met-*")}) == 2


def test_an_exception_in_a_process_ends_all(start):
    process = start("failing")
    _, err = process.communicate(timeout=120)  # and not after the other step's ten minutes
    assert process.returncode == 1
    assert "ZeroDivisionError" in err


def test_a_killed_process_is_reported(start):
    process = start("killed")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert err.splitlines()[-1] == f"basis_ik.warm_up_command.KilledError: {KilledError()}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_remains_after_the_command(start, tmp_path, number):
    process = start("endless")
    pids = wait_for_steps(process, tmp_path)
    os.kill(process.pid, number)
    process.wait(120)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    while any(is_running(pid) for pid in pids):  # for ten minutes, if they are not ended
        time.sleep(0.01)


def test_only_the_parent_handles_ctrl_c(start, tmp_path):
    process = start("ending")
    pids = wait_for_steps(process, tmp_path)
    time.sleep(0.5)  # one of them has nothing to do any more
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, "")
    while any(is_running(pid) for pid in pids):
        time.sleep(0.01)


def wait_for_steps(process, folder):
    while len(pids := [path.suffix[1:] for path in folder.glob("endless-*")]) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    return pids


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_checking_the_cache_compiles_nothing(start):
    assert start("look").communicate(timeout=120) == ("False 0\n", "")
    assert start("adding").wait(120) == 0
    assert start("look").communicate(timeout=120) == ("True 2\n", "")


@pytest.mark.parametrize(
    ("processors", "node", "cached", "expected"),
    [
        (1, False, False, "here"),
        (1, False, True, "here"),
        (2, False, False, (warm_up.all_steps, 2)),
        (2, False, True, None),
        (64, False, False, (warm_up.all_steps, 4)),
        (1, True, False, "here"),
        (2, True, False, "here"),
        (4, True, False, (warm_up.node_steps, 2)),
    ],
)
def test_processes_are_started_only_for_several_workers(
    monkeypatch, processors, node, cached, expected
):
    """The node's kernels leave half of the processors to the rest of set-up."""
    done = []
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(warm_up_command, "is_cached", lambda steps: cached)
    monkeypatch.setattr(warm_up_command, "compile_here", lambda steps, out: done.append("here"))
    monkeypatch.setattr(
        warm_up_command,
        "compile_in_processes",
        lambda make, workers, out: done.append((make, workers)),
    )
    warm_up_command.run(io.StringIO(), node=node)
    assert done == ([] if expected is None else [expected])


def test_the_list_of_largest_steps_is_valid():
    names = {step.name for step in warm_up.all_steps()}
    assert set(warm_up_command.LONGEST_STEPS) <= names


def test_the_command_takes_the_nodes_kernels_alone(monkeypatch):
    steps = []
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(warm_up_command, "compile_here", lambda given, out: steps.extend(given))
    for words, make in (["--node"], warm_up.node_steps), ([], warm_up.all_steps):
        steps.clear()
        assert main(["warm-up", *words]) == 0
        assert [step.name for step in steps] == [step.name for step in make()]


def test_the_command_compiles_and_reports_it():
    done = subprocess.run(
        [sys.executable, "-m", "basis_ik", "warm-up"],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stdout.splitlines()[-1].startswith(("compiled in ", "nothing to compile"))
    assert done.stderr == ""
