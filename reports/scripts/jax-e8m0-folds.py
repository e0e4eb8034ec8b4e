"""Sums and extremes of float8_e8m0fnu, a format without zero, infinity and sign: under vmap, and over two devices.

It ends with 1 while one of them is NaN and with 0 when none is.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))


def mapped(fold, x):
    return jax.vmap(lambda x: fold(x, "i"), axis_name="i")(x)[:1]


def sharded(fold, x):
    return jax.jit(jax.shard_map(lambda x: fold(x, "i"), mesh=mesh, in_specs=P("i"), out_specs=P()))(x)


wrong = False
for where, run in (("vmap", mapped), ("shard_map", sharded)):
    for name, fold, exponent, expected in (
        ("psum", lax.psum, 0, 1), ("pmax", lax.pmax, 0, 0), ("psum", lax.psum, -127, -126),
    ):  # fmt: skip
        x = np.full(2, 2.0**exponent).astype(ml_dtypes.float8_e8m0fnu)
        found = int(np.asarray(run(fold, x)).view(np.uint8)[0])
        wrong = wrong or found == 0xFF
        print(
            f"{where}, {name} of 2^{exponent} twice: expected {expected + 127:#x} (2^{expected}), observed {found:#x}"
        )
print("some are NaN (0xff)" if wrong else "none is NaN")
sys.exit(wrong)
