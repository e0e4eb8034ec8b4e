"""jax.jit of an integer that becomes float64 and then float32 rounds once: what is a tie for float64 is none."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def narrowed(x: jax.Array) -> jax.Array:
    """Return float32 of float64 of integers."""
    return x.astype(jnp.float64).astype(jnp.float32)


x = np.array([2**60 + 2**36 + 1], np.int64)
right = x.astype(np.float64).astype(np.float32)
one_by_one = np.asarray(narrowed(jnp.asarray(x)))
found = np.asarray(jax.jit(narrowed)(x))
print(f"expected {right.tolist()}, without jit {one_by_one.tolist()}, under jit {found.tolist()}")
sys.exit(int(found.tolist() != right.tolist()))
