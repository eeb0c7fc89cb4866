"""What numba does for our kernels once, and not again in each that calls them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate

from basis_ik.kernels import compiler
from basis_ik.kernels.compiler import _Typing

SOURCE = Path(compiler.__file__)  # any file will do: numba asks each for its time


def run(script, tmp_path, *arguments):
    """Return what a script prints that begins, the first time, with an empty cache."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(SOURCE), *arguments],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


CALLERS = """
import sys
from basis_ik.kernels.jit import helper, jit

source = sys.argv[1]
for name, kind in (("half", helper), ("quarter", jit), ("eighth", jit)):
    body = {"half": "0.5 * x", "quarter": "half(half(x))", "eighth": "half(half(half(x)))"}[name]
    exec(compile(f"def {name}(x): return {body}", source, "exec"))
    globals()[name] = kind(globals()[name])
print(globals()[sys.argv[2]](8.0), sum(half.stats.cache_hits.values()))
"""


@pytest.mark.parametrize(("second", "expected"), [("quarter", "2.0 0\n"), ("eighth", "1.0 1\n")])
def test_a_helper_from_the_cache_becomes_part_of_a_new_caller(tmp_path, second, expected):
    assert run(CALLERS, tmp_path, "quarter") == "2.0 0\n"
    assert run(CALLERS, tmp_path, second) == expected


LOOK = """
from numba.core.compiler import Compiler

def define(self, define=Compiler.define_pipelines):
    print(type(self.state.typingctx).__name__)
    return define(self)

Compiler.define_pipelines = define
quarter(8.0)
for kernel in (half, quarter):
    for result in kernel.overloads.values():
        print(len(list(result.library.get_defined_functions())) > 0)
"""


def test_kernels_are_typed_with_a_memory_and_helpers_are_machine_code_in_their_callers_only(
    tmp_path,
):
    assert run(CALLERS[: CALLERS.index("print")] + LOOK, tmp_path).split() == [
        "_Typing", "_Typing", "False", "True",
    ]  # fmt: skip


class Context:
    """A typing context that counts what it is asked."""

    def __init__(self):
        self.asked = []

    def resolve_function_type(self, function, args, kws):
        self.asked.append((function, args))
        return signature(types.float64, *args)


class Template(AbstractTemplate):
    key = "a function of these tests"


def test_what_a_function_of_numba_returns_is_asked_once_for_each_types_of_arguments():
    context, function = Context(), types.Function(Template)
    typing = _Typing(context)
    for args in ([types.float64], [types.int64], [types.literal(1)], [types.literal(2)]) * 2:
        assert typing.resolve_function_type(function, args, {}).args == tuple(args)
    assert len(context.asked) == 4


@pytest.mark.parametrize("kws", [{}, {"x": types.float64}])
def test_anything_else_is_asked_each_time(kws):
    context, typing = Context(), _Typing
    function = types.Function(Template) if kws else types.Opaque("another function")
    for _ in range(2):
        typing(context).resolve_function_type(function, [], kws)
    assert len(context.asked) == 2
