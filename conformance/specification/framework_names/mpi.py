"""Names of MPI 4.1; executed on the installed implementation, MPICH here."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import BEFORE_WAIT, READ_AT_START, Framework

_MPI = Framework("mpi")
_UNLIKE: Final = "Blocks have lengths of their own. Here blocks of one value are alike (collective.C20)."

_STARTS: Final = {
    "bcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter", "allgather": "all_gather",
    "alltoall": "all_to_all", "alltoallv": "all_to_all_uneven", "reduce_scatter_block": "reduce_scatter",
    "scan": "scan", "barrier": "barrier",
}  # fmt: skip
"""The other collectives that MPI starts, without their I, and what each starts."""

_STARTED: Final = "async.C2 async.C4 waits.C4"
_ERRONEOUS: Final = (
    "MPI forbids to write the send buffer, and to use the receive buffer, before the wait; "
    f"{READ_AT_START}, and a step that reads the target waits by itself."
)
_ALIKE: Final = (
    "MPI demands that all ranks receive identical results, and recommends the same result whenever the same arguments "
    "are given in the same order: here guarantees, which a backend gives or not."
)

MPI: Final = (
    _MPI.equal("MPI_Allreduce", "all_reduce", "all_reduce.C1"),
    _MPI.documented_otherwise(
        "MPI_Allreduce", "all_reduce", "determinism.C1 determinism.C8", _ALIKE, aspect="whether bits agree"
    ),
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
        "root alone. MPI defines no other overlap; here any is right.",
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
    *(
        _MPI.documented_otherwise(
            f"MPI_{name}",
            "send",
            "aliasing.C4 async.C2 waits.C4",
            f"MPI forbids to modify the buffer before the request completes; {READ_AT_START}.",
            aspect=BEFORE_WAIT,
        )
        for name in ("Isend", "Issend")
    ),
    _MPI.documented_otherwise(
        "MPI_Irecv",
        "recv",
        "recv.C1 waits.C3",
        "MPI forbids to use the buffer before the request completes. Here a step that reads what is received waits by "
        "itself.",
        aspect="using the buffer before the wait",
    ),
    _MPI.equal(
        "MPI_Iallreduce", "start all_reduce", "async.C1", "The other collectives that begin with I are starts, too."
    ),
    *(_MPI.equal(f"MPI_I{name}", f"start {op}", "async.C1") for name, op in _STARTS.items()),
    _MPI.otherwise(
        "MPI_Iexscan",
        "start scan(exclusive=True)",
        "async.C1 scan.C4",
        "On the first rank the receive buffer is undefined, and MPICH leaves it as it was. scan.C4 has the identity "
        "there.",
    ),
    *(
        _MPI.documented_otherwise(f"MPI_I{name}", f"start {op}", _STARTED, _ERRONEOUS, aspect=BEFORE_WAIT)
        for name, op in {"allreduce": "all_reduce", **_STARTS, "exscan": "scan(exclusive=True)"}.items()
        if name != "barrier"
    ),
    _MPI.silent(
        "MPI_ANY_SOURCE",
        "Receives from whoever sends: outside, and so is MPI_ANY_TAG. A recv takes the token of one send.",
        "recv.C1",
    ),
    *(
        _MPI.equal(
            f"MPI_{name}",
            "permute",
            "permute.C1",
            "One end of a pair: MPI_Send in another mode. When it returns differs, and what arrives does not.",
        )
        for name in ("Ssend", "Bsend", "Issend")
    ),
    _MPI.documented(
        "MPI_Rsend",
        "permute",
        "permute.C1",
        "One end of a pair, for which the receive has to be there already; else it is erroneous.",
    ),
    _MPI.equal("MPI_Sendrecv_replace", "permute in place", "permute.C1 aliasing.C6", "The operand is the target."),
    *(
        _MPI.equal(f"MPI_{name}", "done", "async.C1 async.C7", "A done of each of several requests, in any order.")
        for name in ("Waitall", "Waitany", "Waitsome")
    ),
    _MPI.documented(
        "MPI_Request_free", "a start without a done", "async.C6", "Nobody waits: what was started runs all the same."
    ),
    _MPI.equal("MPI_Wait", "done", "async.C1"),
    _MPI.documented_otherwise("MPI_Wait", "start", _STARTED, _ERRONEOUS, aspect=BEFORE_WAIT),
    _MPI.silent("MPI_Test", "A test of completion: outside.", "async.C1"),
    _MPI.equal(
        "MPI_Allreduce_init", "start all_reduce", "async.C1", "A persistent operation: each MPI_Start of it is a start."
    ),
    _MPI.documented_otherwise("MPI_Allreduce_init", "start all_reduce", _STARTED, _ERRONEOUS, aspect=BEFORE_WAIT),
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
