"""Numba's compiler, spared the work that our kernels have no use for.

Numba optimises a function and turns it into machine code for itself, and again, with all that it
calls, in everything that calls it; and it works out anew for each `a * b` which of some dozen
meanings of `*` fits two floats. Of these kernels both are done once.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.codegen import ll as llvm
from numba.core.compiler import Compiler
from numba.core.types.functions import BaseFunction

# Passes for closures and overloads that are to be inlined, of which kernels have none.
UNUSED_PASSES = ("InlineClosureLikes", "InlineOverloads")
# New objects after which garbage is looked for: a compiler makes millions that it keeps. A look at
# so many takes some 20 ms, in which no other thread runs.
GARBAGE = 50_000


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel; without entries from outside, it is for other kernels alone."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function; see numba, which holds its lock meanwhile."""
        resolve, thresholds = BaseFunction.get_call_type, gc.get_threshold()
        BaseFunction.get_call_type = _remembered_call_type  # type: ignore[method-assign]
        gc.set_threshold(GARBAGE, *thresholds[1:])
        try:
            return super().compile_extra(func)
        finally:
            gc.set_threshold(*thresholds)
            BaseFunction.get_call_type = resolve  # type: ignore[method-assign]

    def define_pipelines(self) -> list[Any]:
        """Return the passes; see numba, also for what `state` holds."""
        state = self.state
        # LLVM works it out by a module that is parsed each time, here for each variable.
        state.targetctx.get_abi_sizeof = cache(state.targetctx.get_abi_sizeof)
        if state.flags.no_cpython_wrapper:
            state.library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            kept = [each for each in pipeline.passes if each[0].__name__ not in UNUSED_PASSES]
            pipeline.passes[:] = kept
            pipeline.finalize()
        return pipelines


_call_types: dict[tuple[Any, ...], Any] = {}
_resolve_call_type = BaseFunction.get_call_type


def _remembered_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call of one of numba's own functions; see numba."""
    if kws:
        return _resolve_call_type(self, context, args, kws)
    key = self, context, tuple(args)
    if key not in _call_types:
        _call_types[key] = _resolve_call_type(self, context, args, kws)
    return _call_types[key]


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """What becomes part of each kernel that calls it, and is optimised and machine code there."""

    _final_module: Any
    _shared_module: Any

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        whole = self._final_module
        for function in whole.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # as numba does with what is linked often
        self._shared_module = whole
        # The machine code consists of what numba writes to: pointers to the functions' globals.
        text = str(self._codegen._create_empty_module(self.name))
        for variable in whole.global_variables:
            if "NumbaEnv" in variable.name and not variable.is_declaration:
                text += f'\n@"{variable.name}" = common global i64 0'
        self._final_module = llvm.parse_assembly(text)
        self._final_module.name = whole.name
        super()._finalize_final_module()
