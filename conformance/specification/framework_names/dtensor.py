"""Names of Torch 2.13's DTensor; executed over gloo."""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_DTENSOR = Framework("dtensor")

DTENSOR: Final = (
    _DTENSOR.equal(
        "Shard",
        "a split",
        "sharded.C11 sharded.C12",
        "Parts are cut as `torch.chunk` cuts: 5 rows on 4 devices are 2, 2, 1 and 0.",
    ),
    _DTENSOR.equal(
        "Shard",
        "a split along several mesh axes",
        "sharded.C17 sharded.C12",
        "Chunk after chunk: the first mesh axis cuts the tensor as `torch.chunk` does, the second cuts each chunk. "
        "5 rows "
        "on a 2x2 mesh are 2, 1, 1, 1, and on a 2x4 mesh 1, 1, 1, 0, 1, 1, 0, 0.",
        aspect="two mesh axes on one tensor axis, [Shard(0), Shard(0)]",
    ),
    _DTENSOR.equal("Replicate", "a replica", "sharded.C3"),
    _DTENSOR.equal("Partial", "a partial axis", "sharded.C15", "`full_tensor` folds the contributions."),
    _DTENSOR.equal(
        "Partial",
        "a partial axis",
        "sharded.C15",
        "Adding a number is not linear, so that the contributions are folded first: the number is added once.",
        aspect="plus a number",
    ),
    _DTENSOR.equal("Partial", "a partial axis", "sharded.C15", "Linear.", aspect="times a number"),
    *(
        _DTENSOR.equal(
            "Partial",
            "a partial axis",
            "sharded.C15",
            "Not linear: the contributions are folded first.",
            aspect=aspect,
        )
        for aspect in ("max", "a comparison", "conversion to int32", "a product of two", "relu")
    ),
    _DTENSOR.equal(
        "Partial",
        "a partial axis",
        "sharded.C15",
        "The contributions are folded by max before the number is added.",
        aspect='Partial("max") plus a number',
    ),
    _DTENSOR.otherwise(
        "DTensor.item",
        "the fold",
        "sharded.C15 sharded.C22",
        "Gives the rank's own contribution, which is another number on each rank. `full_tensor().item()` gives the "
        "fold.",
        aspect="of Partial",
    ),
    _DTENSOR.equal(
        "DTensor.copy_",
        "an assign across placements",
        "sharded.C32 sharded.C35",
        "The target keeps its placement: the value is moved there first.",
        aspect="of Shard into Replicate",
    ),
    _DTENSOR.equal(
        "DTensor.copy_",
        "an assign across placements",
        "sharded.C15 sharded.C32",
        "The contributions are folded first.",
        aspect="of Partial into Shard",
    ),
    _DTENSOR.equal("DTensor.redistribute", "a copy to a placement", "sharded.C35 sharded.C40"),
    _DTENSOR.equal(
        "DTensor.redistribute",
        "a copy to a split of a partial tensor",
        "sharded.C15 sharded.C22 sharded.C35",
        "A reduce_scatter.",
        aspect="from Partial to Shard",
    ),
    _DTENSOR.equal(
        "DTensor.redistribute",
        "a copy to `{}` of a partial tensor",
        "sharded.C15 sharded.C35",
        "An all_reduce.",
        aspect="from Partial to Replicate",
    ),
    _DTENSOR.otherwise(
        "DTensor.redistribute",
        "a partial axis",
        "sharded.C15",
        "Raises RuntimeError: a tensor becomes partial by a fold that stays pending, and not by a move.",
        aspect="to Partial",
    ),
    _DTENSOR.otherwise(
        "DTensor.redistribute",
        "a partial axis",
        "sharded.C15",
        "Raises RuntimeError: contributions to a sum are none to a mean.",
        aspect="from one reduction of Partial to another",
    ),
    _DTENSOR.equal("DTensor.full_tensor", "a copy to `{}`", "sharded.C35"),
    _DTENSOR.equal("distribute_tensor", "a copy to a placement", "sharded.C4 sharded.C12"),
    _DTENSOR.equal(
        "distribute_tensor",
        "a partial axis",
        "sharded.C15",
        "Each device holds the tensor divided by their number, so that the fold is the tensor.",
        aspect="to Partial",
    ),
    _DTENSOR.equal("DTensor.from_local", "a placement of parts", "sharded.C2 sharded.C11"),
    _DTENSOR.equal(
        "DTensor.from_local",
        "transpose of all_reduce of an unreduced operand",
        "transposes.C1",
        "Each contribution has the gradient of the fold itself, on every device and not divided by their number.",
        aspect="gradient of Partial",
    ),
    _DTENSOR.otherwise(
        "DTensor.from_local",
        "a placement of parts of any sizes",
        "sharded.C2 sharded.C12",
        "Parts have to have the sizes that `torch.chunk` gives; of others `full_tensor` gives wrong elements, "
        "without an "
        "error. Here a placement says where each part begins and ends.",
        aspect="of parts that chunk does not give",
    ),
    _DTENSOR.otherwise(
        "DTensor.max",
        "a fold along a split axis",
        "sharded.C13 sharded.C22",
        "The device whose part is empty raises RuntimeError, and the others, which have the maximum of their own "
        "parts, "
        "wait for it in `full_tensor`. So does min.",
        aspect="of an empty part",
    ),
    _DTENSOR.silent(
        "DTensor.from_local",
        "Parts are taken as they are: without `run_check` nothing tests that replicas agree or that parts fit.",
        "sharded.C2 sharded.C3",
        aspect="run_check",
    ),
    _DTENSOR.equal(
        "DeviceMesh",
        "all_reduce over tp",
        "collective.C25",
        'The ranks of a mesh are in row-major order. `mesh["tp"].get_group()`, a submesh, has the ranks that differ '
        "along that axis alone.",
        aspect="a slice along one axis",
    ),
    _DTENSOR.equal(
        "distribute_tensor",
        "a split",
        "sharded.C7",
        "Both refuse it: there is no such axis.",
        aspect="Shard of a tensor without axes",
    ),
    _DTENSOR.equal("DTensor.mean", "a fold along a split axis", "sharded.C22 sharded.C13", aspect="of unequal parts"),
    _DTENSOR.equal("DTensor.to_local", "a part", "sharded.C1"),
    _DTENSOR.equal(
        "DTensor.to_local",
        "transpose of all_reduce of an unreduced operand",
        "transposes.C1",
        "Without `grad_placements` the gradient of a partial tensor is taken as replicated: `to_local` and "
        "`from_local` in a row change no gradient.",
        aspect="gradient of Partial",
    ),
    _DTENSOR.otherwise(
        "DTensor.view",
        "reshape",
        "sharded.C23 sharded.C42",
        "Raises RuntimeError where a view merges an axis that is split in unequal parts. Its value is that of "
        "the whole "
        "tensor; raising is right, too (sharded.C42).",
        aspect="of unequal parts",
    ),
    _DTENSOR.equal("DTensor.sum", "a fold along a split axis", "sharded.C22"),
    _DTENSOR.equal("shard_dim_alltoall", "all_to_all", "all_to_all.C1 sharded.C35", "Shard(0) to Shard(1)."),
)
