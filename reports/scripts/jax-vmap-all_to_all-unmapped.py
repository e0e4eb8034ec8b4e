"""lax.all_to_all over a mapped axis, of an operand that is not mapped."""

import sys

import jax
import jax.numpy as jnp
from jax import lax

x = jnp.arange(2, dtype=jnp.int32)  # the same in both slices


def slice_of(_):
    return lax.all_to_all(x, "v", split_axis=0, concat_axis=0, tiled=False)


expected = [[0, 0], [1, 1]]  # slice p has element p of every slice
try:
    found = jax.vmap(slice_of, axis_name="v")(jnp.zeros(2)).tolist()
except Exception as error:
    found = f"{type(error).__name__}: {str(error)[:300]}"
print(f"expected {expected}, observed {found}")
sys.exit(found != expected)
