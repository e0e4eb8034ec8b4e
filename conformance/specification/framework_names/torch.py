"""Names of Torch 2.13: the collectives of c10d and its reductions; executed over gloo."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_TORCH = Framework("torch")
_OLD: Final = "deprecated in 2.13; use {}"

TORCH: Final = (
    _TORCH.equal("ReduceOp.SUM", 'op="sum"', "reduction.C1"),
    _TORCH.otherwise(
        "ReduceOp.SUM",
        'op="sum"',
        "reduction.C11 reduction.C21",
        "A sum of bools is a bool, their or. reduction.C11 recommends to count in int32.",
        aspect="of bools",
    ),
    _TORCH.equal("ReduceOp.AVG", 'op="mean"', "reduction.C9 numerics.C2", "Of floats and complex numbers."),
    _TORCH.otherwise(
        "ReduceOp.AVG",
        'op="mean"',
        "reduction.C13 reduction.C22",
        "Over gloo it raises RuntimeError: the result type Float cannot be cast to Int.",
        aspect="of integers",
    ),
    _TORCH.equal("ReduceOp.PRODUCT", 'op="product"', "reduction.C2"),
    _TORCH.equal("ReduceOp.MAX", 'op="max"', "reduction.C3"),
    _TORCH.equal("ReduceOp.MIN", 'op="min"', "reduction.C4"),
    _TORCH.otherwise(
        "ReduceOp.MAX",
        'op="max"',
        "reduction.C20",
        "Compared as C++ compares: a NaN among the members can be kept, dropped, or hide a greater number. "
        "The order of "
        "the algorithm decides. ReduceOp says nothing of NaN.",
        aspect="of NaN over gloo",
    ),
    _TORCH.equal("ReduceOp.BAND", 'op="and"', "reduction.C5 reduction.C15"),
    _TORCH.equal("ReduceOp.BOR", 'op="or"', "reduction.C6 reduction.C15"),
    _TORCH.equal("ReduceOp.BXOR", 'op="xor"', "reduction.C7 reduction.C15"),
    _TORCH.otherwise(
        "ReduceOp.PREMUL_SUM",
        'op="premul_sum"',
        "reduction.C8",
        "NCCL alone has it; gloo raises RuntimeError.",
        aspect="over gloo",
    ),
    _TORCH.equal(
        "distributed.all_reduce", "all_reduce", "all_reduce.C1 aliasing.C2", "In place: the operand is the target."
    ),
    _TORCH.otherwise(
        "distributed.all_reduce",
        "all_reduce(groups)",
        "collective.C5",
        "A rank outside `group` gets a warning and keeps its tensor. Here groups name every rank, or a step "
        "is for some "
        "ranks alone.",
        aspect="called outside its group",
    ),
    _TORCH.equal(
        "distributed.all_reduce_coalesced", "all_reduce of several operands", "collective.C26", status="deprecated"
    ),
    _TORCH.equal("distributed.all_gather", "all_gather(tiled=False)", "all_gather.C2", "The list is the new axis."),
    _TORCH.equal(
        "distributed.all_gather",
        "all_gather(tiled=False)",
        "collective.C20",
        "Both refuse it: gloo raises RuntimeError, *invalid tensor size at index 1*, although the list form is "
        "documented to take them.",
        aspect="of tensors of unequal sizes, over gloo",
    ),
    _TORCH.documented_otherwise(
        "distributed.all_gather",
        "all_gather(tiled=False)",
        "collective.C20 all_to_all_uneven.C1",
        "The list form takes tensors of a size for each rank, and each rank's lands in its own tensor of the list. "
        "Here blocks of other shapes should be rejected; all_to_all_uneven moves rows of unequal numbers.",
        aspect="of tensors of unequal sizes, over NCCL",
    ),
    _TORCH.equal(
        "distributed.all_gather_into_tensor",
        "all_gather(axis=0, tiled=True)",
        "all_gather.C3",
        status=_OLD.format("all_gather_single"),
    ),
    _TORCH.otherwise(
        "distributed.all_gather_into_tensor",
        "all_gather(axis=0, tiled=False)",
        "all_gather.C2",
        "Documented to stack where the output has an axis of members; gloo raises RuntimeError.",
        aspect="into an output with an axis of members",
    ),
    _TORCH.equal(
        "distributed.all_gather_single", "all_gather(axis=0, tiled=True)", "all_gather.C3", status="new in 2.13"
    ),
    _TORCH.equal(
        "distributed.all_gather_coalesced", "all_gather of several operands", "collective.C26", status="deprecated"
    ),
    _TORCH.equal(
        "distributed.reduce_scatter",
        "reduce_scatter(axis=0, tiled=True)",
        "reduce_scatter.C3",
        "The list holds the pieces of the block.",
    ),
    _TORCH.otherwise(
        "distributed.reduce_scatter",
        "reduce_scatter(axis=0, tiled=True)",
        "reduce_scatter.C6",
        "Tensors of the list need not be alike: the member at position p receives the fold of the p-th ones, so that 5 "
        "rows on 4 ranks are cut as 2, 1, 1, 1. Here all pieces are alike, and 5 rows are rejected.",
        aspect="of parts of unequal sizes",
    ),
    _TORCH.equal(
        "distributed.reduce_scatter_tensor",
        "reduce_scatter(axis=0, tiled=True)",
        "reduce_scatter.C3",
        status=_OLD.format("reduce_scatter_single"),
    ),
    _TORCH.equal(
        "distributed.reduce_scatter_single",
        "reduce_scatter(axis=0, tiled=True)",
        "reduce_scatter.C3",
        status="new in 2.13",
    ),
    _TORCH.equal("distributed.all_to_all", "all_to_all(split_axis=0, concat_axis=0, tiled=True)", "all_to_all.C1"),
    _TORCH.otherwise(
        "distributed.all_to_all",
        "all_to_all_uneven",
        "all_to_all_uneven.C1",
        "Over gloo it raises RuntimeError, *invalid tensor size*. Documented to take them, as NCCL does.",
        aspect="of tensors of unequal sizes, over gloo",
    ),
    _TORCH.equal(
        "distributed.all_to_all_single", "all_to_all(split_axis=0, concat_axis=0, tiled=True)", "all_to_all.C3"
    ),
    _TORCH.equal(
        "distributed.all_to_all_single",
        "all_to_all_uneven",
        "all_to_all_uneven.C1 all_to_all_uneven.C2 all_to_all_uneven.C3",
        "`input_split_sizes` are the sends, `output_split_sizes` the receives.",
        aspect="with split sizes",
    ),
    _TORCH.silent(
        "distributed.all_to_all_single",
        "Nothing is documented of sizes on two ranks that do not match. Over gloo the process of a receiver that "
        "expects "
        "fewer rows ends; no test does that. Here it should be rejected.",
        "all_to_all_uneven.C5",
        ours="all_to_all_uneven",
        aspect="with split sizes that do not match",
    ),
    _TORCH.otherwise(
        "distributed.broadcast",
        "broadcast(root)",
        "broadcast.C2",
        "`src` is a rank of the world, not a position in the group: in the group of the ranks 1 and 3, src=1 is "
        "position 0. A src that is not in the group raises.",
        aspect="src",
    ),
    _TORCH.equal(
        "distributed.broadcast", "broadcast(root)", "broadcast.C2", "The position in the group.", aspect="group_src"
    ),
    _TORCH.otherwise(
        "distributed.reduce",
        "reduce(root)",
        "reduce.C2",
        "`dst` is a rank of the world, not a position in the group.",
        aspect="dst",
    ),
    _TORCH.equal("distributed.reduce", "reduce(root)", "reduce.C2", "The position in the group.", aspect="group_dst"),
    _TORCH.otherwise(
        "distributed.reduce",
        "reduce(root)",
        "reduce.C1 aliasing.C14",
        "Over gloo the tensors of other ranks hold partial sums afterwards. Here a rank without a result keeps its "
        "elements.",
        aspect="the tensor on other ranks",
    ),
    _TORCH.otherwise(
        "distributed.gather",
        "gather(root)",
        "gather.C4",
        "`dst` is a rank of the world, not a position in the group.",
        aspect="dst",
    ),
    _TORCH.equal("distributed.gather", "gather(root)", "gather.C4", "The position in the group.", aspect="group_dst"),
    _TORCH.otherwise(
        "distributed.scatter",
        "scatter(root)",
        "scatter.C4",
        "`src` is a rank of the world, not a position in the group.",
        aspect="src",
    ),
    _TORCH.equal(
        "distributed.scatter", "scatter(root)", "scatter.C4", "The position in the group.", aspect="group_src"
    ),
    _TORCH.equal(
        "distributed.scatter",
        "scatter(tiled=False)",
        "scatter.C1 scatter.C2",
        "`scatter_list` has the pieces on the source alone; other ranks give None.",
        aspect="scatter_list",
    ),
    _TORCH.equal(
        "distributed.gather",
        "gather(tiled=False)",
        "gather.C1 gather.C2",
        "`gather_list` receives the blocks on the destination alone; other ranks give None.",
        aspect="gather_list",
    ),
    *(
        _TORCH.equal(
            f"distributed.{name}",
            f"{name}(tiled=False)",
            "collective.C20" if name == "gather" else "scatter.C8",
            "Both refuse it: its documents demand one size. Over gloo the root alone raises at once, *invalid tensor "
            "size*; the others raise when their time is over.",
            aspect="of tensors of unequal sizes",
        )
        for name in ("gather", "scatter")
    ),
    _TORCH.otherwise(
        "distributed.new_group",
        "groups",
        "collective.C8",
        "Sorts the ranks: `new_group([3, 1])` has rank 1 at position 0. Here positions are in the order that "
        "is listed.",
    ),
    _TORCH.documented_otherwise(
        "distributed.new_group",
        "several starts",
        "async.C8 async.C18 liveness.C10",
        "Over NCCL several groups are not safe to use at once: they can hang. Here collectives of several groups under "
        "way at once all end.",
        aspect="two groups at once",
    ),
    _TORCH.equal("distributed.get_rank", "axis_index", "axis_index.C1", "Of a group: the position in it."),
    _TORCH.equal("distributed.get_world_size", "axis_size", "axis_size.C1", "Of a group: its size."),
    _TORCH.equal("distributed.barrier", "barrier", "barrier.C1"),
)
