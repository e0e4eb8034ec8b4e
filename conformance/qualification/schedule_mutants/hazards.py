"""Edges that are missing, and items that are out of place."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.backends.opencl.dry_run import dry_run
from conformance.backends.opencl.export.schedule import exported
from conformance.backends.opencl.schedule.legal_orders import reordered
from conformance.backends.opencl.settings import Settings
from conformance.cases.case import Case
from conformance.cases.graph.buffer import Device
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Copy, Kernel, Schedule, Wait
from conformance.qualification.schedule_changes import each_leaf, flat, with_edges
from conformance.qualification.schedule_mutants.engine import Engine as _Engine
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts, Touch


class OnlyReadsAfterWrites(_Engine):
    """Edges are built from what an item reads, so a second assign passes the reader of the first. tinygrad#16823."""

    breaks = "assign.C4"
    corpus = ("tinygrad#16823",)

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges of writes after reads."""
        return with_edges(made, lambda _f, _a, _b, other, own: other.write or not own.write)


class NoEdgeFromAnotherDevice(_Engine):
    """What another device reads leaves no edge, so a shard is assigned to while it is gathered. tinygrad#16831."""

    breaks = "assign.C4"
    corpus = ("tinygrad#16831",)

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges of writes after reads between devices."""
        return with_edges(made, lambda f, a, b, other, _: other.write or f.device(f.leaves[a]) == f.device(f.leaves[b]))


class NoEdgeOnceAssigned(_Engine):
    """Of a buffer that was written before, only the write is followed, and no reader of it. tinygrad#14754."""

    breaks = "assign.C4"
    corpus = ("tinygrad#14754 (#13600)",)

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges of writes after reads of what an earlier item wrote."""
        written = {(t.root, n) for n, own in enumerate(Facts(made).touches) for t in own if t.write}
        return with_edges(
            made,
            lambda _f, a, _b, other, own: other.write or all(root != own.root or n >= a for root, n in written),
        )


class NoEdgeOfAnotherIndex(_Engine):
    """After the first round of fusion only edges between equal accesses are kept. pytorch#162316."""

    breaks = "assign.C4"
    corpus = ("pytorch#162316 (#159855, #162410)",)

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges of writes after reads of other bytes than those written."""
        return with_edges(
            made,
            lambda _f, _a, _b, other, own: (
                other.write or (other.ranges.shape == own.ranges.shape and bool((other.ranges == own.ranges).all()))
            ),
        )


class StagesWithoutABarrier(_Engine):
    """The kernel that folds does not wait for the copies that bring what it folds."""

    breaks = "assign.C3"

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges of reads after writes."""
        return with_edges(made, lambda _f, _a, _b, other, own: own.write or not other.write)


class WritesInAnyOrder(_Engine):
    """Two writes to one buffer are ordered only by what they read."""

    breaks = "assign.C5"

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges of writes after writes."""
        return with_edges(made, lambda _f, _a, _b, other, own: not (own.write and other.write))


class MutationBeforeItsReaders(_Engine):
    """An assign is emitted where it is met, before the lazy readers of the old value are. pytorch#107614."""

    breaks = "assign.C6"
    corpus = ("pytorch#107614",)

    def spoil(self, made: Schedule) -> Schedule:
        """Move the first assign over a labelled reader of the same bytes to before it."""
        return _swapped(made, write_first=True)


class ReadBeforeTheMutation(_Engine):
    """A reader is fused into the loop before the one that mutates what it reads. pytorch#109172."""

    breaks = "assign.C7"
    corpus = ("pytorch#109172 (#108963)",)

    def spoil(self, made: Schedule) -> Schedule:
        """Move the first labelled reader of what an assign wrote to before it."""
        return _swapped(made, write_first=False)


class PieceOverWhatIsBeingSent(_Engine):
    """A rank of a reduce_scatter writes its piece where it still sends from to the first rank. jax#40830."""

    breaks = "assign.C4"
    corpus = ("jax#40830",)
    algorithm = "direct"

    def spoil(self, made: Schedule) -> Schedule:
        """Drop the edges by which others write after the first participant of a reduce_scatter has read."""

        def kept(facts: Facts, first: int, second: int, other: Touch, own: Touch) -> bool:
            leaf, whole = facts.owned[first]
            if whole is None or whole.op != "reduce_scatter" or other.write:
                return True
            reader, writer = facts.device(leaf), facts.device(facts.leaves[second])
            return not own.write or reader != whole.participants[0] or writer == reader

        return with_edges(made, kept)


def _swapped(made: Schedule, *, write_first: bool) -> Schedule:
    """Return the schedule in which the first pair of a labelled reader and an assign to the same bytes is turned."""
    facts, leaves = Facts(made), [replace(leaf, after=None) for leaf in flat(made)]
    for first, second, other, own in facts.conflicts:
        assign, reader = (own, other) if write_first else (other, own)
        labelled = leaves[first if write_first else second].provenance
        bare = not any(name.startswith(("assign", "into", "opened")) for name in labelled)
        named = (assign.access.node or "").startswith(("assign", "into"))
        if assign.write and not reader.write and named and labelled and bare and overlap(assign.ranges, reader.ranges):
            leaves.insert(first, leaves.pop(second))
            return replace(made, items=tuple(leaves))
    return made


class MergedItemNeedsItself(_Engine):
    """What is merged into one bucket still depends on its parts, which are the bucket now. pytorch#175812."""

    breaks = "form.C6"
    corpus = ("pytorch#175812b",)

    def spoil(self, made: Schedule) -> Schedule:
        """Let the last item come after itself."""
        last = flat(made)[-1].id if made.items else ""
        return each_leaf(made, lambda leaf: replace(leaf, after=(last,)) if leaf.id == last else leaf)


class RanksTakeTurnsTheirOwnWay(_Engine):
    """A pass reorders item by item, minding every edge and no collective: ranks enter a group's in different orders."""

    breaks = "waits.C7"
    algorithm = "one_shot"

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Enqueue the items in another order that keeps every edge, those of one collective not in a row."""
        if isinstance(asked, Graph):
            return super().schedule(asked, planned=planned)
        self._check(asked.program)
        made, lowered = dry_run(asked, Settings(force=self.algorithm, reuse=planned), self.alignment)
        return self.spoil(
            exported(reordered(made, {}, seed=1), lowered, asked.program.world, Device(alignment=self.alignment))
        )

    def spoil(self, made: Schedule) -> Schedule:
        """Return what was made in that order."""
        return made


class ForgetsTheWait(_Engine):
    """A copy is only started, and whoever reads its target goes on at once."""

    breaks = "waits.C3"

    def spoil(self, made: Schedule) -> Schedule:
        """Start the first copy, and wait for it at the end."""
        leaves = flat(made)
        copies = [leaf.id for leaf in leaves if isinstance(leaf, Copy | Kernel)][:1]
        items = [replace(leaf, after=None, handle="h" if leaf.id in copies else None) for leaf in leaves]
        return replace(made, items=(*items, Wait(id="end", handle="h"))) if copies else made
