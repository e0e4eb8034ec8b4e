"""Started collectives of blocks without elements, waited for at once."""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
PERM = ((0, 1), (1, 0))


def started(start, done, *args, **how):
    return lambda x: done.bind(start(x, "i", *args, **how).x)


CALLS = {
    "psum": (lambda x: lax.psum(x, "i"), started(parallel.psum_start, parallel.psum_done_p)),
    "ppermute": (
        lambda x: lax.ppermute(x, "i", PERM),
        started(parallel.ppermute_start, parallel.ppermute_done_p, PERM),
    ),
    "all_gather": (
        lambda x: lax.all_gather(x, "i", tiled=True),
        started(parallel.all_gather_start, parallel.all_gather_done_p, tiled=True),
    ),
    "psum_scatter": (
        lambda x: lax.psum_scatter(x, "i", tiled=True),
        started(parallel.psum_scatter_start, parallel.reduce_scatter_done_p, tiled=True),
    ),
    "all_to_all": (
        lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
        started(parallel.all_to_all_start, parallel.all_to_all_done_p, 0, 0, tiled=True),
    ),
}
raised = False
for name, forms in CALLS.items():
    for columns in (2, 0):
        x = jnp.zeros((4, columns), jnp.float32)
        out = P() if name == "psum" else P("i")
        plain, begun = (jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=out)) for f in forms)
        wanted = plain(x).shape
        try:
            print(f"{name} of blocks of shape (2, {columns}): {wanted}; started: {begun(x).shape}")
        except Exception as error:
            print(f"{name} of blocks of shape (2, {columns}): {wanted}; started: {type(error).__name__}: ", end="")
            print(str(error).splitlines()[0].partition("error: ")[2])
            raised = True
sys.exit(raised)
