"""A Mesh that names a device twice, and what jit places on it.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

first, second, _ = jax.devices()
try:
    mesh = Mesh(np.array([first, first, second]), ("i",))
except ValueError as error:
    print(f"refused: {error}")
    sys.exit(0)
print(f"expected a ValueError, observed a mesh of {mesh.devices.tolist()}")
split = NamedSharding(mesh, P("i"))
for name, made in (
    ("device_put", lambda: jax.device_put(np.ones(3, np.float32), split)),
    ("jit with out_shardings", lambda: jax.jit(lambda: jnp.ones(3), out_shardings=split)()),
):
    try:
        found = np.asarray(made()).tolist()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    print(f"{name} of three ones: {found}")
sys.exit(1)
