"""The collectives of a program one by one: what each read, which results it made, and whose results those depend on.

A clause of one operation speaks about one collective. Where a program has several, each is looked at as a program of
its own, on what it read when its turn came, and answers for the results that it made. One of an operation of one
operand that is given several is looked at operand by operand, as it is mapped over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.computing import computes
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.program import COMPUTING, NO_COLLECTIVES, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.reference.operations import TABLE
from conformance.reference.spmd import evaluate

PLAIN: Final[Layout] = "contiguous"

_NOBODY: Final = -1
_COMPUTED: Final = -2


@dataclass(frozen=True)
class Act:
    """One collective of one operand: as a program of its own, the results that it made, and the acts it depends on.

    It is of the step with the number ``call`` among the collectives, which on all its operands is the program
    ``called``. ``computed`` are the results of steps that compute which it depends on.
    """

    alone: Case
    call: int
    called: Case
    results: tuple[str, ...]
    after: frozenset[int]
    computed: frozenset[str] = frozenset()


def evaluated(case: Case) -> tuple[dict[str, list[Array | None]], tuple[Case, ...]]:
    """Return the results of a program, and its collectives as programs of their own where it is taken apart.

    Raise as ``reference.spmd.evaluate`` does.
    """
    alone: list[Case] = []

    def watch(step: Step, operands: list[list[Array]]) -> None:
        alone.append(_alone(case, step, operands))

    return evaluate(case, watch if _several(case) else None), tuple(alone)


def _several(case: Case) -> bool:
    """Return whether a program is taken apart."""
    collectives = case.program.collectives
    several = len(collectives) > 1 or computes(case.program) or any(len(_mapped(step)) > 1 for step in collectives)
    return not case.troubled and several and not any(step.op == "send" for step in collectives)


def _mapped(step: Step) -> tuple[Step, ...]:
    """Return a collective as one for each operand that it is mapped over; itself where it is mapped over none."""
    if TABLE[step.op].operands != 1 or len(step.inputs) < 2:
        return (step,)
    each = enumerate(zip(step.inputs, step.outputs, strict=True))
    return tuple(replace(step, inputs=(old,), outputs=(new,), into=step.into[at : at + 1]) for at, (old, new) in each)


def acts(case: Case, alone: Sequence[Case] | None = None) -> tuple[Act, ...]:
    """Return the collectives of a legal program in order, operand by operand, or none where it is not taken apart.

    ``alone`` has them as programs of their own where these are known (``evaluated``). It is not taken apart where there
    is one, of one operand, and nothing computes, where ranks go their own ways, and where a block is sent, for what was
    sent is nothing that a program of its own could begin with. A result was made by the collective that last wrote to
    it, a copy by the one that had last written to its source. What no collective made counts as the last one's, but for
    what a step computed: that is no collective's.
    """
    alone = evaluated(case)[1] if alone is None else alone
    if not alone:
        return ()
    own = [(call, called, one) for call, called in enumerate(alone) for one in _each_operand(called)]
    trace = _Trace(names(case), apart=True)
    for step in case.program.steps:
        trace.look(step)
    made: dict[int, list[str]] = {}
    for name in case.program.results:
        made.setdefault(trace.maker(name), []).append(name)
    made.setdefault(len(own) - 1, []).extend(made.pop(_NOBODY, []))
    return tuple(
        Act(
            one,
            call,
            called,
            tuple(made.get(number, ())),
            frozenset(each for each in trace.after[number] if isinstance(each, int)),
            frozenset(each for each in trace.after[number] if isinstance(each, str)),
        )
        for number, (call, called, one) in enumerate(own)
    )


def computed_results(case: Case) -> frozenset[str]:
    """Return the results of a program that steps computed, copies of them and storage that was last written so."""
    trace = _Trace(names(case), apart=_several(case))
    for step in case.program.steps:
        trace.look(step)
    return frozenset(name for name in case.program.results if trace.maker(name) == _COMPUTED)


def made_of(case: Case) -> dict[str, frozenset[int | str]]:
    """Return for each result what it is made of: numbers of acts, and the names that steps computed.

    Where a program is not taken apart they are those of its collectives.
    """
    trace = _Trace(names(case), apart=_several(case))
    for step in case.program.steps:
        trace.look(step)
    return {name: frozenset(trace.sources_of(name)) for name in case.program.results}


def _alone(case: Case, step: Step, operands: Sequence[list[Array]]) -> Case:
    """Return a collective as a program of its own, its operands in the layouts that they have in the case's."""
    inputs = {}
    for name, blocks in zip(step.inputs, operands, strict=True):
        source = case.program.buffers.get(name)
        layouts = case.inputs[source].layouts if source is not None else (PLAIN,) * case.program.world
        inputs[name] = case.inputs.get(name) or Operand(blocks=tuple(map(from_array, blocks)), layouts=layouts)
    program: Program = replace(case.program, steps=(replace(step, into=(), start=False),), results=step.outputs)
    return Case(program=program, inputs=inputs)


def _each_operand(called: Case) -> Iterator[Case]:
    """Yield a program of one collective for each of the operands that it is mapped over."""
    (step,) = called.program.steps
    mapped = _mapped(step)
    for one in mapped:
        program = replace(called.program, steps=(one,), results=one.outputs)
        inputs = {name: called.inputs[name] for name in one.inputs}
        yield called if len(mapped) == 1 else replace(called, program=program, inputs=inputs)


@dataclass
class _Trace:
    """Which collective made what, by number; ``_NOBODY`` where none did, and ``_COMPUTED`` where a step computed it.

    They count operand by operand where they are taken ``apart``. Sources are such numbers, and names of what was
    computed.
    """

    table: dict[str, NamedValue]
    apart: bool
    made: dict[str, int] = field(default_factory=dict)
    writes: dict[str, list[tuple[NamedValue, int]]] = field(default_factory=dict)
    sources: dict[str, set[int | str]] = field(default_factory=dict)
    after: list[set[int | str]] = field(default_factory=list)

    def look(self, step: Step) -> None:
        """Take note of a step, in list order."""
        if step.op in COMPUTING:
            (name,) = step.outputs
            self.made[name] = _COMPUTED
            self.sources[name] = set().union({name}, *(self.sources_of(each) for each in step.inputs))
        elif step.op not in NO_COLLECTIVES:
            mapped, first = _mapped(step) if self.apart else (step,), len(self.after)
            # All operands are read before any target is written.
            self.after += [set().union(*(self.sources_of(name) for name in one.inputs)) for one in mapped]
            for number, one in enumerate(mapped, first):
                for name in one.into:
                    self._write(name, number, self.after[number] | {number})
                for name in one.outputs:
                    self.made[name], self.sources[name] = number, self.after[number] | {number}
        elif step.op == "assign":
            self._write(step.inputs[0], self.maker(step.inputs[1]), self.sources_of(step.inputs[1]))
        elif step.op in ("copy", "done"):
            for old, new in zip(step.inputs, step.outputs, strict=True):
                self.made[new] = self.made.get(old, _NOBODY) if step.op == "done" else self.maker(old)
                self.sources[new] = self.sources_of(old)

    def maker(self, name: str) -> int:
        """Return the number of the collective that made what ``name`` holds now."""
        what = self.table[name]
        if what.kind != "storage":
            return self.made.get(name, _NOBODY)
        written = [number for where, number in self.writes.get(what.base, ()) if where.meets(what)]
        return written[-1] if written else _NOBODY

    def sources_of(self, name: str) -> set[int | str]:
        """Return what a name is made of: of storage, all that was ever written there."""
        what = self.table[name]
        return self.sources.get(what.base if what.kind == "storage" else name, set())

    def _write(self, name: str, number: int, sources: set[int | str]) -> None:
        what = self.table[name]
        self.writes.setdefault(what.base, []).append((what, number))
        self.sources[what.base] = self.sources.get(what.base, set()) | sources
