"""lax.pshuffle with a permutation of fewer indices than the axis has.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
x = np.array([1, 2, 3], np.int32)
wrong = False
for perm in ([], [0], [1, 0]):
    shuffled = jax.shard_map(
        lambda x, perm=perm: lax.pshuffle(x, "i", perm), mesh=mesh, in_specs=P("i"), out_specs=P("i")
    )
    try:
        found = np.asarray(jax.jit(shuffled)(x)).tolist()
        wrong = True
    except ValueError as error:
        found = f"ValueError: {error}"
    print(f"perm {perm} over an axis of 3: expected a ValueError, observed {found}")
sys.exit(wrong)
