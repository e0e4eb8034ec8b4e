"""The clauses about the collectives of a compiled program, and the programs that they are asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

from conformance.cases.observation import Observation
from conformance.cases.types.lowered import Lowered
from conformance.judging.clause import SILENT
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import accepted
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.types.compiled import compiled, crosses, cut_off
from conformance.specs.types.starts import ONCE

Fact = Callable[[Lowered], Hashable]
Check = Callable[[TypedMeaning, Observation], str | None]
_RULES: Final = "jax.psum: lowering; jax.all_gather: lowering; jax.ppermute: lowering"


def _asked(meaning: TypedMeaning) -> bool:
    return meaning.case.compiled and meaning.refused is None


def _none_more(fact: Fact, within: Fact | None = None) -> Check:
    """Demand that no collective is more often in the compiled program than in what it may have, as ``fact`` sees it.

    Those of which there are too many as ``within`` sees them are another clause. Where there is none, nothing belongs
    to any.
    """

    def check(meaning: TypedMeaning, seen: Observation) -> str | None:
        if seen.raised:
            return accepted(meaning, seen)
        may = compiled(meaning.case.program)
        many = Counter(map(within, seen.lowered)) - Counter(map(within, may)) if within else ()
        there = Counter(map(fact, may))
        asked = [made for made in seen.lowered if within is None or within(made) not in many]
        for each, count in Counter(map(fact, asked)).items():
            if count > there[each]:
                return f"{each} is compiled {count} times; expected at most {there[each]}"
        return None if seen.lowered or within is None else SILENT

    return check


def _kind(made: Lowered) -> Hashable:
    return made.op


def _met(made: Lowered) -> Hashable:
    """Return the ranks that meet: sets for a reduction, the source and a set for a broadcast, else in their order."""
    groups = [tuple(rank for rank in group if rank >= 0) for group in made.groups]
    if made.op == "all_reduce":
        return made.op, tuple(sorted(tuple(sorted(group)) for group in groups))
    if made.op == "broadcast":
        return made.op, tuple(sorted((*group[:1], *sorted(group[1:])) for group in groups))
    return made.op, tuple(sorted(groups))


def _region(made: Lowered) -> Hashable:
    return made.op, made.reducer or "no region", "ids of all" if made.global_ids else "own ids"


def _region_of_groups(made: Lowered) -> Hashable:
    return _met(made), _region(made)


_APART: Final = _none_more(_region, _kind), _none_more(_region_of_groups, _met)


def _regions(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Demand the regions of each operation, and of its groups where none of these is too many."""
    return _APART[0](meaning, seen) or _APART[1](meaning, seen)


def _unpaired(_: TypedMeaning, seen: Observation) -> str | None:
    """Find a start without its one done, or a done of what is not started; say nothing where nothing is compiled."""
    for each in seen.lowered:
        if each.dones != int(each.started):
            return f"a compiled {each.op} that is {'' if each.started else 'not '}started has {each.dones} dones"
    return None if seen.lowered else SILENT


def _cut_off(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Find a rank that no collective brings what its results depend on; say nothing where no rank needs any."""
    if seen.raised:
        return SILENT  # that it was refused is another clause
    found = cut_off(meaning.case.program, seen.lowered)
    if found is None:
        return None if crosses(meaning.case.program) else SILENT
    holders, rank = found
    return f"a result on rank {rank} depends on the block of {sorted(holders)}, of which nothing comes there"


def _clause(id: str, text: str, source: str, check: Check) -> TypedClause:
    return TypedClause(id, "should", text, source, _asked, check, suite="lowering", diverges=(ONCE,))


COMPILED: Final = (
    _clause(
        "lowering.C12",
        "A compiled program has, in any order, at most as many collectives of each operation as its steps are "
        "lowered to, and one more all_reduce for each unreduced result, which shows its sum. Fewer are right: what no "
        "result needs is left out, or equal ones are one.",
        _RULES,
        _none_more(_kind),
    ),
    _clause(
        "lowering.C13",
        "To each collective of a compiled program belongs a separate lowered one, or an unreduced result's sum, of "
        "its operation and groups (ranks in order, except in an all_reduce and after a broadcast's root; a filling -1 "
        "is none), unless the operation comes more often than `lowering.C12` admits.",
        _RULES,
        _none_more(_met, _kind),
    ),
    _clause(
        "lowering.C14",
        "To each all_reduce, reduce_scatter and all_gather of a compiled program belongs a separate lowered one of "
        "its operation, and of its groups if one has them, or an unreduced result's sum, with the same reduction and "
        "the same `use_global_device_ids`, unless the operation comes more often than `lowering.C12` admits.",
        "jax.psum: lowering",
        _regions,
    ),
    TypedClause(
        "lowering.C15",
        "must",
        "Every collective that a compiled program starts has exactly one done in it, however many steps wait for "
        "it, and one that the compiled program does not start has none.",
        "xla.async",
        _asked,
        _unpaired,
        suite="lowering",
    ),
    TypedClause(
        "lowering.C16",
        "must",
        "Where a result that is made of no ragged_all_to_all changes on one rank with an input block that only other "
        "ranks hold, the collectives of the compiled program, each done once, lead from a rank that holds the block to "
        "that rank, at once or by way of others.",
        "ours: what a result depends on has come to its rank",
        _asked,
        _cut_off,
        suite="lowering",
    ),
)
"""The clauses about what is compiled. A compiler may turn collectives into others, and is not wrong then: *should*. But
what a result depends on comes to its rank in any case."""
