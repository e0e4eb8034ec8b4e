"""A NaN payload of float8_e3m4 in lax.all_to_all."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
bits = np.array([0x71, 0xF3, 0x7E, 0x72], np.uint8)  # four NaNs with payloads
x = jax.numpy.asarray(bits.view(ml_dtypes.float8_e3m4))


def block(x):
    return lax.all_to_all(x, "i", split_axis=0, concat_axis=0, tiled=True)


found = np.asarray(jax.jit(jax.shard_map(block, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x)).view(np.uint8)
expected = bits.reshape(2, 2).T.reshape(-1)
print("expected", [hex(each) for each in expected], "observed", [hex(each) for each in found])
sys.exit(found.tolist() != expected.tolist())
