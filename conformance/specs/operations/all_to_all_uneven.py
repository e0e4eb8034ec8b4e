"""all_to_all_uneven."""

from __future__ import annotations

from conformance.judging.subject import Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, rejection, value


def sends_nothing(subject: Subject) -> bool:
    """Speak about cases in which some part is empty."""
    sends = subject.step.attrs["sends"]
    return isinstance(sends, tuple | list) and any(0 in row for row in sends if isinstance(row, tuple | list))


def uneven(subject: Subject) -> bool:
    """Speak about cases in which parts differ in size."""
    sends = subject.step.attrs["sends"]
    return (
        isinstance(sends, tuple | list) and len({n for row in sends if isinstance(row, tuple | list) for n in row}) > 1
    )


OP = Op(
    "all_to_all_uneven",
    summary="Member q's rows for member p, in parts of any size along axis 0, become member p's part q.",
    shares=tuple(
        clause
        for clause in COLLECTIVE
        if clause.id not in ("collective.C16", "collective.C26", "collective.C27", "collective.C29")
    ),
    clauses=(
        value(
            "all_to_all_uneven.C1",
            "In an all_to_all_uneven the member at position q cuts its block along axis 0 into one part for each "
            "member, part p of `sends[q][p]` rows. The member at position p receives part p of every member, "
            "concatenated along axis 0 in member order; over no mesh axis see `collective.C30`.",
            "torch.inductor.comm_lowering: _all_to_all_single",
        ),
        value(
            "all_to_all_uneven.C2",
            "Parts of an all_to_all_uneven that differ in their number of rows are legal.",
            "torch.inductor.comm_lowering: _all_to_all_single",
            uneven,
        ),
        value(
            "all_to_all_uneven.C3",
            "A part of an all_to_all_uneven without rows is legal.",
            "torch.inductor.comm_lowering: _all_to_all_single",
            sends_nothing,
        ),
        rejection(
            "all_to_all_uneven.C4",
            "An all_to_all_uneven is rejected where `sends` or `receives` is not a list for each position of the "
            "group, each with a count of at least 0 for each position, except over no mesh axis (`collective.C30`) or "
            "without operands (`collective.C27`).",
            "torch.distributed: all_to_all_single",
        ),
        rejection(
            "all_to_all_uneven.C5",
            "An all_to_all_uneven is rejected where some `receives[p][q]` is not `sends[q][p]`, the number of rows "
            "that the member at position q sends to the one at p, except over no mesh axis (`collective.C30`) or "
            "without operands (`collective.C27`).",
            "ours",
            requirement="should",
        ),
        rejection(
            "all_to_all_uneven.C6",
            "An all_to_all_uneven is rejected where the counts of `sends[q]` do not add up to the number of rows of "
            "the block at position q, or where a block has no axes, except over no mesh axis (`collective.C30`) or "
            "without operands (`collective.C27`).",
            "torch.distributed: all_to_all_single",
        ),
    ),
    aliases={
        "torch": ("distributed.all_to_all_single", "_functional_collectives.all_to_all_single"),
        "mpi": ("MPI_Alltoallv",),
    },
    examples=(
        Example(
            "torch.inductor.comm_lowering: _all_to_all_single",
            "int32",
            {"sends": ((1, 2), (0, 1)), "receives": ((1, 0), (2, 1))},
            [[1, 2, 3], [4]],
            [[1], [2, 3, 4]],
        ),
    ),
    results=(
        Result("on the member at position p", "(sum(receives[p]),) + shape[1:]", SAME, ("all_to_all_uneven.C1",)),
    ),
    arguments={
        "sends": ("all_to_all_uneven.C1", "all_to_all_uneven.C4", "all_to_all_uneven.C6"),
        "receives": ("all_to_all_uneven.C4", "all_to_all_uneven.C5"),
    },
)
