"""Collectives of blocks without elements: all_gather and psum_scatter along their empty axis, and started ones.

It ends with 1 while one of them is refused and with 0 when none is.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))


def started(x):
    return parallel.ppermute_done_p.bind(parallel.ppermute_start(x, "i", ((0, 1), (1, 0))).x)


wrong = False
for name, call, shape in (
    ("all_gather", lambda x: lax.all_gather(x, "i", tiled=True), (0, 3)),
    ("all_gather", lambda x: lax.all_gather(x, "i", tiled=True), (2, 0)),
    ("psum_scatter", lambda x: lax.psum_scatter(x, "i", tiled=True), (0, 3)),
    ("all_to_all", lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), (0, 3)),
    ("ppermute", lambda x: lax.ppermute(x, "i", ((0, 1), (1, 0))), (2, 0)),
    ("ppermute_start", started, (2, 0)),
):
    x = jnp.zeros((2 * shape[0], shape[1]))
    try:
        made = jax.jit(jax.shard_map(call, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x)
        found = f"a result of shape {made.shape}"
    except Exception as error:
        found = f"{type(error).__name__}: {' '.join(str(error).split())[-150:]}"
        wrong = True
    print(f"{name} of blocks of shape {shape}: expected a result without elements, observed {found}")
sys.exit(wrong)
