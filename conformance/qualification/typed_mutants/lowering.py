"""Programs lowered in wrong ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.cases.program.program import Groups
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_program import TypedProgram
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.types.lowering import lowered

Change = Callable[[Lowered], Lowered]
MOVES: Final = ("all_gather", "all_to_all", "reduce_scatter")


def _each(name: str, text: str, change: Change, *ops: str) -> TypedMutant:
    """Return the mutant that changes every lowered operation of ``ops``, all where none is named."""

    def wrong(program: TypedProgram) -> list[Lowered]:
        return [change(made) if not ops or made.op in ops else made for made in lowered(program)]

    return TypedMutant(name, text, {"conformance.backends.reference.lowered": wrong})


def _groups(change: Callable[[Groups], Groups]) -> Change:
    return lambda made: replace(made, groups=change(made.groups))


def _index(divide: int, remainder: int, times: int = 0) -> Change:
    def change(made: Lowered) -> Lowered:
        old = made.index or (1, 1, 1)
        return replace(made, index=(divide or old[0], remainder or old[1], times or old[2]))

    return change


def _casts_too(program: TypedProgram) -> list[Lowered]:
    extra = [Lowered(op="all_reduce", groups=((0,),), reducer="sum") for step in program.steps if step.op == "cast"]
    return [*lowered(program), *extra]


def _whole_mesh(program: TypedProgram) -> list[Lowered]:
    ranks = (tuple(range(program.world)),)
    return [replace(each, groups=ranks) if each.op == "all_reduce" else each for each in lowered(program)]


MUTANTS: Final = (
    _each(
        "PairsTurned",
        "A permute names targets first.",
        _groups(lambda groups: tuple((b, a) for a, b in groups)),
        "permute",
    ),
    _each("OnlyFirstLine", "A permute has the pairs of few ranks.", _groups(lambda groups: groups[:1]), "permute"),
    _each(
        "GroupsSorted",
        "Groups name ranks in order.",
        _groups(lambda groups: tuple(tuple(sorted(group)) for group in groups)),
        *MOVES,
    ),
    _each("GroupsTurned", "", _groups(lambda groups: tuple(group[::-1] for group in groups)), *MOVES),
    _each(
        "FilledWithZero",
        "Short groups are filled up with 0.",
        _groups(lambda groups: tuple(tuple(max(rank, 0) for rank in group) for group in groups)),
        "all_reduce",
    ),
    _each(
        "SourceLast",
        "The source of a broadcast is the last one.",
        _groups(lambda groups: tuple((*group[1:], group[0]) for group in groups)),
        "broadcast",
    ),
    _each("RaggedTurned", "", _groups(lambda groups: tuple(g[::-1] for g in groups)), "ragged_all_to_all"),
    _each("AlwaysSums", "Every region sums.", lambda made: replace(made, reducer="sum"), "all_reduce"),
    _each("LocalIds", "Ids count within a replica.", lambda made: replace(made, global_ids=False)),
    _each("NeverStarted", "A start is lowered as what it starts.", lambda made: replace(made, started=False)),
    _each("IndexUndivided", "An index is not divided.", _index(1, 0), "axis_index"),
    _each("IndexUnscaled", "The terms of an index are not multiplied.", _index(0, 0, 1), "axis_index"),
    _each("IndexOfTheMesh", "An index takes no remainder.", _index(0, 1 << 20), "axis_index"),
    _each(
        "DimensionsTurned",
        "The axis that is split and the axis of joining are exchanged, and others are the next.",
        lambda made: replace(
            made, dimensions=(*made.dimensions[:2][::-1], *(each + 1 for each in made.dimensions[2:]))
        ),
        "all_to_all",
    ),
    _each("FirstDimension", "Every axis is 0.", lambda made: replace(made, dimensions=(0,)), "all_gather"),
    _each("NoChannel", "A collective has no channel.", lambda made: replace(made, channel=False)),
    _each("OfReplicas", "An index counts replicas.", lambda made: replace(made, id="replica"), "axis_index"),
    _each("IndexInside", "An index stands where others do.", lambda made: replace(made, manual=()), "axis_index"),
    _each("LoweredDoneTwice", "What is started has two dones.", lambda made: replace(made, dones=made.dones * 2)),
    TypedMutant("CastsMove", "A cast is a sum.", {"conformance.backends.reference.lowered": _casts_too}),
    TypedMutant("WholeMesh", "A reduction is over all ranks.", {"conformance.backends.reference.lowered": _whole_mesh}),
)
