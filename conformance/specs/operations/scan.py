"""scan."""

from __future__ import annotations

import numpy as np

from conformance.judging.subject import ElementMasks, Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import FOLDED, FOLDS, Example, Op, Result, about, attr, value, variant


def of_no_blocks(subject: Subject) -> bool:
    """Speak about exclusive scans, whose first members reduce nothing, but for means."""
    return subject.step.attrs["exclusive"] is True and subject.step.attrs["op"] != "mean"


def means_of_no_blocks(subject: Subject) -> bool:
    """Speak about exclusive scans of means."""
    return subject.step.attrs["exclusive"] is True and subject.step.attrs["op"] == "mean"


def first_members(subject: Subject) -> ElementMasks:
    """Settle all elements on the first member of every group."""
    first = {group[0] for group in subject.groups}
    return {
        name: [None if block is None else np.full(block.shape, rank in first) for rank, block in enumerate(blocks)]
        for name, blocks in subject.expected.items()
    }


OP = Op(
    "scan",
    summary="Every member receives the elementwise reduction of the blocks of the members before it, and of its own.",
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "scan.C1",
            "In a scan the member at position p receives the elementwise reduction of the blocks at the positions "
            "before p, and of its own block where the scan is inclusive (`scan.C2`, `scan.C3`), in the shape of one "
            "block; over no mesh axis see `collective.C30`.",
            "mpi.scan",
        ),
        variant(
            "scan.C2",
            "In an inclusive scan, whose `exclusive` is false, the member's own block is a term of its reduction, "
            "beside the blocks at the positions before it; over no mesh axis see `collective.C30`.",
            "mpi.scan",
            attr("exclusive", False),
        ),
        variant(
            "scan.C3",
            "In an exclusive scan, whose `exclusive` is true, the member's own block is no term of its reduction; "
            "over no mesh axis see `collective.C30`.",
            "mpi.scan",
            attr("exclusive", True),
        ),
        value(
            "scan.C4",
            "In an exclusive scan the member at position 0 of each group receives the identity of the reduction, "
            "which `all_reduce.C5` lists; of a mean see `scan.C5`, over no mesh axis `collective.C30`.",
            "ours; ieee754: 9.4",
            about(of_no_blocks, exclusive=("true",)),
        ),
        value(
            "scan.C5",
            "In an exclusive scan the mean of the member at position 0 of each group has no terms and is NaN, in a "
            "complex dtype in both parts; over no mesh axis see `collective.C30`.",
            "ours",
            means_of_no_blocks,
            "should",
            first_members,
        ),
    ),
    aliases={"mpi": ("MPI_Scan", "MPI_Exscan")},
    examples=(
        Example("mpi.scan", "int32", {"op": "sum", "exclusive": False}, [1, 2, 3, 4], [1, 3, 6, 10]),
        Example("mpi.scan", "int32", {"op": "sum", "exclusive": True}, [1, 2, 3, 4], [0, 1, 3, 6]),
        Example(
            "mpi.scan",
            "int32",
            {"op": "sum", "exclusive": False},
            [5, 2, 7, 1],
            [5, 3, 12, 1],
            groups=((0, 2), (3, 1)),
        ),
    ),
    results=(Result("", "shape", FOLDED, ("scan.C1", *FOLDS)),),
    arguments={"exclusive": ("scan.C2", "scan.C3", "scan.C4", "scan.C5")},
)
