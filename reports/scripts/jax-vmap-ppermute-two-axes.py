"""lax.ppermute over a mapped axis and a mesh axis together."""

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
x = jnp.arange(4, dtype=jnp.int32).reshape(2, 2)  # two slices on each of two devices
CYCLE = [(0, 1), (1, 2), (2, 3), (3, 0)]  # of the four positions over ("i", "v"), "i" major


def block(x):
    return jax.vmap(lambda y: lax.ppermute(y, ("i", "v"), CYCLE), axis_name="v")(x[0])[None]


expected = [[3, 0], [1, 2]]
try:
    found = np.asarray(jax.jit(jax.shard_map(block, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x)).tolist()
except Exception as error:
    found = f"{type(error).__name__}: {str(error)[:300]}"
print(f"expected {expected}, observed {found}")
sys.exit(found != expected)
