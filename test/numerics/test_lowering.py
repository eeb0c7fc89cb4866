# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels do what Python does with the same source."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python

from basis_ik.numerics import compiler, jit, lowering

assert not jit.WHY_PLAIN, f"this tests another compiler than numba's, but {jit.WHY_PLAIN}"

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def element(a, i, j):
    return a[i, j] + a[i][j] + a[-1, 0] + a[0, -1]


def store(a, i, j):
    a[i, j] = i
    a[-1, -1] = a[0, 0]
    a[1][0] = 7
    return a.sum()


def part(a, i, j):
    row = a[i]
    return row[j] + row.shape[0] + a.shape[0] + len(row)


def forwards(a, i, j):
    total = 0.0
    for k in range(a.shape[0]):
        for m in range(1, a.shape[1]):
            total += a[k, m] * k
    return total


def backwards(a, i, j):
    total, last = 0.0, 0
    for k in range(a.shape[0] - 1, -1, -1):
        total = 2.0 * total + a[k, 0]
        last = k
    for _ in range(5, 2):
        total = np.nan
    return total + last


def by_steps(a, i, j):
    total = 0
    for step in (1, 2):
        for k in range(0, 7, step):
            total += k * step
    return total


def exchange(a, i, j):
    x, y = a[0, 0], a[0, 1]
    for _ in range(3):
        x, y = y, x
    i, j = j, i
    return x - 3.0 * y + 10 * i + j


def arithmetic(a, i, j):
    x, y, z = a[0, 1], a[1, 1], -a[0, 0]
    return (x + y - z) * x / y + (i - j) * i + i / 2 + (x < y) + (x != x) + (i >= j) + 3 * i


def not_a_number(a, i, j):
    x = a[0, 0] / 0.0 - a[0, 1] / 0.0
    return 1.0 * (x != x) + 2.0 * (x == x) + 4.0 * (x < x) + 8.0 * (x >= 0.0)


def allocate(a, i, j):
    total = 0.0
    for k in range(3):
        b = np.empty((2, 3))
        for m in range(6):
            b[m // 3, m % 3] = m + k
        row = b[i]
        total += row[j] + b[1, 2]
    return total


def strided(a, i, j):
    column, some = a[:, j], a[i, 0:2]
    return column[i] + column.shape[0] + some[1]


KERNELS = [
    element, store, part, forwards, backwards, by_steps, exchange, arithmetic, not_a_number,
    allocate, strided,
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.__name__)
def test_a_kernel_does_what_python_does(kernel):
    # Compiled once more: a kernel would compile what its module holds under its name.
    compiled = numba.njit(pipeline_class=compiler.KernelCompiler, error_model="numpy")(kernel)
    for i, j in ((0, 1), (1, 2), (-1, 0), (1, -2)):
        ours, pythons = np.arange(1.0, 7.0).reshape(2, 3), np.arange(1.0, 7.0).reshape(2, 3)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = kernel(pythons, i, j)
        assert compiled(ours, i, j) == expected
        assert np.array_equal(ours, pythons)


def fuse(a, i, j):
    x, y, z = a[0, 0], a[0, 1], a[0, 2]
    a[1, 0], a[1, 1] = x * y + z, x * y - z
    a[1, 2], a[1, 3] = z + x * y, z - x * y


def test_a_product_and_its_sum_are_rounded_once_where_the_processor_can():
    compiled = numba.njit(pipeline_class=compiler.KernelCompiler)(fuse)
    once = lowering.has_fused_operations(compiled.targetctx.codegen())
    rng = np.random.default_rng(0)
    for x, y in 1.0 + 1e-8 * rng.normal(size=(20, 2)):
        a = np.array([[x, y, z := -float(x * y), 0.0], 4 * [np.nan]])
        compiled(a, 0, 0)
        product = Fraction(x) * Fraction(y) if once else Fraction(x * y)
        total, rest = float(product + Fraction(z)), float(product - Fraction(z))
        assert a[1].tolist() == [total, rest, total, -rest]


@pytest.mark.parametrize("kernel", [part, allocate], ids=lambda each: each.__name__)
def test_no_reference_to_an_array_is_leaked(kernel):
    compiled = numba.njit(pipeline_class=compiler.KernelCompiler)(kernel)
    a = np.arange(6.0).reshape(2, 3)
    compiled(a, 0, 1)
    _nrt_python.memsys_enable_stats()
    before = sys.getrefcount(a), numba.core.runtime.rtsys.get_allocation_stats()
    for _ in range(10):
        compiled(a, 0, 1)
    after = sys.getrefcount(a), numba.core.runtime.rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after[0] == before[0]
    assert after[1].alloc - before[1].alloc == after[1].free - before[1].free


SCRIPT = """
import sys
import numpy as np
from basis_ik.numerics.jit import jit
exec(compile("def third(a): return a[3]", sys.argv[1], "exec"))
try:
    jit(third)(np.zeros(3))
except IndexError:
    print("refused")
"""


def test_bounds_are_checked_on_request(tmp_path):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(Path(lowering.__file__))],
        env={**environment, "NUMBA_BOUNDSCHECK": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "refused\n"


def test_a_variable_of_two_types_becomes_two_variables():
    @numba.njit(pipeline_class=compiler.KernelCompiler)
    def kernel(a):
        k = 1
        first = a[k]
        k = 0.5
        return first + k

    assert kernel(np.array([1.0, 2.0])) == 2.5


def element_alone(a, i, j):
    return a[i, j] + a[0, 1]


def code_of(kernel):
    """Return the code of a compiled kernel before LLVM's passes."""
    texts = []
    add = compiler.JITCodeLibrary.add_ir_module
    try:
        compiler.JITCodeLibrary.add_ir_module = lambda self, module: (
            texts.append(str(module)), add(self, module)
        )[1]  # fmt: skip
        options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        compiled = numba.njit(pipeline_class=compiler.KernelCompiler, **options)(kernel)
        compiled.compile((numba.float64[:, ::1], numba.int64, numba.int64))
    finally:
        compiler.JITCodeLibrary.add_ir_module = add
    return texts[-1]


class Pair(NamedTuple):
    a: np.ndarray
    row: np.ndarray


def pack(a, i, j):
    pair = Pair(a, a[i])
    return pair.row[j] + pair.a[i, j]


def test_arrays_of_the_caller_are_not_reference_counted():
    assert "NRT_decref" in code_of(allocate)
    assert "NRT_" not in code_of(part)
    assert "NRT_" not in code_of(pack)


@pytest.mark.skipif(numba.config.BOUNDSCHECK, reason="numba translates what checks bounds")
def test_variables_are_kept_in_registers():
    assert "alloca" not in code_of(element_alone)


ALL = """
from basis_ik import warm_up
from basis_ik.numerics import compiler

define = compiler.KernelCompiler.define_pipelines
def look(self):
    if self.state.flags.enable_ssa:
        print(self.state.func_id.func_qualname)
    return define(self)
compiler.KernelCompiler.define_pipelines = look
for step in warm_up.all_steps():
    step.run()
"""


@pytest.mark.long
def test_no_kernel_is_compiled_twice_for_a_variable_of_two_types(tmp_path):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    environment["NUMBA_OPT"] = "0"  # the choice is made before anything is optimised
    done = subprocess.run(
        [sys.executable, "-c", ALL], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
