"""The clauses that every collective shares, whatever it computes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from conformance.judging.clause import Clause, always, legal
from conformance.judging.compare import answered, canonical_bools, inputs_kept, same
from conformance.judging.divergences import (
    NARROW_NAN,
    accepts,
    adds_to_zeros,
    asserts,
    concerns,
    diverging,
    in_mesh_order,
    means,
    unimplemented,
)
from conformance.judging.refusals import blames_argument, refused_by_all
from conformance.reference.operations import TABLE
from conformance.specs.families.collective_conditions import (
    IDLE,
    about_operands,
    idle_in_jax,
    may_return_bool,
    mixed_layouts,
    permuted_axes,
    several_groups,
    size_one_axis,
    unnamed_axes,
    unsorted_groups,
    without_meaning,
)
from conformance.specs.op import LEGAL, about, has, rejection, value

ROWS: Final = sorted(TABLE.values(), key=lambda row: row.name)
"""The operations by name, as texts list them."""


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}"


COLLECTIVE: tuple[Clause, ...] = (
    Clause(
        "collective.C1",
        "must",
        "In a legal program of which no rank dies, no rank raises an error, and each rank returns every result of the "
        "program that the operation which makes it gives this rank. Results that only a recommendation settles are "
        "not demanded.",
        legal,
        answered,
        "jax.psum: Returns",
        general=True,
        needs=(LEGAL,),
    ),
    Clause(
        "collective.C2",
        "must",
        "A step changes no byte of its operands, nor of the memory around and between their elements, nor an element "
        "of any other buffer, except the elements of its targets, also where the program is rejected.",
        always,
        inputs_kept,
        "torch.inductor.comm_lowering: _all_reduce",
        general=True,
    ),
    Clause(
        "collective.C3",
        "must",
        "Each element of a result of dtype bool is the byte 0 or the byte 1.",
        about(may_return_bool, dtype=("bool",)),
        canonical_bools,
        "c11.bool",
    ),
    value(
        "collective.C4",
        "A result depends on the elements of an operand and not on the layouts of its blocks, apart from the order in "
        "which terms are folded (`numerics.C1`).",
        "torch.inductor.comm_lowering: register_comm_lowering",
        has("layout", "strided", "transposed", "flipped", "broadcast", "offset"),
    ),
    rejection(
        "collective.C5",
        "Groups that do not name every position along the mesh axes of the step exactly once, or of which one is "
        "empty, are rejected, except by an operation of one operand over no mesh axis and no local axis "
        "(`collective.C21`, `collective.C30`) or without operands (`collective.C29`). Negative numbers name no "
        "position.",
        "jax.psum: _validate_reduce_axis_index_groups",
        groups=("invalid",),
    ),
    rejection(
        "collective.C6",
        "Groups of unequal size are rejected by every operation except "
        f"{_listed(row.name for row in ROWS if row.groups == 'any')}; over no mesh axis see `collective.C21` and "
        "`collective.C30`, without operands `collective.C27`.",
        "jax.all_to_all: _all_to_all_lowering",
        groups=("uneven",),
        meeting=("groups",),
    ),
    value(
        "collective.C7",
        "Each group computes alone: no element of the result of a collective on a rank depends on the operands' "
        "blocks of a rank outside its group.",
        "jax.psum: axis_index_groups",
        about(several_groups, meeting=("groups",)),
    ),
    value(
        "collective.C8",
        "The position of a member in its group is its place in the list that names the group, counted from 0, "
        "whatever the ranks of the members are.",
        "jax.all_gather: axis_index_groups",
        about(unsorted_groups, groups=("unsorted",)),
    ),
    value(
        "collective.C9",
        "A group of positions that are not consecutive numbers is legal.",
        "jax.all_gather: axis_index_groups",
        about(has("groups", "strided"), meeting=("groups",)),
    ),
    value(
        "collective.C10",
        "A group of one member is legal.",
        "jax.all_to_all: _all_to_all_lowering",
        has("groups", "singletons"),
    ),
    value(
        "collective.C11",
        "A block without elements is legal unless another clause rejects its shape, and each result has the shape "
        "that the operation makes of that shape, as it does of others.",
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
            "If one rank raises an error in an illegal program whose steps all ranks run, without faults, then every "
            "rank raises one.",
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
            "In an illegal program whose steps all ranks run, without faults, each error that a rank raises reports a "
            "wrong argument and not a failure inside the implementation, unless it only reports that another rank has "
            "ended.",
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
        "Where groups of one step differ in size, each member's result is computed with the number of members of its "
        "own group.",
        "jax.psum: axis_index_groups",
        about(has("groups", "uneven"), meeting=("groups",)),
    ),
    value(
        "collective.C16",
        "A block without axes is legal unless the step names an axis of the block, as a tiled all_gather does, or the "
        "operation cuts the block along an axis, as scatter does.",
        "jax.psum: examples",
        about(has("ndim", "0"), size=("one",)),
    ),
    value(
        "collective.C17",
        "A result is the same, apart from the order in which terms are folded (`numerics.C1`), whether the blocks of "
        "an operand have one layout on all ranks or different ones.",
        "torch.inductor.comm_lowering: _all_reduce",
        mixed_layouts,
    ),
    diverging(
        replace(
            value(
                "collective.C18",
                "An operation that moves blocks and folds nothing keeps every bit of the elements that it moves, NaN "
                "payloads and signs of zeros included.",
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
        NARROW_NAN,
    ),
    rejection(
        "collective.C19",
        "A collective is rejected where the blocks of one of its operands have different dtypes on different ranks, "
        "also over no mesh axis, except there by all_to_all_uneven (`collective.C30`). Where ranks have faults or run "
        "different steps see `liveness.C7`.",
        "torch.distributed: TORCH_DISTRIBUTED_DEBUG",
        requirement="should",
    ),
    rejection(
        "collective.C20",
        "A collective is rejected where the blocks of one operand have different shapes on different ranks, also over "
        "no mesh axis; all_to_all_uneven asks only for rows of one shape, and over no mesh axis for nothing "
        "(`collective.C30`). Where ranks have faults or run different steps see `liveness.C8`.",
        "torch.distributed: TORCH_DISTRIBUTED_DEBUG",
        requirement="should",
    ),
    Clause(
        "collective.C21",
        "must",
        "Over no mesh axis and no local axis, all_gather, all_reduce and reduce_scatter return each operand "
        "unchanged, in its dtype, on every rank, whatever their attributes and groups, unless they compute a mean "
        "(`collective.C30`); of unlike blocks see `collective.C19` and `collective.C20`.",
        idle_in_jax,
        same,
        "jax.psum: _psum; jax.all_gather: _all_gather; jax.psum_scatter: _psum_scatter",
        each=True,
        needs=(LEGAL, ("axes", ("none",))),
    ),
    about_operands(
        rejection(
            "collective.C22",
            "A step that names a mesh axis which the mesh does not have is rejected. Of an operation of one operand "
            "that is given none this is not asked.",
            "jax.psum: _check_axis_names",
            axes=("invalid",),
            meeting=("invalid",),
        )
    ),
    diverging(
        rejection(
            "collective.C23",
            "A step that names one mesh axis twice is rejected, also without operands.",
            "ours",
            requirement="should",
        ),
        accepts("jax", "Some functions multiply by the size of an axis as often as it is named, such as axis_size."),
    ),
    diverging(
        value(
            "collective.C24",
            "Where a step names several mesh axes, positions count in row-major order of these axes as the step names "
            "them: the coordinate along the last one changes fastest.",
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
        "In a step a rank meets only ranks whose coordinates equal its own along every mesh axis that the step does "
        "not name.",
        "jax.psum: _replica_groups",
        about(unnamed_axes, meeting=("groups",)),
    ),
    value(
        "collective.C26",
        "An operation of one operand that is given several returns for each the result that it returns for that "
        "operand alone, apart from the order in which terms are folded (`numerics.C1`).",
        "jax.psum: tree_map",
        has("operands", "several"),
    ),
    Clause(
        "collective.C27",
        "must",
        "An operation of one operand that is given none is legal, whatever its attributes and groups are, and has no "
        "results; of wrong mesh axes see `collective.C22` and `collective.C23`, of groups that `collective.C5` "
        "rejects `collective.C29`, of targets `aliasing.C17`.",
        lambda s: s.legal and s.has("operands", "none") and not s.has("groups", "invalid"),
        same,
        "jax.psum: tree_map",
        each=True,
        needs=(LEGAL, ("operands", ("none",))),
    ),
    value(
        "collective.C28",
        "A step that names a mesh axis of size one beside other axes has the results that it has without this axis, "
        "apart from the order in which terms are folded (`numerics.C1`).",
        "jax.psum: _maybe_skip_one_sized_axes",
        about(size_one_axis, axes=("several",)),
    ),
    Clause(
        "collective.C29",
        "should",
        "An operation of one operand that is given none does not reject groups that leave a position out, name one "
        "twice, name a number that is no position, or are empty.",
        lambda s: s.legal and s.has("operands", "none") and s.has("groups", "invalid"),
        same,
        "jax.psum: tree_map",
        each=True,
    ),
    Clause(
        "collective.C30",
        "should",
        "Over no mesh axis and no local axis, a mean, and every operation that makes of one block another but "
        f"{_listed(IDLE)} (`collective.C21`), returns operands unchanged on every rank, whatever its "
        "attributes and groups, and a recv what was sent; of unlike blocks see `collective.C19`, `collective.C20`.",
        lambda s: s.legal and s.step.idle and not idle_in_jax(s),
        same,
        "ours",
        each=True,
    ),
)

ABOUT_OPERANDS = (2, 3, 4, 11, 16, 17, 18, 19, 20, 21, 26, 27, 29, 30)
"""Numbers of the clauses that only speak where there are operands."""

WITHOUT_OPERANDS = tuple(clause for number, clause in enumerate(COLLECTIVE, 1) if number not in ABOUT_OPERANDS)
