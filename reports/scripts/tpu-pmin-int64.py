"""lax.pmin, pmax and psum of 64-bit integers, as XLA compiles them for TPUs that need not be there (libtpu 0.0.42.1)."""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"
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
mesh = Mesh(np.array(described.devices), ("i",))
wrong = False
for dtype in (jnp.int32, jnp.int64, jnp.uint64):
    given = jax.ShapeDtypeStruct((8,), dtype, sharding=NamedSharding(mesh, P("i")))
    for fold in (lax.psum, lax.pmin, lax.pmax):
        function = jax.shard_map(lambda x, fold=fold: fold(x, "i"), mesh=mesh, in_specs=P("i"), out_specs=P())
        try:
            jax.jit(function).lower(given).compile()
            said = "compiled"
        except jax.errors.JaxRuntimeError as error:
            said, wrong = str(error).strip().splitlines()[0], True
        print(f"{fold.__name__} of {jnp.dtype(dtype).name}: {said}")
sys.exit(wrong)
