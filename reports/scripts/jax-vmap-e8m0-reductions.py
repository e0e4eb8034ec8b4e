"""psum and pmax of float8_e8m0fnu under vmap: a format without zero, infinity and negative numbers."""

import sys

import jax
import ml_dtypes
import numpy as np
from jax import lax

ones = np.ones((2, 1), ml_dtypes.float8_e8m0fnu)
total = np.asarray(jax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(ones)).astype(np.float32).ravel().tolist()
greatest = np.asarray(jax.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(ones)).astype(np.float32).ravel().tolist()
print(f"psum: expected [2.0, 2.0], observed {total}; pmax: expected [1.0, 1.0], observed {greatest}")
sys.exit(int(total != [2.0, 2.0] or greatest != [1.0, 1.0]))
