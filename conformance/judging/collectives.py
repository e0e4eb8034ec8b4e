"""The collectives of a program one by one: what each read, which results it made, and whose results those depend on.

A clause of one operation speaks about one collective. Where a program has several, each is looked at as a program of
its own, on what it read when its turn came, and answers for the results that it made.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from conformance.reference.spmd import evaluate

PLAIN: Final[Layout] = "contiguous"

_NOBODY: Final = -1
_COMPUTED: Final = -2


@dataclass(frozen=True)
class Act:
    """One collective: as a program of its own, the results that it made, and the numbers of those it depends on.

    ``computed`` are the results of steps that compute which it depends on.
    """

    alone: Case
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
    several = len(collectives) > 1 or computes(case.program)
    return not case.troubled and several and not any(step.op == "send" for step in collectives)


def acts(case: Case, alone: Sequence[Case] | None = None) -> tuple[Act, ...]:
    """Return the collectives of a legal program in order, or none where it is not taken apart.

    ``alone`` has them as programs of their own where these are known (``evaluated``). It is not taken apart where there
    is one and nothing computes, where ranks go their own ways, and where a block is sent, for what was sent is nothing
    that a program of its own could begin with. A result was made by the collective that last wrote to it, a copy by the
    one that had last written to its source. What no collective made counts as the last one's, but for what a step
    computed: that is no collective's.
    """
    alone = evaluated(case)[1] if alone is None else alone
    if not alone:
        return ()
    count = len(alone)
    trace = _Trace(names(case))
    for step in case.program.steps:
        trace.look(step)
    made: dict[int, list[str]] = {}
    for name in case.program.results:
        made.setdefault(trace.maker(name), []).append(name)
    made.setdefault(count - 1, []).extend(made.pop(_NOBODY, []))
    return tuple(
        Act(
            own,
            tuple(made.get(number, ())),
            frozenset(each for each in trace.after[number] if isinstance(each, int)),
            frozenset(each for each in trace.after[number] if isinstance(each, str)),
        )
        for number, own in enumerate(alone)
    )


def computed_results(case: Case) -> frozenset[str]:
    """Return the results of a program that steps computed, copies of them and storage that was last written so."""
    trace = _Trace(names(case))
    for step in case.program.steps:
        trace.look(step)
    return frozenset(name for name in case.program.results if trace.maker(name) == _COMPUTED)


def made_of(case: Case) -> dict[str, frozenset[int | str]]:
    """Return for each result the numbers of the collectives, and the names that steps computed, that it is made of."""
    trace = _Trace(names(case))
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


@dataclass
class _Trace:
    """Which collective made what, by number; ``_NOBODY`` where none did, and ``_COMPUTED`` where a step computed it.

    Sources are numbers of collectives, and names of what was computed.
    """

    table: dict[str, NamedValue]
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
            number = len(self.after)
            before: set[int | str] = set().union(*(self.sources_of(name) for name in step.inputs))
            self.after.append(before)
            for name in step.into:
                self._write(name, number, before | {number})
            for name in step.outputs:
                self.made[name], self.sources[name] = number, before | {number}
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
