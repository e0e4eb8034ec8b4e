"""lax.pbroadcast under vmap, of a NumPy array and of a JAX array, with jax.jit and without."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

broadcast = jax.vmap(lambda x: lax.pbroadcast(x, "i", 1), axis_name="i")
x = np.array([3, 5], np.int32)
wrong = False
for name, function, operand in (
    ("NumPy array", broadcast, x),
    ("JAX array", broadcast, jnp.asarray(x)),
    ("NumPy array under jit", jax.jit(broadcast), x),
):
    try:
        found = function(operand).tolist()
        print(f"{name}: expected [5, 5], observed {found}")
        wrong |= found != [5, 5]
    except Exception as error:
        print(f"{name}: expected [5, 5], observed {type(error).__name__}: {error}")
        wrong = True
sys.exit(wrong)
