"""A pad of float8_e5m2 or bfloat16 changes the bits of a NaN that it moves.

It ends with 1 while this is so and with 0 when it is not.
"""

import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

wrong = False
for name, bits in (("float8_e5m2", 0x7E), ("bfloat16", 0x7F81), ("float16", 0x7E01), ("float8_e4m3fn", 0x7F)):
    dtype = np.dtype(getattr(ml_dtypes, name, getattr(np, name, None)))
    word = np.dtype(f"u{dtype.itemsize}")
    x = np.array([bits, 1], word).view(dtype)
    observed = int(np.asarray(jax.jit(lambda x: jnp.pad(x, (1, 1)))(x)).view(word)[1])
    wrong = wrong or observed != bits
    print(f"{name}: {observed:#x}, expected {bits:#x}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
