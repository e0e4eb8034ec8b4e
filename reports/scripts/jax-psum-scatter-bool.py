"""lax.psum_scatter of booleans, beside lax.psum of them."""

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
x = jnp.array([True, False, True, True])  # a block of two on each of two devices


def mapped(function):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("i"), out_specs=P("i")))


expected = mapped(lambda x: lax.psum(x, "i")[lax.axis_index("i")][None])(x)
print(f"psum(x)[axis_index]: {expected.dtype} {expected.tolist()}")
try:
    found = mapped(lambda x: lax.psum_scatter(x, "i")[None])(x)
except Exception as error:
    print(f"psum_scatter(x): {type(error).__name__}: {error}")
    sys.exit(1)
print(f"psum_scatter(x): {found.dtype} {found.tolist()}")
sys.exit(found.tolist() != expected.tolist())
