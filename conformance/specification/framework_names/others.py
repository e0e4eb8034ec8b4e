"""Names of NCCL 2, which no test runs, and of MLX 0.32 and StableHLO 1, which tests run."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import READ_AT_START, Framework

_NCCL = Framework("nccl")
_ROOT: Final = "`root` is a rank of the communicator, which is the position in the group."
_MESSAGE: Final = (
    "`peer` is a rank of the communicator. There are no tags: the n-th send to a rank meets its n-th receive. A send "
    "may wait for its receive, so that two ranks that both send first can deadlock, unless ncclGroupStart and "
    "ncclGroupEnd are around send and receive."
)

NCCL: Final = (
    _NCCL.documented("ncclAllReduce", "all_reduce", "all_reduce.C1 numerics.C1"),
    _NCCL.documented("ncclBroadcast", "broadcast", "broadcast.C1 broadcast.C2", _ROOT),
    _NCCL.documented(
        "ncclBcast", "broadcast in place", "broadcast.C1 aliasing.C2", _ROOT, status="an older form of ncclBroadcast"
    ),
    _NCCL.documented("ncclReduce", "reduce", "reduce.C1 reduce.C2", _ROOT),
    _NCCL.documented("ncclAllGather", "all_gather(axis=0, tiled=True)", "all_gather.C3"),
    _NCCL.documented(
        "ncclReduceScatter",
        "reduce_scatter(axis=0, tiled=True)",
        "reduce_scatter.C3 reduce_scatter.C6",
        "`recvcount` is one number for all ranks: there is no form of unequal pieces. In place the result is at the "
        "place of the rank's own piece, `sendbuff + rank * recvcount`.",
    ),
    _NCCL.documented(
        "ncclAlltoAll", "all_to_all(split_axis=0, concat_axis=0, tiled=True)", "all_to_all.C3", status="new in 2.28"
    ),
    _NCCL.documented("ncclGather", "gather(axis=0, tiled=True)", "gather.C3 gather.C4", _ROOT, status="new in 2.28"),
    _NCCL.documented(
        "ncclScatter", "scatter(axis=0, tiled=True)", "scatter.C3 scatter.C4", _ROOT, status="new in 2.28"
    ),
    _NCCL.documented("ncclSend", "send", "recv.C1", _MESSAGE),
    _NCCL.documented("ncclRecv", "recv", "recv.C1", _MESSAGE),
    _NCCL.documented_otherwise(
        "cudaStreamSynchronize",
        "done",
        "async.C2 async.C4 waits.C4",
        "A call puts its operation on a stream and returns. What writes the operand, or reads the result, has to come "
        f"behind it on the stream or wait for the stream; {READ_AT_START}, and reading the result waits.",
        aspect="the buffers before the wait",
    ),
    _NCCL.documented_otherwise(
        "ncclAllGather",
        "all_gather with an operand that is a view of the target",
        "aliasing.C6",
        "In place is defined where `sendbuff` is the rank's own slot of `recvbuff`, and of no other overlap. Here any "
        "overlap is right.",
        aspect="in place",
    ),
    _NCCL.documented("ncclGroupStart", "several starts", "async.C8", "Calls until ncclGroupEnd go out together."),
    _NCCL.documented("ncclSum", 'op="sum"', "reduction.C1 numerics.C1"),
    _NCCL.documented("ncclProd", 'op="product"', "reduction.C2"),
    _NCCL.documented("ncclMax", 'op="max"', "reduction.C3 reduction.C20", "Nothing is said of NaN."),
    _NCCL.documented("ncclMin", 'op="min"', "reduction.C4 reduction.C20", "Nothing is said of NaN."),
    _NCCL.documented(
        "ncclAvg",
        'op="mean"',
        "reduction.C9 reduction.C13 reduction.C22",
        "The sum divided by the number of ranks; of integers nothing more is said.",
    ),
    _NCCL.documented("ncclRedOpCreatePreMulSum", 'op="premul_sum"', "reduction.C8"),
    _NCCL.documented(
        "ncclCommSplit", "groups", "collective.C8", "`color` is the group, and `key` the order of its members."
    ),
    _NCCL.documented_otherwise(
        "ncclCommSplit",
        "several starts",
        "async.C8 async.C18 liveness.C10 waits.C7",
        "Calls on several communicators have to be issued in one order on all ranks, and not to be under way at once: "
        "they can hang. Here collectives of several groups under way at once all end, and ranks that come to them in "
        "different orders raise an error.",
        aspect="two communicators at once",
    ),
    _NCCL.documented("ncclCommUserRank", "axis_index", "axis_index.C1"),
    _NCCL.documented("ncclCommCount", "axis_size", "axis_size.C1"),
    _NCCL.silent(
        "ncclCommAbort", "Ending what is under way: outside. What survivors do is in liveness.C13.", "liveness.C13"
    ),
    _NCCL.silent("NCCL_ALGO", "The environment variable that chooses the algorithm: any tree is right.", "numerics.C1"),
)

_MLX = Framework("mlx")

MLX: Final = (
    _MLX.equal("distributed.all_sum", 'all_reduce(op="sum")', "all_reduce.C1 reduction.C1"),
    _MLX.equal("distributed.all_max", 'all_reduce(op="max")', "reduction.C3"),
    _MLX.equal("distributed.all_min", 'all_reduce(op="min")', "reduction.C4"),
    _MLX.silent(
        "distributed.all_max",
        "Its documents say nothing of NaN or of zeros of both signs.",
        "reduction.C20 numerics.C21",
        aspect="of NaN",
    ),
    _MLX.equal("distributed.all_gather", "all_gather(axis=0, tiled=True)", "all_gather.C3"),
    _MLX.otherwise(
        "distributed.sum_scatter",
        'reduce_scatter(op="sum", axis=0, tiled=True)',
        "reduce_scatter.C3",
        "The ring over sockets has none, and raises.",
        aspect="on the ring",
    ),
    _MLX.silent(
        "distributed.sum_scatter",
        "Its documents say of no collective whether gradients pass. That of a reduce_scatter is the all_gather.",
        "transposes.C7",
        aspect="gradient",
    ),
    _MLX.equal("distributed.send", "send", "recv.C1"),
    _MLX.equal("distributed.recv", "recv", "recv.C1"),
    _MLX.equal("distributed.recv_like", "recv", "recv.C1"),
    _MLX.equal("distributed.Group.rank", "axis_index", "axis_index.C1"),
    _MLX.equal("distributed.Group.size", "axis_size", "axis_size.C1"),
)

_HLO = Framework("stablehlo")

STABLEHLO: Final = (
    _HLO.equal(
        "all_reduce",
        "all_reduce",
        "all_reduce.C1 numerics.C1",
        "The order is any binary tree whose in-order traversal is the order of the members; numerics.C1 "
        "admits any tree.",
    ),
    _HLO.equal("all_gather", "all_gather(tiled=True)", "all_gather.C3 collective.C8", "`all_gather_dim` is the axis."),
    _HLO.equal(
        "reduce_scatter",
        "reduce_scatter(tiled=True)",
        "reduce_scatter.C1 reduce_scatter.C3",
        "`scatter_dimension` is the axis.",
    ),
    _HLO.equal(
        "all_to_all",
        "all_to_all(tiled=True)",
        "all_to_all.C1 all_to_all.C3",
        "`split_dimension` and `concat_dimension` are the axes, `split_count` the group size.",
    ),
    _HLO.equal(
        "collective_permute", "permute", "permute.C1 permute.C2", "Pairs, `source_target_pairs`, are ids of processes."
    ),
    _HLO.equal(
        "collective_broadcast", "broadcast", "broadcast.C1 lowering.C10", "The first id of a group is the root."
    ),
    _HLO.equal("replica_id", "axis_index", "axis_index.C1", "Its dtype is ui32."),
    _HLO.silent("partition_id", "The id of a partition.", "lowering.C6", ours="axis_index"),
    _HLO.silent("use_global_device_ids", "Replica groups number all devices.", "lowering.C8"),
    _HLO.silent(
        "replica_groups",
        "The groups, as ids of devices; -1 fills short ones. In the text of HLO empty groups are one group of all.",
        "lowering.C2 lowering.C3 lowering.C4",
    ),
    _HLO.silent("channel_handle", "Pairs what meets in different programs; no part of a value.", "lowering.C1"),
    _HLO.silent("async_start", "A collective in its region is started.", "lowering.C9 lowering.C15", ours="start"),
    _HLO.silent("async_done", "Ends what was started.", "lowering.C15", ours="done"),
    _HLO.silent("optimization_barrier", "Keeps what stands on both sides apart; changes no value.", "graph.C18"),
)
