"""Values in the wrong storage, on the wrong device, or nowhere."""

from __future__ import annotations

import re
from typing import get_args

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.elementwise import Fold
from conformance.cases.schedule.kernel_body import Alu, Body
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.qualification.schedule_changes import each_access, each_buffer, each_leaf
from conformance.qualification.schedule_mutants.engine import Engine as _Engine
from conformance.reference.schedule.facts import Facts


class EveryValueInOneStorage(_Engine):
    """The planner takes a buffer for free at its last read but one, and plans the next value there."""

    breaks = "memory.C1"

    def spoil(self, made: Schedule) -> Schedule:
        """Plan all planned buffers of a device into its largest arena."""
        arenas: dict[str, Buffer] = {}
        for buffer in made.buffers:
            if any(each.base == buffer.id for each in made.buffers):
                arenas[buffer.device] = max(arenas.get(buffer.device, buffer), buffer, key=lambda each: each.size)
        return each_buffer(made, lambda b: replace(b, base=arenas[b.device].id) if b.planned else b)


class HeldBuffersArePlanned(_Engine):
    """Only outputs are kept out of the plan, and not what is reachable from outside. tinygrad#16571."""

    breaks = "memory.C2"
    corpus = ("tinygrad#16571 / #16588",)

    def spoil(self, made: Schedule) -> Schedule:
        """Plan every held buffer into an arena of its own."""
        held = [buffer for buffer in made.buffers if buffer.held]
        arenas = [Buffer(id=f"arena of {b.id}", size=b.size, dtype="uint8", device=b.device) for b in held]
        planned = each_buffer(made, lambda b: replace(b, base=f"arena of {b.id}", planned=True) if b in held else b)
        return replace(planned, buffers=(*arenas, *planned.buffers))


class TargetsMergedByValue(_Engine):
    """Two buffers that begin alike are interned as one, and what is assigned to one is seen in both. tinygrad#12442."""

    breaks = "assign.C11"
    corpus = ("tinygrad#12442",)

    def spoil(self, made: Schedule) -> Schedule:
        """Let all held buffers of a device with one size and dtype be the first of them."""
        first: dict[tuple[str, int, str], str] = {}
        same = {b.id: first.setdefault((b.device, b.size, b.dtype), b.id) for b in made.buffers if b.held}
        return each_access(made, lambda access: replace(access, buffer=same.get(access.buffer, access.buffer)))


class BuffersDeclaredOne(_Engine):
    """Two buffers that begin alike are kept as views of one storage, as if that had been asked for. tinygrad#12442."""

    breaks = "form.C10"
    corpus = ("tinygrad#12442",)

    def spoil(self, made: Schedule) -> Schedule:
        """Let each held buffer lie in the first of its device, size and dtype."""
        first: dict[tuple[str, int, str], str] = {}
        same = {b.id: first.setdefault((b.device, b.size, b.dtype), b.id) for b in made.buffers if b.held}
        return each_buffer(made, lambda b: b if same.get(b.id, b.id) == b.id else replace(b, base=same[b.id]))


class ForcedCopyElided(_Engine):
    """A copy of what lies there already is elided, though it was asked for to outlive the next write."""

    breaks = "copies.C7"

    def spoil(self, made: Schedule) -> Schedule:
        """Leave out what makes a copy, and read what it copied instead."""
        instead = {
            leaf.accesses[1].buffer: leaf.accesses[0].buffer
            for leaf, _ in Facts(made).owned
            if isinstance(leaf, Kernel) and any(name.startswith("copy ") for name in leaf.provenance)
        }
        left = each_leaf(made, lambda leaf: None if any(n.startswith("copy ") for n in leaf.provenance) else leaf)
        moved = each_access(left, lambda access: replace(access, buffer=instead.get(access.buffer, access.buffer)))
        places = tuple(replace(place, buffer=instead.get(place.buffer, place.buffer)) for place in moved.places)
        return replace(moved, places=places)


class ResultsOnOneDevice(_Engine):
    """What is split off a sharded computation is placed on the device of the first shard. tinygrad#12414."""

    breaks = "copies.C10"
    corpus = ("tinygrad#12414",)

    def spoil(self, made: Schedule) -> Schedule:
        """Say of every result that it is where rank 0 has it."""
        at = {place.node: place for place in made.places}
        first = {name: re.sub(r"\[\d+\]$", "[0]", name) for name in at}
        return replace(made, places=tuple(replace(at.get(first[name], place), node=name) for name, place in at.items()))


class FoldBeginsAgain(_Engine):
    """Two loops over one range are merged, and the second begins again with the first operand. tinygrad#14504."""

    breaks = "law.C1"
    corpus = ("tinygrad#14504",)
    algorithm = "naive"

    def spoil(self, made: Schedule) -> Schedule:
        """Let the second step of every fold take the first operand, and not what has been folded by then."""

        def merged(body: Body) -> Body:
            lines = list(body.instructions)
            for at, second in enumerate(lines):
                first = lines[second.of[0]] if isinstance(second, Alu) and second.op in get_args(Fold) else None
                if isinstance(first, Alu) and isinstance(second, Alu) and first.op == second.op:
                    lines[at] = replace(second, of=(first.of[0], *second.of[1:]))
                    break
            return replace(body, instructions=tuple(lines))

        return each_leaf(
            made,
            lambda leaf: replace(leaf, bodies=tuple(map(merged, leaf.bodies))) if isinstance(leaf, Kernel) else leaf,
        )


class LastItemForgotten(_Engine):
    """The last item of a schedule is never launched: a range that should have included its end."""

    breaks = "order.C2"

    def spoil(self, made: Schedule) -> Schedule:
        """Leave out all that writes where a result is at the end."""
        wanted = {place.buffer for place in made.places}
        return each_leaf(
            made, lambda leaf: None if any(a.write and a.buffer in wanted for a in leaf.accesses) else leaf
        )


class StaleResult(_Engine):
    """A result is read from the storage of another result of the same size."""

    breaks = "law.C1"

    def spoil(self, made: Schedule) -> Schedule:
        """Turn the places of the results of each device round."""
        found = {buffer.id: buffer for buffer in made.buffers}
        places = list(made.places)
        for at, place in enumerate(places):
            for other in range(at):
                mine, theirs = found[place.buffer], found[places[other].buffer]
                if (mine.device, mine.size, mine.dtype) == (
                    theirs.device,
                    theirs.size,
                    theirs.dtype,
                ) and mine != theirs:
                    places[at], places[other] = (
                        replace(place, buffer=places[other].buffer, map=places[other].map),
                        replace(places[other], buffer=place.buffer, map=place.map),
                    )
                    return replace(made, places=tuple(places))
        return made
