"""The clauses that every collective shares, whatever it computes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from conformance.cases.program.operation import Operation
from conformance.judging.clause import Clause, always, legal
from conformance.judging.compare import answered, canonical_bools, inputs_kept, same
from conformance.judging.refusals import blames_argument, refused_by_all
from conformance.judging.subject import Subject
from conformance.reference.operations import TABLE
from conformance.specs.divergences import (
    accepts,
    adds_to_zeros,
    any_nan,
    asserts,
    concerns,
    diverging,
    in_mesh_order,
    means,
    unimplemented,
)
from conformance.specs.op import LEGAL, about, has, rejection, value

ROWS: Final = sorted(TABLE.values(), key=lambda row: row.name)
"""The operations by name, as texts list them."""

IDLE: Final = ("all_gather", "all_reduce", "reduce_scatter")
"""Those that return their operand over no axis in JAX, but for means."""


def _listed(names: Iterable[str], word: str = "and") -> str:
    *most, last = names
    return f"{', '.join(most)} {word} {last}"


def _maps(row: Operation) -> bool:
    """Return whether an operation makes of one block another."""
    return row.operands == 1 and row.result == "block" and not row.takes_token


def without_meaning(subject: Subject) -> bool:
    """Speak about programs without meaning that all ranks run alike."""
    return subject.rejected is not None and subject.rejected.ranks is None


def several_groups(subject: Subject) -> bool:
    """Speak about cases with more than one group."""
    return subject.step.groups is not None and len(subject.step.groups) > 1


def mixed_layouts(subject: Subject) -> bool:
    """Speak about cases in which ranks hold one value in different layouts."""
    return any(len(set(operand.layouts)) > 1 for operand in subject.case.inputs.values())


def returns_bool(subject: Subject) -> bool:
    """Speak about cases with a bool result."""
    return subject.legal and any(
        block is not None and block.dtype == bool for blocks in subject.expected.values() for block in blocks
    )


def may_return_bool(subject: Subject) -> bool:
    """Speak about cases with a bool operand or result: where sums of bool are bool, they are so in bytes too."""
    given = [subject.case.inputs[name] for name in subject.step.inputs if name in subject.case.inputs]
    made = [block for blocks in subject.expected.values() for block in blocks if block is not None]
    read = any(block.dtype == "bool" for operand in given for block in operand.blocks)
    return subject.legal and (read or any(block.dtype == bool for block in made))


def permuted_axes(subject: Subject) -> bool:
    """Speak about cases whose axes are named in another order than the mesh has them."""
    order = [axis.name for axis in subject.case.program.mesh if axis.name in subject.step.axes]
    return list(subject.step.axes) != order


def unnamed_axes(subject: Subject) -> bool:
    """Speak about cases in which some mesh axis is not named and has more than one rank."""
    return any(axis.size > 1 and axis.name not in subject.step.axes for axis in subject.case.program.mesh)


def size_one_axis(subject: Subject) -> bool:
    """Speak about cases that name an axis of size one beside others."""
    sizes = {axis.name: axis.size for axis in subject.case.program.mesh}
    return len(subject.step.axes) > 1 and any(sizes.get(name) == 1 for name in subject.step.axes)


def idle_in_jax(subject: Subject) -> bool:
    """Speak over no axis about the operations that return their operand there in JAX."""
    plain = subject.step.op in IDLE and subject.step.attrs.get("op") != "mean"
    return subject.legal and subject.step.idle and plain


def about_operands(clause: Clause) -> Clause:
    """Return ``clause``, silent where an operation of operands has none.

    Of the functions of JAX some look at their arguments then (all_gather), and some do not (pbroadcast).
    """

    def speaks(subject: Subject) -> bool:
        return clause.when(subject) and not (TABLE[subject.step.op].operands == 1 and not subject.step.inputs)

    return replace(clause, when=speaks)


COLLECTIVE: tuple[Clause, ...] = (
    Clause(
        "collective.C1",
        "must",
        "In a legal program no rank raises an error, and every rank returns each result that the program asks for and "
        "that the operation has for this rank.",
        legal,
        answered,
        "jax.psum: Returns",
        general=True,
        needs=(LEGAL,),
    ),
    Clause(
        "collective.C2",
        "must",
        "An operation changes no byte of its operands, nor of the memory around and between their elements, except the "
        "elements of its targets.",
        always,
        inputs_kept,
        "torch.inductor.comm_lowering: _all_reduce",
        general=True,
    ),
    Clause(
        "collective.C3",
        "must",
        "A bool result holds only the bytes 0 and 1.",
        about(may_return_bool, dtype=("bool",)),
        canonical_bools,
        "c11.bool",
    ),
    value(
        "collective.C4",
        "A result depends on the elements of a block and not on its memory layout, apart from the order in which terms "
        "are folded (`numerics.C1`).",
        "torch.inductor.comm_lowering: register_comm_lowering",
        has("layout", "strided", "transposed", "flipped", "broadcast", "offset"),
    ),
    rejection(
        "collective.C5",
        "Groups that do not name every position exactly once, or of which one is empty, are rejected, except by an "
        "operation of one operand that names no mesh axis and no local axis (`collective.C30`) or is given no operand "
        "(`collective.C29`). A negative number names no position.",
        "jax.psum: _validate_reduce_axis_index_groups",
        groups=("invalid",),
    ),
    rejection(
        "collective.C6",
        "Groups of unequal size are rejected by every operation except "
        f"{_listed(row.name for row in ROWS if row.groups == 'any')}; over no mesh axis see `collective.C30`, without "
        "operands `collective.C29`.",
        "jax.all_to_all: _all_to_all_lowering",
        groups=("uneven",),
        meeting=("groups",),
    ),
    value(
        "collective.C7",
        "Each group computes alone: no element of a result depends on a block of another group.",
        "jax.psum: axis_index_groups",
        about(several_groups, meeting=("groups",)),
    ),
    value(
        "collective.C8",
        "The position of a member is its place in its group as the group is listed, not the order of its rank.",
        "jax.all_gather: axis_index_groups",
        has("groups", "unsorted"),
    ),
    value(
        "collective.C9",
        "Groups whose members are not consecutive ranks are legal.",
        "jax.all_gather: axis_index_groups",
        about(has("groups", "strided"), meeting=("groups",)),
    ),
    value(
        "collective.C10",
        "Groups of one member are legal.",
        "jax.all_to_all: _all_to_all_lowering",
        has("groups", "singletons"),
    ),
    value(
        "collective.C11",
        "A block without elements is legal where the operation takes its shape, and each result then has the shape "
        "that the operation gives it.",
        "mpi.allreduce: count",
        has("size", "empty"),
    ),
    value(
        "collective.C12",
        "A world of one rank is legal.",
        "jax.psum: _maybe_skip_one_sized_axes",
        about(has("world", "1"), meeting=("world",)),
    ),
    diverging(
        Clause(
            "collective.C13",
            "must",
            "A program that all ranks run alike is, where it is rejected, rejected on every rank.",
            without_meaning,
            refused_by_all,
            "ours",
            general=True,
            needs=(("calls", ("illegal",)),),
        ),
        concerns(
            "torch",
            "isend, irecv and P2POp are calls of the two ranks of a message, of which no other rank hears.",
            ("send", "recv", "permute", "shuffle"),
        ),
    ),
    diverging(
        Clause(
            "collective.C14",
            "should",
            "The error that rejects a program reports a wrong argument, not a failure inside the implementation.",
            without_meaning,
            blames_argument,
            "jax.all_to_all: _all_to_all_is_async",
            general=True,
        ),
        unimplemented(
            "jax",
            "pmax and pmin of complex numbers have a meaning, by lax.max and lax.min; where XLA does not implement it "
            "the error says so.",
            "reduction.C16",
        ),
        asserts(
            "jax",
            "Nothing is said of an axis that is named twice; the batching rules of all_gather, all_to_all and "
            "psum_scatter, which have one mapped axis in mind, end in an assertion.",
            "collective.C23",
        ),
    ),
    value(
        "collective.C15",
        "Where groups differ in size, each member computes with the size of its own group.",
        "jax.psum: axis_index_groups",
        about(has("groups", "uneven"), meeting=("groups",)),
    ),
    value(
        "collective.C16",
        "A block without axes is legal wherever the operation needs no axis of the block.",
        "jax.psum: examples",
        about(has("ndim", "0"), size=("one",)),
    ),
    value(
        "collective.C17",
        "A result is the same whether ranks hold their blocks of one value in one memory layout or in different ones, "
        "apart from the order in which terms are folded (`numerics.C1`).",
        "torch.inductor.comm_lowering: _all_reduce",
        mixed_layouts,
    ),
    diverging(
        replace(
            value(
                "collective.C18",
                "An operation that moves blocks and folds nothing keeps every bit of their elements, NaN payloads"
                " and signs of zeros included.",
                "jax.ppermute: _ppermute_lowering; stablehlo.all_gather",
                about(
                    lambda s: "op" not in s.step.attrs and s.has("values", "nan", "negative_zero"),
                    values=("nan", "negative_zero"),
                ),
            ),
            check=same,
        ),
        adds_to_zeros(
            "tinygrad",
            "Parts are gathered on several devices by adding them to zeros, so that -0.0 becomes 0.0 and a signalling "
            "NaN a quiet one. A gather on one device keeps every bit in 0.14.0.",
        ),
        any_nan(
            "jax",
            'XLA on the processor takes narrow floats through a wider one where it lacks them: "adds F32 <-> BF16 '
            'conversions for HLO instructions that do not support BF16 input/output". A NaN stays a NaN; its sign and '
            "its payload are not kept.",
        ),
    ),
    rejection(
        "collective.C19",
        "Blocks of one operand that have different dtypes are rejected, also over no mesh axis, except there by "
        "all_to_all_uneven (`collective.C30`). Where ranks have faults or run different steps see `liveness.C7`.",
        "torch.distributed: TORCH_DISTRIBUTED_DEBUG",
        requirement="should",
    ),
    rejection(
        "collective.C20",
        "Blocks of one operand that have different shapes are rejected, except by all_to_all_uneven, whose blocks need "
        "rows of one shape (over no mesh axis not even that, `collective.C30`). Where ranks have faults or run "
        "different steps see `liveness.C8`.",
        "torch.distributed: TORCH_DISTRIBUTED_DEBUG",
        requirement="should",
    ),
    Clause(
        "collective.C21",
        "must",
        "Over no mesh axis and no local axis, all_gather, all_reduce and reduce_scatter return each operand with its "
        "dtype, unless they compute a mean (`collective.C30`), also where another clause rejects their attributes; of "
        "unlike blocks see `collective.C19` and `collective.C20`.",
        idle_in_jax,
        same,
        "jax.psum: _psum; jax.all_gather: _all_gather; jax.psum_scatter: _psum_scatter",
        each=True,
        needs=(LEGAL, ("axes", ("none",))),
    ),
    about_operands(
        rejection(
            "collective.C22",
            "A mesh axis that the mesh does not have is rejected. Nothing is asked of an operation of "
            "one operand that is given none.",
            "jax.psum: _check_axis_names",
            axes=("invalid",),
            meeting=("invalid",),
        )
    ),
    diverging(
        rejection("collective.C23", "A mesh axis that is named twice is rejected.", "ours", requirement="should"),
        accepts("jax", "Some functions multiply by the size of an axis as often as it is named, such as axis_size."),
    ),
    diverging(
        value(
            "collective.C24",
            "Where an operation names several mesh axes, positions count in row-major order of these axes as they "
            "are named.",
            "jax.axis_index",
            about(permuted_axes, axes=("several",)),
        ),
        means(
            "jax",
            "ppermute, pshuffle, psend and precv sort the ranks of a group, so that positions count in the order of "
            "the mesh.",
            in_mesh_order,
        ),
    ),
    value(
        "collective.C25",
        "Ranks meet only ranks that have equal coordinates along all mesh axes that the operation does not name.",
        "jax.psum: _replica_groups",
        about(unnamed_axes, meeting=("groups",)),
    ),
    value(
        "collective.C26",
        "An operation of one operand that is given several returns for each the result that it returns for that "
        "operand alone, apart from rounding.",
        "jax.psum: tree_map",
        has("operands", "several"),
    ),
    Clause(
        "collective.C27",
        "must",
        "An operation of one operand that is given none is legal, whatever its attributes are, and has no results; of "
        "wrong mesh axes see `collective.C22` and `collective.C23`, of wrong groups `collective.C29`, of targets "
        "`aliasing.C17`.",
        lambda s: s.legal and s.has("operands", "none") and not s.has("groups", "invalid"),
        same,
        "jax.psum: tree_map",
        each=True,
        needs=(LEGAL, ("operands", ("none",))),
    ),
    value(
        "collective.C28",
        "A mesh axis of size one that is named beside other axes changes no result, apart from the order in which "
        "terms are folded (`numerics.C1`).",
        "jax.psum: _maybe_skip_one_sized_axes",
        about(size_one_axis, axes=("several",)),
    ),
    Clause(
        "collective.C29",
        "should",
        "An operation of one operand that is given none does not reject wrong groups.",
        lambda s: s.legal and s.has("operands", "none") and s.has("groups", "invalid"),
        same,
        "jax.psum: tree_map",
        each=True,
    ),
    Clause(
        "collective.C30",
        "should",
        "Over no mesh axis and no local axis, a mean of all_reduce or reduce_scatter, and every "
        f"{_listed((row.name for row in ROWS if _maps(row) and row.name not in IDLE), 'or')}, returns its operand with "
        "its dtype on every rank, whatever its attributes; a recv returns what was sent. "
        "Of unlike blocks see `collective.C19`.",
        lambda s: s.legal and s.step.idle and not idle_in_jax(s),
        same,
        "ours",
        each=True,
    ),
)

ABOUT_OPERANDS = (2, 3, 4, 11, 16, 17, 18, 19, 20, 21, 26, 27, 29, 30)
"""Numbers of the clauses that only speak where there are operands."""

WITHOUT_OPERANDS = tuple(clause for number, clause in enumerate(COLLECTIVE, 1) if number not in ABOUT_OPERANDS)
