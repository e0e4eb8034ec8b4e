"""psum of float8_e8m0fnu on CPU makes NaN of 2^-127 and 2^-127.

It ends with 1 while this is so and with 0 when it is not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

mesh = Mesh(np.array(jax.devices()), ("i",))
total = jax.jit(
    jax.shard_map(lambda x: lax.psum(x, "i"), mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec())
)
expected, observed = {}, {}
for exponents in ((-127, -127), (-126, -126)):
    terms = np.array([2.0**each for each in exponents]).astype(ml_dtypes.float8_e8m0fnu)
    exact = terms.astype(np.float64).sum(keepdims=True).astype(ml_dtypes.float8_e8m0fnu)
    expected[exponents], observed[exponents] = float(exact[0]), float(np.asarray(total(terms))[0])
print(f"expected {expected}")
print(f"observed {observed}")
wrong = any(observed[each] != expected[each] for each in expected)
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
