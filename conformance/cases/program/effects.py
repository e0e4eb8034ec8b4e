"""Steps that compute nothing: they make storage, write it, free it, or wait for a started collective.

``buffer`` (an input of the program; one output) makes storage of the input's layout with a copy of its value;
``view`` (a buffer or view; one output) names a part of it, by ``start``, ``stop`` and ``step`` for each axis and
then an ``order`` of the axes; ``assign`` (a target, a value) writes; ``copy`` (one input, one output) makes a value
of what is there now; ``free`` (a buffer) ends it and every view of it; ``done`` (tickets, as many outputs) waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.program import computing
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, EFFECTS, Step
from conformance.cases.tensor.dtypes import Array

ARITY: Final = {"buffer": (1, 1), "view": (1, 1), "assign": (2, 0), "copy": (1, 1), "free": (1, 0)}
"""Inputs and outputs of each effect but ``done``, which has as many of the one as of the other."""

VIEW: Final = ("start", "stop", "step", "order")

Kind = Literal["value", "storage", "ticket", "token"]


@dataclass(frozen=True)
class Region:
    """Elements of a buffer on one rank: a range of indices for each of its axes, then an order of the axes."""

    ranges: tuple[range, ...]
    order: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents, in the order the axes are seen."""
        return tuple(len(self.ranges[axis]) for axis in self.order)

    @property
    def index(self) -> tuple[slice, ...]:
        """Return the index that takes the elements from the buffer, its axes not yet in order."""
        return tuple(map(_slice, self.ranges))

    def meets(self, other: Region) -> bool:
        """Return whether some element is in both."""
        return all(_meet(one, two) for one, two in zip(self.ranges, other.ranges, strict=True))


@dataclass(frozen=True)
class NamedValue:
    """What a name of a program is; storage has the buffer it lies in and its region on every rank.

    A ticket has them when its collective writes, and is then not yet the storage.
    """

    kind: Kind
    base: str = ""
    regions: tuple[Region, ...] = ()

    def meets(self, other: NamedValue) -> bool:
        """Return whether some rank has an element in both."""
        pairs = zip(self.regions, other.regions, strict=True)
        return bool(self.base) and self.base == other.base and any(one.meets(two) for one, two in pairs)


def window(block: Array, step: Step) -> Array:
    """Return the view of ``block`` that a ``view`` step names, sharing its memory."""
    numbers = [_numbers(step, name) for name in VIEW[:3]]
    parts = (_slice(range(*bounds)) for bounds in zip(*numbers, strict=True))
    # Without axes and without the ellipsis it would be a scalar, which is a copy.
    index: tuple[Any, ...] = (*parts, ...)
    part: Array = block[index]
    return part.transpose(_numbers(step, "order") or tuple(range(block.ndim)))


def names(case: Case) -> dict[str, NamedValue]:
    """Return what every name of the program is; raise ``CaseError``, one line, when a step is malformed.

    That of the last case is kept: who draws, evaluates and describes it asks one after the other.
    """
    known = _LAST.get("case")
    if known is None or known[0] is not case:
        known = _LAST["case"] = case, _names(case)
    return dict(known[1])


_LAST: Final[dict[str, tuple[Case, dict[str, NamedValue]]]] = {}


def _names(case: Case) -> dict[str, NamedValue]:
    table = {name: NamedValue("value") for name in case.inputs}
    freed: dict[str, int] = {}
    for index, step in enumerate(case.program.steps):
        where = f"step {index} ({step.op})"
        for name in (*step.inputs, *step.into):
            if name not in table:
                raise CaseError(f"{where} uses {name!r}, which no input and no earlier step defines")
            if table[name].base in freed:
                raise CaseError(f"{where} uses {name!r} after step {freed[table[name].base]} freed its storage")
        if step.op in COMPUTING:
            computing.check(where, step)
            _readable(where, step, [table[name] for name in step.inputs])
            made = [NamedValue("value")]
        else:
            made = _effect(case, where, step, table) if step.op in EFFECTS else _collective(where, step, table)
        if step.op == "free":
            freed[step.inputs[0]] = index
        for name, what in zip(step.outputs, made, strict=True):
            if name in table:
                raise CaseError(f"{where} defines {name!r}, which is already defined")
            table[name] = what
    if not case.program.collectives:
        raise CaseError("the program has no collective, so there is nothing to judge")
    _check_results(case, table, freed)
    return table


def _check_results(case: Case, table: dict[str, NamedValue], freed: dict[str, int]) -> None:
    results = case.program.results
    for name in results:
        if name not in table:
            raise CaseError(f"result {name!r} is never produced")
        if table[name].kind == "ticket":
            raise CaseError(f"result {name!r} is a ticket; done makes a value of it")
        if table[name].kind == "token":
            raise CaseError(f"result {name!r} is a token of what is sent; recv makes a value of it")
        if table[name].base in freed:
            raise CaseError(f"result {name!r} was freed by step {freed[table[name].base]}")
    if len(set(results)) != len(results):
        raise CaseError(f"results {list(results)} name a value twice")


def _collective(where: str, step: Step, table: dict[str, NamedValue]) -> list[NamedValue]:
    """Return what the outputs of a collective are."""
    for name in step.inputs:
        if table[name].kind == "ticket":
            raise CaseError(f"{where} takes {name!r}, a ticket; done makes a value of it")
        if table[name].kind == "token" and not row(step.op).takes_token:
            raise CaseError(f"{where} takes {name!r}, a token of what is sent; recv makes a value of it")
    for name in step.into:
        if table[name].kind != "storage":
            raise CaseError(f"{where} writes into {name!r}, which is no buffer and no view of one")
    if step.start and not row(step.op).started:
        raise CaseError(f"{where} cannot be started: it has no value to wait for")
    if step.into and not row(step.op).written:
        raise CaseError(f"{where} has no block to write into {step.into[0]!r}")
    # The wrong number of targets has a meaning, rejection: names beyond them are as if nothing were written.
    targets = [table[name] for name in step.into] + [NamedValue("value")] * len(step.outputs)
    made = targets[: len(step.outputs)]
    if step.start:
        return [NamedValue("ticket", target.base, target.regions) for target in made]
    return [NamedValue("token")] * len(made) if row(step.op).result == "token" else made


def _effect(case: Case, where: str, step: Step, table: dict[str, NamedValue]) -> list[NamedValue]:
    """Return what the outputs of an effect are."""
    arity = ARITY.get(step.op, (len(step.inputs),) * 2)
    if (len(step.inputs), len(step.outputs)) != arity:
        raise CaseError(
            f"{where} has {len(step.inputs)} inputs and {len(step.outputs)} outputs, where {arity[0]} and {arity[1]} "
            "are right"
        )
    if step.axes or step.groups is not None or step.into or step.start:
        raise CaseError(f"{where} is no collective: it has no axes, no groups, nothing to write into and no start")
    if set(step.attrs) - (set(VIEW) if step.op == "view" else set()):
        raise CaseError(f"{where} takes the attributes {list(VIEW) if step.op == 'view' else []}")
    return _MAKERS[step.op](case, where, step, [table[name] for name in step.inputs])


def _buffer(case: Case, where: str, step: Step, taken: list[NamedValue]) -> list[NamedValue]:  # noqa: ARG001 - one signature for all
    name = step.inputs[0]
    if name not in case.inputs:
        raise CaseError(f"{where} takes {name!r}, which is no input of the program: its layout is the buffer's")
    operand = case.inputs[name]
    if "broadcast" in operand.layouts:
        raise CaseError(f"{where} takes {name!r} in a broadcast layout, where one element stands for many")
    shapes = [block.shape for block in operand.blocks]
    whole = tuple(Region(tuple(map(range, shape)), tuple(range(len(shape)))) for shape in shapes)
    return [NamedValue("storage", step.outputs[0], whole)]


def _view(case: Case, where: str, step: Step, taken: list[NamedValue]) -> list[NamedValue]:  # noqa: ARG001 - as above
    _storage(where, step, taken, "views")
    for name in VIEW:
        value = step.attrs.get(name, () if name == "order" else None)
        if not isinstance(value, tuple | list) or not all(type(number) is int for number in value):
            raise CaseError(f"{where} needs a list of integers as {name}, got {value!r}")
    return [NamedValue("storage", taken[0].base, tuple(_part(where, step, region) for region in taken[0].regions))]


def _part(where: str, step: Step, whole: Region) -> Region:
    start, stop, stride, order = (_numbers(step, name) for name in VIEW)
    axes = tuple(range(len(whole.shape)))
    if not len(start) == len(stop) == len(stride) == len(axes):
        raise CaseError(f"{where} needs a start, a stop and a step for each of {len(axes)} axes")
    if tuple(sorted(order)) not in (axes, ()):
        raise CaseError(f"{where} has the order {list(order)}, which does not name each of {len(axes)} axes once")
    if 0 in stride:
        raise CaseError(f"{where} has a step of 0")
    ranges = list(whole.ranges)
    for axis, extent, bounds in zip(axes, whole.shape, zip(start, stop, stride, strict=True), strict=True):
        part = range(*bounds)
        if part and not (0 <= part[0] < extent and 0 <= part[-1] < extent):
            raise CaseError(f"{where} is outside its base: {part} of an axis of {extent}")
        ranges[whole.order[axis]] = _composed(whole.ranges[whole.order[axis]], part)
    return Region(tuple(ranges), tuple(whole.order[axis] for axis in order or axes))


def _assign(case: Case, where: str, step: Step, taken: list[NamedValue]) -> list[NamedValue]:  # noqa: ARG001 - as above
    _storage(where, step, taken, "writes")
    _readable(where, step, taken)
    return []


def _copy(case: Case, where: str, step: Step, taken: list[NamedValue]) -> list[NamedValue]:  # noqa: ARG001 - as above
    _readable(where, step, taken)
    return [NamedValue("value")]


def _free(case: Case, where: str, step: Step, taken: list[NamedValue]) -> list[NamedValue]:  # noqa: ARG001 - as above
    if taken[0].kind != "storage" or taken[0].base != step.inputs[0]:
        raise CaseError(f"{where} frees {step.inputs[0]!r}, which is no buffer")
    return []


def _done(case: Case, where: str, step: Step, taken: list[NamedValue]) -> list[NamedValue]:  # noqa: ARG001 - as above
    for name, what in zip(step.inputs, taken, strict=True):
        if what.kind != "ticket":
            raise CaseError(f"{where} waits for {name!r}, which was never started")
    return [NamedValue("storage" if what.base else "value", what.base, what.regions) for what in taken]


_MAKERS: Final = {"buffer": _buffer, "view": _view, "assign": _assign, "copy": _copy, "free": _free, "done": _done}


def _storage(where: str, step: Step, taken: list[NamedValue], verb: str) -> None:
    if taken[0].kind != "storage":
        raise CaseError(f"{where} {verb} {step.inputs[0]!r}, which is no buffer and no view of one")


def _readable(where: str, step: Step, taken: list[NamedValue]) -> None:
    for name, what in zip(step.inputs, taken, strict=True):
        if what.kind not in ("value", "storage"):
            raise CaseError(f"{where} reads {name!r}, a {what.kind}, which has no elements")


def _numbers(step: Step, name: str) -> tuple[int, ...]:
    value: Any = step.attrs.get(name, ())
    return tuple(value)


def _slice(part: range) -> slice:
    if not part:
        return slice(0, 0)
    return slice(part.start, None if part.step < 0 and part[-1] + part.step < 0 else part[-1] + part.step, part.step)


def _composed(whole: range, part: range) -> range:
    """Return the elements of ``whole`` at the positions in ``part``."""
    if not part:
        return range(0)
    step = whole.step * part.step
    return range(whole[part[0]], whole[part[-1]] + (1 if step > 0 else -1), step)


def _meet(one: range, two: range) -> bool:
    few, many = sorted((one, two), key=len)
    return any(index in many for index in few)
