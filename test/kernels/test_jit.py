"""What is compiled is kept on disk, belongs to the kernels' present text, and is never required."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from basis_ik.kernels.jit import jit

KERNELS = Path(__file__).parents[2] / "basis_ik" / "kernels"
CALLER = """from basis_ik.kernels.jit import jit
from basis_ik.kernels.callee import inner

@jit
def outer(x):
    return inner(x) + 1.0
"""
CALLEE = """from basis_ik.kernels.jit import jit

@jit
def inner(x):
    return {factor} * x
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the compiler settings with two kernels beside them, one calling the other."""
    kernels = tmp_path / "basis_ik" / "kernels"
    kernels.mkdir(parents=True)
    (tmp_path / "basis_ik" / "__init__.py").touch()
    (kernels / "__init__.py").touch()
    shutil.copy(KERNELS / "jit.py", kernels)
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "callee.py").write_text(CALLEE.format(factor=2.0))
    return tmp_path


def run(package, **environment):
    code = "import sys; sys.path.insert(0, sys.argv[1])\n"
    code += "from basis_ik.kernels.caller import outer; print(outer(1.0))"
    inherited = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(package)],
        env={**inherited, "NUMBA_DISABLE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return float(done.stdout), done.stderr


def test_a_package_that_is_reached_by_a_symbolic_link_has_the_same_cache(package, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(package, **cache)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb?")}
    assert before, "nothing was cached"
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "basis_ik").symlink_to(package / "basis_ik")
    run(installed, **cache)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb?")}
    assert after == before


def test_a_changed_callee_is_not_served_from_its_callers_cache(package):
    assert run(package)[0] == 3.0
    assert list(package.rglob("*.nbi")), "nothing was cached"
    (package / "basis_ik" / "kernels" / "callee.py").write_text(CALLEE.format(factor=5.0))
    assert run(package)[0] == 6.0


def test_the_users_cache_directory_is_used(package, tmp_path):
    assert run(package, NUMBA_CACHE_DIR=str(tmp_path / "mine"))[0] == 3.0
    assert list((tmp_path / "mine").rglob("*.nbi"))
    assert not list((package / "basis_ik").rglob("*.nbi"))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without a compiler there is no cache")
def test_without_a_place_for_the_cache_kernels_still_compile_and_say_so():
    namespace = {}
    exec("def double(x):\n    return 2 * x", namespace)  # has no file, hence no cache
    with pytest.warns(UserWarning, match="kernel cache is off"):
        double = jit(namespace["double"])
    assert double(4) == 8
