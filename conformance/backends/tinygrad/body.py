"""A kernel of tinygrad's schedule in neutral instructions: what it reads, what it writes, and what it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from tinygrad.dtype import Invalid, dtypes
from tinygrad.uop import Ops
from tinygrad.uop.ops import UOp

from conformance.backends.base import Unsupported
from conformance.backends.index_fit import fit_all
from conformance.backends.tinygrad.dtypes import NAMES
from conformance.backends.tinygrad.indices import Points, base_of, is_device, is_variable, variables_in
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Body,
    Cast,
    Constant,
    Index,
    Instruction,
    Load,
    Reduce,
    Store,
    Symbol,
)
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array

ALU: Final[dict[Any, str]] = {
    Ops.ADD: "add",
    Ops.SUB: "sub",
    Ops.MUL: "mul",
    Ops.FDIV: "div",
    Ops.CDIV: "div",
    Ops.CMOD: "mod",
    Ops.MAX: "max",
    Ops.AND: "and",
    Ops.OR: "or",
    Ops.XOR: "xor",
    Ops.SHL: "shl",
    Ops.SHR: "shr",
    Ops.CMPLT: "lt",
    Ops.CMPNE: "ne",
    Ops.CMPEQ: "eq",
    Ops.NEG: "neg",
    Ops.RECIPROCAL: "recip",
    Ops.SQRT: "sqrt",
    Ops.EXP2: "exp2",
    Ops.LOG2: "log2",
    Ops.SIN: "sin",
    Ops.TRUNC: "trunc",
    Ops.WHERE: "where",
}
OF_TRUTH: Final = {"add": "or", "max": "or", "mul": "and"}
"""What tinygrad's arithmetic of bool is."""

NOT_NEGATIVE: Final[dict[Any, str]] = {Ops.FLOORDIV: "div", Ops.FLOORMOD: "mod"}
"""Rounding down, which is truncating for what is not negative."""

FOLDS: Final[dict[Any, str]] = {Ops.ADD: "add", Ops.MUL: "mul", Ops.MAX: "max"}
WEAK: Final = {dtypes.weakint: "int64", dtypes.weakfloat: "float64"}
"""Numbers without a dtype of their own take that of what they are combined with, or else this."""

Name = Callable[[int], str]


class Translation:
    """The accesses and bodies of one kernel on one device. ``name`` gives the buffer of a parameter's number."""

    def __init__(self, sink: UOp, device: int, name: Name) -> None:
        """Translate everything that the kernel stores; raise ``Unsupported`` for what has no neutral form."""
        self.accesses: list[Access] = []
        self._device = device
        self._name = name
        self._bounds = variables_in(sink)
        ends = [source.src[0] if source.op is Ops.END else source for source in sink.src]
        stores = [store for end in ends for store in (end.src if end.op is Ops.GROUP else (end,))]
        self.bodies = tuple(self._body(store) for store in stores)

    def _body(self, store: UOp) -> Body:
        if store.op is not Ops.STORE:
            raise Unsupported(f"a kernel that ends in {store.op}")
        nodes = list(store.toposort())
        folded = [axis for node in nodes if node.op is Ops.REDUCE for axis in node.src[1:]]
        ranges = [node for node in nodes if node.op is Ops.RANGE and not is_device(node)]
        free = sorted((axis for axis in ranges if axis not in folded), key=lambda axis: axis.arg[0])
        most = {name: high for name, (_, high) in self._bounds.items()}
        self._points = Points([*free, *dict.fromkeys(folded)], nodes, self._device, most)
        self._lines: list[Instruction] = []
        self._dtypes: list[str] = []
        self._known: dict[UOp, int] = {}
        target, value = store.src[0], store.src[1]
        # What is stored has a dtype of its own, unless it is a bare number; that of the index says nothing (0.14.0).
        own = base_of(target.src[0]).dtype if value.dtype in WEAK else value.dtype
        stored = self._of(value, NAMES[own])
        self._add(Store(access=self._access(target, write=True), of=stored), "")
        return Body(extents=self._points.shape, instructions=tuple(self._lines))

    def _access(self, index: UOp, *, write: bool) -> int:
        if index.op is not Ops.INDEX:
            raise Unsupported(f"a store to {index.op}")
        base = base_of(index.src[0])
        if base.op is not Ops.PARAM:
            raise Unsupported(f"an index into {base.op}")
        index_map = fit_all(lambda values: self._points.elements(index, values), self._points.shape, self._bounds)
        if index_map is None:
            raise Unsupported("an index that no chain of strides and a mask gives")
        access = Access(buffer=self._name(base.arg.slot), write=write, map=index_map)
        if access not in self.accesses:
            self.accesses.append(access)
        return self.accesses.index(access)

    def _of(self, node: UOp, dtype: str) -> int:
        """Return the instruction that gives ``node`` in ``dtype``, which only numbers without one may lack."""
        if node.op is Ops.CONST:
            if node.val is Invalid:
                raise Unsupported("a value that is nothing")
            with np.errstate(all="ignore"):
                value = from_array(np.array(node.val).astype(NUMPY[dtype]))
            return self._add(Constant(value=value), dtype)
        at = self._line(node)
        return at if self._dtypes[at] == dtype else self._add(Cast(of=at, dtype=dtype), dtype)

    def _line(self, node: UOp) -> int:
        if node not in self._known:
            self._known[node] = self._made(node)
        return self._known[node]

    def _made(self, node: UOp) -> int:
        if is_device(node):
            return self._add(Constant(value=from_array(np.array(self._device, np.int64))), "int64")
        make = {
            Ops.CONST: lambda: self._of(node, _name(node.dtype)),
            Ops.LOAD: lambda: self._line(node.src[0]),
            Ops.INDEX: lambda: self._add(Load(access=self._access(node, write=False)), NAMES[node.dtype]),
            Ops.RANGE: lambda: self._index(node),
            Ops.PARAM: lambda: self._symbol(node),
            Ops.REDUCE: lambda: self._reduced(node),
            Ops.CAST: lambda: self._converted(node),
            Ops.BITCAST: lambda: self._converted(node),
        }.get(node.op, lambda: self._computed(node))
        return make()

    def _converted(self, node: UOp) -> int:
        dtype = _name(node.dtype)
        of = self._of(node.src[0], _name(node.src[0].dtype))
        if node.op is Ops.CAST:
            return self._add(Cast(of=of, dtype=dtype), dtype)
        if NUMPY[dtype].itemsize != NUMPY[self._dtypes[of]].itemsize:
            raise Unsupported("a bitcast that changes the width")
        return self._add(Bitcast(of=of, dtype=dtype), dtype)

    def _symbol(self, node: UOp) -> int:
        if not is_variable(node):
            raise Unsupported("a value that is a parameter")
        return self._add(Symbol(name=node.expr), "int64")

    def _index(self, node: UOp) -> int:
        """Return the instruction that gives a range, put together from its parts."""
        at = -1
        for axis, weight in self._points.parts[node]:
            part = self._add(Index(axis=axis), "int64")
            if weight > 1:
                step = self._add(Constant(value=from_array(np.array(weight, np.int64))), "int64")
                part = self._add(Alu(op="mul", of=(part, step)), "int64")
            at = part if at < 0 else self._add(Alu(op="add", of=(at, part)), "int64")
        return at

    def _reduced(self, node: UOp) -> int:
        operation, rest = node.arg
        if rest or operation not in FOLDS:
            raise Unsupported(f"a reduction {node.arg}")
        of = self._line(node.src[0])
        axes = tuple(axis for each in node.src[1:] for axis, _ in self._points.parts[each])
        fold: Any = FOLDS[operation] if self._dtypes[of] != "bool" else OF_TRUTH[FOLDS[operation]]
        return self._add(Reduce(op=fold, of=of, axes=axes), self._dtypes[of])

    def _computed(self, node: UOp) -> int:
        if node.op in NOT_NEGATIVE and min(source.vmin for source in node.src) >= 0:
            operation = NOT_NEGATIVE[node.op]
        elif node.op in ALU:
            operation = ALU[node.op]
        else:
            raise Unsupported(f"a computation {node.op}")
        compared = node.src[1:] if operation == "where" else node.src
        # Comparisons give bool, so what they compare says in which dtype; anything else has the dtype of its values.
        strong = [source.dtype for source in compared if source.dtype not in WEAK]
        dtype = _name(strong[0] if strong else compared[0].dtype)
        if dtype == "bool" and operation in OF_TRUTH:
            operation = OF_TRUTH[operation]
        of = [self._of(source, dtype) for source in compared]
        if operation == "where":
            of.insert(0, self._of(node.src[0], "bool"))
        made: Any = operation
        return self._add(Alu(op=made, of=tuple(of)), "bool" if operation in ("lt", "ne", "eq") else dtype)

    def _add(self, instruction: Instruction, dtype: str) -> int:
        self._lines.append(instruction)
        self._dtypes.append(dtype)
        return len(self._lines) - 1


def _name(dtype: Any) -> str:
    return WEAK[dtype] if dtype in WEAK else NAMES[dtype]
