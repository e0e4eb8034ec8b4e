"""Names of JAX for control flow around collectives, run on four CPU devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.specification.framework_names.jax_program_rows import over_slices
from tests.specification.framework_names.jax_rows import FLOATS, X, at_once, call, jax_rows, lax, mapped
from tests.specification.framework_names.rows import reference, says

SUMMED = reference("all_reduce", X, op="sum")
TWICE = says("int32 [40, 400]")
"""The sum over four ranks of what all hold already."""


def summed(x: Any) -> Any:
    return lax().psum(x, "i")


def branch(x: Any) -> Any:
    return lax().cond(np.bool_(True), summed, lambda y: y, x)


def chosen(x: Any) -> Any:
    return lax().switch(np.int32(1), [lambda y: y, summed], x)


def while_less(x: Any) -> Any:
    return lax().while_loop(lambda at: at[0] < 2, lambda at: (at[0] + 1, summed(at[1])), (0, x))[1]


TURNS = {
    "lax.while_loop": while_less,
    "lax.fori_loop": lambda x: lax().fori_loop(0, 2, lambda _, y: summed(y), x),
    "lax.scan": lambda x: lax().scan(lambda y, _: (summed(y), None), x, None, length=2)[0],
}

call("lax.cond", "around a collective", branch, SUMMED)
call("lax.switch", "around a collective", chosen, SUMMED)
for name, run in TURNS.items():
    call(name, "around a collective", run, TWICE)
call("lax.cond", "branches of which one is a psum", branch, SUMMED, typed=True, shown="raises TypeError")


def while_added(x: Any) -> Any:
    return lax().while_loop(lambda at: at[0] < 2, lambda at: (at[0] + 1, at[1] + x), (0, np.zeros(2, "int32")))[1]


CARRIED = {
    "lax.while_loop": while_added,
    "lax.fori_loop": lambda x: lax().fori_loop(0, 2, lambda _, y: y + x, np.zeros(2, "int32")),
    "lax.scan": lambda x: lax().scan(lambda y, _: (y + x, None), np.zeros(2, "int32"), None, length=2)[0],
}
for name, run in CARRIED.items():
    added = says("int32 [2, 20]", "int32 [4, 40]", "int32 [6, 60]", "int32 [8, 80]")
    call(name, "a carry that becomes varying", run, added, typed=True, shown="raises TypeError")


@jax_rows("vmap(axis_name=)", "all_gather", ours=reference("all_gather", X, axis=0, tiled=False))
def _(_device: int) -> Any:
    import jax

    return jax.vmap(lambda x: lax().all_gather(x, "i"), axis_name="i", out_axes=None)(np.array(X, "int32"))


def some_slices(x: Any) -> Any:
    return lax().cond(x[0] > 2, summed, lambda y: y, x)


jax_rows(
    "vmap(axis_name=)",
    "cond around a collective",
    ours=says("int32 [1, 10]", "int32 [2, 20]", "int32 [10, 100]", "int32 [10, 100]"),
)(over_slices(some_slices))


def of_maximum(x: Any) -> Any:
    import jax

    return jax.grad(lambda y: lax().pmax(y, "i")[0])(x)


jax_rows("lax.pmax", "gradient", ours=says("rejected: no transpose is defined"))(
    at_once(lambda: mapped(of_maximum, FLOATS, "float32"))
)


@jax_rows(
    "NamedSharding",
    "two mesh axes on one tensor axis",
    ours=says("int32 [0, 1]", "int32 [4, 5]", "int32 [2, 3]", "int32 [6, 7]"),
)
def _(device: int) -> Any:
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    square = jax.make_mesh((2, 2), ("i", "j"))
    split = NamedSharding(square, PartitionSpec(("j", "i")))
    return jax.device_put(np.arange(8, dtype="int32"), split).addressable_shards[device].data
