"""lax.psum_scatter under vmap, untiled, where the mapped axis stands behind the scattered one."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
x = jnp.arange(12, dtype=jnp.int32).reshape(2, 2, 3)  # a block of shape (2, 3) on each of two devices


def block(x):
    # Axis 1 of the block is mapped; each slice has shape (2,), of which each device keeps one element.
    return jax.vmap(lambda y: lax.psum_scatter(y, "i", scatter_dimension=0, tiled=False), in_axes=1)(x[0])[None]


expected = np.asarray(x).sum(0)
try:
    found = np.asarray(jax.jit(jax.shard_map(block, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x))
except Exception as error:
    print(f"expected {expected.tolist()}, observed {type(error).__name__}: {error}")
    sys.exit(1)
print(f"expected {expected.tolist()}, observed {found.tolist()}")
sys.exit(found.tolist() != expected.tolist())
