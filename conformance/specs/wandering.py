"""Programs with effects at random: a walk over what may be done next with the names that are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from conformance.cases.case import Case
from conformance.specs.calls import Shapes
from conformance.specs.effectful import PARTIAL, Script

_LENGTH: Final = st.integers(1, 6)


@dataclass
class _Walk:
    """What may be used next: storage with its buffer, values, and tickets with the buffer they write, if any."""

    script: Script
    storage: dict[str, str] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    tickets: dict[str, str] = field(default_factory=dict)

    def pick(self, names: list[str], shapes: Shapes) -> str:
        """Draw one of the names that have the given shapes, or a new buffer where none has."""
        found = [name for name in names if self.script.shapes[name] == shapes]
        if found:
            return self.script.pick(found)
        name = self.script.buffer(shapes)
        self.storage[name] = name
        return name

    def operand(self) -> str:
        """Draw something for the collective to read."""
        return self.pick([*self.storage, *self.values], self.script.call.operand)

    def target(self) -> str:
        """Draw storage for its result."""
        return self.pick([*self.storage], self.script.result)

    def gave(self, name: str, base: str) -> None:
        """Take note of a result, which is storage where it lies in ``base``."""
        self.results.append(name)
        if base:
            self.storage[name] = base
        elif self.script.call.op not in PARTIAL:
            self.values.append(name)


def wandering(script: Script, *, starts: bool) -> Case:
    """Return a program of a few steps; with ``starts`` some of its collectives are started, and may be waited for."""
    walk = _Walk(script)
    walk.operand()
    for _ in range(script.drawn.draw(_LENGTH)):
        script.drawn.draw(_ACTIONS[starts])(walk)
    if not any(step.op == script.call.op for step in script.steps):
        _into(walk)
    return script.case(*walk.results)


def _run(walk: _Walk) -> None:
    (name,) = walk.script.run(walk.operand())
    walk.gave(name, "")


def _into(walk: _Walk) -> None:
    operand, target = walk.operand(), walk.target()
    (name,) = walk.script.run(operand, into=(target,))
    walk.gave(name, walk.storage[target])


def _start(walk: _Walk) -> None:
    operand = walk.operand()
    target = (walk.target(),) if walk.script.flip() else ()
    (ticket,) = walk.script.run(operand, into=target, start=True)
    walk.tickets[ticket] = walk.storage[target[0]] if target else ""


def _done(walk: _Walk) -> None:
    if walk.tickets:
        ticket = walk.script.pick([*walk.tickets])
        (name,) = walk.script.done(ticket)
        walk.gave(name, walk.tickets[ticket])


def _assign(walk: _Walk) -> None:
    target = walk.script.pick([*walk.storage])
    shapes = walk.script.shapes[target]
    others = [name for name in (*walk.values, *walk.storage) if name != target and walk.script.shapes[name] == shapes]
    walk.script.assign(target, walk.script.pick(others) if others else walk.script.input(shapes))


def _copy(walk: _Walk) -> None:
    name = walk.script.copy(walk.script.pick([*walk.storage]))
    walk.values.append(name)
    walk.results.append(name)


def _view(walk: _Walk) -> None:
    base = walk.script.pick([*walk.storage])
    shape = walk.script.shapes[base][0]
    if shape and len(set(walk.script.shapes[base])) == 1:
        first = range(shape[0] - 1, -1, -1) if walk.script.flip() else range(shape[0] // 2, shape[0])
        name = walk.script.view(base, (first, *map(range, shape[1:])))
        walk.storage[name] = walk.storage[base]


def _free(walk: _Walk) -> None:
    bases = sorted(set(walk.storage.values()))
    if len(bases) > 1:
        base = walk.script.pick(bases)
        walk.script.free(base)
        walk.results = [name for name in walk.results if walk.storage.get(name) != base]
        walk.storage = {name: other for name, other in walk.storage.items() if other != base}
        walk.tickets = {name: other for name, other in walk.tickets.items() if other != base}


_ACTIONS: Final[dict[bool, st.SearchStrategy[Callable[[_Walk], None]]]] = {
    False: st.sampled_from([_into, _run, _assign, _copy, _view, _free]),
    True: st.sampled_from([_start, _done, _start, _done, _into, _run, _assign, _copy, _view, _free]),
}
