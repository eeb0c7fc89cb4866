# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""numba's compiler, without the work that kernels do not need.

numba optimises a function and generates machine code for it, and again, with all its callees, in
every caller. It also resolves again, for each `a * b`, which of some dozen meanings of `*` applies
to two floats. For kernels both are done once. `lowering` has the translation of their operations,
and passes that change nothing are left out. All of this depends on undocumented parts of numba;
`jit` states the versions that it is for, and does without it for others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache, partial
from typing import Any

from numba.core import config, event, types
from numba.core.codegen import JITCodeLibrary
from numba.core.codegen import ll as llvm
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.typed_passes import IRLegalization, NativeLowering
from numba.core.types import BaseTuple  # type: ignore[attr-defined]
from numba.core.types.functions import BaseFunction
from numba.core.typing import signature

from basis_ik.numerics.lowering import KernelLower, owns_memory
from basis_ik.process import switched

# Passes for closures, inlined overloads, generators, `with`, `raise` and parallel loops, which
# kernels do not have; and a pass that annotates the source with types.
UNUSED_PASSES = (
    "AnnotateTypes", "DumpParforDiagnostics", "FindLiterallyCalls", "IRProcessing",
    "InlineClosureLikes", "InlineInlinables", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "LiteralUnroll", "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation", "RewriteDynamicRaises", "WithLifting",
)  # fmt: skip
# Threshold of the garbage collector in new objects: a compiler makes millions that it keeps. One
# collection takes some 20 ms in which no other thread runs.
COLLECTOR_THRESHOLD = 50_000


# Numba's own tables -----------------------------------------------------------------------------


_active: list[Any] = []


@contextmanager
def shortcuts() -> Iterator[None]:
    """Replace repeated work of numba while a kernel and all its callees are compiled."""
    with global_compiler_lock, ExitStack() as stack:
        if not _active:
            stack.callback(_active.clear)
            stack.enter_context(switched(threshold=COLLECTOR_THRESHOLD))
            for owner, name, replace in (
                (BaseFunction, "get_call_type", lambda _: _remembered_call_type),
                (CPUContext, "load_additional_registries", _loaded_once),
                (event, "start_event", _without_llvm),
                (event, "end_event", _without_llvm),
            ):
                before = getattr(owner, name, None)
                if before is not None:
                    stack.callback(setattr, owner, name, before)
                    setattr(owner, name, replace(before))
            _active.append(stack)
        yield


def _without_llvm(report: Callable[..., None]) -> Callable[..., None]:
    """Return a function that reports events, except the thousands of LLVM calls."""

    def report_others(kind: str, *arguments: Any, **keywords: Any) -> None:
        if kind != "numba:llvm_lock":
            report(kind, *arguments, **keywords)

    return report_others


_registries: list[Any] = []


def _loaded_once(load: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a function that installs numba's registries again without importing their modules."""

    def load_again(self: Any) -> None:
        if not _registries:
            install = self.install_registry

            def note(registry: Any) -> None:
                _registries.append(registry)
                install(registry)

            self.install_registry = note
            try:
                load(self)
            finally:
                del self.install_registry
        else:
            for each in _registries:
                self.install_registry(each)

    return load_again


_call_types: dict[tuple[Any, ...], Any] = {}
_resolve_call_type = BaseFunction.get_call_type


def _remembered_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call of one of numba's own functions, from a cache."""
    if self.typing_key is operator.getitem and isinstance(args[0], BaseTuple):
        # numba would compile a function for it; `KernelLower` needs none.
        where = args[1].literal_value if isinstance(args[1], types.IntegerLiteral) else None
        kind = None if where is None else args[0].types[where]
        if isinstance(kind, (types.Number, types.Boolean)):
            return signature(kind, *args)
    if kws:
        return _resolve_call_type(self, context, args, kws)
    key = self, context, tuple(args)
    if key not in _call_types:
        _call_types[key] = _resolve_call_type(self, context, args, kws)
    return _call_types[key]


# The compiler -----------------------------------------------------------------------------------


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel; without an entry from Python, the kernel is for other kernels only."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function; overrides numba's method.

        The first attempt gives each variable one type and one place. If that is impossible, the
        second one has a variable per assignment, as in numba (SSA).
        """
        state, flags = self.state, self.state.flags
        if not flags.enable_ssa:
            return super().compile_extra(func)
        given = state.typingctx, state.targetctx, state.library, state.args, state.return_type
        flags.enable_ssa = False
        try:
            return super().compile_extra(func)
        except Exception:  # from numba: types; from LLVM: unset values
            again = KernelCompiler(*given, flags, state.locals)
            flags.enable_ssa = True
            return super(KernelCompiler, again).compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Return the passes; overrides numba's method."""
        state = self.state
        # LLVM parses a module for each call, and there is one for each variable.
        state.targetctx.get_abi_sizeof = cache(state.targetctx.get_abi_sizeof)
        library = _HelperLibrary if state.flags.no_cpython_wrapper else _KernelLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        unused = {*UNUSED_PASSES} | (set() if state.flags.enable_ssa else {"PreLowerStripPhis"})
        replaced = {NativeLowering: _KernelLowering, IRLegalization: _Legalization}
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            kept = [each for each in pipeline.passes if each[0].__name__ not in unused]
            pipeline.passes[:] = [(replaced.get(each, each), name) for each, name in kept]
            pipeline._ENFORCING = False  # it would check the kernel after each pass
            pipeline.finalize()
        return pipelines


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):  # type: ignore[misc]
    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[KernelLower]:
        return KernelLower


@register_pass(mutates_CFG=False, analysis_only=True)
class _Legalization(IRLegalization):  # type: ignore[misc]
    """Finds the last use of each variable, if anything depends on it."""

    _name = "kernel_legalization"

    def run_pass(self, state: Any) -> bool:
        models = state.targetctx.data_model_manager
        if owns_memory(state.return_type, state.calltypes, state.typemap, models):
            super().run_pass(state)
        return True


COMPILER_OPTIONS = {
    "pipeline_class": KernelCompiler,
    "no_rewrites": True,  # for expressions of whole arrays, which kernels do not have
    "no_cfunc_wrapper": True,
}
"""Options of `numba.njit` for every kernel."""


# The cache --------------------------------------------------------------------------------------


def guard_files(
    kernel: Any, alone: Callable[[], AbstractContextManager[None]], warn: Callable[[str], None]
) -> None:
    """Read corrupt files of a kernel's cache as missing ones, and save in one process at a time.

    Args:
        kernel: The kernel.
        alone: Returns a context in which no other process saves.
        warn: Called with what is wrong with the cache.
    """
    files: Any = kernel._cache
    if files.cache_path is not None:
        files.load_overload = partial(_load, files, files.load_overload, warn)
        files.save_overload = partial(_save_alone, files.save_overload, alone, warn)


def _load(
    files: Any, load: Callable[[Any, Any], Any], warn: Callable[[str], None],
    signature: Any, context: Any,
) -> Any:  # fmt: skip
    """Load a kernel from the cache; corrupt files count as missing.

    A power failure leaves files empty or cut off, and numba passes on whatever unpickling raises.
    The index is emptied, because numba reads it again before it saves.
    """
    try:
        return load(signature, context)
    except Exception as error:
        warn(f"is corrupt ({type(error).__name__})")
    with suppress(OSError):
        files.flush()
    return None


def _save_alone(
    save: Callable[[Any, Any], None], alone: Callable[[], AbstractContextManager[None]],
    warn: Callable[[str], None], signature: Any, result: Any,
) -> None:  # fmt: skip
    """Save into the cache while no other process does; continue without it if that fails."""
    try:
        with alone():
            save(signature, result)
    except OSError as error:  # the disk is full
        warn(f"cannot be written ({error.strerror})")


# The libraries ----------------------------------------------------------------------------------


def _optimize(codegen: Any, module: Any, level: int, function: Any = None) -> None:
    """Run LLVM's passes over a module or one of its functions.

    Loops are neither unrolled nor vectorised. They have three iterations, or as many as joints, and
    the additional code takes longer to compile than it saves.
    """
    if hasattr(codegen, "_pass_manager_builder"):  # LLVM's old pass managers, numba up to 0.61
        options = {"opt": level, "loop_vectorize": False, "slp_vectorize": False}
        with codegen._pass_manager_builder(**options) as builder:
            builder.disable_unroll_loops = True
            if function is None:
                passes = llvm.create_module_pass_manager()
                codegen._tm.add_analysis_passes(passes)
            else:
                passes = llvm.create_function_pass_manager(module)
                codegen._tm.add_analysis_passes(passes)
            builder.populate(passes)
        passes.run(module if function is None else function)
        return
    tuning = llvm.create_pipeline_tuning_options(level)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    tuning.loop_interleaving = tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(codegen._tm, tuning)
    if function is None:
        builder.getModulePassManager().run(module, builder)
    else:
        builder.getFunctionPassManager().run(function, builder)


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A kernel that Python calls: optimised once, with all its callees inside."""

    _final_module: Any

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        _optimize(self._codegen, self._final_module, int(config.OPT))


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A helper: it becomes part of each kernel that calls it, and is optimised there."""

    _final_module: Any
    _shared_module: Any

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                _optimize(self._codegen, module, min(1, int(config.OPT)), function)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        module = self._final_module
        for function in module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # numba's linkage for repeated code
        self._shared_module = module
        # Machine code remains only for what numba writes to: pointers to the functions' globals.
        text = str(self._codegen._create_empty_module(self.name))
        for variable in module.global_variables:
            if "NumbaEnv" in variable.name and not variable.is_declaration:
                text += f'\n@"{variable.name}" = common global i64 0'
        self._final_module = llvm.parse_assembly(text)
        self._final_module.name = module.name
        super()._finalize_final_module()
