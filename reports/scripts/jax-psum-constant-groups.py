"""lax.psum of a Python number, and of an array, with groups of unlike sizes.

It ends with 1 while the number is wrong and with 0 when it is not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
groups = [[0], [1, 2]]


def both(x):
    number = lax.psum(1, "i", axis_index_groups=groups)
    return jnp.full(1, number), lax.psum(jnp.ones_like(x), "i", axis_index_groups=groups)


run = jax.jit(jax.shard_map(both, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False))
number, array = (each.tolist() for each in run(jnp.zeros(3)))
print(f"of an array: expected [1.0, 2.0, 2.0], observed {array}")
print(f"of the number 1: expected [1, 2, 2], observed {number}")
sys.exit(number != [1, 2, 2])
