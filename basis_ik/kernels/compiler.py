"""Numba's compiler, spared the work that our kernels have no use for.

Numba optimises a function and turns it into machine code for itself, and again, with all that it
calls, in everything that calls it; and it works out anew for each `a * b` which of some dozen
meanings of `*` fits two floats. Of these kernels both are done once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding as llvm  # type: ignore[import-untyped]
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

# Passes for closures and overloads that are to be inlined, of which kernels have none.
UNUSED_PASSES = ("InlineClosureLikes", "InlineOverloads")


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel; without entries from outside, it is for other kernels alone."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes; see numba, also for what `state` holds."""
        state = self.state
        state.typingctx = _Typing(state.typingctx)
        if state.flags.no_cpython_wrapper:
            state.library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            kept = [each for each in pipeline.passes if each[0].__name__ not in UNUSED_PASSES]
            pipeline.passes[:] = kept
            pipeline.finalize()
        return pipelines


class _Typing:
    """A typing context that remembers what the functions of numba itself return."""

    _found: dict[tuple[types.Function, tuple[types.Type, ...]], Any] = {}

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call; see numba."""
        if kws or not isinstance(function, types.Function):
            return self._context.resolve_function_type(function, args, kws)
        key = function, tuple(args)
        signature = self._found.get(key)
        if signature is None:
            signature = self._context.resolve_function_type(function, args, kws)
            self._found[key] = signature
        return signature


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
