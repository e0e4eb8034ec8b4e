"""A started lax.all_to_all, tiled and not, that splits another axis than it joins, waited for at once."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.lax import parallel
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
raised = False
for tiled in (True, False):
    for split, concat in ((0, 0), (0, 1), (1, 0)):

        def exchanged(x, split=split, concat=concat, tiled=tiled):
            started = parallel.all_to_all_start(x, "i", split_axis=split, concat_axis=concat, tiled=tiled)
            return parallel.all_to_all_done_p.bind(started.x)

        def plain(x, split=split, concat=concat, tiled=tiled):
            return jax.lax.all_to_all(x, "i", split, concat, tiled=tiled)

        x = jnp.arange(8.0).reshape(4, 2)
        mapped = [jax.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=P("i")) for f in (plain, exchanged)]
        name = f"tiled={tiled}, split {split}, concat {concat}"
        try:
            wanted, made = (jax.jit(f)(x) for f in mapped)
            print(f"{name}: as without a start: {bool((made == wanted).all())}")
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            raised = True
sys.exit(raised)
