"""Names of JAX: sums of negative zeros, conversions past the greatest number, and types of gathers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.specification.framework_names.conversions import PAST, converted
from tests.specification.framework_names.jax_rows import WORLD, X, at_once, call, internal, jax_rows, lax
from tests.specification.framework_names.rows import reference, says

ZEROS = [[-0.0] * WORLD] * WORLD
SUMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "lax.psum": (lambda x: lax().psum(x, "i"), reference("all_reduce", ZEROS, dtype="float32", op="sum")),
    "lax.pmean": (lambda x: lax().pmean(x, "i"), reference("all_reduce", ZEROS, dtype="float32", op="mean")),
    "lax.psum_scatter": (
        lambda x: lax().psum_scatter(x, "i", tiled=True),
        reference("reduce_scatter", ZEROS, dtype="float32", op="sum", axis=0, tiled=True),
    ),
}
for name, (function, ours) in SUMS.items():
    call(
        name,
        "of nothing but -0.0",
        function,
        ours,
        ZEROS,
        "float32",
        shown=f"float32 {[0.0] * (1 if name == 'lax.psum_scatter' else WORLD)}",
    )


def conversion(dtype: str) -> Callable[[int], Any]:
    def run(_: int) -> Any:
        import jax

        given = np.array(PAST[dtype], np.float32)
        return np.asarray(jax.jit(lambda x: x.astype(dtype))(given)).astype(np.float64).tolist()

    return run


for dtype in PAST:
    jax_rows("Array.astype", f"{dtype}, past the greatest number", ours=says(converted(dtype)))(conversion(dtype))


def gathered(function: str) -> list[Any]:
    """Return what a gather gives each device where the result has to be invariant."""
    import jax
    from jax.sharding import PartitionSpec

    gather = lax().all_gather if function == "all_gather" else internal().all_gather_invariant
    mesh = jax.make_mesh((WORLD,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    run = jax.shard_map(
        lambda x: gather(x, "i", tiled=True),
        mesh=mesh,
        in_specs=PartitionSpec("i"),
        out_specs=PartitionSpec(),
    )
    return [np.asarray(jax.jit(run)(np.array(X, "int32").reshape(-1)))] * WORLD


jax_rows(
    "lax.all_gather",
    "for out_specs=P() with check_vma=True",
    ours=says("rejected: the result is varying"),
)(at_once(lambda: gathered("all_gather")))
jax_rows(
    "parallel.all_gather_invariant",
    "for out_specs=P() with check_vma=True",
    ours=reference("all_gather", X, axis=0, tiled=True),
)(at_once(lambda: gathered("all_gather_invariant")))
