"""lax.pbroadcast over an axis that there is not, under vmap.

It ends with 1 while the error does not name the axis and with 0 when it does.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

try:
    jax.vmap(lambda x: lax.pbroadcast(x, "nowhere", 0), axis_name="i")(jnp.zeros((2, 1)))
    found = "no error"
except Exception as error:
    found = f"{type(error).__name__}: {error}".splitlines()[0]
print(f"expected an error that names the axis 'nowhere', observed {found}")
sys.exit("nowhere" not in found)
