"""What the documentation of PyTorch 2.13 supports, as data; what Torch then does is for the suite to find out.

Each limit gives the documented reason. Where the documentation is silent, what the process group of Gloo checks and
refuses in so many words ("Invalid scalar type", "input tensor has to be contiguous") is not claimed either, and where
it checks nothing there is no limit: no page asks a collective for contiguous operands, nor excludes bool or integers
from a reduction.

Everything is limited to what can be said in Torch at all. An illegal program that Torch has no words for (groups that
are no partition, axes the mesh does not have) would never reach it, and one that is several legal programs of Torch,
for each group is a communicator of its own, is no business of its collectives: groups of unequal size where the
specification wants equal ones, a root that only some groups have, ranks that differ but not in every group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.program.computing import ALL_WORDS, words
from conformance.cases.program.computing_words import FLOW as COMPUTING_FLOW

Limits = dict[str, Sequence[str]]

REALS: Final = ("bool", "int8", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64")
"""The dtypes that ProcessGroupGloo.cpp switches over; of any other it says "Invalid scalar type"."""

COMPLEX: Final = ("complex64", "complex128")
""""Complex tensors are supported": so the pages of some collectives, which hand them on as pairs of real numbers."""

BYTES: Final = (*REALS, *COMPLEX, "int16", "float8_e4m3fn", "float8_e5m2")
"""The dtypes that the page on torch.Tensor lists: messages are bytes. It gives uint16, uint32 and uint64 "limited
support in eager mode", naming the signed types to whoever needs more; there is no dtype of 4 bits."""

GROUPS: Final = ("none", "even", "strided", "unsorted", "singletons")
"""A process group is a list of distinct ranks of the world (new_group), and a rank that is in none takes no part.
new_group(sort_ranks=False) documents that position in the list is the group rank."""

WORLDS: Final = tuple(str(world) for world in range(1, 9))

COMPUTED: Final = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"),
    *COMPLEX,
)
"""The dtypes that torch has elementwise operations and reductions for; it stores others."""

_LACKS: Final = (
    *words("fold and", "fold or", kinds=("integer",)),
    *words("fold xor"),
    # amax and amin refuse axes without elements.
    *("fold max of nothing", "fold min of nothing"),
    # "addmm_impl_cpu_" not implemented for 'Bool'.
    *words("dot", kinds=("bool",)),
)

COMMON: Final[Limits] = {
    # What is computed between collectives is tensors' own: no page says anything of it that speaks of collectives.
    "computes": tuple(word for word in ALL_WORDS if word not in _LACKS),
    "computed": COMPUTED,
    # torch.from_numpy shares memory with the array; torch.Tensor documents that strides are never negative.
    "layout": ("contiguous", "strided", "transposed", "broadcast", "offset"),
    # Axes of a mesh are ranks of a process group by the time Torch sees them.
    "axes": ("none", "one", "several"),
    # A rank is a process of this machine: more than these would wait for each other, not compute.
    "world": WORLDS,
    # The timeout of a process group is "for operations executed against the process group", so a rank that is late is
    # waited for, and for one that has died no longer than that. That ranks may call different things nobody says.
    "faults": ("late", "dies"),
}

ANY_GROUPS: Final[Limits] = {**COMMON, "groups": (*GROUPS, "uneven")}
EQUAL_GROUPS: Final[Limits] = {**COMMON, "groups": GROUPS}

ALIKE: Final[Limits] = {
    # "Must have the same number of elements in all processes", "the same size on each process", "shapes match across
    # nodes": so the pages of the collectives. Differing is possible to write, and wrong.
    "ranks": ("alike", "different"),
}
MOVING: Final[Limits] = {**ALIKE, "dtype": (*REALS, *COMPLEX)}
MOVING_REALS: Final[Limits] = {**ALIKE, "dtype": REALS}
DENSE: Final[Limits] = {"layout": ("contiguous", "offset")}
""""Input tensor has to be contiguous", says a send, and "Tensors must be contiguous" an exchange."""

MESSAGES: Final[Limits] = {
    **EQUAL_GROUPS,
    **DENSE,
    "dtype": BYTES,
    # No page says what a message must be like, and a rank may send and receive as many as it likes: these are legal.
    "ranks": ("alike",),
    # A send may be over before its receiver has come: who only sends need not hear that a rank has died.
    "faults": ("late",),
    "pairs": ("given", "empty", "negative", "partial"),
    "sources": ("given", "empty"),
}

REDUCTIONS: Final = ("sum", "product", "max", "min", "and", "or", "xor")
"""ReduceOp: "AVG is only available with the NCCL backend", PREMUL_SUM with NCCL and XCCL."""

REDUCING: Final[Limits] = {
    **ALIKE,
    "dtype": REALS,
    "op": REDUCTIONS,
    # "MAX, MIN and PRODUCT are not supported for complex tensors": these are refused, the last as a divergence.
    "reduction": tuple(f"{op} of {kind}" for op in REDUCTIONS for kind in ("bool", "integer", "float", "complex")),
}
COMPLEX_TOO: Final[Limits] = {"dtype": (*REALS, *COMPLEX)}
"""Of the reductions all_reduce alone is documented to take complex numbers."""

# Functional collectives take names, of which any may be unknown; ``ReduceOp`` has no member for one.
NAMING: Final[Limits] = {
    **REDUCING,
    "op": (*REDUCTIONS, "unknown"),
    "reduction": (
        *REDUCING["reduction"], *(f"unknown of {kind}" for kind in ("bool", "integer", "float", "complex"))
    ),
}  # fmt: skip

NOT_LOCAL: Final[Limits] = {"local_axes": ("empty",)}
ROOTED: Final[Limits] = {"root": ("negative", "nonnegative")}

# "If specified None or empty, dim 0 must divide equally": no sizes at all say something else.
SIZES: Final = ("given", "repeated", "negative")
SPLITS: Final[Limits] = {**MOVING, "ranks": ("alike", "rows", "different"), "sends": SIZES, "receives": SIZES}

# Tensors and views of them, copy_ and clone. Tensor.copy_ says nothing of storage that both share.
TENSORS: Final = ("buffer", "view", "assign", "copy", "free", "start")
FLOW: Final = (
    "part", "feedback", "write_seen", "written_through", "old_result", "old_copy", "old_result_alone", "survives_free",
    "in_flight", "out_of_order", "done_twice", "started_alone", "started_over_nothing", "started_several",
    "started_none", *(word for word in COMPUTING_FLOW if word != "computed_over"),
)  # fmt: skip
"""Before wait nothing is promised ("the process is blocked until the operation is finished" by it, and only isend says
that its tensor must not be modified before): nobody may read or write what is under way, or free it, or never wait.
Every call has as many outputs as inputs, so they cannot be miscounted."""

WRITING: Final[Limits] = {"effects": (*TENSORS, "in_place"), "flow": FLOW}
"""The function "operates in-place": there is no output beside the input."""

FILLING: Final[Limits] = {"effects": (*TENSORS, "into"), "flow": FLOW}
"""An output tensor, or a list of them, which may be parts of one."""

RECEIVING: Final[Limits] = {"effects": (*(word for word in TENSORS if word != "start"), "into"), "flow": FLOW}
"""irecv takes the "tensor to fill with received data". What isend was given must not be modified before its request
completes, and only recv waits for that: nobody may write or free what is under way."""

WAITING: Final[Limits] = {"effects": TENSORS, "flow": FLOW}
"""reduce operates in place too, but what it leaves anywhere but on the root is not said."""

PATIENCE: Final = 8.0
"""Seconds: twice the time after which the ranks of a case are ended, which is past every timeout of the process groups;
a timeout that may be the machine's fault is tried again."""

C10D: Final[Claims] = {
    "all_reduce": {**ANY_GROUPS, **REDUCING, **COMPLEX_TOO, **NOT_LOCAL, **WRITING},
    "reduce": {**ANY_GROUPS, **REDUCING, **ROOTED, **WAITING},
    "all_gather": {**EQUAL_GROUPS, **MOVING, **FILLING},
    # Its page says nothing of complex numbers.
    "gather": {**EQUAL_GROUPS, **MOVING, **FILLING, "dtype": REALS},
    "scatter": {**EQUAL_GROUPS, **MOVING, **FILLING},
    "reduce_scatter": {**EQUAL_GROUPS, **REDUCING, **FILLING},
    "all_to_all": {**EQUAL_GROUPS, **MOVING, **DENSE, **FILLING},
    "all_to_all_uneven": {**EQUAL_GROUPS, **SPLITS, **DENSE, **FILLING},
    "permute": MESSAGES,
    # No sources are no sends and no receives: Torch never hears of it.
    "shuffle": {**MESSAGES, "sources": ("given",)},
    # Every member starts its own sends, and none is member -1: Torch never hears of that source.
    "send": {**MESSAGES, **RECEIVING, "pairs": ("given", "empty", "partial")},
    "recv": {**MESSAGES, **RECEIVING},
    "broadcast": {**ANY_GROUPS, **MOVING, **ROOTED, **WRITING},
    "barrier": ANY_GROUPS,
    "axis_index": ANY_GROUPS,
    "axis_size": ANY_GROUPS,
}

SOME: Final[Limits] = {"operands": ("one", "several")}
"""Coalesced forms take lists of tensors, and nothing is said of one without any."""

FUNCTIONAL: Final[Claims] = {
    # No page of theirs speaks of complex numbers. Each but the last has a form that writes a tensor it is given:
    # all_reduce_, broadcast_, or one with an output.
    "all_reduce": {**ANY_GROUPS, **NAMING, **SOME, **NOT_LOCAL, **WRITING},
    # "Concatenate over gather_dim": there is no stacked form. The page also notes that only dimension 0 is
    # supported, against its own signature; no feature word tells axis 0 from the others, so no limit here.
    "all_gather": {**EQUAL_GROUPS, **MOVING_REALS, **SOME, **FILLING, "tiled": ("true",)},
    # scatter_dim splits a dimension and keeps it: there is no stacked form.
    "reduce_scatter": {**EQUAL_GROUPS, **NAMING, **SOME, **FILLING, "tiled": ("true",)},
    # shard_dim_alltoall keeps both dimensions, and nothing says that they may be counted from the end.
    "all_to_all": {
        **EQUAL_GROUPS, **MOVING_REALS, "tiled": ("true",), "split_axis": ("nonnegative",),
        "concat_axis": ("nonnegative",),
    },
    "all_to_all_uneven": {**EQUAL_GROUPS, **SPLITS, **MOVING_REALS, "ranks": SPLITS["ranks"], **DENSE, **FILLING},
    "broadcast": {**ANY_GROUPS, **MOVING_REALS, **ROOTED, **WRITING},
    # batch_p2p_ops, isend and irecv take the place of c10d's functions of these names.
    "permute": MESSAGES,
    "send": C10D["send"],
    "recv": C10D["recv"],
    # permute_tensor takes one destination for every source: a whole permutation, which shuffle lists by source.
    # It is an exchange, with the dtypes of one.
    "shuffle": {**MESSAGES, "dtype": REALS},
    # There is no gather, scatter, reduce or barrier among them.
}  # fmt: skip

DEPARTING: Final[Limits] = {"faults": ("apart", "late", "dies")}
"""TORCH_DISTRIBUTED_DEBUG=DETAIL: "ensuring all collective functions match and are called with consistent tensor
shapes", and that "all ranks complete their outstanding collective calls". Of attributes and dtypes it says nothing."""

COMPARED: Final = frozenset(C10D) - {"permute", "shuffle", "send", "recv"}
"""Collective functions: what sends and receives come to is not compared."""

CHECKED: Final[Claims] = {name: {**C10D[name], **(DEPARTING if name in COMPARED else {})} for name in C10D}

C10D_GUARANTEES: Final[tuple[Guarantee, ...]] = ("ranks_agree",)
"""distributed.all_reduce: "tensor is going to be bitwise identical in all processes". use_deterministic_algorithms
promises of the operations it lists that they "always produce the same output", and no collective is among them."""

FUNCTIONAL_GUARANTEES: Final[tuple[Guarantee, ...]] = ()
"""Their all_reduce says that "all machines get the final result", and nothing of its bits."""
