"""Topics about collectives: groups, shapes, storage, waiting, errors."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

COLLECTIVES: Final = (
    topic(
        "uneven extents",
        "uneven, unequal, indivisible, not divisible, IndivisibleError, remainder, padding of ranks, unequal sizes",
        "reduce_scatter, scatter and a tiled all_to_all reject an extent that the group size does not divide; "
        "blocks of "
        "one operand are alike. Uneven rows are moved by all_to_all_uneven and ragged_all_to_all, and sharded tensors "
        "are cut into parts of unequal sizes. MPI's v-variants take blocks of unequal sizes, and so do Torch's list "
        "forms "
        "of all_gather, reduce_scatter and all_to_all over NCCL. gloo raises *invalid tensor size* for all_gather and "
        "all_to_all, and takes reduce_scatter. Torch's gather and scatter demand one size.",
        "reduce_scatter.C6 scatter.C8 all_to_all.C7 collective.C20 all_to_all_uneven.C1 ragged_all_to_all.C1 "
        "sharded.C12",
    ),
    topic(
        "unequal groups",
        "groups of unequal size, uneven groups, axis_index_groups of different lengths",
        "Operations whose result does not depend on the size of the group take groups of unequal size: all_reduce, "
        "arg_reduce, broadcast, reduce, scan, barrier and the queries. All others reject them.",
        "collective.C6 collective.C15",
    ),
    topic(
        "order of members",
        "unsorted groups, unsorted ranks, rank order, group order, order of ranks, new_group order, sorted ranks, "
        "device order, permutation of ranks",
        "Results are in member order: the order in which the group lists its positions. Torch's new_group sorts.",
        "collective.C8 all_gather.C1 reduce_scatter.C1 all_to_all.C1",
    ),
    topic(
        "several mesh axes",
        "multiple axes, tuple of axes, axis order, 2D mesh, mesh order, row-major, axis_name tuple",
        "Positions count in row-major order of the axes as the step names them: over `j, i` the axis `i` changes "
        "fastest. Ranks that differ along an axis that is not named do not meet.",
        "collective.C24 collective.C25 collective.C28",
    ),
    topic(
        "root",
        "src, dst, source rank, group_src, group_dst, root rank, local rank, global rank",
        "A root is a position in the group. Torch's src and dst are ranks of the world; group_src and group_dst are "
        "positions.",
        "broadcast.C2 reduce.C2 gather.C4 scatter.C4",
    ),
    topic(
        "result on other ranks",
        "non-root ranks, dist.reduce modifies other ranks, other tensors after reduce, undefined output, "
        "recvbuf not significant, output of reduce on non-root, garbage on "
        "other ranks",
        "Ranks that an operation has no result for return nothing, and a target there keeps its elements.",
        "reduce.C1 gather.C1 aliasing.C14 collective.C1",
    ),
    topic(
        "in place",
        "overlap of input and output, overlapping input and output, inplace, in-place, MPI_IN_PLACE, same buffer, "
        "buffers must not be aliased, aliased buffers, buffer aliasing, "
        "overlapping buffers, sendbuff equals recvbuff, "
        "donated, donation",
        "A collective whose target shares elements with its operand reads the operand as it was before the write. The "
        "target has the shape of the result, so that a reduce_scatter in place has a view of its operand as "
        "the target, "
        "at any offset: the start of the buffer (MPI) or the rank's own piece (NCCL). The whole operand is rejected. "
        "To MPI the same pointer given twice is an error, and MPI_IN_PLACE is the form; to NCCL it is the form.",
        "aliasing.C2 aliasing.C6 aliasing.C15 aliasing.C19",
    ),
    topic(
        "in place of gathers",
        "all_gather in place, gather in place, scatter in place, in-place offset, rooted in place, in-place allgather, "
        "sendbuff inside recvbuff, gather into own slot, MPI_Allgather in place",
        "The operand of an all_gather, and of a gather on its root, is a view of the target, at the member's "
        "own slot; the "
        "target of a scatter on its root is a view of the operand, at its own piece. The operand is read before the "
        "target is written, so that every other place is right here, too; NCCL and MPI define no other overlap.",
        "aliasing.C6 aliasing.C19 all_gather.C1 gather.C1 scatter.C1",
    ),
    topic(
        "compositions",
        "tensor parallel, row parallel, column parallel, sequence parallel, FSDP, ZeRO, ring all_reduce, "
        "reduce_scatter then all_gather, all_reduce equals, hierarchical all_reduce, "
        "all_gather then reduce, broadcast then, equivalent collectives, decomposed",
        "A reduce_scatter and an all_gather along the same axis give what all_reduce gives, and a reduce and "
        "a broadcast "
        "do: where nothing rounds the same bits, else two results of trees over the same terms.",
        "reduce_scatter.C1 all_gather.C1 all_reduce.C1 numerics.C1",
    ),
    topic(
        "barrier",
        "barrier completes sends, synchronisation of ranks, barrier and pending operations, flush",
        "No member goes on before every member of its group has come. It has no result and says nothing of "
        "what is under "
        "way: that is ended by its own done.",
        "barrier.C1 liveness.C13 async.C1 async.C6",
    ),
    topic(
        "output tensor",
        "out=, output buffer, wrong output shape, output dtype, preallocated, recvbuf, expanded tensor, stride 0, "
        "zero stride, output with internal overlap, target with overlapping elements",
        "A target has the shape and the dtype of the result, else the program is rejected before anything is written. "
        "A view takes each element once, so that no target has one twice, as a tensor of stride 0 has.",
        "aliasing.C1 aliasing.C15 aliasing.C16 aliasing.C17 aliasing.C18 aliasing.C20",
    ),
    topic(
        "operand reused while under way",
        "overwrite before wait, buffer reuse, isend buffer, race, modify input after async, record_stream, "
        "lifetime, freed, modify tensor before request completes, write after isend, nonblocking buffer, undefined "
        "behavior of isend, modify input before wait, reuse send buffer",
        "In a program a started collective reads its operand as it is at the start: writing or freeing the operand "
        "afterwards does not change the result. Torch (isend, `async_op=True`), MPI (all nonblocking calls) and NCCL "
        "(outside its stream) forbid it: there the operand must not be written before the wait, and what is sent is "
        "undefined otherwise. In a schedule it is the scheduler who waits: no item writes what an earlier started item "
        "reads.",
        "async.C2 async.C3 aliasing.C4 aliasing.C11 waits.C4",
    ),
    topic(
        "reading before waiting",
        "read output before wait, forgot wait, missing wait, use before done, async_op without wait, never waited, "
        "AsyncCollectiveTensor",
        "A step that reads the target of a started collective reads the result: the program waits by itself. What no "
        "step waits for runs all the same. Torch, MPI and NCCL forbid it: there the target has any bits before the "
        "wait. "
        "In a schedule it is the scheduler who waits.",
        "async.C4 async.C6 async.C15 waits.C3",
    ),
    topic(
        "waiting twice",
        "wait twice, done twice, second wait, multiple users of async",
        "A second done returns the same result. JAX refuses it.",
        "async.C5 starts.C7 waits.C2",
    ),
    topic(
        "order of waiting",
        "out of order wait, several async ops, multiple works, concurrent collectives, in flight, overlap of "
        "collectives",
        "Several collectives under way give what they give one after the other, waited for in any order.",
        "async.C7 async.C8 async.C18",
    ),
    topic(
        "deadlock",
        "hang, hangs, stuck, collective mismatch, blocks forever, mismatched collectives, collective order "
        "mismatch, different order, "
        "conditional collective, skipped collective, one rank did not call, ProcessGroup timeout, watchdog, desync, "
        "inconsistent root, inconsistent src, inconsistent dst, mismatched root, root that differs by rank, attributes "
        "that differ by rank",
        "Where members of a group disagree about the next collective, or about its root, every rank that cannot go on "
        "raises an error in time: nothing hangs. That is what is demanded of a conforming implementation. Frameworks "
        "may hang there, or end only when their own time limit is over: Torch raises after its `timeout`, MPI and NCCL "
        "promise no error, JAX's runtime may wait or end the process.",
        "liveness.C1 liveness.C5 liveness.C6 liveness.C9 liveness.C10 liveness.C12 waits.C7",
    ),
    topic(
        "several groups at once",
        "communicators, multiple communicators, several communicators, two communicators, concurrent communicators, "
        "multiple process groups, several process groups, concurrent process groups, NCCL_LAUNCH_ORDER_IMPLICIT, "
        "two all_reduces at once",
        "Collectives of several groups that are under way at once all end, and give what they give one after another. "
        "Ranks in two groups come to their collectives in one order, else each that cannot go on raises an error. NCCL "
        "can hang where two communicators are in use at once, in one order too: there one call ends before the next "
        "begins.",
        "async.C8 async.C18 liveness.C10 waits.C7",
    ),
    topic(
        "shapes that differ",
        "count mismatch, truncated message, MPI_ERR_TRUNCATE, mismatched shapes, different shapes, shape mismatch, "
        "size mismatch, all_gather different sizes, "
        "dtype mismatch, "
        "different dtypes",
        "Blocks of one operand with other dtypes or shapes are rejected (*should*), and where ranks disagree "
        "every rank "
        "that cannot go on raises an error. No data of another shape is ever reinterpreted.",
        "collective.C19 collective.C20 liveness.C7 liveness.C8",
    ),
    topic(
        "dead rank",
        "rank dies, process killed, crash of a rank, node failure, peer closed, elastic, abort, straggler, slow rank",
        "Every rank that waits for a block of a dead rank raises an error; others may return the right value. A late "
        "rank changes no result. After a failure the same ranks run the next program.",
        "liveness.C13 liveness.C14 liveness.C2 liveness.C15",
    ),
    topic(
        "timeout",
        "timed out, time limit, monitored_barrier, NCCL_TIMEOUT, TORCH_NCCL_BLOCKING_WAIT",
        "Every living rank ends in the time limit of the case, with a result or with an error. How long a framework "
        "waits is its own business.",
        "liveness.C1 liveness.C2",
    ),
    topic(
        "errors",
        "error, exception, raises, ValueError, RuntimeError, TypeError, rejected, invalid argument, error on one rank, "
        "assertion, INTERNAL, UNIMPLEMENTED",
        "What has no meaning is rejected on every rank, before any buffer changes; the error should report a wrong "
        "argument and no failure inside.",
        "collective.C13 collective.C14 aliasing.C20 sharded.C9 graph.C5",
    ),
    topic(
        "empty blocks",
        "max of empty tensor, mean of empty, reduce over an empty axis, empty reduction, zero counts, zero count, "
        "zero size, zero elements, empty tensor, size 0, count 0, numel 0, zero-length",
        "A block without elements is legal. Its result has the shape that the operation gives it; a fold over an axis "
        "without elements is the identity.",
        "collective.C11 all_reduce.C5 async.C11 graph.C27 graph.C28 no_kernel.C6",
    ),
    topic(
        "scalars",
        "Shard on a 0-d tensor, Shard on a scalar, 0-d, zero-dimensional, rank 0 tensor, no axes, scalar tensor, 0-dim",
        "A block without axes is legal wherever the operation needs no axis of it: all_reduce, broadcast, permute, and "
        "an untiled all_gather, which stacks. A tiled all_gather or reduce_scatter has no axis to work on and "
        "rejects it.",
        "collective.C16 all_gather.C5 reduce_scatter.C5",
    ),
    topic(
        "one rank",
        "world size 1, single process, single device, group of one, group size 1, nproc 1",
        "A world or a group of one is legal, and results are those of the operation: all_reduce returns its operand.",
        "collective.C10 collective.C12 aliasing.C5 async.C10",
    ),
    topic(
        "strided blocks",
        "non-contiguous, noncontiguous, contiguous memory, strides, transposed tensor, memory layout, "
        "channels_last, view, tensors must be contiguous, tensor has to be contiguous, contiguous tensors",
        "A result depends on the elements of a block and not on its layout; layouts can differ among ranks. "
        "Writes into a "
        "view change the elements of the view and nothing around them. Torch refuses tensors that are not contiguous: "
        "over NCCL in every collective, over gloo in all_to_all_single, send and recv. gloo's broadcast, reduce, "
        "all_reduce and scatter take other elements than those of such a tensor, without an error; its all_gather is "
        "right.",
        "collective.C4 collective.C17 aliasing.C7 aliasing.C8 collective.C2",
    ),
    topic(
        "missing source",
        "ppermute without source, no sender, not a destination, partial permutation, shift without wrap, "
        "zeros from ppermute",
        "A position that is the destination of no pair receives zeros.",
        "permute.C2 permute.C3 recv.C2",
    ),
    topic(
        "message to oneself",
        "self send, send to self, send to itself, self-loop, rank sends to itself, identity permutation",
        "A position that is paired with itself keeps its block, also in MPI and JAX. Torch's send to the own "
        "rank raises.",
        "permute.C5",
    ),
    topic(
        "send and receive order",
        "tag, tags, sendrecv deadlock, blocking send, message order, matching of messages, isend irecv order, "
        "both ranks send first, send before recv, order of P2P calls, point-to-point, non-overtaking, two sends",
        "A send gives a token, and a recv takes the token of its send: they are matched by it and not by "
        "tags. Pairs of both are the same. A permute is both at once and cannot deadlock. MPI, Torch and NCCL match "
        "the messages between two ranks in the order of the calls. Where both ranks send first, their blocking sends "
        "may wait for each other.",
        "recv.C1 recv.C4 send.C1 permute.C1",
    ),
    topic(
        "negative axes",
        "negative axis, dim=-1, scatter_dimension negative, axis out of range, out of bounds axis",
        "A negative axis counts from the end, of the result where the axis is one of the result. One that is not there "
        "is rejected.",
        "all_gather.C4 all_gather.C5 reduce_scatter.C4 all_to_all.C4 gather.C7",
    ),
    topic(
        "stack or concatenate",
        "tiled, untiled, tiled=True, concatenated, stacked, new axis, gather along dim, list output, "
        "all_gather_into_tensor",
        "Tiled, blocks are joined along an axis that they have; untiled, along a new one. Torch's list forms are "
        "untiled, its single forms tiled along axis 0, as MPI and NCCL.",
        "all_gather.C2 all_gather.C3 reduce_scatter.C2 reduce_scatter.C3 all_to_all.C2 all_to_all.C3",
    ),
    topic(
        "split and concat axis",
        "all_to_all axes, split_axis, concat_axis, split_dimension, swap axes, transpose by all_to_all, resharding",
        "Each block is cut along the split axis, piece p goes to the member at position p, and what arrives is joined "
        "along the concat axis in member order.",
        "all_to_all.C1 all_to_all.C2 all_to_all.C3 all_to_all.C9",
    ),
    topic(
        "partial groups",
        "subset of ranks, subgroup, sub-communicator, rank not in group, caller outside the group, groups "
        "that miss ranks",
        "Groups name every position exactly once, else they are rejected. A step can be for some ranks alone "
        "(`on 0 2`): "
        "then the others have neither the step nor a result.",
        "collective.C5 collective.C7 liveness.C3",
    ),
    topic(
        "coalesced",
        "several tensors, _coalescing_manager, list of tensors, pytree, tree, bucketing, grouped collectives, "
        "ncclGroupStart, "
        "fused collectives",
        "Each of several operands gives the result that it gives alone, apart from rounding.",
        "collective.C26 collective.C27 async.C12 determinism.C6",
    ),
    topic(
        "no axis",
        "empty axis tuple, axis_name=(), psum over no axes, identity collective",
        "Over no axis each rank is a group of its own, and operations return their operand.",
        "collective.C21 collective.C30 async.C9",
    ),
)
