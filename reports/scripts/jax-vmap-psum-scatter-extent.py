"""lax.psum_scatter under vmap of blocks whose extent does not fit the axis, beside shard_map."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))


def said(function, x):
    try:
        return f"accepted, with a result of shape {jax.jit(function)(x).shape}", False
    except ValueError as error:
        return f"ValueError: {str(error).splitlines()[0]}", True
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}", False


wrong = False
for what, dimension, tiled in (("untiled", 0, False), ("untiled, dimension -1", -1, False), ("tiled", 0, True)):

    def scatter(x, dimension=dimension, tiled=tiled):
        return lax.psum_scatter(x, "i", scatter_dimension=dimension, tiled=tiled)

    mapped = jax.shard_map(scatter, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    beside, _ = said(mapped, jnp.zeros(6))
    found, refused = said(jax.vmap(scatter, axis_name="i"), jnp.zeros((2, 3)))
    wrong = wrong or not refused
    print(f"{what}, blocks of 3 over an axis of 2\n    shard_map: {beside}\n    vmap: {found}")
sys.exit(wrong)
