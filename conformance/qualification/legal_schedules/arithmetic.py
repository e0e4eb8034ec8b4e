"""Engines that compute by other operations, or other items, than were asked for."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.index_map import contiguous
from conformance.cases.schedule.kernel_body import (
    Alu,
    Bitcast,
    Body,
    Cast,
    Fetch,
    Instruction,
    Load,
    Reduce,
    Store,
)
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Schedule
from conformance.cases.tensor.dtypes import NUMPY
from conformance.qualification.legal_schedules.engine import Legal as _Legal
from conformance.reference.schedule.facts import Facts


class RewritesArithmetic(_Legal):
    """A difference is the sum with the negation, and a quotient the product with the reciprocal."""

    def change(self, made: Schedule) -> Schedule:
        """Write each sub and div of floats in two instructions."""
        facts = Facts(made)
        return replace(made, items=tuple(_rewritten(facts, item) for item in made.items))


def _rewritten(facts: Facts, item: Item) -> Item:
    if not isinstance(item, Kernel):
        return item
    floats = all(facts.buffers[access.buffer].dtype.startswith(("float", "bfloat")) for access in item.accesses)
    bodies = []
    for body in item.bodies:
        lines: list[Instruction] = []
        at: dict[int, int] = {}
        for number, each in enumerate(body.instructions):
            moved = each
            if isinstance(each, Alu):
                of = tuple(at[source] for source in each.of)
                moved = replace(each, of=of)
                if floats and each.op in ("sub", "div"):
                    lines.append(Alu(op="neg" if each.op == "sub" else "recip", of=of[1:]))
                    moved = Alu(op="add" if each.op == "sub" else "mul", of=(of[0], len(lines) - 1))
            elif isinstance(each, Cast | Bitcast | Reduce | Store):
                moved = replace(each, of=at[each.of])
            elif isinstance(each, Fetch):
                moved = replace(each, at=tuple(at[source] for source in each.at))
            at[number] = len(lines)
            lines.append(moved)
        bodies.append(replace(body, instructions=tuple(lines)))
    return replace(item, bodies=tuple(bodies))


class AddsUpByCopies(_Legal):
    """A sum over devices is copies of all blocks to all devices and kernels that fold them; of two it is a ring."""

    def change(self, made: Schedule) -> Schedule:
        """Give each all_reduce the parts that do it."""
        items: list[Item] = []
        added: list[Buffer] = []
        known = {buffer.id: buffer for buffer in made.buffers}
        for item in made.items:
            if isinstance(item, Collective) and item.op == "all_reduce" and not item.parts:
                parts, fresh = _parts(item, known)
                added += fresh
                word = "ring" if len(item.participants) == 2 else "naive"
                items.append(replace(item, accesses=(), parts=parts, algorithm=word, provenance=()))
            else:
                items.append(item)
        return replace(made, items=tuple(items), buffers=(*made.buffers, *added))


_FOLD = {"sum": "add", "product": "mul"}


def _parts(item: Collective, known: dict[str, Buffer]) -> tuple[tuple[Kernel | Copy, ...], list[Buffer]]:
    count = len(item.participants)
    reads, writes = item.accesses[:count], item.accesses[count:]
    copies: list[Kernel | Copy] = []
    folds: list[Kernel | Copy] = []
    fresh: list[Buffer] = []
    for to, (device, write) in enumerate(zip(item.participants, writes, strict=True)):
        lies = []
        for source, read in enumerate(reads):
            if source == to:
                lies.append(read.buffer)
                continue
            like = known[read.buffer]
            made = replace(like, id=f"{item.id} {source} to {to}", device=device, preexisting=False)
            fresh.append(made)
            own = (Access(buffer=read.buffer), Access(buffer=made.id, write=True))
            copies.append(Copy(id=f"{item.id} send {source} to {to}", accesses=own))
            lies.append(made.id)
        like = known[write.buffer]
        every = contiguous((like.size // NUMPY[like.dtype].itemsize,))
        word = str(item.attrs["op"])
        lines: list[Load | Alu | Store] = [Load(access=number) for number in range(count)]
        for number in range(1, count):
            first = 0 if number == 1 else len(lines) - 1
            lines.append(Alu(op=_FOLD.get(word, word), of=(first, number)))  # type: ignore[arg-type]  # a fold
        lines.append(Store(access=count, of=len(lines) - 1))
        accesses = (*(Access(buffer=name, map=every) for name in lies), replace(write, map=every))
        body = Body(extents=every[0].extents, instructions=tuple(lines))
        label = (write.node,) if write.node else ()
        folds.append(
            Kernel(id=f"{item.id} fold {to}", device=device, accesses=accesses, bodies=(body,), provenance=label)
        )
    return (*copies, *folds), fresh
