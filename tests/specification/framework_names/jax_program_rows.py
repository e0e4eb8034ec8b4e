"""Names of JAX for what is around collectives: starts, modes of types, mapping, placements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.cases.graph.promotion import promoted as least_dtype
from tests.specification.framework_names.jax_rows import (
    FLOATS,
    PAIRS,
    RING,
    Given,
    X,
    at_once,
    call,
    internal,
    jax_rows,
    lax,
    mapped,
)
from tests.specification.framework_names.rows import WORLD, reference, says


def started(x: Any) -> Any:
    return internal().psum_start(x, "i").done()


call("parallel.psum_start", "", started, reference("all_reduce", X, op="sum"), typed=True)


def twice(x: Any) -> Any:
    begun = internal().psum_start(x, "i")
    return begun.done() + begun.done()


call("parallel.psum_start", "a second done", twice, says("int32 [20, 200]"), typed=True, shown="raises JaxRuntimeError")


def of_loss(x: Any) -> Any:
    """Return the derivative of the sum over ranks of each rank's own loss, 3 times its first element."""
    import jax

    return jax.grad(lambda y: lax().psum(3 * y[0], "i"))(x)


for name, typed, value in (("check_vma=True", True, 3.0), ("check_vma=False", False, 12.0)):
    jax_rows(f"shard_map({name})", "the derivative of psum", ours=says(f"float32 [{value}, 0.0]"))(
        at_once(lambda typed=typed: mapped(of_loss, FLOATS, "float32", typed=typed))
    )


def over_slices(function: Given) -> Callable[[int], Any]:
    def run(device: int) -> Any:
        import jax

        made = jax.vmap(function, axis_name="i")(np.array(X, "int32"))
        return made[device]

    return run


jax_rows("vmap(axis_name=)", ours=reference("all_reduce", X, op="sum"))(over_slices(lambda x: lax().psum(x, "i")))
jax_rows(
    "vmap(axis_name=)",
    "ppermute with a position in no pair",
    ours=reference("permute", X, pairs=RING),
    theirs="raises AssertionError",
)(over_slices(lambda x: lax().ppermute(x, "i", RING)))
jax_rows(
    "vmap(axis_name=)",
    "axis_index_groups",
    ours=reference("all_reduce", X, op="sum", groups=PAIRS),
    theirs="raises NotImplementedError",
)(over_slices(lambda x: lax().psum(x, "i", axis_index_groups=[list(pair) for pair in PAIRS])))


@jax_rows("pmap", ours=reference("all_reduce", X, op="sum"))
def _(device: int) -> Any:
    import jax

    return np.asarray(jax.pmap(lambda x: lax().psum(x, "i"), axis_name="i")(np.array(X, "int32")))[device]


def placed(extent: int) -> Any:
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    sharding = NamedSharding(jax.make_mesh((WORLD,), ("i",)), PartitionSpec("i"))
    return jax.device_put(np.arange(extent, dtype="int32"), sharding)


jax_rows("NamedSharding", ours=says("int32 [0, 1]", "int32 [2, 3]", "int32 [4, 5]", "int32 [6, 7]"))(
    lambda device: placed(8).addressable_shards[device].data
)
jax_rows(
    "device_put",
    "parts of unequal sizes",
    ours=says("int32 [0, 1]", "int32 [2, 3]", "int32 [4]", "int32 []"),
    theirs="raises ValueError",
)(lambda device: placed(5).addressable_shards[device].data)


def promoted(*dtypes: str) -> Callable[[int], Any]:
    def run(_: int) -> Any:
        import jax.numpy as jnp

        return str(jnp.promote_types(*dtypes))

    return run


def least(*dtypes: str) -> str:
    return least_dtype(dtypes) or "rejected: no dtype is above all"


jax_rows("numpy.promote_types", ours=says(least("float16", "int32")))(promoted("float16", "int32"))
jax_rows("numpy.promote_types", "of int64 and uint64", ours=says(least("int64", "uint64")), theirs="float64")(
    promoted("int64", "uint64")
)
