"""lax.select of bfloat16 on CPU: the element that is chosen is a NaN, and its payload is lost."""

import sys

import jax
import ml_dtypes
import numpy as np
from jax import lax

bits = np.array([0x7FC1, 0x7F81, 0xFFC5], np.uint16)
chosen = bits.view(ml_dtypes.bfloat16)
found = np.asarray(jax.jit(lax.select)(np.ones(3, bool), chosen, np.zeros_like(chosen))).view(np.uint16)
print(f"expected {[hex(each) for each in bits]}, observed {[hex(each) for each in found]}")
sys.exit(int(found.tolist() != bits.tolist()))
