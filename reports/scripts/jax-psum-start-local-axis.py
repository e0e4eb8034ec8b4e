"""A started lax.psum over a mesh axis and a positional axis, waited for at once."""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.lax import parallel
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
x = jnp.array([[1.0, -1.0], [2.0, -2.0]])


def plain(x):
    return jax.lax.psum(x, ("i", 0))


def started(x):
    return parallel.psum_done_p.bind(parallel.psum_start(x, ("i", 0)).x)


def result(f):
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False))(x)


wanted = result(plain)
print("psum:", wanted.tolist())
try:
    made = result(started)
except ValueError as error:
    print("psum_start, psum_done:", *str(error).splitlines()[:2])
    sys.exit(1)
print("psum_start, psum_done:", made.tolist())
sys.exit(bool((wanted != made).any()))
