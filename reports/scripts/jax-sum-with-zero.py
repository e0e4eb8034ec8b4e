"""jax.jit takes x + 0.0 and x - (-0.0) for x: where x is -0.0, the result is -0.0 and not 0.0."""

import sys

import jax
import numpy as np

x = np.array([-0.0], np.float32)
found = {
    "x + 0.0": jax.jit(lambda each: each + np.float32(0.0))(x),
    "x - (-0.0)": jax.jit(lambda each: each - np.float32(-0.0))(x),
}
wrong = [text for text, result in found.items() if np.signbit(np.asarray(result))[0]]
print(f"expected 0.0 of each, observed { {text: np.asarray(each).tolist() for text, each in found.items()} }")
sys.exit(int(bool(wrong)))
