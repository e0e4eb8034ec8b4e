"""The clauses about the collectives of a compiled program, and the programs that they are asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.types.lowered import Lowered
from conformance.cases.types.typed_case import TypedCase
from conformance.judging.clause import Requirement
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import accepted
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.types.compiled import compiled, cut_off
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import seldom
from conformance.specs.types.data import combined_case, lowered_cases
from conformance.specs.types.starts import ONCE

Fact = Callable[[Lowered], Hashable]
_RULES: Final = "jax.psum: lowering; jax.all_gather: lowering; jax.ppermute: lowering"


@choices.composite
def compiled_cases(draw: Draw) -> TypedCase:
    """Draw a well-typed program to be compiled, as one to be lowered is drawn.

    At some numbers of draws it is two calls that a compiler may take for one.
    """
    turn = seldom(draw)
    drawn = draw(lowered_cases()) if turn is None or turn % 2 else combined_case(draw, turn // 2)
    return replace(drawn, lowered=False, compiled=True)


def _asked(meaning: TypedMeaning) -> bool:
    return meaning.case.compiled and meaning.refused is None


def _none_more(fact: Fact) -> Callable[[TypedMeaning, Observation], str | None]:
    """Demand that no collective is more often in the compiled program than in what it may have, as ``fact`` sees it.

    Those of a kind of which there are too many are another clause.
    """

    def check(meaning: TypedMeaning, seen: Observation) -> str | None:
        if seen.raised:
            return accepted(meaning, seen)
        may = compiled(meaning.case.program)
        many = Counter(made.op for made in seen.lowered) - Counter(made.op for made in may)
        there = Counter(map(fact, may))
        for each, count in Counter(fact(made) for made in seen.lowered if fact is _kind or made.op not in many).items():
            if count > there[each]:
                return f"{each} is compiled {count} times; expected at most {there[each]}"
        return None

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


def _unpaired(_: TypedMeaning, seen: Observation) -> str | None:
    """Find a start without its one done, or a done of what is not started."""
    for each in seen.lowered:
        if each.dones != int(each.started):
            return f"a compiled {each.op} that is {'' if each.started else 'not '}started has {each.dones} dones"
    return None


def _cut_off(meaning: TypedMeaning, seen: Observation) -> str | None:
    """Find a rank that no collective brings what its results depend on."""
    if seen.raised:
        return None  # that it was refused is another clause
    found = cut_off(meaning.case.program, seen.lowered)
    if found is None:
        return None
    holders, rank = found
    return f"a result on rank {rank} depends on the block of {sorted(holders)}, of which nothing comes there"


def _own_tables(meaning: TypedMeaning) -> bool:
    """Return whether each rank has its own data alone: a ragged exchange may be compiled with any table of offsets."""
    return _asked(meaning) and all(step.op != "ragged_all_to_all" for step in meaning.case.program.steps)


def _clause(number: int, requirement: Requirement, text: str, source: str, fact: Fact) -> TypedClause:
    id = f"lowering.C{number}"
    return TypedClause(id, requirement, text, source, _asked, _none_more(fact), suite="lowering", diverges=(ONCE,))


COMPILED: Final = (
    _clause(
        12,
        "should",
        "A compiled program has only collectives of operations that its steps are lowered to, in any order, and no "
        "more of each than its steps have. What no result needs can be missing, equal ones can be one, and a sum can "
        "be added for each unreduced result.",
        _RULES,
        _kind,
    ),
    _clause(
        13,
        "should",
        "Each collective of a compiled program matches another one that its steps are lowered to, or a sum that shows "
        "an unreduced result: the same ranks meet, in the same order except in reductions and after the root of a "
        "broadcast. A -1 that fills a group counts for nothing.",
        _RULES,
        _met,
    ),
    _clause(
        14,
        "should",
        "Each all_reduce, reduce_scatter and all_gather of a compiled program matches another one of its operation "
        "that its steps are lowered to, or that shows an unreduced result: both have the same reduction in their "
        "regions and the same `use_global_device_ids`.",
        "jax.psum: lowering",
        lambda made: (made.op, made.reducer or "no region", "ids of all" if made.global_ids else "own ids"),
    ),
    TypedClause(
        "lowering.C15",
        "must",
        "What a compiled program starts has exactly one done there, whatever the steps wait for, and what it does not "
        "start has none.",
        "xla.async",
        _asked,
        _unpaired,
        suite="lowering",
    ),
    TypedClause(
        "lowering.C16",
        "must",
        "Where, without a ragged_all_to_all, a result on a rank changes with a block of an input that other ranks "
        "hold, the collectives of the compiled program lead to that rank from one that holds the block, at once or by "
        "way of others.",
        "ours: what a result depends on has come to its rank",
        _own_tables,
        _cut_off,
        suite="lowering",
    ),
)
"""The clauses about what is compiled. A compiler may turn collectives into others, and is not wrong then: *should*. But
what a result depends on comes to its rank in any case."""
