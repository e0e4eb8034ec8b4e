"""lax.ppermute under vmap with a destination that two pairs name, beside shard_map."""

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
x = jnp.array([5, 7], jnp.int32)
accepted = False
for perm in ([(0, 1), (1, 1)], [(0, 0), (0, 1)]):

    def permuted(x, perm=perm):
        return lax.ppermute(x, "i", perm)

    for name, function in (
        ("shard_map", jax.jit(jax.shard_map(permuted, mesh=mesh, in_specs=P("i"), out_specs=P("i")))),
        ("vmap", jax.jit(jax.vmap(permuted, axis_name="i"))),
    ):
        try:
            print(f"{perm} under {name}: {function(x).tolist()}")
            accepted |= name == "vmap"
        except Exception as error:
            print(f"{perm} under {name}: {type(error).__name__}: {error}")
sys.exit(accepted)
