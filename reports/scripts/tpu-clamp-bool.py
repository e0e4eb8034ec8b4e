"""The minimum of a maximum of booleans with constants, as XLA compiles it for TPUs that need not be there (libtpu 0.0.42.1)."""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["TPU_ACCELERATOR_TYPE"] = "v5litepod-4"
os.environ["TPU_WORKER_HOSTNAMES"] = "localhost"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

described = topologies.get_topology_desc("v5e:2x2", platform="tpu", chips_per_host_bounds=[2, 2, 1])
one = NamedSharding(Mesh(np.array(described.devices[:1]), ("i",)), P())
functions = {
    "minimum(x, True)": lambda x: jnp.minimum(x, True),
    "maximum(x, False)": lambda x: jnp.maximum(x, False),
    "minimum(maximum(x, False), True)": lambda x: jnp.minimum(jnp.maximum(x, False), True),
    "lax.clamp(False, x, True)": lambda x: lax.clamp(False, x, True),
}
wrong = False
for name, function in functions.items():
    right = jax.jit(function)(np.array([False, True]))
    try:
        jax.jit(function).lower(jax.ShapeDtypeStruct((2,), jnp.bool_, sharding=one)).compile()
        said = "compiled"
    except jax.errors.JaxRuntimeError as error:
        said, wrong = str(error).strip().splitlines()[0], True
    print(f"{name}: {right} on the CPU; for a TPU: {said}")
sys.exit(wrong)
