"""Topics about one operation: constants, positions of extremes, scans, ragged exchanges."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

PARTICULAR: Final = (
    topic(
        "constant",
        "psum of a constant, psum(1), axis size by psum, python scalar, literal operand",
        "The sum of one number that every member holds is the number times the members (reduce_constant).",
        "reduce_constant.C1 reduce_constant.C2 reduce_constant.C3 axis_size.C1",
    ),
    topic(
        "first position on ties",
        "argmax ties, pargmax ties, MAXLOC ties, tie breaking, equal maxima",
        "The first position of several that hold the extreme is given.",
        "arg_reduce.C4 arg_reduce.C5",
    ),
    topic(
        "prefix sum",
        "scan, exscan, cumulative, prefix, first rank of exscan undefined",
        "scan folds the blocks of the members before, with the own block if inclusive; the first member of an "
        "exclusive "
        "one receives the identity, where MPI leaves the buffer undefined.",
        "scan.C1 scan.C2 scan.C3 scan.C4",
    ),
    topic(
        "offsets of ragged exchanges",
        "output_offsets, send_sizes, recv_sizes, input_offsets, MoE, expert parallel, alltoallv "
        "displacements, overlapping slices",
        "output_offsets are those of the sender: where its slice lands in the output of the receiver. Slices "
        "that overlap "
        "are written in sender order, and rows that nothing is written to keep their elements.",
        "ragged_all_to_all.C1 ragged_all_to_all.C2 ragged_all_to_all.C4 ragged_all_to_all.C10",
    ),
)
