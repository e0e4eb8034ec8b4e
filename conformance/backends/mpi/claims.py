"""What the MPI standard (4.1) defines, as data; what a library then does is for the suite to find out.

Each limit gives the documented reason. The standard calls a program erroneous where ranks disagree in count or type,
where a receive has no send, and so on, and leaves it to the library whether it notices; what every rank alone can see
to be wrong (a root, a rank or a count out of range, an operation that a datatype does not have) has an error class.

Everything is limited to what can be said in MPI at all: ranks that differ in dtype or shape run erroneous programs;
groups are the colours of ``MPI_Comm_split``, so every rank is in one; and negative numbers stand for ``MPI_PROC_NULL``
and its like where a source or destination is asked for. Of the bits of reductions nothing is guaranteed: that the same
call gives the same result again is "strongly recommended", and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims

Limits = dict[str, Sequence[str]]

LAYOUTS: Final = ("contiguous", "strided", "transposed", "flipped", "broadcast", "offset")
"""Derived datatypes describe any strides, zero and negative ones included ("may be negative", of displacements)."""

GROUPS: Final = ("none", "even", "strided", "unsorted", "singletons")
"""Colours are any partition, and keys any order in it."""

COMMON: Final[Limits] = {
    "layout": LAYOUTS,
    # Axes of a mesh are ranks of a communicator by the time MPI sees them.
    "axes": ("none", "one", "several"),
    "ranks": ("alike",),
    # A rank may come when it likes. One that has died, or calls something else than the others of its communicator,
    # makes a program erroneous: MPI "does not specify the state of a computation after an erroneous MPI call".
    "faults": ("late",),
}
ANY_GROUPS: Final[Limits] = {**COMMON, "groups": (*GROUPS, "uneven")}
EQUAL_GROUPS: Final[Limits] = {**COMMON, "groups": GROUPS}

# All dtypes move: those without a datatype as MPI_BYTE, which is "uninterpreted". MPI_ERR_ROOT is an error class.
ROOTED: Final[Limits] = {"root": ("negative", "nonnegative")}
# A rank may send and receive as many messages as it likes, so a position named twice is legal.
MESSAGES: Final[Limits] = {**EQUAL_GROUPS, "pairs": ("given", "empty"), "sources": ("given", "empty")}
SIZES: Final = ("given", "repeated", "negative")

NUMBERS: Final = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
"""The fixed-width, floating and complex types of C that the tables of predefined operations list, and float16, which
mpi4py names ``MPI.FLOAT16_T`` and MPICH declares in mpi.h. There is no bfloat16, 8-bit float or 4-bit integer."""

REDUCTIONS: Final = ("sum", "product", "max", "min", "and", "or", "xor")
"""MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, and MPI_BAND, MPI_BOR, MPI_BXOR, for logical types MPI_LAND, MPI_LOR, MPI_LXOR.
There is no mean and no scaled sum."""

UNKNOWN: Final = "median"
"""No reduction, and easily asked for by its name, which stands for no operation of MPI."""

REDUCING: Final[Limits] = {
    # "The predefined operations work only with the MPI types listed": a derived type is none of them.
    "layout": ("contiguous", "offset"),
    "dtype": ("bool", *NUMBERS),
    "op": (*REDUCTIONS, UNKNOWN),
    # Logical types have logical operations alone: a sum or a greatest of them has no meaning in MPI, and the
    # specification gives it one. What neither gives a meaning (bits of floats, an order of complex) is to be refused.
    "reduction": tuple(
        f"{op} of {kind}"
        for op in (*REDUCTIONS, UNKNOWN)
        for kind in ("bool", "integer", "float", "complex")
        if kind != "bool" or op in ("and", "or", "xor", UNKNOWN)
    ),
}

MEMORY: Final = ("buffer", "view", "assign", "copy", "free", "start")
"""Memory is the caller's. All collectives have a nonblocking form, messages too (MPI_Isendrecv). Nothing is claimed of
an operand and a target that overlap but for being one: an output "cannot be aliased with any other argument"."""

FLOW: Final = (
    "part", "feedback", "write_seen", "written_through", "old_result", "old_copy", "old_result_alone", "survives_free",
    "in_flight", "out_of_order", "done_twice", "started_alone", "started_over_nothing", "started_several",
    "started_none",
)  # fmt: skip
"""Once a nonblocking collective is initiated, "all associated send buffers [...] should not be modified, and all
associated receive buffers should not be accessed, until the collective operation completes", so operands are neither
overwritten nor freed and targets neither read nor written before done. To free its request is erroneous, so each is
waited for. A second MPI_Wait finds a null request and returns at once. Calls have one receive buffer, so these cannot
be miscounted."""

FORMS: Final[Limits] = {"effects": (*MEMORY, "into", "in_place"), "flow": FLOW}
"""A receive buffer is an argument, described like any other, and MPI_IN_PLACE or MPI_Sendrecv_replace is for where it
is the operand's."""

ONE_BUFFER: Final[Limits] = {"effects": (*MEMORY, "in_place"), "flow": FLOW}
"""MPI_Bcast has one buffer: there is no output beside the input."""

CLAIMS: Final[Claims] = {
    "all_reduce": {**ANY_GROUPS, **REDUCING, **FORMS, "local_axes": ("empty",)},
    "reduce": {**ANY_GROUPS, **REDUCING, **ROOTED, **FORMS},
    "reduce_scatter": {**EQUAL_GROUPS, **REDUCING, **FORMS},
    # MPI_MAXLOC and MPI_MINLOC of pairs of a value and its index: MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,
    # MPI_2INT and MPI_SHORT_INT are all the pairs there are.
    "arg_reduce": {**ANY_GROUPS, "op": ("max", "min"), "dtype": ("int16", "int32", "int64", "float32", "float64")},
    "all_gather": {**EQUAL_GROUPS, **FORMS},
    "gather": {**EQUAL_GROUPS, **ROOTED, **FORMS},
    "scatter": {**EQUAL_GROUPS, **ROOTED, **FORMS},
    "all_to_all": {**EQUAL_GROUPS, **FORMS},
    # "rows": blocks differ in their first extent, which is what the sizes say.
    "all_to_all_uneven": {**EQUAL_GROUPS, **FORMS, "ranks": ("alike", "rows"), "sends": SIZES, "receives": SIZES},
    "broadcast": {**ANY_GROUPS, **ROOTED, **ONE_BUFFER},
    "permute": {**MESSAGES, **FORMS},
    "shuffle": {**MESSAGES, **FORMS},
    "send": MESSAGES,
    "recv": MESSAGES,
    "barrier": ANY_GROUPS,
    "axis_index": ANY_GROUPS,
    "axis_size": ANY_GROUPS,
    # Not claimed: ragged_all_to_all, whose senders say where receivers write (MPI_Alltoallv asks the receivers), and
    # reduce_constant, which would be an all_reduce like any other.
}
