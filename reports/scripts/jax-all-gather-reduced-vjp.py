"""jax.vjp of lax.all_gather to reduced, over an axis along which the operand is invariant too."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("i", "j"))
raised = False
for first in (None, "varying"):

    def gradient(x, first=first):
        def gathered(b):
            b = lax.pcast(b, "j", to=first) if first else b
            return lax.all_gather(b, ("i", "j"), to="reduced")

        y, back = jax.vjp(gathered, x)
        ones = lax.pcast(jnp.ones(y.shape, y.dtype), ("i", "j"), to="varying")
        (cotangent,) = back(lax.pcast(ones, ("i", "j"), to="unreduced"))
        return cotangent

    how = "cast to varying along j first" if first else "as it is"
    try:
        made = jax.jit(jax.shard_map(gradient, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(jnp.arange(2.0))
        print(f"{how}: {made.tolist()}")
    except Exception as error:
        print(f"{how}: {type(error).__name__}: {error}")
        raised = True
sys.exit(raised)
