"""Loops of Inductor as neutral bodies: its own definition of each, called with operations that write lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sympy
import torch
from torch._inductor.dependencies import MemoryDep
from torch._inductor.ops_handler import DefaultHandler
from torch._inductor.virtualized import V

from conformance.backends.base import Unsupported
from conformance.backends.bodies.instructions import Lines
from conformance.backends.index_fit import fit
from conformance.backends.torch.inductor.index import worth
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Bitcast, Body, Fetch, Load, Store, Symbol
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, Array

PLAIN: Final = {
    **{name: name for name in ("add", "sub", "mul", "neg", "abs", "sqrt", "exp2", "log2", "sin", "trunc", "where")},
    **{f"bitwise_{name}": name for name in ("and", "or", "xor", "not")},
    **{f"logical_{name}": name for name in ("and", "or", "xor", "not")},
    **{f"{name}_": name for name in ("and", "or", "xor")},
    "invert": "not", "truediv": "div", "truncdiv": "div", "mod": "mod", "fmod": "mod", "minimum": "min",
    "maximum": "max", "reciprocal": "recip", "bitwise_left_shift": "shl", "bitwise_right_shift": "shr",
    "lshift": "shl", "rshift": "shr", "lt": "lt", "eq": "eq", "ne": "ne",
}  # fmt: skip
"""Inductor's operations in the words of neutral bodies; of logical ones those on bools."""

FOLDS: Final = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "xor_sum": "xor"}


@dataclass(frozen=True)
class LoopValue:
    """The line that gives a value, and what it is known to be at each point, where it depends on no data."""

    line: int
    known: Array | None = None


@dataclass(frozen=True)
class Memory:
    """What the loops' names mean: the buffer of each and where it begins there, dtypes, and scalars that are variables.

    ``kept`` are names that no memory is made for: what later operations of the same loops take they have at hand.
    """

    buffer: Callable[[str], tuple[str, int]]
    dtype: Callable[[str], str]
    variables: Mapping[str, str]
    kept: frozenset[str]


class Operations(DefaultHandler):
    """The operations of one nest of loops, in order, as lines."""

    def __init__(self, memory: Memory, axes: tuple[int, ...], folded: tuple[int, ...], accesses: list[Access]) -> None:
        """Begin with the extents of the loops, of which some are ``folded`` along, and the accesses of the kernel."""
        self._memory, self._folded, self._accesses = memory, folded, accesses
        self.lines = Lines(axes)
        self.symbols = [sympy.Symbol(f"loop{axis}", integer=True, nonnegative=True) for axis in range(len(axes))]
        self._at: dict[str, Array] = {each.name: self.lines.along(axis) for axis, each in enumerate(self.symbols)}
        self._chosen: dict[str, tuple[int, int]] = {}
        self._inside: Array = np.ones((), np.bool_)
        self._forwarded: dict[str, LoopValue] = {}

    def _default(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LoopValue:
        word = PLAIN.get(name)
        if word is None or kwargs:
            raise Unsupported(f"a kernel with {name}")
        dtypes = {self.lines.dtypes[each.line] for each in args[word == "where" :]}
        if len(dtypes) != 1 or (name.startswith("logical_") and dtypes != {"bool"}):
            raise Unsupported(f"a kernel with {name} of {' and '.join(sorted(dtypes))}")
        return self._alu(word, *args)

    def _alu(self, word: str, *of: LoopValue) -> LoopValue:
        line = self.lines.alu(word, *(each.line for each in of))
        known = [each.known for each in of if each.known is not None]
        return LoopValue(line, _KNOWN[word](*known) if word in _KNOWN and len(known) == len(of) else None)

    def gt(self, left: LoopValue, right: LoopValue) -> LoopValue:
        """Compare the other way round."""
        return self._default("lt", (right, left), {})

    def le(self, left: LoopValue, right: LoopValue) -> LoopValue:
        """Compare: less, or the same."""
        return self._alu("or", self._default("lt", (left, right), {}), self._default("eq", (left, right), {}))

    def ge(self, left: LoopValue, right: LoopValue) -> LoopValue:
        """Compare the other way round: less, or the same."""
        return self.le(right, left)

    def square(self, value: LoopValue) -> LoopValue:
        """Multiply a value with itself."""
        return self._alu("mul", value, value)

    def identity(self, value: LoopValue) -> LoopValue:
        """Return the value."""
        return value

    def constant(self, value: Any, dtype: torch.dtype) -> LoopValue:
        """Add one value at every point."""
        number = np.array(value).astype(NUMPY[named(dtype)])
        return LoopValue(self.lines.constant(number, named(dtype)), number)

    def index_expr(self, index: Any, dtype: torch.dtype) -> LoopValue:
        """Add an integer that follows from the point alone."""
        found = np.asarray(worth(index, self._at))
        return LoopValue(self.lines.cast(self.lines.index(found), named(dtype)), found)

    def to_dtype(self, x: LoopValue, dtype: torch.dtype, *_: Any, **__: Any) -> LoopValue:
        """Add a conversion."""
        line = self.lines.cast(x.line, named(dtype))
        return LoopValue(line, None if x.known is None else x.known.astype(NUMPY[named(dtype)]))

    def to_dtype_bitcast(self, value: LoopValue, dtype: torch.dtype, *_: Any) -> LoopValue:
        """Take the bits for another dtype's."""
        if NUMPY[self.lines.dtypes[value.line]].itemsize != NUMPY[named(dtype)].itemsize:
            raise Unsupported("bits of another width")
        return LoopValue(self.lines.add(Bitcast(of=value.line, dtype=named(dtype)), named(dtype)))

    def masked(self, mask: LoopValue, body: Callable[[], LoopValue], other: Any) -> LoopValue:
        """Compute something only where it is meant, and have another value elsewhere."""
        if mask.known is None:
            raise Unsupported("a mask that data choose")
        outside = self._inside
        self._inside = outside & mask.known.astype(np.bool_)
        value = body()
        self._inside = outside
        dtype = self.lines.dtypes[value.line]
        return LoopValue(self.lines.alu("where", mask.line, value.line, self.lines.constant(other, dtype)))

    def indirect_indexing(self, index: LoopValue, size: Any, check: bool = True, wrap_neg: bool = True) -> Any:
        """Return the symbol of an index that data choose; one below zero counts from the end."""
        del check
        dtype, extent = self.lines.dtypes[index.line], int(size)
        line = index.line
        if wrap_neg:
            below = self.lines.alu("lt", line, self.lines.constant(0, dtype))
            line = self.lines.alu("where", below, self.lines.alu("add", line, self.lines.constant(extent, dtype)), line)
        symbol = sympy.Symbol(f"chosen{len(self._chosen)}", integer=True)
        self._chosen[symbol.name] = (line, extent)
        return symbol

    def load(self, name: str, index: Any) -> LoopValue:
        """Take an element, or what the same loops have just computed for it."""
        if name in self._forwarded:
            return self._forwarded[name]
        if name in self._memory.variables:
            line = self.lines.add(Symbol(name=self._memory.variables[name]), "int64")
            return LoopValue(self.lines.cast(line, self._memory.dtype(name)))
        named_there = {each.name for each in sympy.sympify(index).free_symbols}
        chosen = [each for each in self._chosen if each in named_there]
        lines = [self._chosen[each] for each in chosen]
        rank, extents = len(self.lines.extents), tuple(extent for _, extent in lines)
        at = {key: value.reshape(value.shape + (1,) * len(chosen)) for key, value in self._at.items()}
        for axis, (key, extent) in enumerate(zip(chosen, extents, strict=True)):
            at[key] = np.arange(extent).reshape([1] * (rank + axis) + [-1] + [1] * (len(chosen) - axis - 1))
        access = self._accessed(name, np.asarray(worth(index, at)), extents, write=False)
        dtype = self._memory.dtype(name)
        taken = Fetch(access=access, at=tuple(line for line, _ in lines)) if chosen else Load(access=access)
        return LoopValue(self.lines.add(taken, dtype))

    def reduction(self, dtype: torch.dtype, src_dtype: torch.dtype, kind: str, value: LoopValue) -> LoopValue:
        """Fold along the loops that are for it."""
        if kind not in FOLDS or not isinstance(value, LoopValue):
            raise Unsupported(f"a reduction {kind}")
        del src_dtype
        line = self.lines.cast(value.line, named(dtype))
        return LoopValue(self.lines.fold(FOLDS[kind], line, self._folded))

    def store(self, name: str, index: Any, value: LoopValue, mode: Any = None) -> None:
        """Write an element, and have it at hand for what follows in the same loops."""
        if mode is not None:
            raise Unsupported(f"a store that is {mode}")
        own = V.graph.scheduler.mutation_real_name.get(name, name)
        self._forwarded[name] = self._forwarded[own] = value
        if name in self._memory.kept:
            return
        if self.lines.dtypes[value.line] != self._memory.dtype(name):
            raise Unsupported("a store of another dtype")
        access = self._accessed(name, np.asarray(worth(index, self._at)), (), write=True)
        self.lines.add(Store(access=access, of=value.line), self._memory.dtype(name))

    def store_reduction(self, name: str, index: Any, value: LoopValue) -> None:
        """Write a fold."""
        self.store(name, index, value)

    def _accessed(self, name: str, at: Array, more: tuple[int, ...], *, write: bool) -> int:
        buffer, offset = self._memory.buffer(name)
        shape = (*self.lines.extents, *more)
        inside = self._inside.reshape(self._inside.shape + (1,) * len(more)) if self._inside.ndim else self._inside
        found, valid = (np.broadcast_to(each, shape) for each in (at + offset, inside))
        chain = fit(found, valid) if math.prod(shape) and valid.any() else None
        if chain is None:
            raise Unsupported("an index that no chain of strides gives")
        access = Access(buffer=buffer, write=write, map=chain)
        if access not in self._accesses:
            self._accesses.append(access)
        return self._accesses.index(access)


_KNOWN: Final[dict[str, Callable[..., Array]]] = {
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "lt": np.less, "eq": np.equal,
    "ne": np.not_equal, "add": np.add, "sub": np.subtract, "mul": np.multiply,
}  # fmt: skip
"""Operations whose result is known where their operands are; masks are made by these."""


def body_of(nodes: Sequence[Any], memory: Memory, accesses: list[Access], *, phase: int, groups: int) -> Body:
    """Return the body of scheduler nodes that run in one nest of loops; raise ``Unsupported`` where there is none.

    Those that come after a fold run once for each of its results.
    """
    sizes = [tuple(tuple(int(extent) for extent in part) for part in node.group[1]) for node in nodes]
    group, folded = max(sizes, key=lambda each: len(each[1]))
    axes = (*group, *folded)
    handler = Operations(memory, axes, tuple(range(len(group), len(axes))), accesses)
    outer, inner = handler.symbols[: len(group)], handler.symbols[len(group) :]
    for node, own in zip(nodes, sizes, strict=True):
        with V.set_ops_handler(handler):
            if own == (group, folded):
                node._body(outer, inner)  # noqa: SLF001 - the definition of the loops, which Inductor's code is made of
            elif own == (axes, ()):
                node._body(handler.symbols, [])  # noqa: SLF001 - as above
            elif own == (group, ()):
                node._body(outer, [])  # noqa: SLF001 - as above
            else:
                raise Unsupported("loops of several extents in one")
    return Body(extents=axes, instructions=tuple(handler.lines.lines), phase=phase, groups=groups)


def named(dtype: torch.dtype) -> str:
    """Return the name of a dtype."""
    return str(dtype).removeprefix("torch.")


def written(dependency: Any, offset: int) -> IndexMap | None:
    """Return where loops write, by what the scheduler says of it; ``None`` where that is not said."""
    if not isinstance(dependency, MemoryDep):
        return None
    extents = tuple(int(extent) for extent in dependency.size)
    lines = Lines(extents)
    at = {each.name: lines.along(axis) for axis, each in enumerate(dependency.var_names)}
    found = np.broadcast_to(np.asarray(worth(dependency.index, at)) + offset, extents)
    return fit(found, np.ones(extents, np.bool_)) if found.size else None
