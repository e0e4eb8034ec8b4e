"""lax.all_gather of blocks without elements along the gathered axis."""

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
x = jnp.zeros((0, 3), jnp.int32)


def gather(x):
    return lax.all_gather(x, "i", axis=0, tiled=True)


# Beside it, an operand without elements whose gathered axis is not the empty one.
beside = jax.jit(jax.shard_map(gather, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(jnp.zeros((4, 0), jnp.int32))
print(f"blocks of shape (2, 0): shape {beside.shape}")
try:
    found = jax.jit(jax.shard_map(gather, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x)
except Exception as error:
    print(f"blocks of shape (0, 3): {type(error).__name__}: {error}")
    sys.exit(1)
print(f"blocks of shape (0, 3): shape {found.shape}")
sys.exit(found.shape != (0, 3))
