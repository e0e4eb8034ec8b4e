"""Steps that compute, as programs with collectives have them: on what is there, or to make an operand of a shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final

from conformance.cases.graph.elementwise import ARITY, COMPARISONS, TAKES
from conformance.cases.graph.fit import FOLDS
from conformance.cases.program.computing import MOST_OF_NOTHING
from conformance.cases.tensor.dtypes import DRAWN, kind
from conformance.generate import choices
from conformance.generate.calls.call import Shapes
from conformance.generate.calls.decisive_values import Family
from conformance.generate.programs.chain import MOST_ELEMENTS, Chain
from conformance.generate.programs.script import Script
from conformance.reference.operations import TABLE
from conformance.reference.reductions import ARITHMETIC

APPROXIMATE: Final = ("recip", "sqrt", "exp2", "log2", "sin", "div", "mod", "shl", "shr")
"""Operations of which some results have several right values, and of what is made of these no more is known."""

ACC: Final = {
    "float16": ("float32", "float64"), "bfloat16": ("float32", "float64"), "float32": ("float64",),
    "int8": ("int32", "int64"), "int16": ("int32",), "int32": ("int64",), "uint8": ("uint32",),
}  # fmt: skip
"""Dtypes in which folds and dots of a dtype may accumulate; another one accumulates in its own."""

_WAYS: Final = choices.sampled_from(["alu", "alu", "alu", "cast", "dot", "where"])
_STORED: Final = choices.steered([True, False, False], ("view",), lambda stored: ("" if stored else "none",))
_BOOLEANS: Final = choices.booleans()
_EXTENT: Final = choices.sampled_from([2, 3, 1, 5])


@cache
def elementwise(dtype: str, *, closed: bool = False) -> choices.Choice[str]:
    """Return the elementwise operations on a dtype, those with one right value more often.

    The ``closed`` ones give that dtype again; ``where`` needs a condition and is none of them.
    """
    fits = [op for op in ARITY if kind(dtype) in TAKES.get(op, {kind(dtype)}) and op != "where"]
    fits = [op for op in fits if not (closed and op in COMPARISONS)]
    often = [op for op in fits if op not in APPROXIMATE]
    return choices.within((*often * 4, *fits), "computes", lambda op: f"{op} of {kind(dtype)}")


@cache
def folds(dtype: str) -> choices.Choice[str]:
    """Return the folds of a dtype."""
    fits = [op for op in FOLDS if kind(dtype) in TAKES.get(op, {kind(dtype)})]
    return choices.within((*fits[:1] * 3, *fits), "computes", lambda op: f"fold {op} of {kind(dtype)}")


_DTYPES: Final = choices.within(DRAWN, "computed")


def acc_of(made: Chain, dtype: str) -> dict[str, str]:
    """Draw a dtype to accumulate in, or none."""
    wide = ACC.get(dtype, ())
    return {"acc": made.draw(choices.within(wide, "computed"))} if wide and made.flip() else {}


def computed(made: Chain, shapes: Shapes, dtype: str) -> str:
    """Return something computed that has these shapes and this dtype, of new inputs or of what is there."""
    program, draw = made.program, made.draw
    way = draw(_WAYS)
    even = len(set(shapes)) == 1 and math.prod(shapes[0]) <= MOST_ELEMENTS
    if way == "cast":
        return program.compute("cast", _given(made, shapes, draw(_DTYPES)), to=dtype)
    if way == "dot" and even and _claimed(made, "dot", dtype):
        at, shared = draw.source.below(len(shapes[0]) + 1), draw(_EXTENT)
        sides = (*shapes[0][:at], shared), (shared, *shapes[0][at:])
        left, right = (_given(made, (side,) * len(shapes), dtype) for side in sides)
        return program.compute("dot", left, right, **acc_of(made, dtype))
    if way == "where" and _claimed(made, "where", dtype) and _claimed(made, "ne", dtype):
        one, two = _some(made, shapes, dtype), program.input(shapes, dtype)
        return program.compute("alu", program.compute("alu", one, two, op="ne"), one, two, op="where")
    op = draw(elementwise(dtype, closed=True))
    operands = [_some(made, shapes, dtype) for _ in range(ARITY[op])]
    return program.compute("alu", *operands, op=op)


def _some(made: Chain, shapes: Shapes, dtype: str) -> str:
    """Return what is like a value: something that is there, storage, or an input."""
    program = made.program
    free = recommended(program)
    names = [name for name in (*made.values, *made.storage) if name not in free]
    found = [name for name in names if (program.shapes[name], program.dtypes[name]) == (shapes, dtype)]
    if found and made.flip():
        return made.draw.one(found)
    return _stored(program, shapes, dtype) if program.drawn.draw(_STORED) else _given(made, shapes, dtype)


def _given(made: Chain, shapes: Shapes, dtype: str) -> str:
    """Draw an input, of floats half of the time one whose digits do not fit what is computed of it."""
    near = kind(dtype) in ("float", "complex") and "float8" not in dtype and made.flip()
    return made.program.input(shapes, dtype, values=Family("sum", "near") if near else "")


def _stored(program: Script, shapes: Shapes, dtype: str) -> str:
    return program.place(shapes, dtype if dtype != program.drawn.dtype else None)


def _claimed(made: Chain, word: str, dtype: str) -> bool:
    """Return whether claims, where they list what is computed, list this."""
    listed = made.draw.goals.limits.get("computes", ())
    return not listed or f"{word} of {kind(dtype)}" in listed


def _alu(made: Chain, name: str) -> str:
    program = made.program
    op = made.draw(elementwise(program.dtypes[name]))
    shapes, dtype = program.shapes[name], program.dtypes[name]
    others = [_some(made, shapes, dtype) for _ in range(ARITY[op] - 1)]
    return program.compute("alu", *((name, *others) if made.flip() else (*others, name)), op=op)


def _cast(made: Chain, name: str) -> str:
    return made.program.compute("cast", name, to=made.draw(_DTYPES))


def _fold(made: Chain, name: str) -> str:
    program, draw = made.program, made.draw
    dtype, rank = program.dtypes[name], min(len(shape) for shape in program.shapes[name])
    axes = tuple(axis for axis in range(rank) if draw.source.below(2)) or ((rank - 1,) if rank else ())
    if any(_of_nothing(shape, axes) for shape in program.shapes[name]):
        return _alu(made, name)
    return program.compute("fold", name, op=draw(folds(dtype)), axes=axes, **acc_of(made, dtype))


def _dot(made: Chain, name: str) -> str:
    program, dtype = made.program, made.program.dtypes[name]
    shapes, extent = program.shapes[name], made.draw(_EXTENT)
    if (
        len(set(shapes)) > 1
        or not shapes[0]
        or math.prod(shapes[0]) > MOST_ELEMENTS
        or _of_nothing((*shapes[0], extent), (len(shapes[0]) - 1,))
        or not _claimed(made, "dot", dtype)
    ):
        return _alu(made, name)
    other = _given(made, ((shapes[0][-1], extent),) * len(shapes), dtype)
    return program.compute("dot", name, other, **acc_of(made, dtype))


def _of_nothing(shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Return whether a fold along axes makes more elements of none than a program may."""
    kept = math.prod(extent for axis, extent in enumerate(shape) if axis not in axes)
    return not math.prod(shape) and kept > MOST_OF_NOTHING


ACTS: Final[dict[str, Callable[[Chain, str], str]]] = {"alu": _alu, "cast": _cast, "fold": _fold, "dot": _dot}

_ACT: Final = choices.sampled_from(["alu", "alu", "cast", "fold", "dot"])


def recommended(program: Script) -> set[str]:
    """Return the names whose dtype is recommended alone: sums of bools, means of whole numbers, and what is of them.

    What is computed of these has no dtype that is right.
    """
    found: set[str] = set()
    for step in program.steps:
        op = step.attrs.get("op") if step.op in TABLE else None
        kinds = {kind(program.dtypes[name]) for name in step.inputs}
        free = (op in ARITHMETIC and "bool" in kinds) or (op == "mean" and "integer" in kinds)
        if free or not found.isdisjoint(step.inputs):
            targets = (*step.outputs, *step.into, *(step.inputs[:1] if step.op == "assign" else ()))
            found.update(targets, (program.base(name) for name in targets if program.base(name)))
        found.update(name for name in step.outputs if step.op == "view" and step.inputs[0] in found)
    return found


def compute(made: Chain, name: str = "") -> str:
    """Add a step that computes on ``name``, or on something that is there, and return what it gives, a result."""
    program = made.program
    free = recommended(program)
    there = [each for each in (*made.values, *made.storage) if program.dtypes[each] in DRAWN and each not in free]
    taken = name if name in there else made.draw.one(there) if there else program.input()
    found = ACTS[made.draw(_ACT)](made, taken)
    made.values.append(found)
    made.results.append(found)
    return found
