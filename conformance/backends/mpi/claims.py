"""What the MPI standard (4.1) promises, as data; what a library then does is for the suite to find out.

Each limit gives the documented reason. Legal calls alone are claimed: "An MPI implementation cannot or may choose not
to handle some errors that occur during MPI calls", "the set of errors that are handled by MPI is
implementation-dependent", and where the standard says that an error is handled it "should be read as *may* be handled"
(9.3). So nothing that is refused elsewhere has to be refused by a library of MPI: neither a root out of range nor
counts that do not match those of another rank. "MPI does not specify the state of a computation after an erroneous MPI
call" either.

Everything is limited to what one call of MPI on each rank says: ranks that differ in dtype or shape run erroneous
programs; groups are the colours of ``MPI_Comm_split``, so every rank is in one; and over no axis nobody meets, so that
there is no call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, TypeVar

from conformance.backends.base import Claims
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.program.computing import ALL_WORDS
from conformance.cases.program.computing_words import FLOW as COMPUTING_FLOW
from conformance.cases.tensor.dtypes import DRAWN

Limits = dict[str, Sequence[str]]

GUARANTEES: Final[tuple[Guarantee, ...]] = ("ranks_agree",)
"""Of all-reduce: "MPI requires that all processes from the same group participating in these operations receive
identical results" (6.9.6, and every version since 1.0). That the same arguments in the same order give the same result
again is only "strongly recommended", and advice to implementors (6.9.1)."""

LAYOUTS: Final = ("contiguous", "strided", "transposed", "flipped", "broadcast", "offset")
"""Derived datatypes describe any strides, zero and negative ones included ("may be negative", of displacements)."""

GROUPS: Final = ("none", "even", "strided", "unsorted", "singletons")
"""Colours are any partition, and keys any order in it."""

WORLDS: Final = tuple(str(world) for world in range(1, 9))

COMPUTED: Final = tuple(name for name in DRAWN if name not in ("int4", "uint4"))
"""The dtypes that NumPy, with ml_dtypes, computes in: of integers of few bits that has no conversion to others."""

COMMON: Final[Limits] = {
    # What a rank computes of its own memory is no business of MPI.
    "computes": tuple(word for word in ALL_WORDS if word not in ("fold max of nothing", "fold min of nothing")),
    "computed": COMPUTED,
    "calls": ("legal",),
    "layout": LAYOUTS,
    # Axes of a mesh are ranks of a communicator by the time MPI sees them.
    "axes": ("one", "several"),
    # A rank is a process of this machine: more than these would wait for each other, not compute.
    "world": WORLDS,
    "ranks": ("alike",),
    # A rank may come when it likes. One that has died, or calls something else than the others of its communicator,
    # makes a program erroneous.
    "faults": ("late",),
}
ANY_GROUPS: Final[Limits] = {**COMMON, "groups": (*GROUPS, "uneven")}
EQUAL_GROUPS: Final[Limits] = {**COMMON, "groups": GROUPS}

# All dtypes move: those without a datatype as MPI_BYTE, which is "uninterpreted".

PAIRS: Final[Limits] = {**EQUAL_GROUPS, "pairs": ("given",)}
"""Pairs that give every position one to send to and one to receive from. Nothing is said of a position that receives
nothing: a receive from MPI_PROC_NULL leaves the buffer as it was, and the zeros would be the adapter's."""

NUMBERS: Final = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
"""The fixed-width, floating and complex types of C that the tables of predefined operations list, and float16, which
is in none of them: mpi4py's ``MPI.FLOAT16_T`` is a datatype that each of the libraries adds, MPIX_C_FLOAT16 of MPICH
and Intel MPI and MPIX_SHORT_FLOAT of Open MPI. There is no bfloat16, 8-bit float or 4-bit integer."""

REDUCTIONS: Final = ("sum", "product", "max", "min", "and", "or", "xor")
"""MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, and MPI_BAND, MPI_BOR, MPI_BXOR, for logical types MPI_LAND, MPI_LOR, MPI_LXOR.
There is no mean and no scaled sum."""

REDUCING: Final[Limits] = {
    # "The predefined operations work only with the MPI types listed": a derived type is none of them.
    "layout": ("contiguous", "offset"),
    "dtype": ("bool", *NUMBERS),
    "op": REDUCTIONS,
    # Logical types have logical operations alone: a sum or a greatest of them has no meaning in MPI, and the
    # specification gives it one.
    "reduction": tuple(
        f"{op} of {kind}"
        for op in REDUCTIONS
        for kind in ("bool", "integer", "float", "complex")
        if kind != "bool" or op in ("and", "or", "xor")
    ),
}

MEMORY: Final = ("buffer", "view", "assign", "copy", "free", "start")
"""Memory is the caller's. All collectives have a nonblocking form, messages too (MPI_Isendrecv). Nothing is claimed of
an operand and a target that overlap but for being one: an output "cannot be aliased with any other argument"."""

FLOW: Final = (
    "part", "feedback", "write_seen", "written_through", "old_result", "old_copy", "old_result_alone", "survives_free",
    "in_flight", "out_of_order", "done_twice", "started_alone", "started_over_nothing", "started_several",
    "started_none", *(word for word in COMPUTING_FLOW if word != "computed_over"),
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

CLAIMS: Final[dict[str, Limits]] = {}
"""What is claimed of each operation, as its function says once it is imported (``claims``).

Not claimed are ragged_all_to_all, whose senders say where receivers write (MPI_Alltoallv asks the receivers), and
reduce_constant, which would be an all_reduce like any other.
"""

Function = TypeVar("Function", bound=Callable[..., Any])


def claimed(listed: dict[str, Any], *limits: Limits, **more: Sequence[str]) -> Callable[[Function], Function]:
    """Claim the operation that a function bears the name of, within ``limits``, and add the function to ``listed``."""

    def said(function: Function) -> Function:
        found: Limits = {}
        for each in limits:
            found |= each
        CLAIMS[function.__name__] = found | more
        listed[function.__name__] = function
        return function

    return said


def claims() -> Claims:
    """Return what the MPI standard defines of the operations that have a function; MPI is not initialised for it."""
    import_module("mpi4py").rc.initialize = False
    for module in ("operations", "messages"):
        import_module(f"conformance.backends.mpi.{module}")
    return CLAIMS
