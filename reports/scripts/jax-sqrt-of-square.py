"""jax.jit of sqrt(x * x) is abs(x): where x * x overflows or underflows, the result is finite or nonzero."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

x = np.array([3e38, 1e-30], np.float32)
with np.errstate(over="ignore", under="ignore"):
    right = np.sqrt(x * x)
one_by_one = np.asarray(jnp.sqrt(jnp.asarray(x) * x))
found = np.asarray(jax.jit(lambda each: jnp.sqrt(each * each))(x))
print(f"expected {right.tolist()}, without jit {one_by_one.tolist()}, under jit {found.tolist()}")
sys.exit(int(found.tolist() != right.tolist()))
