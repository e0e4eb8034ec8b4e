"""All small calls of one collective: legal and illegal, with attributes near each other, on special values too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate.small_calls import (
    DRAWN_SMALL,
    FORMS,
    SHAPES,
    WORLDS,
    call_case,
    counted,
    groups_of_world,
    in_form,
    is_legal,
    values_of,
)
from conformance.reference.operations import TABLE
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES


def small_calls(op: str) -> Iterator[Case]:
    """Yield the small calls of an operation: on int32 blocks all attributes, on special values every dtype.

    They are calls in groups of at most 3 ranks, on shapes of at most two axes with extents of at most 2: sums and
    maxima, all other attributes near them, and the legal ones in every form. Of ``DRAWN_SMALL`` there are none.
    """
    yield from _calls(op)
    yield from _special(op)


def _calls(op: str) -> Iterator[Case]:
    """Yield the calls of an operation on int32 blocks; each legal one of the first attributes in every form."""
    if op in DRAWN_SMALL:
        return
    for world in WORLDS:
        for groups in groups_of_world(world):
            for shape in SHAPES if TABLE[op].operands else ((),):
                blocks = [counted(shape, rank) for rank in range(world)]
                for attrs in _attributes(op, world, len(shape)):
                    case = call_case(op, blocks if TABLE[op].operands else None, groups, attrs, world)
                    legal = is_legal(case)
                    if legal is None:
                        continue
                    yield case
                    if legal and shape == (2, 2) and groups is None:
                        yield from (in_form(case, form) for form in FORMS[1:])


def _special(op: str) -> Iterator[Case]:
    """Yield calls whose blocks bring every two special values of a dtype together."""
    if op in DRAWN_SMALL or TABLE[op].operands != 1:
        return
    for dtype, attrs in product(NUMPY, _few_attributes(op)):
        values = specials(dtype)
        for start in range(0, len(values) ** 2, 4):
            pairs = [(at // len(values) % len(values), at % len(values)) for at in range(start, start + 4)]
            first, second = (values[[pair[side] for pair in pairs]].reshape(2, 2) for side in (0, 1))
            case = call_case(op, [first, second], None, attrs, 2)
            if is_legal(case) is not None:
                yield case


def _attributes(op: str, world: int, rank: int) -> Iterator[dict[str, Attr]]:
    names = list(ATTRIBUTES[op])
    listed = [values_of(op, name, world, rank) for name in names]
    for values in product(*listed):
        yield {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _few_attributes(op: str) -> list[dict[str, Attr]]:
    """Return attributes that are legal for two ranks with blocks of 2 x 2: of reductions those of every kind."""
    found: list[dict[str, Attr]] = []
    words: set[Any] = set()
    every = (attrs | ({"op": word} if "op" in attrs else {}) for word in REDUCTIONS for attrs in _attributes(op, 2, 2))
    for attrs in every:
        case = call_case(op, [counted((2, 2), 0), counted((2, 2), 1)], None, attrs, 2)
        other = call_case(op, [np.zeros((2, 2), np.float32)] * 2, None, attrs, 2)
        word = attrs.get("op")
        if word not in words and (is_legal(case) or is_legal(other)):
            words.add(word)
            found.append(attrs)
    return found


def apart_calls() -> Iterator[Case]:
    """Yield programs of one and two sums, maxima and barriers, each for some of two or three ranks, and one may die."""
    for world in (2, 3):
        ranks = [None, *(each for count in range(1, world) for each in combinations(range(world), count))]
        groups: list[Groups | None] = [None, tuple((rank,) for rank in range(world)), (tuple(range(world))[::-1],)]
        calls: list[tuple[str, dict[str, Attr]]] = [("all_reduce", {"op": "sum"}), ("all_reduce", {"op": "max"}),
                                                    ("barrier", {})]  # fmt: skip
        steps = [
            Step(op=op, inputs=("x",) if op != "barrier" else (), outputs=("y",) if op != "barrier" else (),
                 axes=("i",), groups=group, attrs=attrs, ranks=some)
            for (op, attrs), group, some in product(calls, groups, ranks)
        ]  # fmt: skip
        for several in (*((step,) for step in steps), *product(steps, steps)):
            yield from _parted(several, world)


def _parted(steps: tuple[Step, ...], world: int) -> Iterator[Case]:
    named = tuple(replace(step, outputs=(f"y{at}",)) if step.outputs else step for at, step in enumerate(steps))
    results = tuple(name for step in named for name in step.outputs)
    layout: Layout = "contiguous"
    blocks = tuple(from_array(counted((2,), rank)) for rank in range(world))
    program = Program(mesh=(Axis("i", world),), steps=named, results=results)
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=(layout,) * world)})
    if any(step.inputs for step in named) and is_legal(case) is not None:
        if case.troubled:
            yield case
        if len(named) == 1:
            yield from (replace(case, faults=(Fault(rank=rank, before=0),)) for rank in range(world))


def specials(dtype: str) -> Array:
    """Return the special values of a dtype: zeros, ones, extremes, and of floats what is no number or not normal."""
    numpy = NUMPY[dtype]
    family = kind(dtype)
    if family == "bool":
        return np.array([False, True])
    if family == "integer":
        info = ml_dtypes.iinfo(numpy)
        numbers = {0, 1, 2, 3, int(info.max), int(info.min), int(info.max) // 2 + 1, -1 if info.min < 0 else 5}
        return np.array(sorted(numbers), np.object_).astype(numpy)
    real = numpy if family == "float" else np.dtype(f"f{numpy.itemsize // 2}")
    limits = ml_dtypes.finfo(real)
    with np.errstate(all="ignore"):
        ends = [float(limits.max), float(limits.smallest_normal)]
        listed = [0.0, -0.0, 1.0, -1.0, 1.5, *ends, float("nan"), float("inf"), float("-inf")]
        reals = np.array(listed, np.float64).astype(real)
        tiny = np.array([limits.smallest_subnormal], real)
        reals = np.concatenate([reals, tiny])
        return reals if family == "float" else (reals + 1j * reals[::-1]).astype(numpy)
