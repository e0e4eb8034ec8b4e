"""exp2 of whole numbers in bfloat16, on the processor."""

import sys

import jax.numpy as jnp

EXPECTED = [2.0**127, float("inf")]
found = jnp.exp2(jnp.asarray([127, 128], jnp.bfloat16)).astype(jnp.float32).tolist()
print(f"expected {EXPECTED}, observed {found}")
sys.exit(found != EXPECTED)
