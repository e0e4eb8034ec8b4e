"""jax.shard_map of two operands without elements."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))


def block(*operands):
    return sum(jnp.sum(x, 0) for x in operands)


raised = False
for shapes in ([(0, 2)], [(0, 2), (3, 2)], [(0, 2), (0, 2)]):
    operands = [jnp.ones(shape, jnp.float32) for shape in shapes]
    mapped = jax.shard_map(block, mesh=mesh, in_specs=(P(),) * len(shapes), out_specs=P())
    print(f"{shapes} without shard_map: {jax.jit(block)(*operands).tolist()}")
    try:
        print(f"{shapes} with shard_map: {jax.jit(mapped)(*operands).tolist()}")
    except Exception as error:
        print(f"{shapes} with shard_map: {type(error).__name__}: {error}")
        raised = True
sys.exit(raised)
