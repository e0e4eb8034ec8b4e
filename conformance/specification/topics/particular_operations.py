"""Topics about one operation: constants, positions of extremes, scans, ragged exchanges."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

PARTICULAR: Final = (
    topic(
        "local axes",
        "positional axis, positional axes, integer among axis names, psum over a dimension, reduce over ranks and "
        "dimensions",
        "One all_reduce can fold over ranks and over axes of the block at once, and its result lacks those axes. With "
        "types no type is given to it: JAX refuses it there.",
        "all_reduce.C2 all_reduce.C3 all_reduce.C5 types.C16 transposes.C17",
    ),
    topic(
        "position within a group",
        "axis_index in groups, axis_index with axis_index_groups, group rank, rank within the group",
        "With groups, axis_index and roots count the members of the group, as it lists them. JAX's axis_index takes "
        "no groups, and counts along the axis whatever groups another call has.",
        "axis_index.C1 collective.C8",
    ),
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
