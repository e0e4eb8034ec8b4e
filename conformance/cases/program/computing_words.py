"""What a program computes beside its collectives, and in which order with them, as words of features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from conformance.cases.case import Case
from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.program.computing import computes, kind_word, word
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, EFFECTS, Step
from conformance.cases.program.witnesses import Witness, Witnesses
from conformance.cases.program.witnesses import made as made_by
from conformance.cases.tensor.dtypes import kind

FLOW: Final = (
    "computed_before", "computed_after", "computed_between", "computed_meanwhile", "computed_over", "old_computed",
)  # fmt: skip
"""Words of the feature ``flow``.

``computed_before``: a collective reads what a step computed; ``computed_after``: a step computes with what a collective
gave; ``computed_between``: a collective reads what was computed so; ``computed_meanwhile``: a step computes while a
collective is under way; ``computed_over``: what it then computes is written over an operand of that; ``old_computed``:
what was computed of storage is used after that was overwritten or freed.
"""

Words = dict[str, frozenset[str]]


def computing_words(case: Case) -> Words:
    """Return the words of the features ``computes``, ``computed`` and, as far as they are of these, ``flow``.

    Raise ``CaseError`` when a step is malformed.
    """
    if not computes(case.program):
        return {"computes": frozenset(), "computed": frozenset(), "flow": frozenset()}
    held = dtypes(case)
    steps = [step for step in case.program.steps if step.op in COMPUTING]
    done = {kind_word(step, dtype) for step in steps for dtype in held[step.inputs[-1]]}
    if any(0 in block.shape for each in case.inputs.values() for block in each.blocks):
        done |= {f"{word(step)} of nothing" for step in steps if step.op == "fold"}
    met = {dtype for step in steps for name in (*step.inputs, *step.outputs) for dtype in held[name]}
    met |= {str(step.attrs["acc"]) for step in steps if step.attrs.get("acc")}
    return {"computes": frozenset(done), "computed": frozenset(met), "flow": frozenset(computing_witnesses(case))}


def maker_words(case: Case) -> dict[str, frozenset[str]]:
    """Return the words of the steps that may have computed what each name of a program holds in the end."""
    held, table = dtypes(case), names(case)
    found: dict[str, frozenset[str]] = {}

    def key(name: str) -> str:
        return table[name].base or name

    for step in case.program.steps:
        if step.op in COMPUTING:
            found[step.outputs[0]] = frozenset(kind_word(step, dtype) for dtype in held[step.inputs[-1]])
        elif step.op in ("copy", "done"):
            pairs = zip(step.outputs, step.inputs, strict=True)
            found |= {key(new): found.get(key(old), frozenset()) for new, old in pairs if key(new) != key(old)}
        elif step.op == "assign":
            target, value = map(key, step.inputs)
            found[target] = found.get(target, frozenset()) | found.get(value, frozenset())
    return found | {name: found.get(key(name), frozenset()) for name in case.program.results}


def dtypes(case: Case) -> dict[str, frozenset[str]]:
    """Return the dtypes that ranks may hold of each name of a program, as far as its steps tell."""
    held = {name: frozenset(block.dtype for block in each.blocks) for name, each in case.inputs.items()}
    for step in case.program.steps:
        taken = [held.get(name, frozenset()) for name in step.inputs]
        if step.op in EFFECTS:
            made = taken
        elif step.op in COMPUTING:
            made = [_computed(step, taken[-1])]
        else:
            made = [_given(step, each) for each in taken] if row(step.op).operands == 1 else [_given(step, *taken[:1])]
        held |= zip(step.outputs, made, strict=False)
    return held


def _computed(step: Step, taken: frozenset[str]) -> frozenset[str]:
    if step.op == "cast":
        return frozenset({str(step.attrs["to"])})
    return frozenset({"bool"}) if step.attrs.get("op") in COMPARISONS and step.op == "alu" else taken


def _given(step: Step, taken: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the dtypes of what a collective gives for an operand of these."""
    what, op = row(step.op), step.attrs.get("op")
    if what.result == "number":
        return frozenset({"float32" if isinstance(step.attrs.get("value"), float) else "int32"})
    if what.takes_token:
        return frozenset({str(step.attrs.get("dtype", ""))})
    if step.op == "arg_reduce":
        return frozenset({"int32"})
    whole = {dtype for dtype in taken if kind(dtype) in ("bool", "integer")}
    if op == "mean" and what.does == "reduce":
        return (taken - whole) | ({"float64"} if whole else set())
    if op in ("sum", "product", "premul_sum") and what.does == "reduce" and "bool" in taken:
        return (taken - {"bool"}) | {"int32"}
    return taken


class _Flight(NamedTuple):
    """A collective under way: what it reads, and what it makes."""

    reads: list[NamedValue]
    made: list[Witness]


@dataclass
class _Order:
    """What is known so far: what names and buffers are made of, what is under way, and what was computed of storage."""

    table: dict[str, NamedValue]
    last_use: dict[str, int]
    made: dict[str, set[str]] = field(default_factory=dict)
    flights: dict[str, _Flight] = field(default_factory=dict)
    kept: dict[str, list[NamedValue]] = field(default_factory=dict)
    words: Witnesses = field(default_factory=dict)

    def happens(self, word: str, seen: Iterable[Witness]) -> None:
        """Note a word, and what shows whether it was done rightly."""
        self.words.setdefault(word, []).extend(seen)

    def of(self, taken: Iterable[str]) -> set[str]:
        """Return what some values are made of: a ``collective``, something ``computed``, and what is so ``between``."""
        return set().union(*(self.made.get(self._key(name), set()) for name in taken))

    def give(self, name: str, made: set[str], *, more: bool = False) -> None:
        """Note what a name, or the buffer that it lies in, is made of."""
        key = self._key(name)
        self.made[key] = made | (self.made.get(key, set()) if more else set())

    def write(self, index: int, targets: Iterable[str], made: set[str]) -> None:
        """Note a write."""
        for name in targets:
            at = self.table[name]
            for flight in self.flights.values() if "computed" in made else ():
                if any(at.meets(read) for read in flight.reads):
                    self.happens("computed_over", flight.made)
            self._lose(index, at)
            self.give(name, made, more=True)

    def free(self, index: int, base: str) -> None:
        """Note that storage is freed."""
        self._lose(index, self.table[base])

    def _lose(self, index: int, lost: NamedValue) -> None:
        """Note that what storage held is there no more."""
        for old, sources in self.kept.items():
            if self.last_use.get(old, -1) > index and any(lost.meets(source) for source in sources):
                self.happens("old_computed", [Witness(old, after=index)])

    def _key(self, name: str) -> str:
        what = self.table[name]
        return what.base if what.kind == "storage" else name


def computing_witnesses(case: Case) -> Witnesses:
    """Return the words of ``flow`` that are of steps which compute, each with what shows whether that was done rightly.

    Raise ``CaseError`` when a step is malformed.
    """
    steps = case.program.steps
    last_use = {name: index for index, step in enumerate(steps) for name in (*step.inputs, *step.into)}
    last_use.update(dict.fromkeys(case.program.results, len(steps)))
    order = _Order(names(case), last_use)
    for index, step in enumerate(steps):
        made, given = order.of(step.inputs), made_by(order.table, index, step)
        if step.op in COMPUTING:
            if order.flights:
                order.happens("computed_meanwhile", (each for flight in order.flights.values() for each in flight.made))
            if "collective" in made:
                order.happens("computed_after", given)
            order.kept[step.outputs[0]] = [order.table[name] for name in step.inputs]
            order.give(step.outputs[0], made | {"computed"} | ({"between"} if "collective" in made else set()))
        elif step.op == "assign":
            order.write(index, step.inputs[:1], order.of(step.inputs[1:]))
        elif step.op == "free":
            order.free(index, step.inputs[0])
        elif step.op in EFFECTS:
            _moved(order, step, made)
        else:
            for word, source in (("computed_between", "between"), ("computed_before", "computed")):
                if source in made:
                    order.happens(word, given)
            _met(order, index, step, made | {"collective"}, given)
    return order.words


def _moved(order: _Order, step: Step, made: set[str]) -> None:
    for name in step.outputs:
        if order.table[name].kind != "storage":
            order.give(name, made)
    for ticket in step.inputs if step.op == "done" else ():
        order.flights.pop(ticket, None)


def _met(order: _Order, index: int, step: Step, made: set[str], given: list[Witness]) -> None:
    reads = [order.table[name] for name in step.inputs]
    order.write(index, step.into, made)
    for name in step.outputs:
        order.give(name, made)
        if step.start or step.op == "send":
            order.flights[name] = _Flight(reads, given)
    for token in step.inputs if step.op == "recv" else ():
        order.flights.pop(token, None)
