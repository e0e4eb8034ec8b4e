"""lax.pmax and lax.pmin on CPU lose a NaN that lax.max and lax.min keep; so do jnp.max and jnp.min of a sharded array.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

x = np.array([0.0, np.nan], np.float32)
mesh = Mesh(np.array(jax.devices()), ("i",))
wrong = False
for over, of_two in ((lax.pmax, lax.max), (lax.pmin, lax.min)):
    folded = jax.shard_map(
        lambda block, over=over: over(block, "i"), mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec()
    )
    observed, expected = float(jax.jit(folded)(x)[0]), float(of_two(x[0], x[1]))
    print(f"{over.__name__} of 0 and nan: {observed}; {of_two.__name__} of the same: {expected}")
    wrong = wrong or not np.isnan(observed)
split = jax.device_put(x, NamedSharding(mesh, PartitionSpec("i")))
for fold in (jnp.max, jnp.min):
    observed, expected = float(fold(split)), float(fold(x))
    print(f"jnp.{fold.__name__} of [0, nan] with an element on each device: {observed}; on one device: {expected}")
    wrong = wrong or not np.isnan(observed)
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
