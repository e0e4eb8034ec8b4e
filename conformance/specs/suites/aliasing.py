"""The suite of storage: what a collective writes, what it returns, and what it leaves alone."""

from __future__ import annotations

from typing import Final

from conformance.cases.observation import Observation
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.cases.program.effects import names
from conformance.judging.buffers import around, first_write_refused, nothing_written, surroundings_kept
from conformance.judging.clause import Clause
from conformance.judging.compare import canonical_among
from conformance.judging.divergences import NARROW_NAN, accepts, diverging
from conformance.judging.subject import Subject
from conformance.reference.operations import TABLE
from conformance.specs.op import BLOCKWISE, Shows, rejection, shown, shows, suited
from conformance.specs.suite import Suite


def plain(subject: Subject) -> bool:
    """Speak about results that are written into storage which is not the operand's."""
    return subject.shows("into") and not subject.has("effects", "in_place", "overlap")


def written(subject: Subject) -> list[str]:
    """Return the results that are storage into which a collective writes."""
    table, collectives = names(subject.case), subject.case.program.collectives
    targets = [table[target] for step in collectives for target in step.into]
    return [name for name in subject.expected if any(table[name].meets(target) for target in targets)]


def writes_bool(subject: Subject) -> bool:
    """Speak about results that are bools which a collective wrote into storage."""
    blocks = (block for name in written(subject) for block in subject.expected[name]) if subject.legal else ()
    return any(block is not None and block.dtype == bool for block in blocks)


def written_bools(subject: Subject, seen: Observation) -> str | None:
    """Demand that bools in storage into which a collective writes are the bytes 0 and 1."""
    return canonical_among(subject, seen, written(subject))


def some_have_no_part(subject: Subject) -> bool:
    """Speak about results that only some ranks have, written into storage that all have."""
    steps = enumerate(subject.case.program.steps)
    written = [index for index, step in steps if step.into and TABLE[step.op].writers == "root"]
    return any(subject.shows_step(index) for index in written)


CLAUSES: Final[tuple[Clause, ...]] = (
    shown(
        "aliasing.C1",
        "A collective with a target writes its result into the storage of the target, on every rank that has a result "
        "(`aliasing.C14`).",
        "torch.inductor.comm_lowering: _all_gather_into_tensor_out",
        Shows(plain, (), ("into",)),
    ),
    shown(
        "aliasing.C2",
        "A collective in place writes its result into the storage of its operand, on every rank that has a result "
        "(`aliasing.C14`).",
        "torch.inductor.comm_lowering: _all_reduce_",
        shows("effects", "in_place"),
    ),
    shown(
        "aliasing.C3",
        "A collective with a target returns the storage of the target: a later write to the result or to the target "
        "is read in both.",
        "torch.inductor.comm_lowering: _all_gather_into_tensor_out",
        shows("flow", "write_seen", "written_through"),
    ),
    shown(
        "aliasing.C4",
        "A result of a collective without a target does not change when the collective's operand is overwritten.",
        "torch.inductor.comm_lowering: _all_reduce",
        shows("flow", "old_result"),
    ),
    shown(
        "aliasing.C5",
        "A result of a collective without a target that equals the operand, as over no mesh axis and in groups of one "
        "member, does not change when the operand is overwritten.",
        "torch.inductor.comm_lowering: _all_reduce",
        shows("flow", "old_result_alone"),
    ),
    shown(
        "aliasing.C6",
        "Where an operand and a target of one collective share elements, the collective reads the operand as it was "
        "before the write.",
        "torch.inductor.comm_lowering: _all_reduce_",
        shows("flow", "target_overlap"),
    ),
    diverging(
        shown(
            "aliasing.C7",
            "A write through a view changes the elements of its buffer that the view names, and no others.",
            "torch.inductor.comm_lowering: _all_reduce_",
            shows("flow", "part"),
        ),
        NARROW_NAN,
    ),
    Clause(
        "aliasing.C8",
        "must",
        "A write into a buffer changes no byte around or between the elements of the buffer.",
        around,
        surroundings_kept,
        "torch.inductor.comm_lowering: _all_reduce_",
        general=True,
    ),
    shown(
        "aliasing.C9",
        "The value that a copy step returns does not change when its source is overwritten.",
        "tinygrad.lazy: LazyBuffer.copy_to_device",
        shows("flow", "old_copy"),
    ),
    shown(
        "aliasing.C10",
        "A step that writes into a buffer what was computed from this buffer's elements, by it or by steps before it, "
        "reads its operands before it writes, also when that is done again and again.",
        "tinygrad.lazy: LazyBuffer.schedule",
        shows("flow", "feedback"),
    ),
    shown(
        "aliasing.C11",
        "A result of a collective without a target does not change when the storage of the collective's operand is "
        "freed and used again. A program that names freed storage after the free, or has it as a result, is "
        "malformed.",
        "torch.inductor.comm_lowering: _create_out_of_place",
        shows("flow", "survives_free"),
    ),
    shown(
        "aliasing.C12",
        "An assign whose value shares elements with its target reads the value as it was before the write.",
        "tinygrad.schedule: fix_store_hazard",
        shows("flow", "assign_overlap"),
    ),
    Clause(
        "aliasing.C13",
        "must",
        "Each bool that a collective writes into storage is the byte 0 or the byte 1.",
        writes_bool,
        written_bools,
        "c11.bool",
    ),
    diverging(
        shown(
            "aliasing.C14",
            "On a rank that receives no result of a collective, as in a gather every rank but the root, the target "
            "keeps its elements, and they are what the step returns there.",
            "mpi.gather: recvbuf",
            some_have_no_part,
        ),
        NARROW_NAN,
    ),
    rejection(
        "aliasing.C15",
        "A step with a target whose shape is not that of the result, on a rank that has a result, is rejected.",
        "ours; torch.distributed: all_gather_into_tensor",
    ),
    diverging(
        rejection(
            "aliasing.C16",
            "A step with a target whose dtype is not that of the result, on a rank that has a result, is rejected.",
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
        "A step that names targets is rejected where their number is not the number of its results.",
        "torch.distributed: all_gather",
    ),
    rejection(
        "aliasing.C18",
        "An all_gather, gather, reduce_scatter or scatter is rejected where the shape of its target differs from that "
        "of the result in one extent alone, as that of the result in a group of another size does.",
        "torch.distributed: all_gather_into_tensor",
    ),
    shown(
        "aliasing.C19",
        "A step reads all its operands before it writes any of its targets.",
        "torch.inductor.comm_lowering: _all_reduce_coalesced_",
        shows("flow", "crossed"),
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
    ops=(*BLOCKWISE, "recv", "ragged_all_to_all"),
    clauses=tuple(suited(clause, "aliasing", "effects", CAPABILITIES) for clause in CLAUSES),
)
