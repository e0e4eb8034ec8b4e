"""The clauses about what the steps of a typed program come to when a compiler lowers them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import Final

import msgspec

from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups
from conformance.cases.types.lowered import GLOBAL, Lowered
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.judging.clause import SILENT
from conformance.judging.typed import TypedClause
from conformance.judging.typed_comparisons import accepted
from conformance.reference.transforms.meaning import TypedMeaning

Has = Callable[[Lowered], bool]
Fact = Callable[[Lowered], object]


def _pairs_up(meaning: TypedMeaning, seen: Observation) -> list[tuple[Lowered, Lowered]] | str:
    """Return what was expected and what was shown side by side, or why they do not match."""
    program, found = meaning.case.program, list(seen.lowered)
    matched = []
    for step, several in groupby(meaning.lowered, itemgetter(0)):
        wanted = [each for _, each in several]
        if step.op == "axis_index":  # the terms of one index are added, in any order
            wanted = sorted(_terms(wanted, found[: len(wanted)]), key=_index)
            found[: len(wanted)] = sorted(found[: len(wanted)], key=_index)
        for each in wanted:
            if _optional(program, step, each) and not (found and _same_call(found[0], each)):
                continue
            if not found or found[0].op != each.op:
                return f"a lowered {each.op} is expected; there is {found[0].op if found else 'nothing more'}"
            matched.append((_mapped(program, each), _mapped(program, found.pop(0))))
    return f"nothing more is expected; there is {found[0].op}" if found else matched


def _mapped(program: TypedProgram, made: Lowered) -> Lowered:
    """Return an operation as if nothing was mapped over an axis of one rank, which makes no difference."""
    several = {axis.name for axis in program.mesh if axis.size > 1}
    return msgspec.structs.replace(made, manual=tuple(name for name in made.manual if name in several))


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


def _clause(id: str, text: str, source: str, has: Has, fact: Fact) -> TypedClause:
    """Return the clause about a fact of operations that ``has`` is true of."""

    def when(meaning: TypedMeaning) -> bool:
        return _shown(meaning) and any(has(made) for _, made in meaning.lowered)

    def check(meaning: TypedMeaning, seen: Observation) -> str | None:
        found = _pairs_up(meaning, seen)
        if isinstance(found, str):
            return SILENT  # that they are others is another clause
        mine = [(want, got) for want, got in found if has(want)]
        for want, got in mine:
            if fact(want) != fact(got):
                return f"a lowered {want.op} has {fact(got)}; expected {fact(want)}"
        return None if mine else SILENT  # what may come to nothing did

    return TypedClause(id, "must", text, source, when, check, suite="lowering")


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
        "Each collective over axes is lowered to one of its operation, in program order: a shuffle to a permute, "
        "an axis_index as in `lowering.C6`. Casts, dones, local operations and collectives over no axis come to "
        "none; an all_to_all of one member and a start without done to one or none.",
        "jax.all_to_all: lowering; jax.axis_index: lowering",
        _shown,
        _in_order,
        suite="lowering",
        general=True,
    ),
    _clause(
        "lowering.C17",
        "A lowered all_gather or reduce_scatter names its axis, and an all_to_all its `split_axis`, its "
        "`concat_axis` and the number of members of a group. If these axes differ in an untiled all_to_all, the "
        "greater one is given plus 1, for the axis that is inserted.",
        "jax.all_gather: _all_gather_lowering; jax.psum_scatter: _reduce_scatter_lowering; jax.all_to_all: lowering",
        _is("all_gather", "reduce_scatter", "all_to_all"),
        lambda made: made.dimensions,
    ),
    _clause(
        "lowering.C18",
        "A lowered collective whose groups or pairs name a rank other than 0 has a channel, by which the devices "
        "of one program meet.",
        "jax.psum: lowering; jax.all_gather: lowering; jax.psum_scatter: lowering",
        lambda made: made.op != "axis_index" and _meets(made),
        lambda made: made.channel,
    ),
    _clause(
        "lowering.C19",
        "A lowered axis_index takes for the id of a device the number of its partition (`partition_id`), not of "
        "its replica.",
        "jax.axis_index: _build_axis_index_lowering_hlo",
        _is("axis_index"),
        lambda made: made.id,
    ),
    _clause(
        "lowering.C20",
        "A lowered collective that names a rank other than 0 stands in a region mapped over all axes of several ranks "
        "that its program is mapped over; an axis_index term, where its axis and later ones have several ranks, in one "
        "mapped over every mesh axis of several.",
        "jax.axis_index: _axis_index_lowering",
        _meets,
        lambda made: made.manual,
    ),
    _clause(
        "lowering.C21",
        "A started collective that steps wait for is lowered with one done for each of these steps.",
        "jax.start: async_done",
        lambda made: made.started and made.dones > 0,
        lambda made: made.dones,
    ),
    _clause(
        "lowering.C2",
        "The replica groups of a lowered all_reduce are the sets of ranks whose blocks its step reduces together, "
        "each listed once. The groups, and the ranks in each, are in any order.",
        "jax.psum: lowering",
        _is("all_reduce"),
        _unordered,
    ),
    _clause(
        "lowering.C3",
        "A lowered collective whose groups differ in size has replica groups that are as long as the largest of "
        "them; -1 fills the ends of the shorter ones.",
        "jax.psum: lowering",
        _uneven,
        _fills,
    ),
    _clause(
        "lowering.C4",
        "The replica groups of a lowered all_gather, all_to_all or reduce_scatter name ranks in member order, "
        "which without listed groups is row-major order of the axes as the step names them. The groups are in any "
        "order.",
        "jax.all_gather: lowering; jax.psum_scatter: lowering; jax.all_to_all: lowering",
        _is("all_gather", "all_to_all", "reduce_scatter"),
        _ordered,
    ),
    _clause(
        "lowering.C5",
        "A permute, shuffle, send or recv is lowered to pairs of a source and a target rank, in any order: one in "
        "each group for each pair of positions of the step. Without groups, the ranks that differ only along the "
        "axes of the step are one group.",
        "jax.ppermute: lowering; jax.psend: lowering; jax.precv: lowering",
        _is("permute", "recv", "send"),
        _ordered,
    ),
    _clause(
        "lowering.C6",
        "An axis_index is lowered to a sum of a term `((id//p)%n)*q` for each axis named: id is the device's, n "
        "the axis's size, p the product of sizes of mesh axes after it, q of axes named after it. A term with n = "
        "1 can be missing.",
        "jax.axis_index: lowering",
        _is("axis_index"),
        lambda made: made.index,
    ),
    _clause(
        "lowering.C7",
        "The region of a lowered all_reduce or reduce_scatter has the reduction of its step, and that of a mean "
        "has a sum.",
        "jax.psum: lowering",
        _is("all_reduce", "reduce_scatter"),
        lambda made: made.reducer,
    ),
    _clause(
        "lowering.C8",
        "A lowered all_reduce, reduce_scatter or all_gather over mesh axes has the attribute "
        "`use_global_device_ids`: its replica groups number the devices of the whole mesh.",
        "jax.psum: lowering",
        lambda made: made.op in GLOBAL,
        lambda made: made.global_ids,
    ),
    _clause(
        "lowering.C9",
        "A collective that its step starts is lowered into the region of a start, and one that its step does not "
        "start is in no such region.",
        "jax.start: _start_lowering",
        lambda made: made.op != "axis_index",
        lambda made: made.started,
    ),
    _clause(
        "lowering.C10",
        "Each replica group of a lowered broadcast names the root first, and then the other members in any order. "
        "The groups are in any order.",
        "jax.pbroadcast: lowering",
        _is("broadcast"),
        lambda made: sorted((group[:1], sorted(group[1:])) for group in made.groups),
    ),
    _clause(
        "lowering.C11",
        "The replica groups of a lowered ragged_all_to_all name ranks in member order. The groups are in any order.",
        "jax.ragged_all_to_all: lowering",
        _is("ragged_all_to_all"),
        _ordered,
    ),
)
"""The clauses of the suite ``lowering``. That groups have equal sizes on a TPU alone is left out."""
