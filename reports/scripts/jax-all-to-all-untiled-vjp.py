"""jax.vjp of lax.all_to_all that is not tiled, where it splits another axis than it joins."""

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
raised = False
for split, concat in ((0, 0), (1, 1), (0, 1), (1, 0)):

    def gradient(x, split=split, concat=concat):
        y, back = jax.vjp(lambda b: lax.all_to_all(b, "i", split, concat, tiled=False), x)
        (cotangent,) = back(y)
        return cotangent

    x = jnp.arange(24.0).reshape(2, 2, 6)
    spec = P(None, None, "i")
    try:
        # The exchange is a permutation, so that the cotangent of its own result is the operand.
        made = jax.jit(jax.shard_map(gradient, mesh=mesh, in_specs=spec, out_specs=spec))(x)
        print(f"split {split}, concat {concat}: the operand comes back: {bool((made == x).all())}")
    except Exception as error:
        print(f"split {split}, concat {concat}: {type(error).__name__}: {error}")
        raised = True
sys.exit(raised)
