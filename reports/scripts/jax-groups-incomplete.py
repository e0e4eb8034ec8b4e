"""lax.psum with groups that leave ranks of the axis out.

It ends with 1 while JAX accepts them and XLA fails, and with 0 when JAX refuses them.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
total = jax.shard_map(
    lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]]),
    mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False,
)  # fmt: skip
try:
    found = f"{jax.jit(total)(jnp.ones(4)).tolist()}"
except Exception as error:
    found = f"{type(error).__name__}: {error}".splitlines()[0]
print(f"expected a ValueError about groups that name no rank 3, observed {found}")
sys.exit(not found.startswith("ValueError"))
