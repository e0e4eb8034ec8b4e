"""Programs with effects at random: a walk over what may be done next with the names that are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from conformance.cases.case import Case
from conformance.specs import choose
from conformance.specs.calls import Shapes
from conformance.specs.effectful import PARTIAL, Script, below
from conformance.specs.mixing import ends_with, others

_LENGTH: Final = choose.integers(1, 6)


@dataclass
class _Walk:
    """What may be used next: storage with its buffer, values, and tickets with the buffer they write, if any.

    ``tickets`` have the operation too. ``calls`` are what may be done with it all, the last being the one that the
    program is drawn for.
    """

    calls: list[Script]
    storage: dict[str, str] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    tickets: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def script(self) -> Script:
        """Return the program as its own call goes on with it."""
        return self.calls[-1]

    def call(self) -> Script:
        """Draw which call is next, the program's own being the plain choice."""
        return self.calls[-1 - self.script.drawn.draw(below(len(self.calls)))] if self.calls[1:] else self.script

    def pick(self, names: list[str], shapes: Shapes, dtype: str) -> str:
        """Draw one of the names that have the given shapes and dtype, or a new buffer where none has."""
        found = [name for name in names if self.like(name) == (shapes, dtype)]
        if found:
            return self.script.pick(found)
        name = self.of(dtype).buffer(shapes, dtype)
        self.storage[name] = name
        return name

    def like(self, name: str) -> tuple[Shapes, str]:
        """Return the shapes and the dtype of a name."""
        return self.script.shapes[name], self.script.dtypes[name]

    def of(self, dtype: str) -> Script:
        """Return a call that has data of a dtype which all may read."""
        return next((call for call in self.calls if call.drawn.dtype == dtype), self.script)

    def operand(self, call: Script) -> str:
        """Draw something for a call to read."""
        return self.pick([*self.storage, *self.values], call.call.operand, call.drawn.dtype)

    def target(self, call: Script) -> str:
        """Draw storage for its result."""
        return self.pick([*self.storage], call.result, call.dtype)

    def gave(self, op: str, name: str, base: str) -> None:
        """Take note of a result, which is storage where it lies in ``base``."""
        self.results.append(name)
        if base:
            self.storage[name] = base
        elif op not in PARTIAL:
            self.values.append(name)


def wandering(script: Script, *, starts: bool) -> Case:
    """Return a program of a few steps of one call, or of several.

    With ``starts`` some of its collectives are started, and may be waited for.
    """
    walk = _Walk([*(others(script) if script.flip() else []), script])
    walk.operand(script)
    for _ in range(script.drawn.draw(_LENGTH)):
        script.drawn.draw(_ACTIONS[starts])(walk)
    if not ends_with(script.call.op, script.steps):
        _write(walk, script)
    return script.case(*walk.results)


def _run(walk: _Walk) -> None:
    call = walk.call()
    (name,) = call.run(walk.operand(call))
    walk.gave(call.call.op, name, "")


def _into(walk: _Walk) -> None:
    _write(walk, walk.call())


def _write(walk: _Walk, call: Script) -> None:
    operand, target = walk.operand(call), walk.target(call)
    (name,) = call.run(operand, into=(target,))
    walk.gave(call.call.op, name, walk.storage[target])


def _start(walk: _Walk) -> None:
    call = walk.call()
    operand = walk.operand(call)
    target = (walk.target(call),) if walk.script.flip() else ()
    (ticket,) = call.run(operand, into=target, start=True)
    walk.tickets[ticket] = call.call.op, walk.storage[target[0]] if target else ""


def _done(walk: _Walk) -> None:
    if walk.tickets:
        ticket = walk.script.pick([*walk.tickets])
        (name,) = walk.script.done(ticket)
        op, base = walk.tickets[ticket]
        walk.gave(op, name, base)


def _assign(walk: _Walk) -> None:
    target = walk.script.pick([*walk.storage])
    shapes, dtype = walk.like(target)
    alike = [name for name in (*walk.values, *walk.storage) if name != target and walk.like(name) == (shapes, dtype)]
    walk.script.assign(target, walk.script.pick(alike) if alike else walk.of(dtype).input(shapes, dtype))


def _copy(walk: _Walk) -> None:
    name = walk.script.copy(walk.script.pick([*walk.storage]))
    walk.values.append(name)
    walk.results.append(name)


def _view(walk: _Walk) -> None:
    base = walk.script.pick([*walk.storage])
    shape = walk.script.shapes[base][0]
    if len(set(walk.script.shapes[base])) == 1:
        turns = walk.script.flip()
        first = (range(extent - 1, -1, -1) if turns else range(extent // 2, extent) for extent in shape[:1])
        name = walk.script.view(base, (*first, *map(range, shape[1:])))
        walk.storage[name] = walk.storage[base]


def _free(walk: _Walk) -> None:
    bases = sorted(set(walk.storage.values()))
    if len(bases) > 1:
        base = walk.script.pick(bases)
        walk.script.free(base)
        walk.results = [name for name in walk.results if walk.storage.get(name) != base]
        walk.storage = {name: other for name, other in walk.storage.items() if other != base}
        walk.tickets = {name: each for name, each in walk.tickets.items() if each[1] != base}


_ACTIONS: Final[dict[bool, choose.Choice[Callable[[_Walk], None]]]] = {
    False: choose.sampled_from([_into, _run, _assign, _copy, _view, _free]),
    True: choose.sampled_from([_start, _done, _start, _done, _into, _run, _assign, _copy, _view, _free]),
}
