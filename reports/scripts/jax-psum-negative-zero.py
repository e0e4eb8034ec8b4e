"""lax.psum and lax.psum_scatter of nothing but -0.0 on CPU."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

wrong = False
for size in (1, 2):
    mesh = Mesh(np.array(jax.devices()[:size]), ("i",))
    x = jnp.full((size * size,), -0.0, jnp.float32)
    for name, function, out in (
        ("psum", lambda x: lax.psum(x, "i"), P()),
        ("psum_scatter", lambda x: lax.psum_scatter(x, "i", tiled=True), P("i")),
    ):
        found = np.asarray(jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("i"), out_specs=out))(x))
        wrong = wrong or not np.signbit(found).all()
        print(f"{name} over {size} of -0.0: {found.tolist()}, expected {np.full(found.shape, -0.0).tolist()}")
print(f"-0.0 + -0.0: {-0.0 + -0.0}")
sys.exit(wrong)
