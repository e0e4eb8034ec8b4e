"""What is outside this specification, each with the reason."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import outside

OUTSIDE: Final = (
    outside(
        "blocking of the host",
        "block the host, host blocking, synchronous, asynchronous, wait blocks, block_until_ready, "
        "synchronize, stream, "
        "streams, cuda stream, current stream, cudaStreamSynchronize, overlap with compute",
        "Whether a call or a done returns before the data are there. A program says what values are, and a "
        "program that "
        "reads a value always reads the result; a host that goes on early shows in no value.",
        "async.C1 async.C4",
    ),
    outside(
        "tests of completion",
        "is_completed, MPI_Test, test, poll, query, is_ready, progress, MPI_Testall",
        "Whether something under way has ended is a matter of time, and no program of this specification can "
        "ask. After "
        "done it has ended, for the result is returned.",
        "async.C1 async.C5",
    ),
    outside(
        "callers outside a group",
        "rank not in the group, non-member, GroupMember.NON_GROUP_MEMBER, -100, MPI_COMM_NULL, call by non-member",
        "Groups name every position, so that no rank calls an operation of a group that it is not in. Where a "
        "step is for "
        "some ranks alone the others do not have it. Torch warns and leaves the tensor as it was.",
        "collective.C5",
    ),
    outside(
        "v-variants",
        "MPI_Gatherv, ncclAllGatherV, MPI_Allgatherv, MPI_Scatterv, gatherv, allgatherv, scatterv, reduce_scatter with "
        "counts, recvcounts, displs",
        "Gathers, scatters and reduce_scatters of pieces of unequal sizes: blocks of one value are alike, so "
        "that shapes "
        "follow from the step alone. Uneven rows are moved by all_to_all_uneven and ragged_all_to_all; split "
        "tensors have parts of any sizes.",
        "collective.C20 reduce_scatter.C6 all_to_all_uneven.C1 sharded.C12",
    ),
    outside(
        "realization",
        "when realize runs, realize side effects, eager realize, what realize makes, number of realizes",
        "When a lazy value is computed, and what else is stored by the way. What a value is does not depend on it. How "
        "many kernels it takes is in the clauses of fusion and no_kernel, all *should* or *may*.",
        "graph.C34 order.C6 fusion.C1 no_kernel.C1",
    ),
    outside(
        "time and speed",
        "performance, bandwidth, latency, slow, throughput, algorithm choice, NCCL_ALGO, bus bandwidth, speed",
        "How fast something is, and which algorithm is taken. `conformance bench` measures it.",
        "liveness.C1",
    ),
    outside(
        "starting and ending processes",
        "init_process_group, rendezvous, MASTER_ADDR, mpirun, destroy_process_group, MPI_Init, MPI_Finalize, "
        "ncclCommInitRank, "
        "jax.distributed.initialize, port in use",
        "How ranks find each other. A program begins when its world is there.",
        "liveness.C15",
    ),
    outside(
        "pipeline parallelism",
        "pipeline, pipelining, microbatch, micro-batch, 1F1B, GPipe, interleaved, Interleaved1F1B, zero bubble, "
        "ZBV, DualPipe, warm-up, warmup, warm-up microbatches, cooldown, virtual stages, stage, bubble, "
        "torch.distributed.pipelining, scale_grads",
        "How stages and microbatches of a model follow one another on ranks. Schedules here are those of one graph: "
        "kernels, copies and collectives. What a pipeline sends between stages is a permute, or a send and its recv.",
        "permute.C1 recv.C1 law.C1",
    ),
    outside(
        "training wrappers",
        "DDP, DistributedDataParallel, no_sync, find_unused_parameters, fully_shard, uneven inputs, "
        "Join, join, hvd.join, DistributedOptimizer, DeepSpeed, ZeRO stage, Accelerate, Lightning, Megatron",
        "When a library calls which collective, and how it scales gradients. The calls themselves are judged: ranks "
        "that make different numbers of calls raise an error, and none supplies zeros for a rank that has no more data "
        "(Torch's and Horovod's join do).",
        "liveness.C12 reduction.C9",
    ),
    outside(
        "further libraries",
        "Horovod, hvd, TensorFlow, tf, tf.distribute, PaddlePaddle, paddle, MindSpore, oneCCL, RCCL, Gloo, UCC, MSCCL, "
        "oneflow, Ray, ray.util.collective, DGL, BytePS, CuPy, OpenSHMEM, NumPy, np",
        "The index has names of JAX, Torch, tinygrad, MPI, NCCL, MLX and StableHLO. Names of other libraries are not "
        "compared: their defaults can differ, as Horovod's allreduce, which averages unless `op` says otherwise, and "
        "whose allgather takes blocks of unequal lengths. RCCL has NCCL's names.",
        "reduction.C9 reduction.C1",
    ),
    outside(
        "sparse tensors",
        "sparse, sparse all_reduce, COO, CSR, nested tensors, jagged",
        "Tensors whose elements are not all there. A block has every element of its shape.",
    ),
    outside(
        "objects",
        "all_gather_object, broadcast_object_list, pickle, python objects, strings, scatter_object_list",
        "Whatever has no dtype of the table.",
    ),
    outside(
        "reductions of the user",
        "MPI_Op_create, custom reduction, custom op, user-defined reduction, lax.reduce computation, non-commutative",
        "Reductions are those of the table: no function is handed over.",
        "reduction.C14",
    ),
    outside(
        "one-sided communication",
        "MPI_Put, MPI_Get, RMA, window, one sided, NVSHMEM, remote atomics, put, rdma",
        "Writes that the other rank does not take part in. All operations here are steps of both sides.",
    ),
    outside(
        "neighbourhoods and intercommunicators",
        "MPI_Neighbor_alltoall, neighbor, halo exchange, cartesian topology, intercommunicator, MPI_Cart_create",
        "A halo exchange is a permute, or several.",
        "permute.C1",
    ),
    outside(
        "random numbers",
        "dropout, rng, random, seed, PRNG, random ops on DTensor",
        "No node draws numbers.",
    ),
    outside(
        "control flow",
        "cond, while_loop, if, lax.cond, lax.switch, lax.scan, torch.cond, data-dependent control, fori_loop, branch, "
        "branches, branches that differ by rank, collective inside cond, psum inside cond, collective in a branch, "
        "collective in a loop, collective inside while_loop, if rank == 0, rank-dependent branch, loop, early exit",
        "A program is a list of steps. Branches and loops around it come to the steps that are taken: where all ranks "
        "take one branch or make as many turns, a collective inside means what it means outside. Where they do not, "
        "some ranks call what others do not: every rank that cannot go on raises an error here; frameworks may hang. A "
        "mapped cond (vmap) computes both branches and selects.",
        "liveness.C5 liveness.C12 liveness.C1 graph.C10",
    ),
    outside(
        "sorting and further operations",
        "cat, concatenate, pow, exp, tanh, sigmoid, embedding, index_add, scatter_add, one_hot, cumprod, std, var, "
        "sort, topk, cumsum, convolution, matmul, argsort, einsum, attention, linalg, searchsorted",
        "Graphs have movement, elementwise operations, reduces and gathers, of which the others are made; a "
        "matmul is a "
        "product and a sum.",
        "graph.C13 graph.C14",
    ),
    outside(
        "memory in use",
        "out of memory, OOM, peak memory, memory leak, release of memory, garbage collection, cached allocator",
        "How much memory an implementation takes, and when storage is given back. A plan is judged by who uses bytes.",
        "memory.C1 memory.C7",
    ),
    outside(
        "derivatives of graphs",
        "Tensor.backward, no_grad, gradient accumulation, optimizer, training loop, backward of graphs, "
        "higher-order derivatives, custom_vjp, gradient of max",
        "Transposes and tangents are those of typed programs of collectives. A max or min over ranks has none here.",
        "transposes.C13 pushes.C5",
    ),
)
