"""The suite of storage: what a collective writes, what it returns, and what it leaves alone."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.judging.buffers import around, first_write_refused, nothing_written, surroundings_kept
from conformance.judging.clause import Clause
from conformance.judging.compare import canonical_bools
from conformance.judging.subject import Subject
from conformance.reference.operations import TABLE
from conformance.specs.divergences import accepts, diverging
from conformance.specs.domains import choices
from conformance.specs.families.collective import returns_bool
from conformance.specs.op import has, rejection, suited
from conformance.specs.scenarios.block_operations import CALLED
from conformance.specs.scenarios.effects.chains import chain, with_leads
from conformance.specs.scenarios.effects.mixtures import alternating
from conformance.specs.scenarios.effects.passing import WRITTEN
from conformance.specs.scenarios.effects.programs import ALONE, script, shown
from conformance.specs.scenarios.effects.writes import (
    assigned,
    copied,
    crossed,
    fed_back,
    freed,
    in_place,
    kept,
    misfit,
    moved,
    nested,
    out_form,
    part,
    shifted,
    turned,
    written_after,
)
from conformance.specs.suite import Suite

TEMPLATES: Final = (
    out_form, in_place, kept, written_after, shifted, part, copied, fed_back, freed, turned, crossed,
    nested, kept, fed_back, nested, copied, moved, moved, assigned, assigned, alternating, alternating,
)  # fmt: skip
_CHOICE: Final = choices.sampled_from(range(len(TEMPLATES)))
_MISFIT: Final = choices.sampled_from([False] * 15 + [True])
"""A template among others it was too rare: seed 0 had no target of the extent of another group size by default."""

_CHAINED: Final = choices.steered([False, True, True], ("chained",), lambda chained: ("yes" if chained else "no",))
_KINDS: Final = choices.sampled_from(["any", "whole", "whole"])
_DTYPE: Final = choices.sampled_from([None, None, None, None, "bool"])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program on ``op``: a chain, one that shows something in particular, or one whose target does not fit."""
    if draw(_MISFIT):
        return misfit(script(draw, op, shapes="whole"))
    if draw(_CHAINED):
        return chain(script(draw, op, alone=draw(ALONE), once=True), effects=True, starts=False)
    number = draw(_CHOICE)
    program = script(draw, op, alone=draw(ALONE), shapes=draw(_KINDS), dtype=draw(_DTYPE))
    return TEMPLATES[number](program)


def plain(subject: Subject) -> bool:
    """Speak about results that are written into storage which is not the operand's."""
    return subject.has("effects", "into") and not subject.has("effects", "in_place", "overlap")


def writes_bool(subject: Subject) -> bool:
    """Speak about bools that a collective writes into storage."""
    return returns_bool(subject) and subject.has("effects", "into", "in_place")


def some_have_no_part(subject: Subject) -> bool:
    """Speak about results that only some ranks have, written into storage that all have."""
    return any(TABLE[step.op].writers == "root" and step.into for step in subject.case.program.collectives)


CLAUSES: Final[tuple[Clause, ...]] = (
    shown(
        "aliasing.C1",
        "A collective with a target writes its result into the storage of the target, on every rank that has a result "
        "(`aliasing.C14`).",
        "torch.inductor.comm_lowering: _all_gather_into_tensor_out",
        plain,
    ),
    shown(
        "aliasing.C2",
        "A collective in place writes its result into the storage of its operand, on every rank that has a result "
        "(`aliasing.C14`).",
        "torch.inductor.comm_lowering: _all_reduce_",
        has("effects", "in_place"),
    ),
    shown(
        "aliasing.C3",
        "A collective with a target returns the storage of the target: a later write to the result or to the "
        "target is read in both.",
        "torch.inductor.comm_lowering: _all_gather_into_tensor_out",
        has("flow", "write_seen", "written_through"),
    ),
    shown(
        "aliasing.C4",
        "A result without a target does not change when its operand is overwritten.",
        "torch.inductor.comm_lowering: _all_reduce",
        has("flow", "old_result"),
    ),
    shown(
        "aliasing.C5",
        "A result without a target that equals its operand, as over no mesh axis and in groups of one member, does not "
        "change when the operand is overwritten.",
        "torch.inductor.comm_lowering: _all_reduce",
        has("flow", "old_result_alone"),
    ),
    shown(
        "aliasing.C6",
        "Where operand and target share elements, the operand is read as it was before the write.",
        "torch.inductor.comm_lowering: _all_reduce_",
        has("flow", "target_overlap"),
    ),
    shown(
        "aliasing.C7",
        "A write through a view changes the elements of the view and no others.",
        "torch.inductor.comm_lowering: _all_reduce_",
        has("flow", "part"),
    ),
    Clause(
        "aliasing.C8",
        "must",
        "A write into a buffer changes no byte around or between its elements.",
        around,
        surroundings_kept,
        "torch.inductor.comm_lowering: _all_reduce_",
        general=True,
    ),
    shown(
        "aliasing.C9",
        "A copy does not change when its source is overwritten.",
        "tinygrad.lazy: LazyBuffer.copy_to_device",
        has("flow", "old_copy"),
    ),
    shown(
        "aliasing.C10",
        "A step whose operand is the result of an earlier step, and whose target is the storage of that result, "
        "reads that result before it writes.",
        "tinygrad.lazy: LazyBuffer.schedule",
        has("flow", "feedback"),
    ),
    shown(
        "aliasing.C11",
        "A result without a target does not change when the storage of its operand is freed and used again. After a "
        "free no later step and no result names the freed storage, nor a result that was written into it.",
        "torch.inductor.comm_lowering: _create_out_of_place",
        has("flow", "survives_free"),
    ),
    shown(
        "aliasing.C12",
        "An assign of a value that shares elements with its target reads the value as it was before the write.",
        "tinygrad.schedule: fix_store_hazard",
        has("flow", "assign_overlap"),
    ),
    Clause(
        "aliasing.C13",
        "must",
        "A bool that a collective writes into storage is the byte 0 or the byte 1.",
        writes_bool,
        canonical_bools,
        "c11.bool",
    ),
    shown(
        "aliasing.C14",
        "On a rank that receives no result, the target keeps its elements.",
        "mpi.gather: recvbuf",
        some_have_no_part,
    ),
    rejection(
        "aliasing.C15",
        "A target whose shape is not that of the result, on a rank that has one, is rejected.",
        "ours; torch.distributed: all_gather_into_tensor",
    ),
    diverging(
        rejection(
            "aliasing.C16",
            "A target whose dtype is not that of the result, on a rank that has one, is rejected.",
            "torch.distributed: all_gather_into_tensor",
        ),
        accepts(
            "jax", "Writing to a Ref converts among integers and among floats, as assigning to an array of NumPy does."
        ),
        accepts(
            "torch",
            "The functions that take the place of c10d's in compiled programs copy their result into the tensor given, "
            "and Tensor.copy_ converts.",
        ),
    ),
    rejection(
        "aliasing.C17",
        "Where a step names targets, a number of them other than the number of its results is rejected.",
        "torch.distributed: all_gather",
    ),
    rejection(
        "aliasing.C18",
        "A target in a shape that the result has for another group size, and not for its own, is rejected.",
        "torch.distributed: all_gather_into_tensor",
    ),
    shown(
        "aliasing.C19",
        "All operands of a step are read before any of its targets is written.",
        "torch.inductor.comm_lowering: _all_reduce_coalesced_",
        has("flow", "crossed"),
    ),
    Clause(
        "aliasing.C20",
        "must",
        "Where a step is rejected before which none writes or frees a buffer, every buffer keeps its elements. Of a "
        "rejected started step this is asked only if its done is no later than the first write or free, or if no "
        "other step writes or frees.",
        first_write_refused,
        nothing_written,
        "ours",
    ),
)

SUITE = Suite(
    "aliasing",
    "What a collective writes, what it returns, and what it leaves alone.",
    domains={
        **{op: programs(op) for op in CALLED},
        **{op: with_leads(domain, starts=False) for op, domain in WRITTEN.items()},
    },
    clauses=tuple(suited(clause, "aliasing", "effects", CAPABILITIES) for clause in CLAUSES),
    share=0.4,
)
