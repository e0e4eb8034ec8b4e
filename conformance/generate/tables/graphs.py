"""The table of graphs of one and two steps: operations, data, sources and who else uses them, and what is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, NamedTuple, get_args

import numpy as np

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.elementwise import ARITY, COMPARISONS, Fold
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import DRAWN, NUMPY
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate.graphs.nodes import GraphNodes
from conformance.generate.table import Row, Table
from conformance.generate.tables.programs import pool_of
from conformance.judging.graphs.subject import graph_meaning

Shape = tuple[int, ...]


class Operation(NamedTuple):
    """What a step does: of ``alu``, ``fold`` and ``cast`` which one, and of movement nothing more than its kind."""

    kind: str
    which: str = ""


def _each(kind: str, *several: str) -> tuple[Operation, ...]:
    return tuple(Operation(kind, which) for which in several)


MOVES: Final = tuple(
    map(Operation, ("reshape", "permute", "expand", "pad", "shrink", "tail", "stride", "back", "flip", "contig"))
)
CASTS: Final = _each("cast", "float32", "int32", "uint8", "float64", "bool", "bfloat16")
STEPS: Final = (
    *_each("alu", "add", *(word for word in ARITY if word != "add")),
    *_each("fold", *get_args(Fold)),
    *CASTS,
    Operation("bits"),
    *MOVES,
)
SECOND: Final = (
    *_each("alu", "mul", "max", "neg", "lt", "where", "sub", "div"),
    *_each("fold", "add", "max", "first", "mul"),
    *_each("cast", "float32", "int8", "bfloat16"),
    *MOVES,
)

FACTORS: Final = {
    "first": STEPS,
    "then": (None, *SECOND),
    "dtype": ("int32", "float32", *(dtype for dtype in DRAWN if dtype not in ("int32", "float32"))),
    "shape": ((4, 6), (5,), (), (1, 3), (0, 3), (2, 3, 2), (67,)),
    "source": ("storage", "turned", "part", "computed", "repeated", "constant"),
    "other": ("another", "the same", "constant", "repeated"),
    "values": ("plain", "ends", "zeros", "special", "subnormal"),
    "asked": ("last", "both", "again"),
    "written": ("never", "view before", "view after", "from outside"),
}


@dataclass
class Making(GraphNodes):
    """Nodes and buffers so far, all on one device."""

    buffers: dict[str, Tensor] = field(default_factory=dict)

    def buffer(self, shape: Shape, dtype: str, values: Any, step: int) -> Node:
        """Add a buffer that holds values, dealt in a step of its own."""
        name = f"b{len(self.buffers)}"
        self.buffers[name] = held(shape, values, step)
        return self.add("buf", shape, dtype, id=name, arg=name)


def held(shape: Shape, values: Any, step: int) -> Tensor:
    """Return a tensor of a shape that holds values, dealt in steps."""
    return from_array(values[np.arange(prod(shape)) * step % len(values)].reshape(shape))


def case_of(row: Row) -> GraphCase | None:
    """Return the graph of a row, ``None`` where it has no meaning."""
    values = pool_of(row["dtype"], row["values"])
    if values is None or (row["then"] is None and row["asked"] == "both"):
        return None
    making = Making()
    try:
        base = making.buffer(row["shape"], row["dtype"], values, 5)
        source = _source(making, base, row, values)
        if row["written"] == "view before":
            _write(making, base, values)
        first = _step(making, row["first"], source, row["other"], values)
        if row["written"] == "view after":
            _write(making, base, values)
        last = first if row["then"] is None else _step(making, row["then"], first, row["other"], values)
    except _NoStep:
        return None
    return legal(
        GraphCase(
            graph=_graph(making, first, last, row),
            buffers=making.buffers,
            rounds=_rounds(making, first, last, row, base),
        )
    )


class _NoStep(Exception):
    """A step that a value of this shape or dtype has no form of."""


def _source(making: Making, base: Node, row: Row, values: Any) -> Node:
    shape: Shape = row["shape"]
    match row["source"]:
        case "turned":
            return making.add("permute", shape[::-1], base.dtype, base, arg=tuple(range(len(shape)))[::-1])
        case "part":
            return _alone(making, Operation("shrink"), base)
        case "computed":
            return making.add("alu", shape, base.dtype, base, base, arg="max" if "complex" not in base.dtype else "add")
        case "repeated":
            return _alone(making, Operation("expand"), base)
        case "constant":
            return making.add("const", shape, base.dtype, arg=from_array(values[1 % len(values)].reshape(())))
        case _:
            return base


def _write(making: Making, base: Node, values: Any) -> None:
    view = _alone(making, Operation("tail"), base) if base.shape else base
    shape = tuple(map(int, view.shape))
    value = making.buffer(shape, base.dtype, values[::-1], 3)
    making.add("assign", shape, base.dtype, view, value)


def _step(making: Making, step: Operation, of: Node, other: str, values: Any) -> Node:
    what = step.which
    if step.kind != "alu":
        return _alone(making, step, of)
    shape = tuple(map(int, of.shape))
    others = [_other(making, of, shape, other, values, number) for number in range(1, ARITY[what])]
    if what == "where":
        chosen = making.add("alu", shape, "bool", of, others[0], arg="ne")
        return making.add("alu", shape, of.dtype, chosen, of, others[1], arg="where")
    return making.add("alu", shape, "bool" if what in COMPARISONS else of.dtype, of, *others, arg=what)


def _other(making: Making, of: Node, shape: Shape, other: str, values: Any, number: int) -> Node:
    pool: Any = values if of.dtype == making.nodes[0].dtype else pool_of(of.dtype, "plain")
    if other == "the same":
        return of
    if other == "constant":
        return making.add("const", shape, of.dtype, arg=from_array(pool[0].reshape(())))
    if other == "repeated" and shape:
        one = making.buffer((*shape[:-1], 1), of.dtype, pool, 3 + number)
        return making.add("expand", shape, of.dtype, one)
    return making.buffer(shape, of.dtype, pool, 3 + number)


def _alone(making: Making, step: Operation, of: Node) -> Node:
    """Add a step of one operand; raise ``_NoStep`` where its shape has none."""
    kind, what = step
    shape = tuple(map(int, of.shape))
    if kind == "fold":
        return _fold(making, what, of, shape)
    if kind == "cast":
        return making.add("cast", shape, what, of)
    if kind == "bits":
        return making.add("bitcast", shape, _as_wide(of.dtype), of)
    if kind == "contig":
        return making.add("contig", shape, of.dtype, of)
    if not shape:
        raise _NoStep
    return making.add(*_moved(kind, of, shape)[:3], of, arg=_moved(kind, of, shape)[3])


def _fold(making: Making, what: str, of: Node, shape: Shape) -> Node:
    if not shape:
        raise _NoStep
    axis, word = (0, "add") if what == "first" else (len(shape) - 1, what)
    kept = tuple(extent for at, extent in enumerate(shape) if at != axis)
    return making.add("reduce", kept, of.dtype, of, arg=(axis,), fold=word)


def _as_wide(dtype: str) -> str:
    width = NUMPY[dtype].itemsize
    like = {1: ("uint8", "int8"), 2: ("uint16", "float16"), 4: ("uint32", "float32"), 8: ("uint64", "float64")}
    if width not in like or dtype in ("bool", "int4", "uint4"):
        raise _NoStep
    return like[width][dtype == like[width][0]]


def _moved(kind: str, of: Node, shape: Shape) -> tuple[Any, Shape, str, Any]:
    """Return the operation, the shape, the dtype and the argument of a movement."""
    *lead, last = shape
    whole: Sequence[tuple[int, int]] = [(0, extent) for extent in lead]
    half, less = -(-last // 2), max(last - 1, 0)
    turned = tuple(range(len(shape)))[::-1]
    forms: dict[str, tuple[Any, Shape, Any]] = {
        "reshape": ("reshape", (prod(shape),) if lead else (1, last), None),
        "permute": ("permute", shape[::-1], turned),
        "expand": ("expand", (*lead, 3), None),
        "pad": ("pad", (*lead, last + 3), (*((0, 0) for _ in lead), (1, 2))),
        "shrink": ("shrink", (*lead, less), (*whole, (0, less))),
        "tail": ("shrink", (*lead, half), (*whole, (last // 2, last))),
        "stride": ("stride", (*lead, half), (*(1 for _ in lead), 2)),
        "back": ("stride", (*lead, half), (*(1 for _ in lead), -2)),
        "flip": ("flip", shape, (len(shape) - 1,)),
    }
    if kind == "expand" and last != 1:
        kind = "pad"
    op, made, arg = forms[kind]
    return op, made, of.dtype, arg


def _asked(first: Node, last: Node, row: Row) -> tuple[str, ...]:
    return (first.id, last.id) if row["asked"] == "both" else (last.id,)


def _graph(making: Making, first: Node, last: Node, row: Row) -> Graph:
    return Graph(nodes=tuple(making.nodes), results=_asked(first, last, row))


def _rounds(making: Making, first: Node, last: Node, row: Row, base: Node) -> tuple[Round, ...]:
    asked, count = _asked(first, last, row), len(making.nodes)
    read = () if row["written"] == "never" else (str(base.arg),)
    one = Round(until=count, asked=asked, read=read)
    if row["written"] == "from outside":
        values = pool_of(base.dtype, "plain")
        new = held(tuple(map(int, base.shape)), values, 1)
        return one, Round(until=count, writes={str(base.arg): new}, asked=asked, read=read)
    return (one, Round(until=count, asked=asked)) if row["asked"] == "again" else (one,)


def legal(case: GraphCase) -> GraphCase | None:
    """Return a graph case that has a meaning, ``None`` instead of any other."""
    try:
        return case if graph_meaning(case).legal else None
    except ValueError:
        return None


TABLE_OF_GRAPHS: Final = Table("graphs", FACTORS, case_of)
"""Every two levels that can meet do, in some case."""
