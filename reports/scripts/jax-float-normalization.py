"""NaNs of narrow floats that XLA moves on the processor: all_to_all, a pad and a selection, bit by bit.

It ends with 1 while bits are lost and with 0 when they are not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
exchange = jax.shard_map(
    lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), mesh=mesh, in_specs=P("i"), out_specs=P("i")
)
moves = {
    "all_to_all": lambda x, _: exchange(x),
    "pad": lambda x, _: jnp.pad(x, (1, 1)),
    "select": lambda x, chosen: lax.select(chosen, x, jnp.zeros_like(x)),
}
wrong = False
for name, bits in (
    ("float8_e5m2", 0xFE), ("float8_e4m3", 0x79), ("float8_e3m4", 0x71), ("float8_e4m3fn", 0xFF),
    ("bfloat16", 0x7F81), ("float16", 0x7E01),
):  # fmt: skip
    dtype = np.dtype(getattr(ml_dtypes, name, getattr(np, name, None)))
    word = np.dtype(f"u{dtype.itemsize}")
    sent = np.full(4, bits, word).view(dtype)
    found = {move: int(np.asarray(jax.jit(each)(sent, np.ones(4, bool))).view(word)[1]) for move, each in moves.items()}
    wrong = wrong or set(found.values()) != {bits}
    print(f"{name}: expected {bits:#x}, observed", ", ".join(f"{move} {each:#x}" for move, each in found.items()))
print("bits are lost" if wrong else "no bits are lost")
sys.exit(wrong)
