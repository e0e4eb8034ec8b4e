"""All small calls of one collective: legal and illegal, with attributes near each other, on special values too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, pairwise, permutations, product
from typing import Any, Final

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate.choices import Choice, Draw
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import ATTRIBUTES, DEFAULTS, evaluate

WORLDS: Final = (1, 2, 3)
SHAPES: Final = ((), (0,), (1,), (2,), (2, 2))
FORMS: Final = ("plain", "in place", "started", "started in place")

DRAWN_SMALL: Final = tuple(op for op in OPERATIONS if op in ("send", "recv", "barrier") or TABLE[op].operands > 1)
"""Operations of which the small calls are drawn: the others are called with everything there is."""


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
        for groups in _groups(world):
            for shape in SHAPES if TABLE[op].operands else ((),):
                blocks = [_counted(shape, rank) for rank in range(world)]
                for attrs in _attributes(op, world, len(shape)):
                    case = _case(op, blocks if TABLE[op].operands else None, groups, attrs, world)
                    legal = _legal(case)
                    if legal is None:
                        continue
                    yield case
                    if legal and shape == (2, 2) and groups is None:
                        yield from (_formed(case, form) for form in FORMS[1:])


def _special(op: str) -> Iterator[Case]:
    """Yield calls whose blocks bring every two special values of a dtype together."""
    if op in DRAWN_SMALL or TABLE[op].operands != 1:
        return
    for dtype, attrs in product(NUMPY, _few_attributes(op)):
        values = specials(dtype)
        for start in range(0, len(values) ** 2, 4):
            pairs = [(at // len(values) % len(values), at % len(values)) for at in range(start, start + 4)]
            first, second = (values[[pair[side] for pair in pairs]].reshape(2, 2) for side in (0, 1))
            case = _case(op, [first, second], None, attrs, 2)
            if _legal(case) is not None:
                yield case


def small_call(op: str) -> Choice[Case]:
    """Return the choice of a small call of an operation of those that ``small_calls`` yields on int32 blocks.

    Raises ``ValueError`` for ``DRAWN_SMALL``.
    """
    if op in DRAWN_SMALL:
        raise ValueError(f"the small calls of {op} are not enumerated")

    def make(draw: Draw) -> Case:
        while True:
            world = draw.one(WORLDS[::-1])
            groups = draw.one(_groups_of(world))
            shape = draw.one(SHAPES[::-1]) if TABLE[op].operands else ()
            blocks = [_counted(shape, rank) for rank in range(world)]
            attrs: dict[str, Attr] = {}
            for name in ATTRIBUTES[op]:
                value = draw.one(_values_of(op, name, world, len(shape)))
                attrs |= {name: value} if value is not None else {}
            case = _case(op, blocks if TABLE[op].operands else None, groups, attrs, world)
            legal = _legal(case)
            if legal is not None:
                return _formed(case, draw.one(FORMS)) if legal else case

    return Choice(make)


@cache
def _groups_of(world: int) -> tuple[Groups | None, ...]:
    return tuple(_groups(world))


@cache
def _values_of(op: str, name: str, world: int, rank: int) -> tuple[Attr, ...]:
    return tuple(_values(op, name, world, rank))


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
    blocks = tuple(from_array(_counted((2,), rank)) for rank in range(world))
    program = Program(mesh=(Axis("i", world),), steps=named, results=results)
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=(layout,) * world)})
    if any(step.inputs for step in named) and _legal(case) is not None:
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


def _counted(shape: tuple[int, ...], rank: int) -> Array:
    size = int(np.prod(shape, dtype=np.int64))
    return (np.arange(size, dtype=np.int32) + 1 + 10 * rank).reshape(shape)


def _groups(world: int) -> Iterator[Groups | None]:
    """Yield no groups, the ways to part the ranks with members in order and in the other order, and wrong groups."""
    yield None
    for order in permutations(range(world)):
        for cuts in range(world):
            for at in combinations(range(1, world), cuts):
                bounds = (0, *at, world)
                groups = tuple(order[one:other] for one, other in pairwise(bounds))
                # Of groups in another order nothing depends; of members in another order, each order once.
                if list(groups) == sorted(groups) and all(list(g) in (sorted(g), sorted(g)[::-1]) for g in groups):
                    yield groups
    yield ((*range(world), 0),)
    yield ((),)


def _attributes(op: str, world: int, rank: int) -> Iterator[dict[str, Attr]]:
    names = list(ATTRIBUTES[op])
    listed = [_values(op, name, world, rank) for name in names]
    for values in product(*listed):
        yield {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _values(op: str, name: str, world: int, rank: int) -> list[Attr]:  # noqa: PLR0911 - one a type
    hint = ATTRIBUTES[op][name]
    optional: list[Attr] = [None] if name in DEFAULTS[op] else []
    if name == "op":
        return ["sum", "max", "nothing"]
    if hint is bool:
        return [False, True]
    if hint is int:
        return [*range(-rank - 1, rank + 1)] if "axis" in name or "dimension" in name else [*range(-1, world + 1)]
    if hint is float:
        return [*optional, 0.5][:1]
    if name == "local_axes":
        return [None, *(((at,)) for at in range(-rank - 1, rank + 1)), *([(0, 1)] if rank > 1 else [])]
    if "pairs" in name:
        return [(), *(tuple(zip(one, two, strict=True)) for count in range(1, world + 1)
                      for one in permutations(range(world), count) if list(one) == sorted(one)
                      for two in permutations(range(world), count))]  # fmt: skip
    if "tuple" in str(hint):
        return [
            tuple(each)
            for count in range(world + 1)
            for each in product(range(-1 if count == 1 else 0, world), repeat=count)
        ]
    return optional or [1.0]


def _few_attributes(op: str) -> list[dict[str, Attr]]:
    """Return attributes that are legal for two ranks with blocks of 2 x 2: of reductions those of every kind."""
    found: list[dict[str, Attr]] = []
    words: set[Any] = set()
    every = (attrs | ({"op": word} if "op" in attrs else {}) for word in REDUCTIONS for attrs in _attributes(op, 2, 2))
    for attrs in every:
        case = _case(op, [_counted((2, 2), 0), _counted((2, 2), 1)], None, attrs, 2)
        other = _case(op, [np.zeros((2, 2), np.float32)] * 2, None, attrs, 2)
        word = attrs.get("op")
        if word not in words and (_legal(case) or _legal(other)):
            words.add(word)
            found.append(attrs)
    return found


def _legal(case: Case) -> bool | None:
    """Return whether a case is legal, ``None`` where it is malformed."""
    try:
        evaluate(case)
    except Rejected:
        return False
    except ValueError:
        return None
    return True


def _case(op: str, blocks: list[Array] | None, groups: Groups | None, attrs: Mapping[str, Attr], world: int) -> Case:
    layout: Layout = "contiguous"
    inputs = {}
    if blocks is not None:
        inputs["x"] = Operand(blocks=tuple(map(from_array, blocks)), layouts=(layout,) * world)
    step = Step(op=op, inputs=tuple(inputs), outputs=("y",), axes=("i",), groups=groups, attrs=dict(attrs))
    return Case(program=Program(mesh=(Axis("i", world),), steps=(step,), results=("y",)), inputs=inputs)


def _formed(case: Case, form: str) -> Case:
    """Return the same call in another form: in place in a buffer, started and waited for, or both."""
    (step,) = case.program.steps
    steps: list[Step] = []
    if "in place" in form and step.inputs:
        steps.append(Step(op="buffer", inputs=step.inputs, outputs=("b",), axes=()))
        step = replace(step, inputs=("b",), into=("b",))
    if "started" in form:
        steps += [replace(step, outputs=("t",), start=True), Step(op="done", inputs=("t",), outputs=("y",), axes=())]
    else:
        steps.append(step)
    return replace(case, program=replace(case.program, steps=tuple(steps)))
