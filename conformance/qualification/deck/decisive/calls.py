"""Collectives on values that decide: each reduction of each dtype, each start waited for twice, rows left untouched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.dtypes import DRAWN, Array, kind
from conformance.cases.tensor.layout import LAYOUTS
from conformance.cases.tensor.tensor import from_array
from conformance.generate.tables.calls import CALLS, SECOND
from conformance.generate.tables.programs import FACTORS, case_of, legal
from conformance.qualification.deck.decisive.values import classes, met
from conformance.reference.spmd import evaluate

RANKS: Final = 3

PLAIN_SETTINGS: Final = (
    {"mesh": (4,), "dtype": "float32", "reduction": "sum"},
    {"mesh": (4,), "dtype": "int32", "reduction": "sum", "groups": "strided"},
)
"""Where each attribute of each operation is asked of who claims little."""

REDUCTIONS: Final = (("sum", "max", "min", "product"), ("and", "or", "xor"), ("premul_sum", "mean"))
"""Reductions that one program has side by side: who claims one of them mostly claims its neighbours."""

SCALED: Final = ("all_reduce", "reduce_scatter")
"""Operations of which scaled sums and means are listed, of floats: what an integer mean is rounded to is left open."""

REDUCING: Final[tuple[tuple[str, Sequence[dict[str, Attr]]], ...]] = (
    ("all_reduce", ({},)),
    ("all_reduce", ({"local_axes": (0,)}, {"local_axes": (-1, 0)})),
    ("reduce_scatter", ({"axis": 0, "tiled": True}, {"axis": 1, "tiled": False})),
    ("reduce", ({"root": 0}, {"root": 2})),
    ("scan", ({"exclusive": False}, {"exclusive": True})),
    ("arg_reduce", ({},)),
)
"""Operations that reduce, each with attributes that go through other code."""

ROWS: Final = ((0, 1, 0), (1, 0, 2), (2, 1, 1), (0, 0, 0))
"""How many rows a rank sends to each of three."""

ROW_FORMS: Final = (((2,), 0, "int32"), ((2,), 1, "int32"), ((), 1, "float32"), ((3, 2), 1, "uint8"), ((2,), 1, "bool"))
"""What a row of a ragged exchange is, how many rows lie untouched between two that are written, and the dtype."""


def attributes() -> Iterator[Case]:
    """Yield each listed call alone on ranks that differ, in one group and in two that no rank's number tells apart."""
    plainest: dict[str, Any] = {name: levels[0] for name, levels in FACTORS.items()}
    for setting, call in product(PLAIN_SETTINGS, CALLS):
        case = case_of(plainest | {"call": call} | setting)
        if case is None:
            continue
        (name,) = case.inputs
        shapes = [(block.shape, block.dtype) for block in case.inputs[name].blocks]
        blocks = [_rows(shape, 100 * rank + 1, dtype) for rank, (shape, dtype) in enumerate(shapes)]
        yield replace(case, inputs={name: _operand(blocks)})


def reductions() -> Iterator[Case]:
    """Yield for each operation that reduces and each dtype programs of several reductions of the same blocks."""
    for dtype, (op, several), words in product(DRAWN, REDUCING, REDUCTIONS):
        if "mean" in words and (op not in SCALED or kind(dtype) != "float"):
            continue
        values = classes(dtype)
        shape = (RANKS * (len(values) ** 2 // RANKS**2 + 1), RANKS)
        blocks = [met(values, shape, rank) for rank in range(RANKS)]
        factor: dict[str, dict[str, Attr]] = {"premul_sum": {"factor": -1.5}}
        attrs = [{"op": word, **more, **factor.get(word, {})} for word, more in product(words, several)]
        case = _program([(op, each) for each in attrs], blocks)
        if case is not None:
            yield case


def waited_twice() -> Iterator[Case]:
    """Yield for each operation that makes a block of a block a start that two dones wait for, into storage and not."""
    for call, into in product(SECOND, (False, True)):
        attrs = dict(call.attrs(2)) | ({"op": "sum"} if call.reduces else {})
        blocks = [np.arange(int(np.prod(call.shape(2, 2))), dtype=np.int32) * 7 + 100 * rank for rank in range(2)]
        shaped = [block.reshape(call.shape(2, 2)) for block in blocks]
        case = _program([(call.op, attrs)], shaped)
        if case is None:
            continue
        (step,) = case.program.steps
        started = replace(step, outputs=("t",), start=True)
        steps = [started, *(Step(op="done", inputs=("t",), outputs=(name,), axes=()) for name in ("y", "z"))]
        if into:
            made = evaluate(case)[step.outputs[0]]
            if any(block is None for block in made):
                continue
            held = [np.full_like(np.asarray(block), 9) for block in made]
            inputs = {**case.inputs, "h": _operand(held)}
            steps = [
                Step(op="buffer", inputs=("h",), outputs=("b",), axes=()),
                replace(started, into=("b",)),
                *steps[1:],
            ]
            case = replace(case, inputs=inputs)
        program = replace(case.program, steps=tuple(steps), results=("y", "z"))
        found = legal(replace(case, program=program))
        if found is not None:
            yield found


def ragged() -> Iterator[Case]:
    """Yield ragged exchanges that leave rows untouched: before, between and behind those that are written, or all."""
    for sends, (rest, gap, dtype) in product(_sends(), ROW_FORMS):
        members = len(sends)
        # Each sender's rows lie one row apart in the output of who receives them, where there is a gap.
        offsets = [
            [gap + sum(sends[before][to] + gap for before in range(sender)) for to in range(members)]
            for sender in range(members)
        ]
        # Of floats rows go where they were, so that those that are written count on from those that are not.
        stays = dtype == "float32"
        starts = offsets if stays else [[sum(row[:to]) for to in range(members)] for row in sends]
        receives = [[sends[sender][to] for sender in range(members)] for to in range(members)]
        space = 2 * gap + max(sum(row) + gap * members for row in receives)
        rows = space if stays else max(1, *(sum(row) for row in sends))
        if not space:
            continue
        tables = [_table(each) for each in (starts, sends, offsets, receives)]
        given = {
            "operand": _operand([_rows((rows, *rest), 10 * rank + 1, dtype) for rank in range(members)]),
            "output": _operand([_rows((space, *rest), 10 * rank + 100, dtype) for rank in range(members)]),
            **dict(zip(("from", "sent", "at", "got"), tables, strict=True)),
        }
        step = Step(op="ragged_all_to_all", inputs=tuple(given), outputs=("y",), axes=("i",))
        program = Program(mesh=(Axis("i", members),), steps=(step,), results=("y",))
        found = legal(Case(program=program, inputs=given))
        if found is not None:
            yield found


def _sends() -> Iterator[tuple[tuple[int, ...], ...]]:
    yield (1, 0), (0, 2)
    yield (0, 1), (0, 0)
    yield (1, 1), (1, 1)
    for at in range(len(ROWS)):
        yield tuple(ROWS[(at + rank) % len(ROWS)] for rank in range(RANKS))


def _rows(shape: tuple[int, ...], start: int, dtype: str) -> Array:
    counted = np.arange(int(np.prod(shape))).reshape(shape) + start
    return np.asarray((counted % 3 > 0) if dtype == "bool" else counted.astype(dtype))


def _table(rows: Sequence[Sequence[int]]) -> Operand:
    return _operand([np.array(row, np.int32) for row in rows])


def _operand(blocks: Sequence[Array]) -> Operand:
    return Operand(blocks=tuple(map(from_array, blocks)), layouts=LAYOUTS[:1] * len(blocks))


def _program(calls: Sequence[tuple[str, Any]], blocks: Sequence[Array]) -> Case | None:
    """Return the program of calls on the same blocks, without those that have no meaning; ``None`` without any."""
    mesh, inputs = (Axis("i", len(blocks)),), {"x": _operand(blocks)}
    steps: list[Step] = []
    for op, attrs in calls:
        step = Step(op=op, inputs=("x",), outputs=(f"y{len(steps)}",), axes=("i",), attrs=attrs)
        alone = Case(program=Program(mesh=mesh, steps=(step,), results=step.outputs), inputs=inputs)
        if legal(alone) is not None:
            steps.append(step)
    results = tuple(name for step in steps for name in step.outputs)
    return Case(program=Program(mesh=mesh, steps=tuple(steps), results=results), inputs=inputs) if steps else None
