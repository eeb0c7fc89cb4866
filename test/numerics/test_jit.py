# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The cache of machine code: kept on disk, one for each version of the sources, not required."""

import fcntl
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core import event

from basis_ik.numerics import jit as module
from basis_ik.numerics.jit import jit, with_large_frame

NUMERICS = Path(__file__).parents[2] / "basis_ik" / "numerics"
CALLER = """from basis_ik.numerics.jit import jit
from basis_ik.room.callee_kernel import inner

@jit
def outer(x):
    return inner(x) + 1.0
"""
CALLEE = """from basis_ik.numerics.jit import jit

@jit
def inner(x):
    return {factor} * x
"""


@pytest.fixture
def package(tmp_path):
    """Return a copy of the compiler settings with two kernels, one calling the other."""
    return make_package(tmp_path)


def make_package(folder):
    package = folder / "basis_ik"
    for each in (package, package / "numerics", package / "room"):
        each.mkdir()
        (each / "__init__.py").touch()
    for name in ("jit.py", "compiler.py", "lowering.py"):
        shutil.copy(NUMERICS / name, package / "numerics")
    shutil.copy(NUMERICS.parent / "process.py", package)
    (package / "room" / "caller_kernel.py").write_text(CALLER)
    (package / "room" / "callee_kernel.py").write_text(CALLEE.format(factor=2.0))
    return folder


@pytest.fixture(scope="module", params=["0", "1"], ids=["our_compiler", "plain_numba"])
def compiled_once(request, tmp_path_factory):
    """Return such a package and its cache with the kernels; neither may be changed."""
    package = make_package(tmp_path_factory.mktemp("compiled"))
    old = package / "cache" / "basis_ik-aaaaaaaaaaaaaaaa"
    old.mkdir(parents=True)
    os.utime(old, (0.0, 0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(GIVEN, "BASIS_IK_PLAIN_NUMBA", request.param)
        assert run(package, NUMBA_CACHE_DIR=str(package / "cache")) == (3.0, "")
        yield package


@pytest.fixture
def cached(compiled_once, tmp_path):
    """Return a package that may not be changed, and this test's own copy of its cache."""
    cache = tmp_path / "cache"
    shutil.copytree(compiled_once / "cache", cache)
    return compiled_once, cache


GIVEN = {"NUMBA_DISABLE_JIT": "0", "BASIS_IK_PLAIN_NUMBA": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def run(package, first="", **environment):
    code = f"import sys; sys.path.insert(0, sys.argv[1])\n{first}\n"
    # However long it takes, nobody is told that it takes long.
    code += "from basis_ik.numerics import jit; jit.ANNOUNCEMENT_DELAY = 3600.0\n"
    code += "from basis_ik.room.caller_kernel import outer; print(outer(1.0))"
    inherited = {
        k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "NUMBA_BOUNDSCHECK")
    }
    done = subprocess.run(
        [sys.executable, "-c", code, str(package)],
        env={**inherited, **GIVEN, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return float(done.stdout), done.stderr


def written(folder):
    """Return the files of machine code, and when each was written."""
    files = {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}
    assert files, "nothing was cached"
    return files


@pytest.mark.parametrize("compiled_once", ["0"], ids=["our_compiler"], indirect=True)
def test_a_package_behind_a_symbolic_link_has_the_same_cache(cached, tmp_path):
    package, cache = cached
    before = written(cache)
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "basis_ik").symlink_to(package / "basis_ik")
    run(installed, NUMBA_CACHE_DIR=str(cache))
    assert written(cache) == before


def test_a_package_that_is_installed_again_elsewhere_has_the_same_cache(cached, tmp_path):
    package, cache = cached
    before = written(cache)
    shutil.copytree(package / "basis_ik", tmp_path / "basis_ik", copy_function=shutil.copyfile)
    assert run(tmp_path, NUMBA_CACHE_DIR=str(cache)) == (3.0, "")
    assert written(cache) == before


def test_a_package_that_is_moved_takes_its_cache_along(package):
    run(package)
    before = written(package)
    moved = package.rename(package.with_name(package.name + "-moved"))
    assert run(moved) == (3.0, "")
    assert written(moved) == before
    times = {path.stat().st_mtime for path in moved.rglob("*.source")}
    assert times == {0.0}, "older versions of numba compare it, and a copied cache would not match"


@pytest.mark.parametrize(
    ("file", "text", "value"),
    [
        ("callee_kernel.py", CALLEE.format(factor=5.0), 6.0),
        ("caller_kernel.py", CALLER.replace("1.0", "4.0"), 6.0),
    ],
    ids=["callee", "caller"],
)
def test_another_text_of_the_same_size_and_time_is_compiled(cached, tmp_path, file, text, value):
    package, cache = cached
    shutil.copytree(package / "basis_ik", tmp_path / "basis_ik")
    other, its = (folder / "basis_ik" / "room" / file for folder in (tmp_path, package))
    other.write_text(text)
    shutil.copystat(its, other)
    assert other.stat().st_size == its.stat().st_size
    for folder, wanted in ((tmp_path, value), (package, 3.0), (tmp_path, value)):
        assert run(folder, NUMBA_CACHE_DIR=str(cache)) == (wanted, "")


def test_what_is_edited_between_start_and_import_is_not_kept_for_the_old_text(package):
    """The caller is not edited, but the new callee is part of its machine code."""
    callee = package / "basis_ik" / "room" / "callee_kernel.py"
    edit = "from basis_ik.numerics import jit; jit._cache_directory()\n"
    edit += f"open({str(callee)!r}, 'w').write({CALLEE.format(factor=5.0)!r})"
    assert run(package, edit)[0] == 6.0
    callee.write_text(CALLEE.format(factor=2.0))
    assert run(package)[0] == 3.0


def test_the_sources_of_the_cache_are_all_kernels():
    kernels = Path(module.__file__).parents[1].rglob("*_kernel.py")
    assert {os.path.realpath(path) for path in kernels} <= module._sources().keys()


def test_a_changed_callee_is_not_served_from_its_callers_cache(package):
    assert run(package)[0] == 3.0
    assert list(package.rglob("*.nbi")), "nothing was cached"
    (package / "basis_ik" / "room" / "callee_kernel.py").write_text(CALLEE.format(factor=5.0))
    assert run(package)[0] == 6.0


def test_the_users_cache_directory_is_used(compiled_once):
    assert list((compiled_once / "cache").rglob("*.nbi"))
    assert not list((compiled_once / "basis_ik").rglob("*.nbi"))


def test_old_caches_are_removed_when_something_is_compiled(compiled_once):
    assert not (compiled_once / "cache" / "basis_ik-aaaaaaaaaaaaaaaa").exists()


class Callers(event.Listener):
    """Collects what calls numba's compiler."""

    def __init__(self):
        self.codes = []

    def on_start(self, event):
        frame = sys._getframe()
        while frame is not None:
            self.codes.append(frame.f_code)
            frame = frame.f_back

    def on_end(self, event):
        pass


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without a compiler there is no cache")
def test_without_a_cache_directory_kernels_compile_with_large_frame_and_a_warning():
    namespace = {}
    exec("def double(x):\n    return 2 * x", namespace)  # has no file, hence no cache
    with pytest.warns(UserWarning, match="kernel cache is off"):
        double = jit(namespace["double"])
    with event.install_listener("numba:compile", Callers()) as callers:
        assert double(4) == 8
    assert with_large_frame.__code__ in callers.codes or module.WHY_PLAIN


@pytest.mark.parametrize(("kind", "left"), [("*.nbi", 40), ("*.nbc", 0)])
def test_a_truncated_cache_is_rewritten_with_a_warning(cached, kind, left):
    """A power failure leaves such files."""
    package, cache = cached
    for path in cache.rglob(kind):
        os.truncate(path, left)
    value, said = run(package, NUMBA_CACHE_DIR=str(cache))
    assert value == 3.0
    assert "UserWarning: the kernel cache in " in said
    assert said.count(" is corrupt (") == 1, "told once, not for each kernel"
    assert run(package, NUMBA_CACHE_DIR=str(cache)) == (3.0, ""), "it was written anew"


def test_with_a_full_disk_kernels_compile_with_a_warning(cached):
    package, cache = cached
    for path in cache.rglob("*.nb?"):
        path.unlink()
    (lock,) = cache.rglob("lock")
    lock.unlink()
    lock.mkdir()  # what not even root can write
    value, said = run(package, NUMBA_CACHE_DIR=str(cache))
    assert value == 3.0
    assert said.count(" cannot be written (Is a directory): start-up will be slow") == 1
    if GIVEN["BASIS_IK_PLAIN_NUMBA"] == "0":  # numba alone saves without the lock, too
        assert not list(cache.rglob("*.nb?"))


@pytest.mark.parametrize(
    ("where", "setting", "other"),
    [
        (numba.config, "BOUNDSCHECK", int(not numba.config.BOUNDSCHECK)),
        (numba.config, "OPT", int(not numba.config.OPT)),
        (module, "WHY_PLAIN", "" if module.WHY_PLAIN else "it is set"),
    ],
)
def test_settings_that_change_the_machine_code_have_their_own_cache(
    monkeypatch, where, setting, other
):
    directory = module._cache_directory.__wrapped__
    before = directory()
    assert directory() == before
    monkeypatch.setattr(where, setting, other)
    assert directory() != before


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return a file in a cache of this test's own, and what is warned of."""
    said, file = [], tmp_path / "cache" / "kernel.nbi"
    file.parent.mkdir()
    file.touch()
    monkeypatch.setattr(module, "_cache_directory", lambda: str(file.parent))
    monkeypatch.setattr(module, "_warn", said.append)
    return file, said


def test_plain_numba_compiles_in_one_process_at_a_time(kept):
    def compile_(signature):
        with (kept[0].parent / "lock").open("w") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return module._compile_plainly(lambda callee: callee, signature)  # without waiting

    assert module._compile_plainly(compile_, "a callee's") == "a callee's"
    with (kept[0].parent / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize(
    ("error", "left", "said"),
    [
        (EOFError("ran out of input"), False, ["is corrupt (EOFError)"]),
        (OSError(28, "No space left on device"), True, [
            "cannot be written (No space left on device)"
        ]),
    ],
)  # fmt: skip
def test_plain_numba_compiles_again_after_an_error_of_the_cache(kept, error, left, said):
    errors = [error]

    def compile_(signature):
        if errors:
            raise errors.pop()
        return signature

    assert module._compile_plainly(compile_, "a signature") == "a signature"
    assert (kept[0].exists(), kept[1]) == (left, said)


def test_an_error_in_a_kernel_leaves_the_cache_alone(kept):
    def compile_(signature):
        raise numba.core.errors.TypingError("no such operation")

    with pytest.raises(numba.core.errors.TypingError):
        module._compile_plainly(compile_, "a signature")
    assert (kept[0].exists(), kept[1]) == (True, [])


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Return a cache with directories unused for long, and one in use."""
    mine = tmp_path / "basis_ik-0123456789abcdef"
    monkeypatch.setattr(module, "_cache_directory", lambda: str(mine))
    for name in (
        *("basis_ik-aaaaaaaaaaaaaaaa", "basis_ik-bbbbbbbbbbbbbbbb", mine.name),  # ours
        *("basis_ik", "basis_ik-aaaaaaaaaaaaaaaa-mine", "basis_ik-AAAAAAAAAAAAAAAA", "scipy_123"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.nbi").touch()
        os.utime(tmp_path / name, (0.0, 0.0))
    os.utime(tmp_path / "basis_ik-bbbbbbbbbbbbbbbb")  # used by another installation
    elsewhere = tmp_path.with_name(tmp_path.name + "-elsewhere")
    elsewhere.mkdir()
    (tmp_path / "basis_ik-cccccccccccccccc").symlink_to(elsewhere)
    os.utime(elsewhere, (0.0, 0.0))
    return tmp_path


def test_only_our_unused_caches_are_removed(shelf):
    before = {path.name for path in shelf.iterdir()}
    module.remove_old_caches()
    assert before - {path.name for path in shelf.iterdir()} == {"basis_ik-aaaaaaaaaaaaaaaa"}


def test_a_process_that_compiles_marks_its_cache_as_used(shelf):
    module.remove_old_caches()
    assert (shelf / "basis_ik-0123456789abcdef").stat().st_mtime > 0.0


RACE = """
import sys, time
from pathlib import Path
from numba.core.caching import IndexDataCacheFile
from basis_ik.numerics.jit import jit

here, name = Path(sys.argv[1]), sys.argv[2]

def both(what):
    return len(list(here.glob(f"{what}-*"))) == 2

def save_when_the_other_has_come(self, overloads):
    while not both("came"):
        time.sleep(0.01)
    (here / f"read-{name}").touch()
    for _ in range(50):  # half a second, in which the other reads the index, too, if it can
        if not both("read"):
            time.sleep(0.01)
    save_index(self, overloads)

save_index = IndexDataCacheFile._save_index
IndexDataCacheFile._save_index = save_when_the_other_has_come
exec(compile("def double(x): return x + x", jit.__code__.co_filename, "exec"))
kernel = jit(double)
save_overload = kernel._cache.save_overload

def come(*arguments):
    (here / f"came-{name}").touch()
    save_overload(*arguments)

kernel._cache.save_overload = come
kernel(1 if name == "int" else 1.0)
"""


def test_two_processes_write_to_the_cache_one_after_the_other(tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(cache)}
    processes = [
        subprocess.Popen([sys.executable, "-c", RACE, str(tmp_path), name], env=environment)
        for name in ("int", "float")
    ]
    try:
        assert [process.wait(120) for process in processes] == [0, 0]
    finally:
        for process in processes:
            process.kill()
    assert len(list(cache.rglob("*.nbc"))) == 2


def test_a_read_only_cache_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    directory = str(tmp_path / "file" / "basis_ik-0123456789abcdef")
    monkeypatch.setattr(module, "_cache_directory", lambda: directory)
    module.remove_old_caches()


def test_a_large_frame_has_memory_for_all_callees():
    """Calls across the end of a chunk of frames map and unmap a page in every iteration."""

    def leaf():
        pass

    def loop():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(2000):
            leaf()
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

    def deeper(depth):
        loop() if depth == 0 else deeper(depth - 1)

    faults = []
    for depth in range(300):
        with_large_frame(deeper, depth)
    assert max(faults) < 1000


OTHER = """
import sys
import numpy as np
from basis_ik.numerics import jit
from basis_ik.transforms.rigid_kernel import invert

out = np.empty((4, 4))
invert(np.diag([1.0, 1.0, 1.0, 1.0]) + np.eye(4, k=3) * 5.0, out)
used = [each for each in sys.modules if each.startswith("basis_ik.numerics.")]
print(out[0, 3], sorted(each.split(".")[2] for each in used), jit.WHY_PLAIN)
"""


def test_numba_compiles_by_itself_if_it_is_told_to(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "0",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "BASIS_IK_PLAIN_NUMBA": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", OTHER],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "-5.0 ['arrays', 'jit'] BASIS_IK_PLAIN_NUMBA is set\n"


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ((0, 57), "basis_ik does not know numba 0.57.0"),
        ((0, 58), ""),
        ((0, 68), ""),
        ((0, 69), "basis_ik does not know numba 0.69.0"),
        ((1, 0), "basis_ik does not know numba 1.0.0"),
    ],
)
def test_numba_compiles_by_itself_if_it_is_unknown(monkeypatch, version, why):
    monkeypatch.setenv("BASIS_IK_PLAIN_NUMBA", "0")
    monkeypatch.setattr(numba, "version_info", numba.version_info._replace(short=version))
    monkeypatch.setattr(numba, "__version__", "{}.{}.0".format(*version))
    assert module._why_plain() == why
