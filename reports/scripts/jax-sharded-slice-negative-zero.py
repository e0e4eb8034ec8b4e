"""A slice of a sharded array of -0.0 on the CPU.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

x = np.array([-0.0, 1.0], np.float32)
split = jax.device_put(x, NamedSharding(Mesh(np.array(jax.devices()), ("i",)), P("i")))
sliced = jax.jit(lambda x: x[:1])
one, several = np.asarray(sliced(x)), np.asarray(sliced(split))
print(f"x[:1] on one device: {one.tolist()}; of x with an element on each device: {several.tolist()}")
print("an all-reduce gives it:", "all-reduce(" in sliced.lower(split).compile().as_text())
sys.exit(bool(np.signbit(one) != np.signbit(several)))
