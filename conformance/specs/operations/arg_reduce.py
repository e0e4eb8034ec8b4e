"""arg_reduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array
from conformance.judging.compare import answered, differences
from conformance.judging.numbers.admissible import admissible
from conformance.judging.subject import ElementMasks, Subject
from conformance.reference.operations import OPERATIONS
from conformance.reference.operations.arg_reduce import NOWHERE
from conformance.reference.reductions import fold
from conformance.reference.spmd import run
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import Example, Op, Result, attr, has, rejection, value, variant


def has_ties(subject: Subject) -> bool:
    """Speak about groups in which two members hold the greatest, or the least, of some element."""
    for blocks in subject.case.blocks().values():
        for group in subject.groups:
            members = [blocks[rank] for rank in group]
            extreme = fold(members, str(subject.step.attrs["op"]))
            if (np.sum([member == extreme for member in members], axis=0) > 1).any():
                return True
    return False


_FREE: Final = -1


def nan_among_members(subject: Subject) -> ElementMasks:
    """Settle the elements that are positions of which some member's element is NaN, and what is made of such ones."""
    return {
        name: [None if each is None else each != 0 for each in blocks] for name, blocks in _members(subject).items()
    }


def _members(subject: Subject) -> dict[str, list[Array | None]]:
    """Return, by result and rank, of how many members an element is a position beside a NaN, wherever it was moved to.

    It is 0 for all other elements, and ``_FREE`` for what more was done with than to move such a position.
    """
    case = subject.whole.case
    none, size = (
        run(case, case.blocks(), {**OPERATIONS, "arg_reduce": partial(_marking, how)}) for how in (lambda _: -1, len)
    )
    return {
        name: [_told(*each) for each in zip(none[name], size[name], blocks, strict=True)]
        for name, blocks in subject.expected.items()
    }


def _told(marked: Array | None, counted: Array | None, expected: Array | None) -> Array | None:
    if marked is None or counted is None or expected is None:
        return None
    there = (marked != counted) | (marked != expected)
    return np.where(there, np.where(marked == -1, counted, _FREE), 0)


def _marking(how: Callable[[Sequence[int]], int], blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
    """Return positions, and in the place of one beside a NaN a number that tells of the group."""
    made: list[Array] = OPERATIONS["arg_reduce"](blocks, op=op, groups=groups)
    for group in groups:
        nan = np.any([np.isnan(blocks[rank]) for rank in group], axis=0)
        for rank in group:
            made[rank] = np.where(nan, np.int32(how(group)), made[rank])
    return made


def position_or_nowhere(subject: Subject, seen: Observation) -> str | None:
    """Demand beside a NaN the position of any member or that of none, and of all other elements the right one."""
    problem = admissible(subject, seen)
    if problem is None or answered(subject, seen):
        return problem
    members = _members(subject)
    for one in differences(subject, seen):
        got, count = to_array(one.tensor), members[one.name][one.rank]
        if count is None or (got.dtype, got.shape) != (one.expected.dtype, one.expected.shape):
            return problem
        position = ((got >= 0) & (got < count)) | ((count > 0) & (got == NOWHERE))
        if not ((got == one.expected) | position | (count == _FREE)).all():
            return problem
    return None


OP = Op(
    "arg_reduce",
    summary="For every element, the position of the member that holds the greatest or the least.",
    shares=COLLECTIVE + tuple(clause for clause in REDUCTION if clause.id == "reduction.C16"),
    clauses=(
        value(
            "arg_reduce.C1",
            "An arg_reduce gives an int32 array in the shape of the block; each element is a position in the rank's "
            "own group, or 2**31 - 1 where `arg_reduce.C5` admits it; over no mesh axis see `collective.C30`.",
            "jax.pargmax: _axis_index_of_val",
        ),
        variant(
            "arg_reduce.C2",
            "An arg_reduce by max gives for each element the position of the member whose block has the greatest "
            "there, of several the first (`arg_reduce.C4`); of a NaN see `arg_reduce.C5`; over no mesh axis see "
            "`collective.C30`.",
            "jax.pargmax",
            attr("op", "max"),
        ),
        variant(
            "arg_reduce.C3",
            "An arg_reduce by min gives for each element the position of the member whose block has the least there, "
            "of several the first (`arg_reduce.C4`); of a NaN see `arg_reduce.C5`; over no mesh axis see "
            "`collective.C30`.",
            "jax.pargmin",
            attr("op", "min"),
        ),
        value(
            "arg_reduce.C4",
            "Where several members hold the greatest or the least element, an arg_reduce gives the least of their "
            "positions; zeros of both signs are equal; of a NaN see `arg_reduce.C5`; over no mesh axis see "
            "`collective.C30`.",
            "jax.pargmax: _axis_index_of_val",
            has_ties,
        ),
        replace(
            value(
                "arg_reduce.C5",
                "Where an element of some member's block is NaN, that element of the result of an arg_reduce is the "
                "position of some member of the group, or 2**31 - 1, which says that no member holds the extreme; "
                "over no mesh axis see `collective.C30`.",
                "jax.pargmax: _axis_index_of_val; mpi.operations",
                has("values", "nan"),
                "should",
                nan_among_members,
            ),
            check=position_or_nowhere,
        ),
        rejection(
            "arg_reduce.C6",
            "An arg_reduce by another reduction than max and min is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "jax.pargmax",
        ),
    ),
    aliases={"jax": ("parallel.pargmax", "parallel.pargmin"), "mpi": ("MPI_MAXLOC", "MPI_MINLOC")},
    examples=(Example("jax.pargmax", "int32", {"op": "max"}, [[1, 5], [7, 5], [7, 0]], [[1, 0]] * 3),),
    results=(Result("", "shape", "int32", ("arg_reduce.C1",)),),
    arguments={"op": ("arg_reduce.C2", "arg_reduce.C3", "arg_reduce.C6")},
)
