# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The work that numba does once for our kernels, and not again in each caller."""

import os
import subprocess
import sys
from pathlib import Path

from basis_ik.numerics import compiler, jit

assert not jit.WHY_PLAIN, f"this tests another compiler than numba's, but {jit.WHY_PLAIN}"

SOURCE = Path(compiler.__file__)  # any file will do: numba asks each for its time


def run(script, tmp_path, *arguments):
    """Return the output of a script; on its first run the cache is empty."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(SOURCE), *arguments],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


CALLERS = """
import sys
from basis_ik.numerics.jit import helper, jit

source = sys.argv[1]
for name, kind in (("half", helper), ("quarter", jit), ("eighth", jit)):
    body = {"half": "0.5 * x", "quarter": "half(half(x))", "eighth": "half(half(half(x)))"}[name]
    exec(compile(f"def {name}(x): return {body}", source, "exec"))
    globals()[name] = kind(globals()[name])
print(globals()[sys.argv[2]](8.0), sum(half.stats.cache_hits.values()))
"""


LOOK = """
for kernel in (half, quarter):
    for result in kernel.overloads.values():
        print(len(list(result.library.get_defined_functions())) > 0)
"""


def test_a_helper_from_the_cache_becomes_part_of_a_new_caller(tmp_path):
    first = run(CALLERS + LOOK, tmp_path, "quarter")
    assert first.split() == ["2.0", "0", "False", "True"], "machine code is only in its callers"
    assert run(CALLERS, tmp_path, "quarter") == "2.0 0\n"
    assert run(CALLERS, tmp_path, "eighth") == "1.0 1\n"


COUNT = """
from collections import Counter
from numba.core.types.functions import BaseFunction

asked, resolve = Counter(), compiler._resolve_call_type
def count(self, context, args, kws):
    asked[self, args] += 1
    return resolve(self, context, args, kws)

compiler._resolve_call_type = count
exec(compile("def square(x): return (x * x + x * x) * (x + x) / 2", sys.argv[1], "exec"))
assert jit(square)(1.5) == jit(square)(1.5) == 6.75 and jit(square)(1) == 2.0
print(asked.total() > 3, max(asked.values()), BaseFunction.get_call_type is resolve)
"""


GARBAGE = """
import gc

before, seen = gc.get_threshold(), set()
def look(self, context, args, kws, resolve=compiler._resolve_call_type):
    seen.add(gc.get_threshold())
    return resolve(self, context, args, kws)

compiler._resolve_call_type = look
exec(compile("def less(x): return x % 7.0 - 1.0", sys.argv[1], "exec"))
jit(less)(1.5)
print(seen == {(compiler.COLLECTOR_THRESHOLD, *before[1:])}, gc.get_threshold() == before)
"""


HEAD = "import sys\nfrom basis_ik.numerics import compiler\nfrom basis_ik.numerics.jit import jit\n"


def test_numba_resolves_each_call_type_once_and_collects_less_garbage_meanwhile(tmp_path):
    assert run(HEAD + COUNT + GARBAGE, tmp_path) == "True 1 True\nTrue True\n"
