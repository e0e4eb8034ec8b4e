"""Programs compiled in wrong ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.cases.types.lowered import GLOBAL, Lowered
from conformance.cases.types.typed_program import TypedProgram
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.types.compiled import compiled

Change = Callable[[Lowered], Lowered]


def _whole(name: str, text: str, change: Callable[[list[Lowered]], list[Lowered]]) -> TypedMutant:
    def wrong(program: TypedProgram) -> list[Lowered]:
        return change(compiled(program))

    return TypedMutant(name, text, {"conformance.backends.reference.compiled": wrong})


def _each(name: str, text: str, change: Change, *ops: str) -> TypedMutant:
    """Return the mutant that changes every compiled collective of ``ops``, all where none is named."""
    return _whole(name, text, lambda found: [change(made) if not ops or made.op in ops else made for made in found])


def _turned(made: Lowered) -> Lowered:
    return replace(made, groups=tuple(group[::-1] for group in made.groups))


MUTANTS: Final = (
    _whole("ReducedTwice", "The first collective is made twice.", lambda found: [*found[:1], *found]),
    _each("ScatteredAsExchange", "", lambda made: replace(made, op="all_to_all", reducer=""), "reduce_scatter"),
    _each("CompiledTurned", "Groups name ranks from the last to the first.", _turned, "all_gather", "all_to_all"),
    _each("CompiledPairsTurned", "A permute names targets first.", _turned, "permute"),
    _each(
        "JoinedGroups",
        "All groups of a reduction are one.",
        lambda made: replace(made, groups=(tuple(rank for group in made.groups for rank in group),)),
        "all_reduce",
    ),
    _each("CompiledSums", "Every region sums.", lambda made: replace(made, reducer="sum"), "all_reduce"),
    _each("CompiledOwnIds", "Ids count within a replica.", lambda made: replace(made, global_ids=False), *GLOBAL),
    _each("NeverDone", "Nobody waits for what is started.", lambda made: replace(made, dones=0)),
    _each("DoneTwice", "What is started has two dones.", lambda made: replace(made, dones=2 * made.dones)),
    _each("DoneUnstarted", "Everything has a done.", lambda made: replace(made, dones=1)),
    _whole("NothingMoves", "No collective is left.", lambda found: []),
    _whole("LastLeftOut", "The last collective counts for nothing.", lambda found: found[:-1]),
    _each("FirstGroupAlone", "The groups but the first are lost.", lambda made: replace(made, groups=made.groups[:1])),
)
