"""Names of MPI 4.1; executed on the installed implementation, MPICH here."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_MPI = Framework("mpi")
_UNLIKE: Final = "Blocks have lengths of their own. Here blocks of one value are alike (collective.C20)."

_STARTS: Final = {
    "bcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter", "allgather": "all_gather",
    "alltoall": "all_to_all", "alltoallv": "all_to_all_uneven", "reduce_scatter_block": "reduce_scatter",
    "scan": "scan", "exscan": "scan", "barrier": "barrier",
}  # fmt: skip
"""The other collectives that MPI starts, without their I, and what each starts."""

MPI: Final = (
    _MPI.equal("MPI_Allreduce", "all_reduce", "all_reduce.C1"),
    _MPI.equal("MPI_SUM", 'op="sum"', "reduction.C1 reduction.C12"),
    _MPI.equal("MPI_PROD", 'op="product"', "reduction.C2"),
    _MPI.equal("MPI_MAX", 'op="max"', "reduction.C3"),
    _MPI.equal("MPI_MIN", 'op="min"', "reduction.C4"),
    _MPI.otherwise(
        "MPI_MAX",
        'op="max"',
        "reduction.C20 determinism.C1",
        "MPI says nothing of NaN. MPICH's comparison keeps or drops it by the order of the operands, so that members "
        "can receive different results.",
        aspect="of NaN in MPICH",
    ),
    _MPI.equal("MPI_BAND", 'op="and"', "reduction.C5"),
    _MPI.equal("MPI_BOR", 'op="or"', "reduction.C6"),
    _MPI.equal("MPI_BXOR", 'op="xor"', "reduction.C7"),
    _MPI.equal("MPI_LAND", 'op="and"', "reduction.C5", "Of bools."),
    _MPI.equal("MPI_LOR", 'op="or"', "reduction.C6", "Of bools."),
    _MPI.equal("MPI_LXOR", 'op="xor"', "reduction.C7", "Of bools."),
    _MPI.otherwise("MPI_LAND", 'op="and"', "reduction.C5", "Gives 0 or 1; and works on bits.", aspect="of integers"),
    _MPI.otherwise("MPI_LOR", 'op="or"', "reduction.C6", "Gives 0 or 1; or works on bits.", aspect="of integers"),
    _MPI.otherwise("MPI_LXOR", 'op="xor"', "reduction.C7", "Gives 0 or 1; xor works on bits.", aspect="of integers"),
    _MPI.equal(
        "MPI_MAXLOC",
        'arg_reduce(op="max")',
        "arg_reduce.C2 arg_reduce.C4",
        "Where the caller gives its rank as the index of each pair.",
    ),
    _MPI.equal(
        "MPI_MINLOC",
        'arg_reduce(op="min")',
        "arg_reduce.C3 arg_reduce.C4",
        "Where the caller gives its rank as the index of each pair.",
    ),
    _MPI.equal("MPI_IN_PLACE", "a target that is the operand", "aliasing.C2 aliasing.C6", "Of MPI_Allreduce."),
    _MPI.equal(
        "MPI_IN_PLACE",
        "a target at the start of the operand",
        "aliasing.C6 aliasing.C15",
        "The result is at the start of the buffer, whatever the rank is, and not at the place of its piece. "
        "Our form is a "
        "view of the first elements as the target; the whole operand as the target is rejected.",
        aspect="of MPI_Reduce_scatter_block",
    ),
    _MPI.equal(
        "MPI_IN_PLACE",
        "reduce with a target that is the operand",
        "reduce.C1 aliasing.C2 aliasing.C14",
        "The root alone gives MPI_IN_PLACE, as its send buffer; other ranks give their operand there.",
        aspect="of MPI_Reduce",
    ),
    _MPI.equal(
        "MPI_IN_PLACE",
        "all_gather with an operand that is a view of the target",
        "all_gather.C1 aliasing.C6",
        "The operand of each rank is read from its own slot of the receive buffer. So it is in MPI_Gather, on the "
        "root alone.",
        aspect="of MPI_Allgather",
    ),
    _MPI.equal(
        "MPI_IN_PLACE",
        "all_to_all with a target that is the operand",
        "all_to_all.C1 aliasing.C6",
        aspect="of MPI_Alltoall",
    ),
    _MPI.equal("MPI_IN_PLACE", "scan with a target that is the operand", "scan.C1 aliasing.C2", aspect="of MPI_Scan"),
    _MPI.equal(
        "MPI_IN_PLACE",
        "scatter with a target that is a view of the operand",
        "scatter.C1 aliasing.C6",
        "The root alone gives MPI_IN_PLACE, as its receive buffer: its own piece stays where it is.",
        aspect="of MPI_Scatter",
    ),
    _MPI.equal("MPI_Bcast", "broadcast", "broadcast.C1 broadcast.C2"),
    _MPI.equal(
        "MPI_Bcast",
        "broadcast(groups)",
        "broadcast.C2",
        "`root` is a rank of the communicator, which is the position in the group.",
        aspect="root in a communicator",
    ),
    _MPI.equal(
        "MPI_Bcast", "broadcast", "broadcast.C3", "Both refuse it.", aspect="with a root outside the communicator"
    ),
    _MPI.equal(
        "MPI_Comm_split", "groups", "collective.C8", "`color` is the group, and `key` the order of its members."
    ),
    _MPI.equal("MPI_Reduce", "reduce", "reduce.C1 reduce.C2"),
    _MPI.equal("MPI_Gather", "gather(axis=0, tiled=True)", "gather.C3 gather.C4"),
    _MPI.otherwise("MPI_Gatherv", "gather(axis=0, tiled=True)", "gather.C3 collective.C20", _UNLIKE),
    _MPI.equal("MPI_Scatter", "scatter(axis=0, tiled=True)", "scatter.C3 scatter.C4"),
    _MPI.otherwise(
        "MPI_Scatterv",
        "scatter(axis=0, tiled=True)",
        "scatter.C8",
        "Pieces have lengths of their own. Here the pieces of a block are alike.",
    ),
    _MPI.equal("MPI_Allgather", "all_gather(axis=0, tiled=True)", "all_gather.C3"),
    _MPI.otherwise("MPI_Allgatherv", "all_gather(axis=0, tiled=True)", "all_gather.C3 collective.C20", _UNLIKE),
    _MPI.equal("MPI_Alltoall", "all_to_all(split_axis=0, concat_axis=0, tiled=True)", "all_to_all.C1 all_to_all.C3"),
    _MPI.equal(
        "MPI_Alltoallv",
        "all_to_all_uneven",
        "all_to_all_uneven.C1 all_to_all_uneven.C3",
        "With displacements without gaps.",
    ),
    _MPI.silent("MPI_Alltoallw", "A datatype for each member: outside.", "all_to_all_uneven.C1"),
    _MPI.equal("MPI_Reduce_scatter_block", "reduce_scatter(axis=0, tiled=True)", "reduce_scatter.C1 reduce_scatter.C3"),
    _MPI.equal("MPI_Reduce_scatter", "reduce_scatter(axis=0, tiled=True)", "reduce_scatter.C3", "With equal counts."),
    _MPI.otherwise(
        "MPI_Reduce_scatter",
        "reduce_scatter(axis=0, tiled=True)",
        "reduce_scatter.C6",
        "`recvcounts` cut the result as they say: 5 elements on 4 ranks are 2, 1, 1, 1. Here 5 elements are rejected.",
        aspect="with unequal counts",
    ),
    _MPI.equal("MPI_Scan", "scan(exclusive=False)", "scan.C1 scan.C2"),
    _MPI.otherwise(
        "MPI_Exscan",
        "scan(exclusive=True)",
        "scan.C3 scan.C4",
        "On the first rank the receive buffer is undefined, and MPICH leaves it as it was. scan.C4 has the "
        "identity there.",
    ),
    _MPI.equal("MPI_Barrier", "barrier", "barrier.C1"),
    _MPI.equal("MPI_Sendrecv", "permute", "permute.C1"),
    _MPI.otherwise(
        "MPI_PROC_NULL",
        "permute",
        "permute.C2",
        "A receive from MPI_PROC_NULL leaves the buffer as it was; a position that no pair names receives zeros.",
    ),
    _MPI.equal("MPI_Send", "permute", "permute.C1", "One end of a pair. It may wait for the receive, or not."),
    _MPI.equal("MPI_Recv", "permute", "permute.C1", "The other end of a pair."),
    _MPI.equal(
        "MPI_Send",
        "permute, permute",
        "permute.C1",
        "Messages with one tag between two ranks arrive in the order in which they were sent.",
        aspect="twice to one rank",
    ),
    _MPI.equal("MPI_Isend", "send", "recv.C1"),
    _MPI.equal("MPI_Irecv", "recv", "recv.C1"),
    _MPI.equal(
        "MPI_Iallreduce", "start all_reduce", "async.C1", "The other collectives that begin with I are starts, too."
    ),
    *(
        _MPI.silent(f"MPI_I{name}", "A start, as MPI_Iallreduce, which is run.", "async.C1", ours=f"start {op}")
        for name, op in _STARTS.items()
    ),
    _MPI.silent(
        "MPI_ANY_SOURCE",
        "Receives from whoever sends: outside, and so is MPI_ANY_TAG. A recv takes the token of one send.",
        "recv.C1",
    ),
    *(
        _MPI.silent(
            f"MPI_{name}", "MPI_Send in another mode: when it returns differs, and what arrives does not.", "recv.C1"
        )
        for name in ("Ssend", "Bsend", "Rsend", "Issend")
    ),
    _MPI.silent("MPI_Sendrecv_replace", "MPI_Sendrecv in place.", "permute.C1 aliasing.C6", ours="permute in place"),
    *(
        _MPI.silent(f"MPI_{name}", "Waits for several requests: a done of each, in any order.", "async.C7", ours="done")
        for name in ("Waitall", "Waitany", "Waitsome")
    ),
    _MPI.silent("MPI_Request_free", "Nobody waits: what was started runs all the same.", "async.C6"),
    _MPI.equal("MPI_Wait", "done", "async.C1"),
    _MPI.silent("MPI_Test", "A test of completion: outside.", "async.C1"),
    _MPI.silent(
        "MPI_Allreduce_init",
        "Persistent operations: each start of one is a start.",
        "async.C1",
        ours="start all_reduce",
    ),
    _MPI.equal("MPI_Comm_rank", "axis_index", "axis_index.C1"),
    _MPI.equal("MPI_Comm_size", "axis_size", "axis_size.C1"),
    _MPI.silent("MPI_Op_create", "Reductions of the user: outside.", "reduction.C14"),
    _MPI.silent("MPI_Neighbor_alltoall", "Collectives of neighbours in a topology: outside.", "permute.C1"),
    _MPI.silent("MPI_Put", "One-sided communication: outside. So are MPI_Get, MPI_Accumulate and windows."),
    _MPI.silent("MPI_Intercomm_create", "Communicators of two groups: outside."),
    _MPI.silent(
        "MPI_Abort", "Ending a job from inside: outside. What survivors do is in liveness.C13.", "liveness.C13"
    ),
)
