"""The scheduled HLO of a TPU as items on all ranks: kernels, collectives that are one call, and waits.

All ranks run one module, so an instruction is an item for each of them, and a collective one for each group. A loop
whose count is known is written out, and so is the branch that is taken. What is computed of constants and the number of
the rank alone is a constant of those that use it, and no item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.backends.base import Unsupported
from conformance.backends.bodies.instructions import Lines
from conformance.backends.jax.hlo.module import Computation, Instruction, Module
from conformance.backends.jax.tpu import evaluate
from conformance.backends.jax.tpu.exchanges import COLLECTIVES, RAGGED
from conformance.backends.jax.tpu.held import (
    Buffers,
    Held,
    Known,
    Stored,
    UnderWay,
    UnknownValue,
    access,
    as_held,
    as_value,
)
from conformance.cases.schedule.kernel_body import Body, Store
from conformance.cases.schedule.schedule import Item, Kernel, Wait

NEVER_KNOWN: Final = ("infeed", "outfeed", "send", "recv", "rng", "rng-bit-generator")
"""Instructions that give something else each time, or speak with who is no rank."""


Write = Callable[["Walk", "Scope", Instruction, list[Held]], Held]
"""What writes the items of an instruction of a call, of the values of its operands, and returns its own."""


@dataclass
class Scope:
    """One call of a computation: what it is given, and the values so far; ``prefix`` begins the ids of its items."""

    computation: Computation
    given: Sequence[Held]
    prefix: str = ""
    values: dict[int, Held] = field(default_factory=dict)


class Walk:
    """The items of a module on ``world`` ranks: instructions are written as they run, each by what its kind is for."""

    def __init__(self, module: Module, world: int, write: Write) -> None:
        """Begin with nothing; ``write`` writes the items of an instruction, and returns what it gives."""
        self._write = write
        self.module, self.world = module, world
        self.buffers = Buffers(world)
        self.items: list[Item] = []
        self.turn = 0
        self.started: list[str] | None = None
        """Handles of what is started now, where what is written belongs to something asynchronous."""

    def entry(self, given: Sequence[Held]) -> Held:
        """Write the entry on the values of its parameters, and return what it gives."""
        return self.run(Scope(self.module.entry, given), self.module.sequence)

    def run(self, scope: Scope, order: Sequence[Instruction]) -> Held:
        """Write the instructions of a call in order, and return what its root gives."""
        for node in order:
            scope.values[node.id] = self.value(scope, node)
        return scope.values[scope.computation.root.id]

    def called(self, number: int, given: Sequence[Held], prefix: str) -> Held:
        """Write a computation that is called."""
        computation = self.module.computations[number]
        order = self.module.orders.get(number, tuple(computation.instructions))
        return self.run(Scope(computation, given, prefix), [computation.instructions[each] for each in order])

    def value(self, scope: Scope, node: Instruction) -> Held:
        """Return what an instruction gives, and write the items that compute it."""
        of = [scope.values[each] for each in node.operands]
        if node.opcode == "parameter":
            return scope.given[node.parameter]
        if node.opcode in STRUCTURE:
            return STRUCTURE[node.opcode](node, of)
        if not self._communicates(node):
            try:
                return self._known(scope.computation, node, of)
            except UnknownValue:
                pass
        return self._write(self, scope, node, of)

    def _communicates(self, node: Instruction) -> bool:
        """Return whether an instruction does more than compute, or what it calls does."""
        opcode = node.opcode.removesuffix("-start").removesuffix("-done")
        if node.opcode != opcode or opcode in COLLECTIVES or opcode in (RAGGED, *NEVER_KNOWN, "while", "conditional"):
            return True
        return any(
            self._communicates(each)
            for number in node.called
            for each in self.module.computations[number].instructions.values()
        )

    def starting(self) -> list[str]:
        """Begin to write what is only started, and return the list to which its handles are added."""
        self.started = []
        return self.started

    def _known(self, computation: Computation, node: Instruction, of: list[Held]) -> Held:
        values = dict(zip(node.operands, map(as_value, of), strict=True))
        return as_held(
            evaluate.value(evaluate.Scope(self.module, self.world, computation, (), values), node), node.shape
        )

    def guessed(self, number: int, given: Sequence[Held]) -> Any:
        """Return what a computation gives where that is known, and write nothing; raise ``UnknownValue``."""
        computation = self.module.computations[number]
        values: dict[int, Any] = {}
        for node in computation.instructions.values():
            of = [values[each] for each in node.operands]
            if node.opcode == "parameter":
                values[node.id] = given[node.parameter]
            elif node.opcode in STRUCTURE:
                values[node.id] = STRUCTURE[node.opcode](node, of)
            elif all(each is not UNKNOWN for each in of):
                try:
                    values[node.id] = self._known(computation, node, of)
                except UnknownValue:
                    values[node.id] = UNKNOWN
            else:
                values[node.id] = UNKNOWN
        return as_value(values[computation.root.id])

    def wait(self, name: str, handles: Sequence[str]) -> None:
        """Write waits for what was started."""
        for number, handle in enumerate(handles):
            self.items.append(Wait(id=f"{name}/{number}" if len(handles) > 1 else name, handle=handle))

    def handle(self, item: str) -> str | None:
        """Return the handle of an item that is written now: its own name where it is only started."""
        if self.started is None:
            return None
        self.started.append(item)
        return item

    def materialised(self, held: Held, name: str) -> Stored:
        """Return a value in a buffer: what is known is written to one."""
        if isinstance(held, Stored):
            return held
        if isinstance(held, Known):
            return self._filled(held, name)
        raise Unsupported("a value that is still under way, or a tuple, as an operand")

    def _filled(self, held: Known, name: str) -> Stored:
        """Write what is known to a buffer of each rank."""
        target = self.buffers.add(name, held.shape)
        for rank in range(self.world if held.shape.count else 0):
            lines = Lines(held.shape.extents)
            bodies: tuple[Body, ...] = ()
            try:
                line = lines.chosen(held.array[rank])
                bodies = (Body(extents=lines.extents, instructions=(*lines.lines, Store(access=0, of=line))),)
            except Unsupported:
                pass  # a table of numbers has no word
            written = access(target, rank, write=True)
            self.items.append(Kernel(id=f"{name}[{rank}]", device=str(rank), accesses=(written,), bodies=bodies))
        return target


UNKNOWN: Final = UnderWay(None, ())
"""What data decide, where only what is known is asked for."""


def _part(node: Instruction, of: list[Held]) -> Held:
    (whole,) = of
    if whole is UNKNOWN:
        return UNKNOWN
    if isinstance(whole, UnderWay):
        parts = whole.held
        return UnderWay(parts[node.message.number(13)], whole.handles) if isinstance(parts, tuple) else None
    if not isinstance(whole, tuple):
        raise Unsupported(f"a part of {type(whole).__name__}")
    found: Held = whole[node.message.number(13)]
    return found


STRUCTURE: Final[dict[str, Callable[[Instruction, list[Held]], Held]]] = {
    "tuple": lambda _, of: tuple(of),
    "get-tuple-element": _part,
    "opt-barrier": lambda _, of: of[0],
    "add-dependency": lambda _, of: of[0],
    "after-all": lambda _, __: None,
}
"""Instructions that run nothing: what they give is there."""
