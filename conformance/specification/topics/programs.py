"""Topics about types, transposes, mapping, sharded tensors, graphs and schedules."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

PROGRAMS: Final = (
    topic(
        "gradient of a sum over ranks",
        "grad of psum, derivative of psum, backward of all_reduce, autograd all_reduce, gradient multiplied "
        "by world size, "
        "gradient scaled by number of devices, wrong gradient, vjp, pullback",
        "With types (JAX's `check_vma=True`) the transpose of a sum to an invariant result is a cast: the "
        "gradient comes "
        "back once. Without types (`check_vma=False`, pmap) it is a sum over ranks: multiplied by the number "
        "of members "
        "where every rank adds its own loss. "
        "With types the gradient of a parameter that is alike on all ranks is a sum over ranks already "
        "(`transposes.C10`, `transposes.C11`): add no psum.",
        "transposes.C1 transposes.C15 transposes.C2 types.C14",
    ),
    topic(
        "transposes of collectives",
        "backward, adjoint, autodiff, transpose rule, gradient of all_gather, gradient of reduce_scatter, gradient of "
        "ppermute, gradient of all_to_all, gradient of broadcast, gradient of ragged_all_to_all, jvp, tangent, "
        "requires_grad, grad_fn, no gradient, detached outputs, distributed.nn, differentiable collectives",
        "all_gather and reduce_scatter are the transposes of each other, all_to_all and permute send back, broadcast "
        "gives the root the sum. A max or min over ranks has none. Torch's `distributed.all_gather` and its other c10d "
        "functions pass no gradient; those of `distributed.nn.functional` and `_functional_collectives` do.",
        "transposes.C3 transposes.C4 transposes.C7 transposes.C8 transposes.C9 transposes.C16 transposes.C13 pushes.C3",
    ),
    topic(
        "gradient of a maximum",
        "gradient of max, gradient of min, gradient of pmax, grad of pmax, backward of max, max ties, gradient of "
        "ties, "
        "subgradient, tie gradient, amax gradient, gradient of all_reduce MAX, equal maxima share the gradient",
        "A max or min over ranks has no transpose and no tangent here: raising is right, and so is a rule of the "
        "implementation's own. JAX's pmax and Torch's functional all_reduce raise; Torch's "
        "`distributed.nn.functional.all_reduce` gives each rank the maximum of the gradients, which is no derivative. "
        "Inside a rank, JAX, Torch (`max()`, `amax`, `maximum`) and tinygrad share the gradient evenly among equal "
        "maxima; Torch's `max(dim)` gives it to one. Gather the blocks and take the maximum there to have a gradient.",
        "transposes.C13 pushes.C5 transposes.C4",
    ),
    topic(
        "types of mesh axes",
        "mismatched replication types, scan carry replication types, carry input and carry output types, vma, "
        "unbound axis name, axis name not found, varying manual axes, check_rep, check_vma, replication "
        "check, replicated out_specs, pvary, "
        "pcast, invariant, "
        "varying, unreduced, reduced, out_specs requires replication, all_gather out_specs, all_gather_invariant, "
        "all_gather varying, out_specs P() of all_gather, carry must have equal types, carry of a loop, manual axis "
        "types do not match",
        "A value has a state along each mesh axis: invariant, varying, unreduced or reduced. Casts change it and move "
        "no data; types change no value. A sum over ranks of a varying value is invariant. The result of an all_gather "
        "is *varying* unless another state is asked for, although all members hold the same: JAX refuses "
        "`lax.all_gather` for `out_specs=P()`, and has `all_gather_invariant` for it. In JAX the carry of a loop has "
        "one type: an initial value that becomes varying in the loop is cast to varying first (`lax.pcast`).",
        "types.C1 types.C3 types.C12 types.C13 types.C14 types.C2",
        "specification-types.md",
    ),
    topic(
        "sum of a sum",
        "psum of psum, psum twice, psum of replicated value, all_reduce twice, all_reduce of a replicated tensor",
        "A sum over ranks adds what each rank holds, also where all hold the same: a second one multiplies by "
        "the number "
        "of members. With types the invariant operand is cast to varying first.",
        "all_reduce.C1 types.C14 transposes.C11",
    ),
    topic(
        "mapping over a new axis",
        "batching rule, vmap of shard_map, shard_map under vmap, vmap, batching, axis_name in vmap, vmap of "
        "collectives, "
        "spmd_axis_name, in_axes, out_axes, level, out_axes=None, all_gather under vmap",
        "A program that is mapped gives for each slice what it gives for that slice. A collective over the level "
        "has the slices as its members: a sum counts an operand that is not mapped once for each slice, and over mesh "
        "axes alone mapping changes nothing.",
        "batches.C1 batches.C2 batches.C9 batches.C10 batches.C12",
    ),
    topic(
        "lowering",
        "collective-permute-done, all-gather-done, reduce-scatter creator, all-reduce combiner, combined "
        "collectives, collective matmul, collective pipelining, all-gather-start, all-reduce-start, "
        "all-reduce-done, collective-permute-start, async collectives in HLO, "
        "StableHLO, HLO, replica_groups, compiled, lowered, jit, channel_id, use_global_device_ids, dump HLO",
        "Each collective is lowered to one of its operation with the groups that meet; a compiler may leave "
        "out what no "
        "result needs.",
        "lowering.C1 lowering.C2 lowering.C4 lowering.C8 lowering.C12 lowering.C16",
    ),
    topic(
        "uneven sharding",
        "uneven shards, DTensor uneven, Shard padding, chunk, last shard smaller, empty shard, shard not divisible, "
        "two mesh "
        "axes on one tensor axis uneven, Shard twice uneven, nested Shard",
        "Parts of unequal sizes, empty ones among them, make up the tensor that was cut; no padding shows in a "
        "value. Torch "
        "cuts as `torch.chunk` does: 5 rows on 4 devices are 2, 2, 1, 0. Two mesh axes cut one tensor axis chunk after "
        "chunk: on a 2x4 mesh the 5 rows are 1, 1, 1, 0, 1, 1, 0, 0. JAX and tinygrad refuse what does not divide.",
        "sharded.C12 sharded.C13 sharded.C14 sharded.C2",
    ),
    topic(
        "folds over parts",
        "mean of uneven shards, mean over sharded dim, average of averages, sum over sharded axis, max over "
        "shards, norm of "
        "sharded tensor, loss over shards",
        "A fold along a split axis takes every element of all parts once, whatever the sizes of the parts "
        "are: a mean is the "
        "sum over all elements divided by their number, and no mean of means. An empty part contributes nothing.",
        "sharded.C22 sharded.C13 sharded.C21 sharded.C12",
    ),
    topic(
        "partial tensors",
        "cast of partial, Partial, partial placement, pending sum, unreduced tensor, Partial plus scalar, Partial "
        "to Shard, "
        "nonlinear on partial, Replicate to Partial, gradient of Partial, Partial avg, max of Partial, Partial item, "
        "item of DTensor, comparison of Partial, conversion of Partial, Partial to int, relu of Partial, Partial times "
        "Partial, consumers of Partial",
        "The contributions are folded, each once, before any operation that is not linear: a number is added once, "
        "and a "
        "max, a comparison, a conversion to integers, a relu or a product of two partial tensors is of the fold. "
        "Torch's "
        "`item()` is not: it gives the rank's own contribution. A redistribution of a partial tensor to a split is a "
        "reduce_scatter.",
        "sharded.C15 sharded.C22 sharded.C35",
    ),
    topic(
        "resharding",
        "redistribute, reshard, device_put, with_sharding_constraint, change of placement, all_gather of "
        "shards, full_tensor",
        "A move to another placement changes no value, and the tensor is reported to have that placement.",
        "sharded.C35 sharded.C40 sharded.C20 sharded.C43",
    ),
    topic(
        "operations across parts",
        "reshape of sharded axis, view(-1) of shards, flatten sharded, flip sharded, slice across shards, "
        "unsupported sharded op, "
        "ShardingTypeError, multi axis uneven",
        "The value is that of the whole tensor. An implementation that refuses such a step conforms, too: it "
        "should say "
        "that the step is not supported.",
        "sharded.C23 sharded.C27 sharded.C28 sharded.C29 sharded.C42 sharded.C9",
    ),
    topic(
        "operands placed differently",
        "mismatched placements, different shardings, mixed replicate and shard, elementwise of different shards",
        "They are brought to one placement first, and the value is that of the whole tensors. A replicated "
        "value counts "
        "once.",
        "sharded.C19 sharded.C20",
    ),
    topic(
        "order of devices",
        "device mesh order, device ids, permuted mesh, mesh permutation, _StridedShard, two mesh axes on one "
        "tensor axis",
        "Parts belong to positions of the mesh. Where several mesh axes cut one axis, the parts are numbered "
        "in row-major "
        "order of these as the placement lists them.",
        "sharded.C17 sharded.C18 sharded.C16",
    ),
    topic(
        "assign",
        "swap two buffers, assign to overlapping view, overlapping views, assignment, in-place update, setitem, "
        "write after read, read after write, aliasing of views, swap, "
        "index_put, copy_, assign across placements, copy_ of DTensor, assign to replicated, assign to sharded",
        "A computed value keeps what it was when it was listed; a name of storage shows all writes so far. An assign "
        "writes all of its target, with a value read before the write. tinygrad reads storage when a value is "
        "realized: realize earlier values before an assign. A value that is placed otherwise than its target is "
        "moved to the "
        "target's placement first (Torch), or refused (tinygrad).",
        "graph.C31 graph.C33 graph.C34 graph.C35 sharded.C32 assign.C6 assign.C7 assign.C11",
    ),
    topic(
        "laziness",
        "lazy, realize, realized early, wrong unless realized, materialize, evaluated late, when is it "
        "computed, eager, realized, is_realized, schedule twice",
        "A lazy graph means eager evaluation in list order; when a value is computed is free. After a "
        "schedule has run, "
        "the schedule of the same results has no items.",
        "graph.C2 graph.C34 order.C6 sharded.C45",
    ),
    topic(
        "number of kernels",
        "softmax kernels, layernorm kernels, kernels of a softmax, kernel count, fusion, fused kernels, how many "
        "kernels, elementwise fusion, reduce fusion, kernel "
        "launches, fuse, recompute, recomputed, computed again in each consumer, consecutive reduces, "
        "reduce recomputed",
        "Elementwise values that are taken once per element join the kernel that takes them, and the reduce that takes "
        "them; an elementwise operation on a reduce joins its kernel. All of it is *should*. Nothing is asked where a "
        "value is repeated by an expand, nor of independent values that one kernel could compute together.",
        "fusion.C1 fusion.C2 fusion.C3 fusion.C4 fusion.C5 fusion.C9",
    ),
    topic(
        "no kernel",
        "constant folding, constant kernel, zero kernels, free reshape, copy of a view, contiguous of contiguous, "
        "empty tensor "
        "kernel, fill",
        "Constants, views, detach, movement that moves nothing and values without elements should take no kernel.",
        "no_kernel.C1 no_kernel.C3 no_kernel.C4 no_kernel.C5 no_kernel.C6 no_kernel.C8",
    ),
    topic(
        "contiguous",
        "Tensor.contiguous, contig, force realize, materialise a view, realize a transpose",
        "A contig node has the value of its source; it has a buffer of its own (*may*) and is no kernel where "
        "its source "
        "is contiguous already (*should*).",
        "graph.C18 fusion.C6 no_kernel.C5",
    ),
    topic(
        "common subexpressions",
        "CSE, deduplicate, same computation twice, cache of kernels, duplicate kernels",
        "Equal nodes should be computed once, and kernels that differ in buffers alone should launch one program.",
        "dedup.C1 dedup.C2 dedup.C3 order.C4",
    ),
    topic(
        "split reductions",
        "split reduce, two-stage reduction, SPLIT_REDUCEOP, large sum, REDUCEOP_SPLIT_THRESHOLD",
        "Only reduces of at least 32768 terms are split (*may*); the parts are kept in the dtype of the accumulator.",
        "splits.C1 splits.C2 splits.C3",
    ),
    topic(
        "memory planner",
        "memory plan, arena, buffer reuse, memory planning, overlapping lifetimes, sub-buffer, alignment",
        "Buffers that share bytes are never in use at a time, and values are the same with the plan and without it.",
        "memory.C1 memory.C2 memory.C4 memory.C10",
    ),
    topic(
        "symbolic shapes",
        "symbolic, variable shape, dynamic shape, Variable, bind, bounds of variables, dynamic sizes",
        "A variable has one value in a schedule, within its bounds; elements beyond the extent show in no result. A "
        "sharded tensor with a variable extent is refused.",
        "graph.C20 graph.C21 variables.C3 variables.C4 variables.C5 sharded.C8",
    ),
    topic(
        "copies between devices",
        "copy to the same device, no-op copy, device to device copy, transfer, to(device), peer copy, strided copy, "
        "ring all_reduce copies, bytes moved",
        "A copy moves contiguous bytes, no more than the value has, and never to the device the value is on. An "
        "all_reduce of n devices moves at most n(n-1) blocks, as a ring 2(n-1).",
        "copies.C2 copies.C4 copies.C5 copies.C8 copies.C9 no_kernel.C13",
    ),
    topic(
        "order of items",
        "two kernels write the same buffer, write after write, WAW, hazard, dependency order, out of order "
        "execution, race between kernels, WAR, RAW, reordering, "
        "queues, toposort",
        "Any order that edges and waits permit gives the same values. An item that reads or writes what an earlier one "
        "writes waits for it.",
        "law.C1 order.C1 assign.C3 assign.C4 assign.C5 waits.C3 waits.C4",
    ),
    topic(
        "captured graphs",
        "replay with the same buffer, TinyJit, jit replay, CUDA graph, captured sequence, replay with other inputs, "
        "aliasing inputs of jit",
        "A captured sequence is called with other buffers; those that it writes share no bytes with other arguments of "
        "the call (*may*).",
        "replays.C1 form.C12 order.C6 dedup.C4",
    ),
    topic(
        "order of collectives in a schedule",
        "wait missing in schedule, collective order, all ranks same order, reorder collectives, overlap "
        "communication, bucketing order, "
        "raise_comms, sink_waits",
        "All participants enter their collectives in one order; each started one has one wait, and nobody "
        "reads before it.",
        "waits.C1 waits.C2 waits.C3 waits.C7 waits.C5",
    ),
    topic(
        "empty buffers",
        "Tensor.empty, uninitialized, uninitialised memory, garbage values, torch.empty",
        "No kernel fills a buffer that was asked for empty, two such are never one, and no value depends on bytes that "
        "nobody wrote.",
        "no_kernel.C9 no_kernel.C16 order.C1 law.C3",
    ),
    topic(
        "padding",
        "pad, zeros of a pad, pad with nan, masked values, padding of log, padding after exp",
        "A pad adds +0 whatever is computed from its source before or with it: log of the padding is no -inf.",
        "graph.C22 sharded.C24 sharded.C49",
    ),
)
