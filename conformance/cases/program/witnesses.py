"""What shows how a program does a thing: values and storage, and whether some result is made of them.

A word of the feature ``flow`` says that something happens in a program. Whether it was done rightly shows in its
witnesses alone: in a result that a collective gave, or in the elements of storage after a step. Where no result is made
of any of them, nothing that is returned tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, Region, names
from conformance.cases.program.operations import row
from conformance.cases.program.program import NO_COLLECTIVES, Step


class Witness(NamedTuple):
    """A value by its name, or what ``storage`` holds, as far as it is used after step ``after``."""

    name: str = ""
    storage: NamedValue | None = None
    after: int = 0


def of(table: dict[str, NamedValue], name: str, index: int) -> Witness:
    """Return a name as it is after a step."""
    stored = table[name].kind == "storage"
    return Witness(storage=table[name], after=index) if stored else Witness(name, after=index)


Witnesses = dict[str, list[Witness]]
"""By word of a feature what shows whether that was done rightly, in each place where it is done."""


def made(table: dict[str, NamedValue], index: int, step: Step) -> list[Witness]:
    """Return what a step makes: its outputs, and the storage that it writes."""
    written = step.inputs[:1] if step.op == "assign" else step.into
    storage = [Witness(storage=table[name], after=index) for name in written]
    return storage + [Witness(name) for name in step.outputs if not table[name].base]


@dataclass(frozen=True)
class Uses:
    """What some results of a program are made of: the names, and the storage, that are read after each step."""

    names: Sequence[frozenset[str]]
    storage: Sequence[tuple[NamedValue, ...]]

    def tell(self, witness: Witness) -> bool:
        """Return whether a result is made of a witness."""
        if witness.storage is None:
            return witness.name in self.names[witness.after]
        return any(witness.storage.meets(read) for read in self.storage[witness.after])


def uses(case: Case, results: Iterable[str]) -> Uses:
    """Return what some of the results of a program are made of. Raise ``CaseError`` when a step is malformed."""
    back = _Back(names(case))
    back.read(results)
    after: list[tuple[frozenset[str], tuple[NamedValue, ...]]] = []
    for step in reversed(case.program.steps):
        after.append((frozenset(back.names), tuple(back.storage)))
        back.look(step)
    return Uses([named for named, _ in after[::-1]], [storage for _, storage in after[::-1]])


@dataclass
class _Back:
    """What is used by the steps that were looked at, the last one first."""

    table: dict[str, NamedValue]
    names: set[str] = field(default_factory=set)
    storage: list[NamedValue] = field(default_factory=list)

    def read(self, taken: Iterable[str]) -> None:
        """Note what is read."""
        for name in taken:
            if self.table[name].kind == "storage":
                self.storage.append(self.table[name])
            else:
                self.names.add(name)

    def look(self, step: Step) -> None:
        """Note what a step reads if something it makes is used; what it writes over is not used before it."""
        if step.op in ("view", "free"):
            return
        if step.op == "buffer":
            used = any(each.base == step.outputs[0] for each in self.storage)
            self.storage = [each for each in self.storage if each.base != step.outputs[0]]
            self.read(step.inputs if used else ())
        elif step.op == "done":
            self.read(old for old, new in zip(step.inputs, step.outputs, strict=True) if new in self.names)
        else:
            self._made(step)

    def _made(self, step: Step) -> None:
        targets = step.inputs[:1] if step.op == "assign" else step.into
        written = [self.table[name] for name in targets]
        used = [any(each.meets(target) for each in self.storage) for target in written]
        if step.op in NO_COLLECTIVES or row(step.op).writers != "root":
            self.storage = [each for each in self.storage if not any(_covers(target, each) for target in written)]
        if step.op in NO_COLLECTIVES or row(step.op).operands != 1:
            taken = step.inputs[step.op == "assign" :]
            self.read(taken if any(used) or not self.names.isdisjoint(step.outputs) else ())
            return
        for number, (operand, output) in enumerate(zip(step.inputs, step.outputs, strict=True)):
            self.read([operand] if output in self.names or any(used[number : number + 1]) else [])


def _covers(target: NamedValue, read: NamedValue) -> bool:
    """Return whether what is read lies in a target on every rank."""
    return target.base == read.base and all(
        _inside(one, other) for one, other in zip(target.regions, read.regions, strict=True)
    )


def _inside(target: Region, read: Region) -> bool:
    return all(
        not part or (part[0] in whole and part[-1] in whole and (len(part) == 1 or part.step % whole.step == 0))
        for whole, part in zip(target.ranges, read.ranges, strict=True)
    )
