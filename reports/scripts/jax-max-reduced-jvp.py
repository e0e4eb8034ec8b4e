"""jax.jvp of lax.max, lax.min and lax.mul of values that are reduced over a mesh axis."""

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
x = jnp.array([1.0, -1.0], jnp.float32)
raised = False
for operation in (lax.mul, lax.max, lax.min):

    def block(x, operation=operation):
        r = lax.pcast(x, "i", to="reduced")
        return lax.pcast(operation(r, r), "i", to="varying")

    mapped = jax.jit(jax.shard_map(block, mesh=mesh, in_specs=P(), out_specs=P("i")))
    print(f"{operation.__name__}: {mapped(x).tolist()}")
    try:
        print(f"jvp of {operation.__name__}: {jax.jvp(mapped, (x,), (x,))[1].tolist()}")
    except Exception as error:
        print(f"jvp of {operation.__name__}: {type(error).__name__}: {error}")
        raised = True
sys.exit(raised)
