"""When the clauses that every collective shares speak."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.judging.clause import Clause
from conformance.judging.subject import Subject
from conformance.reference.operations import TABLE

IDLE: Final = ("all_gather", "all_reduce", "reduce_scatter")
"""Those that return their operand over no axis in JAX, but for means."""

WITHOUT_POSITIONS: Final = ("all_reduce", "axis_size", "barrier", "reduce_constant")
"""Those whose results are the same whichever position a member has, but for the order in which terms are folded."""


def without_meaning(subject: Subject) -> bool:
    """Speak about programs without meaning that all ranks run alike."""
    return subject.rejected is not None and subject.rejected.ranks is None


def several_groups(subject: Subject) -> bool:
    """Speak about cases with more than one group."""
    return subject.step.groups is not None and len(subject.step.groups) > 1


def mixed_layouts(subject: Subject) -> bool:
    """Speak about cases in which ranks hold one value in different layouts."""
    return any(len(set(operand.layouts)) > 1 for operand in subject.case.inputs.values())


def may_return_bool(subject: Subject) -> bool:
    """Speak about cases with a bool operand or result: where sums of bool are bool, they are so in bytes too."""
    given = [subject.case.inputs[name] for name in subject.step.inputs if name in subject.case.inputs]
    made = [block for blocks in subject.expected.values() for block in blocks if block is not None]
    read = any(block.dtype == "bool" for operand in given for block in operand.blocks)
    return subject.legal and (read or any(block.dtype == bool for block in made))


def unsorted_groups(subject: Subject) -> bool:
    """Speak about groups that list members in another order than that of their numbers, where that shows."""
    return subject.has("groups", "unsorted") and subject.step.op not in WITHOUT_POSITIONS


def permuted_axes(subject: Subject) -> bool:
    """Speak about cases whose axes are named in another order than the mesh has them, where that shows.

    Which members meet is by their positions where there are several groups.
    """
    order = [axis.name for axis in subject.case.program.mesh if axis.name in subject.step.axes]
    shows = subject.step.op not in WITHOUT_POSITIONS or several_groups(subject)
    return list(subject.step.axes) != order and shows


def unnamed_axes(subject: Subject) -> bool:
    """Speak about cases in which some mesh axis is not named and has more than one rank."""
    return any(axis.size > 1 and axis.name not in subject.step.axes for axis in subject.case.program.mesh)


def size_one_axis(subject: Subject) -> bool:
    """Speak about cases that name an axis of size one beside others."""
    sizes = {axis.name: axis.size for axis in subject.case.program.mesh}
    return len(subject.step.axes) > 1 and any(sizes.get(name) == 1 for name in subject.step.axes)


def idle_in_jax(subject: Subject) -> bool:
    """Speak over no axis about the operations that return their operand there in JAX."""
    plain = subject.step.op in IDLE and subject.step.attrs.get("op") != "mean"
    return subject.legal and subject.step.idle and plain


def about_operands(clause: Clause) -> Clause:
    """Return ``clause``, silent where an operation of operands has none.

    Of the functions of JAX some look at their arguments then (all_gather), and some do not (pbroadcast).
    """

    def speaks(subject: Subject) -> bool:
        return clause.when(subject) and not (TABLE[subject.step.op].operands == 1 and not subject.step.inputs)

    return replace(clause, when=speaks)
