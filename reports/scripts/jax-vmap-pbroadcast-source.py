"""lax.pbroadcast under vmap with a source that is no index of the axis, beside the definition in its documentation."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

x = np.array([3, 5], np.int32)


def definition(x):
    masked = jnp.where(lax.axis_index("i") == 2, x, jnp.zeros_like(x))
    return lax.psum(masked, "i")


print(f"definition: {jax.vmap(definition, axis_name='i')(x).tolist()}")
try:
    found = jax.vmap(lambda x: lax.pbroadcast(x, "i", 2), axis_name="i")(x)
except (AssertionError, IndexError) as error:
    print(f"pbroadcast: {type(error).__name__}: {error}")
    sys.exit(1)
except ValueError as error:
    print(f"pbroadcast: ValueError: {error}")
    sys.exit(0)
print(f"pbroadcast: {found.tolist()}")
sys.exit(found.tolist() != [0, 0])
