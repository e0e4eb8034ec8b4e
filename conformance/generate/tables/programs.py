"""The table of programs of one and two collectives: calls, data, groups, storage, and how one follows the other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.program.validate import validate
from conformance.cases.tensor.dtypes import DRAWN, NUMPY, Array, kind
from conformance.cases.tensor.layout import LAYOUTS, Layout, place
from conformance.cases.tensor.tensor import from_array
from conformance.generate.table import Row, Table
from conformance.generate.tables.calls import CALLS, SECOND, Call
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate

FACTORS: Final = {
    "call": CALLS,
    "reduction": ("sum", "max", "mean", "product", "min", "and", "or", "xor", "premul_sum"),
    "dtype": ("int32", *(dtype for dtype in DRAWN if dtype != "int32")),
    "mesh": ((2,), (3,), (4,), (1,), (5,), (2, 2), (2, 3)),
    "axes": ("all", "last", "first", "turned"),
    "groups": ("none", "singletons", "halves", "strided", "unsorted", "uneven"),
    "rows": (2, 1, 0, 3, 9),
    "layout": LAYOUTS,
    "values": ("plain", "ends", "zeros", "special", "subnormal"),
    "where": ("everywhere", "first", "last"),
    "place": ("fresh", "into", "in place"),
    "start": ("no", "waited", "later"),
    "then": (None, *SECOND),
    "link": ("of the result", "of the operand", "after a write", "the same once more"),
}

PARTIAL: Final = ("gather", "reduce")
"""Operations whose result only the root has, so that nothing can be made of it."""


def case_of(row: Row) -> Case | None:
    """Return the program of a row, ``None`` where it has no meaning."""
    names = "ij"[: len(row["mesh"])]
    mesh = tuple(Axis(name, size) for name, size in zip(names, row["mesh"], strict=True))
    axes = axes_of(row["axes"], names)
    count = prod(axis.size for axis in mesh if axis.name in axes)
    listed = groups_of(row["groups"], count)
    call: Call = row["call"]
    then: Call | None = row["then"]
    reduces = call.reduces or (then is not None and then.reduces and row["link"] != FACTORS["link"][3])
    if not axes or listed == () or (not reduces and row["reduction"] != "sum"):
        return None
    if then is None and row["link"] != FACTORS["link"][0]:
        return None
    if then is not None and call.op in PARTIAL and row["link"] in ("of the result", "after a write"):
        return None
    members = min(map(len, listed)) if listed else count
    blocks = _blocks(call.shape(members, row["rows"]), row, prod(row["mesh"]))
    operand = None if blocks is None else _operand(blocks, row["layout"])
    if operand is None:
        return None
    attrs = _attrs(call, row, members)
    first = Step(op=call.op, inputs=("x",), outputs=("y",), axes=axes, groups=listed, attrs=attrs)
    inputs = {"x": operand}
    if row["place"] == "into":
        target = _result_of(Case(program=Program(mesh=mesh, steps=(first,), results=("y",)), inputs=inputs))
        if target is None:
            return None
        held = tuple(from_array(np.zeros_like(block)) for block in target)
        plain: Layout = "contiguous"
        inputs["t"] = Operand(blocks=held, layouts=(plain,) * len(held))
    steps = _placed(first, row)
    known = Case(program=Program(mesh=mesh, steps=tuple(steps), results=("y",)), inputs=inputs)
    return legal(_followed(known, row, first, members))


def axes_of(word: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return some of the axes of a mesh; none at all where it has none of the kind."""
    if len(names) == 1:
        return tuple(names) if word == "all" else ()
    return {"all": tuple(names), "last": (names[-1],), "first": (names[0],), "turned": tuple(names[::-1])}[word]


def groups_of(word: str, count: int) -> Groups | None:
    """Return groups of so many positions; none at all (``()``) where they have none of the kind."""
    if word == "none":
        return None
    order = list(range(count))
    listed: dict[str, list[list[int]]] = {
        "singletons": [[each] for each in order],
        "halves": [order[: count // 2], order[count // 2 :]] if count % 2 == 0 else [],
        "strided": [order[::2], order[1::2]] if count % 2 == 0 else [],
        "unsorted": [order[::-1]],
        "uneven": [order[:1], order[1:]] if count > 2 else [],
    }
    return tuple(map(tuple, listed[word]))


def _attrs(call: Call, row: Row, members: int) -> dict[str, Attr]:
    attrs = dict(call.attrs(members))
    if call.reduces:
        attrs["op"] = row["reduction"]
        if row["reduction"] == "premul_sum":
            attrs["factor"] = 2.0
    return attrs


def _blocks(shape: Sequence[int], row: Row, world: int) -> list[Array] | None:
    pool = pool_of(row["dtype"], row["values"])
    plain = pool_of(row["dtype"], "plain")
    if pool is None or plain is None:
        return None
    alone = {"everywhere": None, "first": 0, "last": world - 1}[row["where"]]
    size = prod(shape)
    found = []
    for rank in range(world):
        mine = pool if alone in (None, rank) else plain
        at = (np.arange(size) * 5 + 3 * rank + rank * rank) % len(mine)
        found.append(mine[at].reshape(tuple(shape)))
    return found


def pool_of(dtype: str, word: str) -> Array | None:
    """Return values of a dtype, ``None`` where it has none of the kind."""
    numpy, family = NUMPY[dtype], kind(dtype)
    if family == "bool":
        return np.array([True, False, True]) if word == "plain" else None
    if family == "integer":
        info = ml_dtypes.iinfo(numpy)
        listed = {"plain": [1, 2, 3, 0, 1, 3], "ends": [int(info.max), int(info.min), 1, 0], "zeros": [0, 0, 1]}
        return np.array(listed[word], np.object_).astype(numpy) if word in listed else None
    real = numpy if family == "float" else np.dtype(f"f{numpy.itemsize // 2}")
    limits = ml_dtypes.finfo(real)
    floats = {
        "plain": [1.0, 2.0, 0.5, 3.0, -1.0, 4.0, -2.0],
        "ends": [float(limits.max), -float(limits.max), 1.0, float(limits.smallest_normal)],
        "zeros": [-0.0, 0.0, -0.0, 1.0],
        "special": [float("nan"), 1.0, float("inf"), -1.0, float("-inf")],
        "subnormal": [float(limits.smallest_subnormal), 1.0, -float(limits.smallest_subnormal)],
    }
    with np.errstate(all="ignore"):
        reals = np.array(floats[word], np.float64).astype(real)
        return reals if family == "float" else (reals + 1j * reals[::-1]).astype(numpy)


def _operand(blocks: Sequence[Array], layout: Any) -> Operand | None:
    if layout == "broadcast":
        if not blocks or blocks[0].ndim == 0 or 0 in blocks[0].shape:
            return None
        blocks = [np.broadcast_to(block[:1], block.shape) for block in blocks]
    try:
        for block in blocks:
            place(np.ascontiguousarray(block), layout)
    except ValueError:
        return None
    return Operand(blocks=tuple(map(from_array, blocks)), layouts=(layout,) * len(blocks))


def _placed(first: Step, row: Row) -> list[Step]:
    """Return the first call in its form: where its result goes, and how it is waited for."""
    steps: list[Step] = []
    if row["place"] != "fresh":
        source = "x" if row["place"] == "in place" else "t"
        steps.append(Step(op="buffer", inputs=(source,), outputs=("b",), axes=()))
        first = replace(first, into=("b",), inputs=("b",) if source == "x" else first.inputs)
    if row["start"] == "no":
        return [*steps, first]
    between = [Step(op="copy", inputs=("x",), outputs=("c",), axes=())] if row["start"] == "later" else []
    started = replace(first, outputs=("k",), start=True)
    return [*steps, started, *between, Step(op="done", inputs=("k",), outputs=("y",), axes=())]


def _followed(known: Case, row: Row, first: Step, members: int) -> Case:
    """Return the program with what follows its first call."""
    then: Call | None = row["then"]
    if then is None:
        return known
    steps = list(known.program.steps)
    if row["link"] == "the same once more":
        again = replace(first, outputs=("z",))
    else:
        source = "y" if row["link"] == "of the result" else "x"
        again = replace(first, op=then.op, inputs=(source,), outputs=("z",), attrs=_attrs(then, row, members))
        if row["link"] == "after a write":
            steps.insert(0, Step(op="buffer", inputs=("x",), outputs=("w",), axes=()))
            steps.append(Step(op="assign", inputs=("w", "y"), outputs=(), axes=()))
            again = replace(again, inputs=("w",))
    program = Program(mesh=known.program.mesh, steps=(*steps, again), results=("y", "z"))
    return Case(program=program, inputs=known.inputs)


def _result_of(case: Case) -> list[Array] | None:
    try:
        made = evaluate(case)["y"]
    except (Rejected, ValueError, KeyError):
        return None
    return None if any(block is None for block in made) else [np.asarray(block) for block in made]


def legal(case: Case) -> Case | None:
    """Return a case, ``None`` where it has no meaning."""
    try:
        validate(case)
        evaluate(case)
    except (Rejected, ValueError):
        return None
    return case


TABLE_OF_PROGRAMS: Final = Table("programs", FACTORS, case_of)
"""Every two levels that can meet do, in some case."""
