"""JAX's functions of local operations, of starts, and its primitives of dones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from jax import lax

# ``jax.lax`` exports no start and no done (jax 0.10.2); this is the module of the sources ``jax.*``.
from jax._src.lax import parallel

LOCAL: Final[Mapping[str, Callable[..., Any]]] = {
    "add": lax.add,
    "maximum": lax.max,
    "multiply": lax.mul,
    "negate": lax.neg,
    "subtract": lax.sub,
}

STARTS: Final[Mapping[str, Callable[..., Any]]] = {
    "all_gather": parallel.all_gather_start,
    "all_reduce": parallel.psum_start,
    "all_to_all": parallel.all_to_all_start,
    "broadcast": parallel.pbroadcast_start,
    "permute": parallel.ppermute_start,
    "reduce_scatter": parallel.psum_scatter_start,
}
DONES: Final[Mapping[str, Any]] = {
    "all_gather": parallel.all_gather_done_p,
    "all_reduce": parallel.psum_done_p,
    "all_to_all": parallel.all_to_all_done_p,
    "broadcast": parallel.pbroadcast_done_p,
    "permute": parallel.ppermute_done_p,
    "reduce_scatter": parallel.reduce_scatter_done_p,
}
