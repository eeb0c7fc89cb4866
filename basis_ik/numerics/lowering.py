# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numba's translation to LLVM, with short code for the common operations of kernels.

Numba keeps each variable in memory, takes each array apart for each element, counts references
to arrays that the caller holds anyway, and looks up each `+` in its tables. LLVM removes all of
this again, at a cost. Here floats, integers, elements and parts of arrays in C order are translated
directly to the code that LLVM would leave. Numba translates everything else.

A product and the sum that it is part of become one operation where the processor has it, which
makes a descent a tenth faster. LLVM does that only if it is allowed to (`contract`), and then the
bits of a result depend on what a function is compiled into. Here they depend on its source alone.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

from numba.core import ir, types
from numba.core.cgutils import ir as llvm
from numba.core.errors import LoweringError, new_error_context  # type: ignore[attr-defined]
from numba.core.lowering import Lower
from numba.core.types import BaseTuple, NamedTupleClass  # type: ignore[attr-defined]

_FLOATS = {
    operator.add: "fadd", operator.iadd: "fadd", operator.sub: "fsub", operator.isub: "fsub",
    operator.mul: "fmul", operator.imul: "fmul",
    operator.truediv: "fdiv", operator.itruediv: "fdiv",
}  # fmt: skip
_INTEGERS = {
    operator.add: "add", operator.iadd: "add", operator.sub: "sub", operator.isub: "sub",
    operator.mul: "mul", operator.imul: "mul",
}  # fmt: skip
_COMPARISONS = {
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
_INDEX = llvm.IntType(64)


def owns_memory(
    return_type: Any, calltypes: dict[Any, Any], typemap: dict[str, Any], data_models: Any
) -> bool:
    """Return whether a kernel allocates arrays, or returns arrays to its caller.

    All others use arrays that the caller holds, also in named tuples, and count no references.
    """
    made = [return_type]
    for inst, signature in calltypes.items():
        if isinstance(inst, ir.Expr):
            packs = inst.op == "call" and isinstance(typemap[inst.func.name], NamedTupleClass)
            held = packs or inst.op in ("getitem", "static_getitem")
            if not held and signature is not None:
                made.append(signature.return_type)
        elif isinstance(inst, (ir.SetItem, ir.StaticSetItem)):
            made.append(signature.args[2])  # numba copies what overlaps
    return any(data_models[each].contains_nrt_meminfo() for each in made)


def has_fused_operations(codegen: Any) -> bool:
    """Return whether the processor multiplies and adds in one operation, which rounds once."""
    triple, _, features = codegen.magic_tuple()
    return "+fma" in features.split(",") or triple.startswith(("aarch64", "arm64"))


class KernelLower(Lower):  # type: ignore[misc]
    """Translates one kernel; see numba for what the methods are given."""

    _singly_assigned_vars: set[str]

    def init(self) -> None:
        """Look the kernel through before it is translated."""
        self._items: dict[str, list[tuple[Any, Any]]] = {}  # of tuples of integers, not made yet
        self._ranges: dict[
            str, tuple[Any, ...]
        ] = {}  # start, stop and step; then place of the next
        self._turns: dict[str, tuple[Any, Any]] = {}  # a loop's variable, and whether to go on
        manager = self.context.data_model_manager
        known = self.fndesc.calltypes, self.fndesc.typemap
        if not owns_memory(self.fndesc.restype, *known, manager):
            self.context.enable_nrt = False
        super().init()

    def _find_singly_assigned_variable(self) -> None:
        """Say which variables are values in LLVM, and not places in memory: those set once."""
        local: set[str] = set()
        if self.context.enable_nrt:
            super()._find_singly_assigned_variable()
            local = self._singly_assigned_vars
        assigned: Counter[str] = Counter()
        for block in self.blocks.values():
            for inst in block.body:
                if isinstance(inst, ir.Assign):
                    assigned[inst.target.name] += 1
        self._singly_assigned_vars = {
            name
            for name, times in assigned.items()
            if times == 1 and (name in local or not self._is_counted(name))
        }
        self._blk_local_varmap: dict[str, Any] = {}

    def pre_block(self, block: Any) -> None:
        """Begin a block; numba looks for `try` here, of which kernels have none."""
        self._cur_ir_block = block

    def lower_block(self, block: Any) -> None:
        """Translate a block; should that fail, say which, and not which line of it."""
        self.pre_block(block)
        where = {"block": block.loc, "errcls_": LoweringError}
        with new_error_context("lowering the block at {block}", **where):
            for inst in block.body:
                self.loc = inst.loc
                self.lower_inst(inst)
        self.post_block(block)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Set a variable."""
        if self._is_counted(name):
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def getvar(self, name: str) -> Any:
        """Return the place of a variable; blocks may be translated before those that set it."""
        self._alloca_var(name, self.typeof(name))
        return super().getvar(name)

    def delvar(self, name: str) -> None:
        """Forget a variable."""
        if self._is_counted(name):
            super().delvar(name)

    def _is_counted(self, name: str) -> bool:
        if not self.context.enable_nrt:
            return False
        model = self.context.data_model_manager[self.typeof(name)]
        return bool(model.contains_nrt_meminfo())

    def loadvar(self, name: str) -> Any:
        """Return the value of a variable."""
        if name in self._items and name not in self._blk_local_varmap:
            kind = self.typeof(name)
            values = [
                self.context.cast(self.builder, value, before, after)
                for (value, before), after in zip(self._items[name], kind, strict=True)
            ]
            return self.context.make_tuple(self.builder, kind, values)
        return super().loadvar(name)

    def lower_inst(self, inst: Any) -> None:
        """Translate a statement."""
        if isinstance(inst, ir.Assign) and isinstance(inst.value, ir.Expr):
            name, expr = inst.target.name, inst.value
            if expr.op == "build_tuple" and name in self._singly_assigned_vars:
                kinds = [self.typeof(each.name) for each in expr.items]
                if kinds and all(isinstance(kind, types.Integer) for kind in kinds):
                    values = [self.loadvar(each.name) for each in expr.items]
                    self._items[name] = list(zip(values, kinds, strict=True))
                    return
            elif self._lower_loop(name, expr):
                return
        elif isinstance(inst, ir.Assign) and isinstance(inst.value, ir.Var):
            tables: tuple[dict[str, Any], ...] = (self._items, self._ranges, self._turns)
            for known in tables:
                if inst.value.name in known and inst.target.name in self._singly_assigned_vars:
                    known[inst.target.name] = known[inst.value.name]
                    return
        elif isinstance(inst, (ir.SetItem, ir.StaticSetItem)) and self._set_element(inst):
            return
        super().lower_inst(inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Return the value of an expression, of type `resty`."""
        if expr.op in ("getitem", "static_getitem"):
            index = expr.index_var if expr.op == "static_getitem" else expr.index
            static = expr.index if expr.op == "static_getitem" else None
            array = self.typeof(expr.value.name)
            at = self._indices(array, index, static)
            if at is not None:
                value = self.loadvar(expr.value.name)
                if len(at) == array.ndim and resty == array.dtype:
                    return self.builder.load(self._address(array, value, at))
                if len(at) < array.ndim and not self.context.enable_nrt:
                    return self._part(array, value, at, resty)
            if isinstance(array, BaseTuple):
                kind = self.typeof(index.name) if index is not None else None
                if isinstance(kind, types.IntegerLiteral):
                    static = kind.literal_value
                if isinstance(static, int) and isinstance(resty, (types.Number, types.Boolean)):
                    value = self.loadvar(expr.value.name)
                    value = self.builder.extract_value(value, static % len(array))
                    return self.context.cast(self.builder, value, array.types[static], resty)
        elif expr.op == "getattr" and expr.attr == "shape":
            array = self.typeof(expr.value.name)
            if isinstance(array, types.Array) and not self.context.enable_nrt:
                at_ = self.context.data_model_manager[array].get_field_position("shape")
                return self.builder.extract_value(self.loadvar(expr.value.name), at_)
        elif expr.op == "unary" and expr.fn is operator.neg and resty == types.float64:
            if self.typeof(expr.value.name) == types.float64:
                return self._negative(self.loadvar(expr.value.name))
        elif expr.op == "pair_first" and expr.value.name in self._turns:
            return self._turns[expr.value.name][0]
        elif expr.op == "pair_second" and expr.value.name in self._turns:
            return self._turns[expr.value.name][1]
        return super().lower_expr(resty, expr)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Return the value of an operation on two values."""
        signature, builder = self.fndesc.calltypes[expr], self.builder
        floats = all(kind == types.float64 for kind in signature.args)
        integers = all(kind == types.int64 for kind in signature.args)
        name = _FLOATS.get(op) if floats else _INTEGERS.get(op) if integers else None
        if name == "fdiv" and self.context.error_model.raise_on_fp_zero_division:
            name = None
        if name is not None:
            operands = self._operands(expr, signature.args)
            result = self._fused(name, *operands) or getattr(builder, name)(*operands)
        elif op in _COMPARISONS and (floats or integers):
            compare = builder.icmp_signed if integers else builder.fcmp_ordered
            if floats and op is operator.ne:
                compare = builder.fcmp_unordered
            result = compare(_COMPARISONS[op], *self._operands(expr, signature.args))
        else:
            return super().lower_binop(resty, expr, op)
        return self.context.cast(builder, result, signature.return_type, resty)

    def _fused(self, name: str, left: Any, right: Any) -> Any:
        """Return the value of a b + c, a b - c or c - a b, rounded once; None for anything else."""
        if name not in ("fadd", "fsub") or not has_fused_operations(self.library.codegen):
            return None
        builder, minus = self.builder, name == "fsub"
        if getattr(left, "opname", None) == "fmul":
            a, b = left.operands
            return builder.fma(a, b, self._negative(right) if minus else right)
        if getattr(right, "opname", None) == "fmul":
            a, b = right.operands
            return builder.fma(self._negative(a) if minus else a, b, left)
        return None

    def _negative(self, value: Any) -> Any:
        return self.builder.fsub(llvm.Constant(llvm.DoubleType(), -0.0), value)

    def _operands(self, expr: Any, kinds: Any) -> list[Any]:
        return [
            self.context.cast(self.builder, self.loadvar(each.name), self.typeof(each.name), kind)
            for each, kind in zip((expr.lhs, expr.rhs), kinds, strict=True)
        ]

    def _lower_loop(self, name: str, expr: Any) -> bool:
        """Translate what belongs to a loop over a range of integers by a constant step."""
        builder = self.builder
        if name not in self._singly_assigned_vars:
            return False
        if expr.op == "call" and self.typeof(name) == types.range_state64_type:
            kinds = [self.typeof(each.name) for each in expr.args]
            values = [
                self._as_index(self.loadvar(each.name), kind)
                for each, kind in zip(expr.args, kinds, strict=True)
            ]
            start, stop = (_INDEX(0), values[0]) if len(values) == 1 else values[:2]
            step = values[2] if len(values) == 3 else _INDEX(1)
            if not isinstance(step, llvm.Constant) or step.constant == 0:
                return False
            self._ranges[name] = start, stop, step
        elif expr.op == "getiter" and expr.value.name in self._ranges:
            start, stop, step = self._ranges[expr.value.name]
            with builder.goto_entry_block():
                place = builder.alloca(_INDEX)
            builder.store(start, place)
            self._ranges[name] = place, stop, step
        elif expr.op == "iternext" and expr.value.name in self._ranges:
            place, stop, step = self._ranges[expr.value.name]
            value = builder.load(place)
            goes_on = builder.icmp_signed("<" if step.constant > 0 else ">", value, stop)
            builder.store(builder.add(value, step), place)
            self._turns[name] = value, goes_on
        else:
            return False
        return True

    # Arrays -------------------------------------------------------------------------------------

    def _indices(self, array: Any, index: Any, static: Any) -> list[Any] | None:
        """Return the indices into an array, if integers all, as values that may be negative."""
        if (
            not (
                isinstance(array, types.Array)
                and array.layout == "C"
                and array.aligned
                and array.dtype in (types.float64, types.int64)
            )
            or self.context.enable_boundscheck
        ):
            return None
        if static is not None:
            static = static if isinstance(static, tuple) else (static,)
            if not all(isinstance(each, int) for each in static):
                return None
            return [_INDEX(each) for each in static]
        if index.name in self._items:
            return [self._as_index(*item) for item in self._items[index.name]]
        kind = self.typeof(index.name)
        if isinstance(kind, types.Integer):
            return [self._as_index(self.loadvar(index.name), kind)]
        return None

    def _as_index(self, value: Any, kind: Any) -> Any:
        return self.context.cast(self.builder, value, kind, types.intp)

    def _offset(self, array: Any, value: Any, at: list[Any]) -> Any:
        """Return how many elements lie before the place of some indices."""
        model, builder = self.context.data_model_manager[array], self.builder
        shape, offset = model.get_field_position("shape"), None
        for axis in range(array.ndim):
            size = None
            if offset is not None:
                size = builder.extract_value(value, (shape, axis))
                offset = builder.mul(offset, size)
            if axis < len(at):
                step = at[axis]
                if not (isinstance(step, llvm.Constant) and step.constant >= 0):
                    size = size or builder.extract_value(value, (shape, axis))
                    below = builder.icmp_signed("<", step, _INDEX(0))
                    step = builder.select(below, builder.add(step, size), step)
                offset = step if offset is None else builder.add(offset, step)
        return offset

    def _address(self, array: Any, value: Any, at: list[Any]) -> Any:
        model = self.context.data_model_manager[array]
        data = self.builder.extract_value(value, model.get_field_position("data"))
        return self.builder.gep(data, [self._offset(array, value, at)])

    def _part(self, array: Any, value: Any, at: list[Any], resty: Any) -> Any:
        """Return what the first indices leave of an array, as an array."""
        builder, models = self.builder, self.context.data_model_manager
        position, after = models[array].get_field_position, models[resty].get_field_position
        part = self.context.get_constant_null(resty)
        part = builder.insert_value(part, self._address(array, value, at), after("data"))
        part = builder.insert_value(
            part, builder.extract_value(value, position("itemsize")), after("itemsize")
        )
        count = _INDEX(1)
        for axis in range(len(at), array.ndim):
            for name in ("shape", "strides"):
                size = builder.extract_value(value, (position(name), axis))
                part = builder.insert_value(part, size, (after(name), axis - len(at)))
                if name == "shape":
                    count = builder.mul(count, size)
        return builder.insert_value(part, count, after("nitems"))

    def _set_element(self, inst: Any) -> bool:
        array = self.typeof(inst.target.name)
        is_static = isinstance(inst, ir.StaticSetItem)
        index = inst.index_var if is_static else inst.index
        kind = self.typeof(inst.value.name)
        if not isinstance(kind, (types.Float, types.Integer, types.Boolean)):
            return False
        at = self._indices(array, index, inst.index if is_static else None)
        if at is None or len(at) != array.ndim:
            return False
        value = self.context.cast(self.builder, self.loadvar(inst.value.name), kind, array.dtype)
        target = self._address(array, self.loadvar(inst.target.name), at)
        self.builder.store(value, target)
        return True
