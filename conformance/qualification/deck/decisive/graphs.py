"""Graphs on values that decide: each operation, fold and conversion of each dtype, also of one element on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.elementwise import ARITY, COMPARISONS, TAKES
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import DRAWN, NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate.tables.graphs import legal
from conformance.qualification.deck.decisive.values import classes, convertible, met

Shape = tuple[int, ...]

OPERATIONS: Final = (
    ("add", "sub", "mul", "max", "min", "neg", "abs", "lt", "eq", "ne", "where"),
    ("and", "or", "xor", "not", "shl", "shr", "div", "mod", "recip", "sqrt", "exp2", "log2", "sin", "trunc"),
)
"""Elementwise operations that one graph has side by side: who claims one of them mostly claims its neighbours."""

FOLDS: Final = (("add", "mul", "max", "min", "and", "or", "xor"),)

SMALL: Final = ("int4", "uint4", "float8_e4m3fn", "float8_e5m2")
"""Dtypes that few implementations have: what is converted to them is a case of its own."""

MET: Final = {"add": "sum", "mul": "product"}
"""Names of folds among reductions, where these differ."""


class Making:
    """Nodes and buffers so far, and what is asked for."""

    def __init__(self, device: str = "d0") -> None:
        """Have no node yet; those without another are on ``device``."""
        self.nodes: list[Node] = []
        self.buffers: dict[str, Tensor] = {}
        self.asked: list[str] = []
        self._device = device

    def buffer(self, values: Array, dtype: str, device: str = "") -> Node:
        """Add a buffer that holds ``values``."""
        name = f"b{len(self.buffers)}"
        self.buffers[name] = from_array(values)
        return self._add("buf", values.shape, dtype, device=device or self._device, id=name, arg=name)

    def constant(self, value: Array, dtype: str) -> Node:
        """Add a constant."""
        return self._add("const", (), dtype, arg=from_array(value))

    def ask(self, op: Any, shape: Shape, dtype: str, *of: Node, **rest: Any) -> None:
        """Add a node and ask for it, unless a graph of it alone has no meaning."""
        made = self._add(op, shape, dtype, *of, **rest)
        alone = Graph(nodes=tuple(self.nodes), results=(made.id,))
        rounds = (Round(until=len(self.nodes), asked=(made.id,)),)
        if legal(GraphCase(graph=alone, buffers=self.buffers, rounds=rounds)) is None:
            self.nodes.pop()
        else:
            self.asked.append(made.id)

    def _add(self, op: Any, shape: Shape, dtype: str, *of: Node, **rest: Any) -> Node:
        rest = {"id": f"n{len(self.nodes)}", "device": self._device, **rest}
        made = Node(op=op, of=tuple(each.id for each in of), shape=shape, dtype=dtype, **rest)
        self.nodes.append(made)
        return made

    def case(self) -> GraphCase | None:
        """Return the case, ``None`` where nothing is asked for."""
        rounds = (Round(until=len(self.nodes), asked=tuple(self.asked)),)
        graph = Graph(nodes=tuple(self.nodes), results=tuple(self.asked))
        return GraphCase(graph=graph, buffers=self.buffers, rounds=rounds) if self.asked else None


def operations() -> Iterator[GraphCase]:
    """Yield for each dtype the elementwise operations that it takes, of every two classes of its values."""
    yield from _each(DRAWN, OPERATIONS, _operations)


def of_one_element() -> Iterator[GraphCase]:
    """Yield for each dtype the elementwise operations of one element, with one axis and without, on two devices."""
    for dtype in DRAWN:
        made = Making()
        values = classes(dtype)
        for device, shape, at in product(("d0", "d1"), ((1,), ()), (0, 1)):
            left, right = (values[[(number + at) % len(values)]].reshape(shape) for number in (3, 4))
            one, other = made.buffer(left, dtype, device), made.buffer(right, dtype, device)
            chosen = made.buffer(np.array(at == 0).reshape(shape), "bool", device)
            made.ask("alu", shape, dtype, chosen, one, other, arg="where", device=device)
            for word in ("add", "max", "xor", "lt") if at else ():
                if takes(word, dtype):
                    made.ask("alu", shape, made_of(word, dtype), one, other, arg=word, device=device)
        case = made.case()
        if case is not None:
            yield case


def conversions() -> Iterator[GraphCase]:
    """Yield for each dtype its conversions to all others, of values that tell rounding from truncation."""
    for dtype, small in product(DRAWN, (False, True)):
        made = Making()
        values = convertible(dtype)
        source = made.buffer(values, dtype)
        for other in DRAWN:
            if other != dtype and (other in SMALL) == small:
                made.ask("cast", values.shape, other, source)
        case = made.case()
        if case is not None:
            yield case


def of_constants() -> Iterator[GraphCase]:
    """Yield for each dtype the elementwise operations and the conversions of constants, which compilers do themselves.

    Both operands are constants, and one alone.
    """
    for dtype in DRAWN:
        made = Making()
        values = classes(dtype)
        # One on each side of the sign bit, and two that share some bits.
        number = 0 if kind(dtype) == "bool" else len(values) // 2
        scalars = [values[[(number + at) % len(values)]].reshape(()) for at in (0, 2, 3)]
        one, other, third = (made.constant(each, dtype) for each in scalars)
        stored, chosen = made.buffer(scalars[2], dtype), made.constant(np.array(False), "bool")
        made.ask("alu", (), dtype, chosen, one, other, arg="where")
        for word in (each for several in OPERATIONS for each in several):
            if word != "where" and takes(word, dtype):
                pairs = ((one, other), (other, third), (stored, other), (one, stored))
                for of in pairs if ARITY[word] > 1 else ((one,), (other,)):
                    made.ask("alu", (), made_of(word, dtype), *of, arg=word)
        case = made.case()
        if case is not None:
            yield case
    for dtype in DRAWN:
        made = Making()
        numbers = convertible(dtype)
        for value in numbers[[-1, len(numbers) // 2, len(numbers) // 3]]:
            source = made.constant(np.asarray(value, NUMPY[dtype]), dtype)
            for target in (target for target in DRAWN if target not in (dtype, *SMALL)):
                made.ask("cast", (), target, source)
        case = made.case()
        if case is not None:
            yield case


def folds() -> Iterator[GraphCase]:
    """Yield for each dtype its folds along the first axis and the last, of every two classes of its values."""
    yield from _each(DRAWN, FOLDS, _folds)


def met_on_devices() -> Iterator[GraphCase]:
    """Yield for each dtype what two devices receive that meet: each fold and reduction, of every two classes."""
    yield from _each(DRAWN, FOLDS, _met)


def _each(
    dtypes: Sequence[str], several: Sequence[Sequence[str]], make: Callable[[Making, str, Sequence[str]], None]
) -> Iterator[GraphCase]:
    for dtype, words in product(dtypes, several):
        made = Making()
        make(made, dtype, [word for word in words if takes(word, dtype)])
        case = made.case()
        if case is not None:
            yield case


def _operations(made: Making, dtype: str, words: Sequence[str]) -> None:
    values = classes(dtype)
    shape = (len(values) ** 2,)
    one, other, third = (made.buffer(met(values, shape, rank), dtype) for rank in range(3))
    bits = NUMPY[dtype].itemsize * 8 if dtype not in SMALL else 4
    shifts = np.arange(shape[0]) % bits
    for word in words:
        of = [one, other, third][: ARITY[word]]
        if word in ("shl", "shr"):
            of = [one, made.buffer(shifts.astype(NUMPY[dtype]), dtype)]
        elif word in ("div", "mod") and kind(dtype) == "integer":
            # Nothing is divided by zero, nor the least number by -1.
            divisors = values[(values != 0) & (values != values.dtype.type(-1 if "u" not in dtype else 0))]
            of = [one, made.buffer(met(divisors, shape, 1), dtype)]
        elif word == "where":
            of = [made.buffer(np.arange(shape[0]) % 3 > 0, "bool"), one, other]
        made.ask("alu", shape, made_of(word, dtype), *of, arg=word)


def _folds(made: Making, dtype: str, words: Sequence[str]) -> None:
    values = classes(dtype)
    pairs = np.stack([met(values, (len(values) ** 2,), rank) for rank in range(2)])
    for axis, block in ((0, pairs), (1, np.ascontiguousarray(pairs.T))):
        source = made.buffer(block, dtype)
        for word in words:
            made.ask("reduce", (len(values) ** 2,), dtype, source, arg=(axis,), fold=word)


def _met(made: Making, dtype: str, words: Sequence[str]) -> None:
    values = classes(dtype)
    shape = (2 * (len(values) ** 2 // 2 + 1),)
    of = [made.buffer(met(values, shape, rank), dtype, f"d{rank}") for rank in range(2)]
    members = ("d0", "d1")
    for number, word in enumerate(words):
        device = members[number % 2]
        made.ask("all_reduce", shape, dtype, *of, device=device, fold=word)
        attrs: dict[str, Any] = {"op": MET.get(word, word)}
        made.ask("collective", shape, dtype, *of, device=device, arg="all_reduce", attrs=attrs, members=members)
        attrs = attrs | {"axis": 0, "tiled": True}
        half = (shape[0] // 2,)
        made.ask("collective", half, dtype, *of, device=device, arg="reduce_scatter", attrs=attrs, members=members)


def takes(word: str, dtype: str) -> bool:
    """Return whether an operation or a fold has a meaning for a dtype."""
    return kind(dtype) in TAKES.get(word, {kind(dtype)})


def made_of(word: str, dtype: str) -> str:
    """Return the dtype of what an elementwise operation makes of values of a dtype."""
    return "bool" if word in COMPARISONS else dtype
