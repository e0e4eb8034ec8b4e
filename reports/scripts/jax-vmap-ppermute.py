"""lax.ppermute under vmap with pairs that leave an index out, which its documentation fills with zeros.

It ends with 1 while this is refused and with 0 when it is not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

expected = [0.0, 1.0, 0.0]
try:
    made = jax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1)]), axis_name="i")(jnp.array([1.0, 2.0, 3.0]))
    found = made.tolist()
except AssertionError as error:
    found = repr(error)
print(f"expected {expected}, observed {found}")
sys.exit(found != expected)
