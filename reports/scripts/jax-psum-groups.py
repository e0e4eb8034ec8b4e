"""lax.psum with axis_index_groups under shard_map, with its checks (the default) and without.

It ends with 1 while the first is refused without a message and with 0 when it is not.
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
expected = [3.0, 3.0, 7.0, 7.0]
for checked in (False, True):
    total = jax.shard_map(
        lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2, 3]]),
        mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=checked,
    )  # fmt: skip
    try:
        found = jax.jit(total)(jnp.array([1.0, 2.0, 3.0, 4.0])).tolist()
    except Exception as error:
        found = repr(error)
    print(f"check_vma={checked}: expected {expected}, observed {found}")
sys.exit(found != expected)
