"""A program that grows as a chain, and the steps on its storage: buffers, views, assigns, copies and frees."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Final

from conformance.generate import choices
from conformance.generate.calls.call import Shapes
from conformance.generate.programs.overlaps import overlapping
from conformance.generate.programs.script import Script
from conformance.reference.operations import TABLE

MOST_ELEMENTS: Final = 256
"""Elements of a value that is handed on, at most: a chain of gathers would grow without end."""

_VIEW: Final = choices.sampled_from(["part", "turned", "stepped", "ordered"])
_SELDOM: Final = choices.sampled_from([False, False, False, True])
_BOOLEANS: Final = choices.booleans()


@dataclass
class Chain:
    """What may be used next.

    ``storage`` has names with their buffers, ``values`` those that every rank has, ``tickets`` those not waited for
    with the operation and the buffer that they write, if any. What is ``held`` is the operand or target of the
    collective to come, which nothing else writes or frees. A chain has ``effects``, and
    ``computes``, or not.
    """

    program: Script
    effects: bool = True
    computes: bool = False
    storage: dict[str, str] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    tickets: dict[str, tuple[str, str]] = field(default_factory=dict)
    waited: dict[str, tuple[str, str]] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)

    @property
    def draw(self) -> choices.Draw:
        """Return the draw with what claims list and without goals, for what stands beside the call."""
        drawn = self.program.drawn.draw
        return choices.Draw(drawn.source, choices.Goals(limits=drawn.goals.limits))

    def flip(self) -> bool:
        """Draw yes or no."""
        return self.draw(_BOOLEANS)

    @property
    def open(self) -> list[str]:
        """Return the storage that may be written."""
        return [name for name, base in self.storage.items() if base not in self.held]

    def gave(self, op: str, name: str, base: str) -> None:
        """Take note of a result, which is storage where it lies in ``base``."""
        self.results.append(name)
        if base:
            self.storage[name] = base
        elif TABLE[op].writers == "all":
            self.values.append(name)

    def uniform(self, names: list[str]) -> list[str]:
        """Return those names that have few elements, and of which every rank has a block of one shape."""
        shapes = self.program.shapes
        return [name for name in names if len(set(shapes[name])) == 1 and prod(shapes[name][0]) <= MOST_ELEMENTS]


def stored(made: Chain, shapes: Shapes | None = None, dtype: str | None = None) -> str:
    """Make a buffer of an input, of the operand's shapes and dtype by default."""
    name = made.program.buffer(shapes, dtype)
    made.storage[name] = name
    return name


def buffer(made: Chain) -> None:
    """Make a buffer of an input."""
    stored(made)


def some_storage(made: Chain) -> str:
    """Return storage that may be written, which is made where there is none."""
    if not made.open:
        buffer(made)
    return made.draw.one(made.open)


def view(made: Chain) -> None:
    """View a part of storage, every second element of it, it from behind, or with other axes."""
    program, draw = made.program, made.draw
    base = draw.one([*made.storage] or [some_storage(made)])
    shape, how = program.shapes[base][0], draw(_VIEW)
    if len(set(program.shapes[base])) > 1:
        return
    first, rest = shape[0] if shape else 0, tuple(map(range, shape[1:]))
    rows = {"part": range(first // 2, first), "turned": range(first - 1, -1, -1), "stepped": range(0, first, 2)}
    order = (*range(1, len(shape)), 0) if how == "ordered" and shape else ()
    name = program.view(base, (rows.get(how, range(first)), *rest) if shape else (), order)
    made.storage[name] = made.storage[base]


def part(made: Chain, name: str) -> str:
    """Return a view of the second half of storage, or the storage where its ranks differ or it has no half."""
    program, (shape, *others) = made.program, made.program.shapes[name]
    if set(others) - {shape} or not shape or shape[0] < 2:
        return name
    found = program.view(name, (range(shape[0] // 2, shape[0]), *map(range, shape[1:])))
    made.storage[found] = made.storage.get(name) or program.base(name)
    return found


def write(made: Chain, name: str) -> None:
    """Write an input into storage, as often into a part of it: whoever read all of it read that."""
    target = part(made, name) if made.flip() else name
    made.program.assign(target, made.program.input(made.program.shapes[target], made.program.dtypes[target]))


def assign(made: Chain) -> None:
    """Assign to storage what is like it, or an input; now and then elements of it to the places beside them."""
    program, draw = made.program, made.draw
    if draw(_SELDOM) and program.same and len(set(program.result)) == 1 and program.result[0]:
        program.assign(*overlapping(program))
        return
    target = some_storage(made)
    target = part(made, target) if made.flip() else target
    like = program.shapes[target], program.dtypes[target]
    alike = [
        name
        for name in (*made.values, *made.storage)
        if name != target and (program.shapes[name], program.dtypes[name]) == like
    ]
    if not made.flip():
        program.assign(target, program.input(*like))
        return
    source = draw.one(alike or [stored(made, *like)])
    program.assign(target, source)
    if source in made.open and made.flip():
        # What was read is written: who has yet to read it reads that.
        write(made, source)


def copy(made: Chain) -> None:
    """Copy storage or a value; the copy is a result."""
    name = made.program.copy(made.draw.one([*made.storage, *made.values] or [some_storage(made)]))
    made.values.append(name)
    made.results.append(name)


def free(made: Chain) -> None:
    """Free a buffer, and forget all that lies in it."""
    let_go(made, made.storage[some_storage(made)])


def let_go(made: Chain, base: str) -> None:
    """Free a buffer, and forget the names, results and tickets that lie in it."""
    made.program.free(base)
    lies = {name for name, other in made.storage.items() if other == base}
    made.storage = {name: other for name, other in made.storage.items() if name not in lies}
    made.results = [name for name in made.results if name not in lies]
    made.tickets = {ticket: each for ticket, each in made.tickets.items() if each[1] != base}
    made.waited = {ticket: each for ticket, each in made.waited.items() if each[1] != base}
