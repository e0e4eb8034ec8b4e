"""The clauses about what the steps of a typed program come to when a compiler lowers them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import Final

from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups
from conformance.cases.types.lowered import GLOBAL, Lowered
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import accepted
from conformance.reference.transforms.meaning import TypedMeaning
from conformance.reference.types.lowering import by_step, lowered

Has = Callable[[Lowered], bool]
Fact = Callable[[Lowered], object]


def _pairs_up(meaning: TypedMeaning, seen: Observation) -> list[tuple[Lowered, Lowered]] | str:
    """Return what was expected and what was shown side by side, or why they do not match."""
    program, found = meaning.case.program, list(seen.lowered)
    matched = []
    for step, several in groupby(by_step(program), itemgetter(0)):
        wanted = [each for _, each in several]
        if step.op == "axis_index":  # the terms of one index are added, in any order
            wanted = sorted(_terms(wanted, found[: len(wanted)]), key=_index)
            found[: len(wanted)] = sorted(found[: len(wanted)], key=_index)
        for each in wanted:
            if _optional(program, step, each) and not (found and _same_call(found[0], each)):
                continue
            if not found or found[0].op != each.op:
                return f"a lowered {each.op} is expected; there is {found[0].op if found else 'nothing more'}"
            matched.append((each, found.pop(0)))
    return f"nothing more is expected; there is {found[0].op}" if found else matched


def _index(made: Lowered) -> tuple[int, ...]:
    return made.index or ()


def _terms(wanted: list[Lowered], found: list[Lowered]) -> list[Lowered]:
    """Return the terms of an index without those that are left out, as may be that of an axis of one rank: it is 0."""
    there = {made.index for made in found}
    return [term for term in wanted if _index(term)[1] > 1 or term.index in there]


def _optional(program: TypedProgram, step: TypedStep, made: Lowered) -> bool:
    """Return whether a step may come to nothing: an all_to_all over groups of one rank, and a start without a done."""
    if step.start:
        return all(other.op != "done" or step.output not in other.inputs for other in program.steps)
    return step.op == "all_to_all" and all(len(group) == 1 for group in made.groups)


def _same_call(one: Lowered, other: Lowered) -> bool:
    return (one.op, one.started, sorted(one.groups)) == (other.op, other.started, sorted(other.groups))


def _in_order(meaning: TypedMeaning, seen: Observation) -> str | None:
    if seen.raised:
        return accepted(meaning, seen)
    found = _pairs_up(meaning, seen)
    return found if isinstance(found, str) else None


def _clause(number: int, text: str, source: str, has: Has, fact: Fact) -> TypedClause:
    """Return the clause about a fact of operations that ``has`` is true of."""

    def when(meaning: TypedMeaning) -> bool:
        return _shown(meaning) and any(map(has, lowered(meaning.case.program)))

    def check(meaning: TypedMeaning, seen: Observation) -> str | None:
        found = _pairs_up(meaning, seen)
        if isinstance(found, str):
            return None  # that they are others is another clause
        for want, got in found:
            if has(want) and fact(want) != fact(got):
                return f"a lowered {want.op} has {fact(got)}; expected {fact(want)}"
        return None

    return TypedClause(f"lowering.C{number}", "must", text, source, when, check, suite="lowering")


def _shown(meaning: TypedMeaning) -> bool:
    return meaning.case.lowered and meaning.refused is None


def _unordered(made: Lowered) -> object:
    """Return the members of all groups: their order is free, and each stands as often as it is listed."""
    return sorted(tuple(sorted(group)) for group in made.groups)


def _fills(made: Lowered) -> object:
    """Return the length of the rows of groups, and where in each of them nothing stands."""
    return sorted(tuple(rank < 0 for rank in group) for group in made.groups)


def _ordered(made: Lowered) -> Groups:
    return tuple(sorted(made.groups))


def _is(*ops: str) -> Has:
    return lambda made: made.op in ops


def _meets(made: Lowered) -> bool:
    """Return whether there is more than one rank, as far as an operation shows it: else nothing is mapped."""
    behind, size, _ = made.index or (1, 1, 1)
    return behind * size > 1 or any(rank > 0 for group in made.groups for rank in group)


def _uneven(made: Lowered) -> bool:
    return any(rank < 0 for group in made.groups for rank in group)


LOWERING: Final = (
    TypedClause(
        "lowering.C1",
        "must",
        "Each collective over axes is lowered to one of its operation, in program order: a shuffle to a permute, an "
        "axis_index as in `lowering.C6`. Casts, dones, local operations and collectives over no axis come to none; an "
        "all_to_all among one rank and a start without done to one or none.",
        "jax.all_to_all: lowering; jax.axis_index: lowering",
        _shown,
        _in_order,
        suite="lowering",
        general=True,
    ),
    _clause(
        17,
        "A lowered all_gather or reduce_scatter names its axis, an all_to_all the axis that it splits, the one along "
        "which it joins, and the number of members. Where these two differ and it is untiled, the greater is one "
        "more, for the axis that is inserted.",
        "jax.all_gather: _all_gather_lowering; jax.psum_scatter: _reduce_scatter_lowering; jax.all_to_all: lowering",
        _is("all_gather", "reduce_scatter", "all_to_all"),
        lambda made: made.dimensions,
    ),
    _clause(
        18,
        "A lowered collective that names any rank beside rank 0 has a channel, by which the devices of one program "
        "meet.",
        "jax.psum: lowering; jax.all_gather: lowering; jax.psum_scatter: lowering",
        lambda made: made.op != "axis_index" and _meets(made),
        lambda made: made.channel,
    ),
    _clause(
        19,
        "The id of a device in a lowered axis_index is the number of its partition.",
        "jax.axis_index: _build_axis_index_lowering_hlo",
        _is("axis_index"),
        lambda made: made.id,
    ),
    _clause(
        20,
        "A lowered collective that names any rank beside rank 0 stands in a region that is mapped over the mesh axes "
        "of the typed program; an axis_index among several ranks stands in one that is mapped over all axes of the "
        "mesh.",
        "jax.axis_index: _axis_index_lowering",
        _meets,
        lambda made: made.manual,
    ),
    _clause(
        21,
        "A started collective is lowered with one done for each step that waits for it.",
        "jax.start: async_done",
        lambda made: made.started and made.dones > 0,
        lambda made: made.dones,
    ),
    _clause(
        2,
        "The replica groups of a lowered all_reduce are the sets of ranks whose blocks are reduced together, in any "
        "order, each once.",
        "jax.psum: lowering",
        _is("all_reduce"),
        _unordered,
    ),
    _clause(
        3,
        "Where the groups of one step differ in size, each lowered group is as long as the largest of them. The value "
        "-1 fills the end of the shorter ones.",
        "jax.psum: lowering",
        _uneven,
        _fills,
    ),
    _clause(
        4,
        "The replica groups of a lowered all_gather, all_to_all or reduce_scatter name ranks in member order, where "
        "the first axis named is the major one. The groups are in any order.",
        "jax.all_gather: lowering; jax.psum_scatter: lowering; jax.all_to_all: lowering",
        _is("all_gather", "all_to_all", "reduce_scatter"),
        _ordered,
    ),
    _clause(
        5,
        "A permute, shuffle, send or recv is lowered to pairs of ranks, in any order: for each of its pairs of "
        "positions, one pair in each group, which without groups is each set of ranks that differ only along the axes "
        "of the step.",
        "jax.ppermute: lowering; jax.psend: lowering; jax.precv: lowering",
        _is("permute", "recv", "send"),
        _ordered,
    ),
    _clause(
        6,
        "An axis_index is lowered to a sum with a term for each axis: the device's id, floor-divided by the product "
        "of sizes of mesh axes behind it, modulo its size, times the product of sizes of those named after it. An axis "
        "of one rank can lack its term.",
        "jax.axis_index: lowering",
        _is("axis_index"),
        lambda made: made.index,
    ),
    _clause(
        7,
        "The region of a lowered all_reduce or reduce_scatter has the reduction that was asked for; that of a mean is "
        "a sum.",
        "jax.psum: lowering",
        _is("all_reduce", "reduce_scatter"),
        lambda made: made.reducer,
    ),
    _clause(
        8,
        "A lowered all_reduce, reduce_scatter or all_gather over mesh axes has the attribute "
        "`use_global_device_ids`: its replica groups number the devices of the whole mesh.",
        "jax.psum: lowering",
        lambda made: made.op in GLOBAL,
        lambda made: made.global_ids,
    ),
    _clause(
        9,
        "A started collective is lowered into the region of a start, and one that is not started into none.",
        "jax.start: _start_lowering",
        lambda made: made.op != "axis_index",
        lambda made: made.started,
    ),
    _clause(
        10,
        "The replica groups of a lowered broadcast name the root first, and the other members in any order.",
        "jax.pbroadcast: lowering",
        _is("broadcast"),
        lambda made: sorted((group[0], sorted(group[1:])) for group in made.groups),
    ),
    _clause(
        11,
        "A lowered ragged_all_to_all has replica groups in member order. The groups are in any order.",
        "jax.ragged_all_to_all: lowering",
        _is("ragged_all_to_all"),
        _ordered,
    ),
)
"""The clauses of the suite ``lowering``. That groups have equal sizes on a TPU alone is left out."""
