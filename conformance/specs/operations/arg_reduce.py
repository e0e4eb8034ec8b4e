"""arg_reduce."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array
from conformance.judging.compare import answered, differences
from conformance.judging.numbers.admissible import admissible
from conformance.judging.subject import ElementMasks, Subject
from conformance.reference.reductions import fold
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


def nan_among_members(subject: Subject) -> ElementMasks | None:
    """Settle the elements of which some member's is NaN, where inputs are reduced and nothing else is done."""
    program, blocks = subject.case.program, subject.case.blocks()
    if len(program.steps) != 1:
        return None
    found: dict[str, list[Array | None]] = {name: [None] * program.world for name in subject.step.outputs}
    for name, output in zip(subject.step.inputs, subject.step.outputs, strict=True):
        for group in subject.groups:
            mask = np.any([np.isnan(blocks[name][rank]) for rank in group], axis=0)
            for rank in group:
                found[output][rank] = mask
    return found


def position_or_nowhere(subject: Subject, seen: Observation) -> str | None:
    """Demand beside a NaN the position of any member or that of none, and of all other elements the right one."""
    masks, problem = nan_among_members(subject), admissible(subject, seen)
    if masks is None or problem is None or answered(subject, seen):
        return problem
    sizes = {rank: len(group) for group in subject.groups for rank in group}
    for one in differences(subject, seen):
        if one.name not in masks:
            return problem  # A copy of a result, in which nothing is settled.
        got, mask = to_array(one.tensor), masks[one.name][one.rank]
        if (got.dtype, got.shape) != (one.expected.dtype, one.expected.shape):
            return problem
        member = mask is not None and mask & (got >= 0) & (got < sizes[one.rank])
        if not (member | (got == one.expected)).all():
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
