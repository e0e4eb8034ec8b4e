"""An axis name that there is not, under shard_map with its checks, which are the default.

It ends with 1 while the error does not name the axis and with 0 when it does.
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
wrong = False
for name, call in (
    ("psum", lambda x: lax.psum(x, "nowhere")),
    ("pmax", lambda x: lax.pmax(x, "nowhere")),
    ("ppermute", lambda x: lax.ppermute(x, "nowhere", [(0, 0)])),
    ("pshuffle", lambda x: lax.pshuffle(x, "nowhere", [0])),
    ("all_gather", lambda x: lax.all_gather(x, "nowhere")),
):
    try:
        jax.jit(jax.shard_map(call, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(jnp.zeros(2))
        found = "no error"
    except Exception as error:
        found = f"{type(error).__name__}: {error}".splitlines()[0]
    wrong = wrong or "nowhere" not in found
    print(f"{name}: expected an error that names the axis 'nowhere', observed {found}")
sys.exit(wrong)
