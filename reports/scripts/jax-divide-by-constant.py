"""Quotients of a number by itself, by a divisor that is a constant under jax.jit, a scalar for all elements, or neither."""

import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

wrong = False
for dtype, number in ((np.float32, 3e38), (ml_dtypes.bfloat16, 3e38), (np.float16, 65504.0)):
    divisor = np.array(number, dtype)
    several = np.full(2, divisor)
    for text, found in (
        ("a number, under jit by a constant", jax.jit(lambda x, divisor=divisor: x / divisor)(divisor)),
        ("elements by one scalar", jnp.asarray(several) / jnp.asarray(divisor)),
        ("elements by as many", jnp.asarray(several) / jnp.asarray(several)),
    ):
        right = bool((np.asarray(found) == 1).all())
        wrong = wrong or not right
        print(f"{number:g} / {number:g} of {np.dtype(dtype).name}, {text}: expected 1, observed {np.asarray(found)}")
print("the bug is there" if wrong else "the bug is not there")
sys.exit(wrong)
