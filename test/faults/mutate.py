# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Takes the guards out one by one, and looks which tests fall: `make faults-mutate`.

The package is copied to a temporary tree. The kernels are linked there, loaded once, and shared by
the processes that each try one mutation. Of a kernel that is mutated itself that process loads the
module anew; kernels that have it inside keep it as it was.
Words on the command line choose mutations by name, file or row; only a run of all of them writes
the page.
"""

import contextlib
import importlib
import io
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
from catalogue import ROWS
from mutations import MUTATIONS

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "faults_mutations.md"
PACKAGE = REPOSITORY / "basis_ik"
KERNELS = {*PACKAGE.glob("numerics/*.py"), *PACKAGE.rglob("*_kernel.py")}
COPIED = ("basis_ik", "test")
LINKED = ("conftest.py", "docs", "urdf", "config", "launch", "pyproject.toml", "package.xml")
PATIENCE = 120.0, 400.0  # s for pure tests, and for those with processes; then they have fallen
LONGEST = 3600.0  # s for all tests together while nothing is missing
ENDLESS = -1  # exit status of tests that do not end
SOUNDINGS = 3  # of the tests as things are
FAILED = re.compile(r"^(?:FAILED|ERROR) (test/[\w/]+\.py::\w+)", re.MULTILINE)
ROW = re.compile(r"test_row_(\d+)_")

HEAD = """# Mutations of guards

Each mutation breaks one guard or threshold that a row of the catalogue of faults depends on; the
tests of the named rows must then fail. `make faults-mutate` tries all mutations and writes this
file.

| mutation | file | failing tests |
| --- | --- | --- |
"""


class Tree:
    """A copy of the package in which one guard at a time is missing.

    Args:
        folder: Where it is to be, empty.
    """

    def __init__(self, folder):
        self._folder = folder
        for name in COPIED:
            shutil.copytree(
                REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in LINKED:
            (folder / name).symlink_to(REPOSITORY / name)
        for source in KERNELS:
            self._link(source)
        os.chdir(folder)
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ.update(PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1")
        sys.path[:0] = [str(folder), str(folder / "test" / "faults")]
        sys.dont_write_bytecode = True
        _load_kernels(folder)

    def _link(self, source):
        file = self._folder / source.relative_to(REPOSITORY)
        file.unlink()
        file.symlink_to(source)

    def run(self, tests, *, patience, anew=(), shown=False):
        """Run tests here, in a process of their own; return pytest's exit status and its output.

        Args:
            tests: What pytest is given.
            patience: For how long [s].
            anew: Modules with kernels to load anew.
            shown: Whether to print a line every minute.
        """
        log = self._folder / "log"
        words = ["-q", "--tb=line", "-rfE", "-p", "no:cacheprovider", *tests]
        child = os.fork()
        if child == 0:
            _in_child(log, words, anew)
        ended, status, begin, minutes = 0, ENDLESS, time.monotonic(), 0
        while not ended and time.monotonic() < begin + patience:
            time.sleep(0.05)
            ended, status = os.waitpid(child, os.WNOHANG)
            if shown and time.monotonic() - begin > 60.0 * (minutes + 1):
                minutes += 1
                print(f"  {minutes} min", flush=True)
        if not ended:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return ENDLESS, "they do not end"
        return os.waitstatus_to_exitcode(status), log.read_text(errors="replace")

    def try_out(self, mutation):
        """Return what has fallen of what must fall by a mutation, and pytest's output."""
        file, anew = self._folder / "basis_ik" / mutation.file, []
        whole = file.read_text()
        if file.is_symlink():
            file.unlink()
            anew = [f"basis_ik.{mutation.file.removesuffix('.py').replace('/', '.')}"]
        file.write_text(whole.replace(mutation.text, mutation.replacement))
        enough = ["-x"] if len(mutation.falls) == 1 else []  # one failure will do
        tests = given_for(mutation.falls)
        patience = PATIENCE[any("test_process_" in test for test in tests)]
        status, output = self.run([*enough, *tests], patience=patience, anew=anew)
        file.write_text(whole)
        if anew:
            self._link(REPOSITORY / "basis_ik" / mutation.file)
        if status == ENDLESS:
            return set(mutation.falls), output
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if status != pytest.ExitCode.TESTS_FAILED or not failed:
            return set(), output
        rows = {int(row) for line in failed for row in ROW.findall(line)}
        others = {each for each in mutation.falls if any(str(each) in line for line in failed)}
        return {each for each in mutation.falls if each in rows or each in others}, output


def _load_kernels(folder):
    """Load the kernels, their machine code and pytest here, and nothing else that is copied."""
    from pure_arm import Arm, down

    arm = Arm()
    arm.go(down(0.45))
    arm.until_rest()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(
            ["--collect-only", "-p", "no:cacheprovider", "test/faults/test_pure_targets.py"]
        )
    for name, module in list(sys.modules.items()):
        copied = str(getattr(module, "__file__", None)).startswith(str(folder))
        if copied and not re.fullmatch(r"basis_ik(\.numerics(\.\w+)?|.*_kernel)?", name):
            del sys.modules[name]


def _in_child(log, words, anew):
    """Be pytest, and end."""
    try:
        os.setsid()
        with log.open("w") as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
        for name in anew:
            importlib.import_module(name.rpartition(".")[0])  # what is reloaded needs its package
            importlib.reload(sys.modules[name])
        status = int(pytest.main(words))
        sys.stdout.flush()
    except BaseException as error:
        print(error, flush=True)
        status = int(pytest.ExitCode.INTERNAL_ERROR)
    os._exit(status)


def given_for(falls):
    """Return what pytest is to be given for rows of the catalogue, and for tests elsewhere."""
    sources = {file: file.read_text() for file in (REPOSITORY / "test/faults").glob("test_*.py")}
    found = []
    for each in falls:
        if isinstance(each, str):
            found.append(each)
            continue
        for file, text in sources.items():
            name = re.search(rf"^def (test_row_0*{each}_\w+)", text, re.MULTILINE)
            if name:
                found.append(f"test/faults/{file.name}::{name[1]}")
    return found


def found_once(mutation):
    """Return whether a mutation's text is in its file exactly once."""
    return (REPOSITORY / "basis_ik" / mutation.file).read_text().count(mutation.text) == 1


def page():
    """Return the page of mutations, all of them caught."""
    text, covered = HEAD, set()
    for mutation in MUTATIONS:
        covered.update(mutation.falls)
        falls = (
            f"row {each}" if isinstance(each, int) else f"`{each.partition('::')[2]}`"
            for each in mutation.falls
        )
        text += f"| {mutation.name} | `{mutation.file}` | {', '.join(falls)} |\n"
    missing = [str(row) for row in ROWS if row not in covered]
    text += f"\nAll {len(MUTATIONS)} are caught."
    if missing:
        text += f" The rows {', '.join(missing)}, of the bench and of processes, have none here."
    return f"{text}\n"


def means(word, mutation):
    """Return whether a word of the command line chooses a mutation."""
    return word in mutation.name or word in mutation.file or word in map(str, mutation.falls)


def is_sound(tree, chosen):
    """Return whether all tests pass while nothing is missing; else their failing proves nothing.

    Failing tests run again: a machine may be busy for a moment.
    """
    tests = sorted({test for each in chosen for test in given_for(each.falls)})
    print("first the tests as things are, with nothing taken out: some three minutes", flush=True)
    for _ in range(SOUNDINGS):
        status, output = tree.run(tests, patience=LONGEST, shown=True)
        if status == 0:
            return True
        tests = sorted(set(FAILED.findall(output))) or tests  # all, where pytest itself has ended
        print(f"{output[-6000:]}\nthese do not pass as things are: {' '.join(tests)}", flush=True)
    return False


def try_all(chosen):
    """Try mutations, each by itself; return the names of those that survive, None if in vain."""
    survivors = []
    with tempfile.TemporaryDirectory(prefix="faults-mutate-") as folder:
        tree = Tree(Path(folder))
        if not is_sound(tree, chosen):
            return None
        for k, mutation in enumerate(chosen, 1):
            since = time.monotonic()
            fallen, output = tree.try_out(mutation)
            standing = [each for each in mutation.falls if each not in fallen]
            word = f"SURVIVES {standing}" if standing else "caught"
            seconds = time.monotonic() - since
            print(f"{k:3}/{len(chosen)} {seconds:5.1f} s  {word}: {mutation.name}", flush=True)
            if standing:
                survivors.append(mutation.name)
                print("".join(f"        {line}\n" for line in output.splitlines()[-12:]))
    return survivors


def main(words):
    """Try the mutations that words choose, all of them without; the exit status."""
    chosen = [m for m in MUTATIONS if not words or any(means(word, m) for word in words)]
    lost = [each.name for each in chosen if not found_once(each) or not given_for(each.falls)]
    if lost or not chosen:
        print(f"not found exactly once, or without tests: {', '.join(lost) or words}")
        return 1
    begun = time.monotonic()
    survivors = try_all(chosen)
    if survivors is None:
        return 1
    caught, seconds = len(chosen) - len(survivors), time.monotonic() - begun
    print(f"{caught} of {len(chosen)} caught, in {seconds:.0f} s")
    if survivors:
        print(f"survivors: {'; '.join(survivors)}")
    elif not words:
        PAGE.write_text(page())
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
