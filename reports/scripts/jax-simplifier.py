"""Results that jax.jit changes: sqrt(x * x) as abs(x), and x + 0.0 and x - (-0.0) as x.

It ends with 1 while one of them differs from the operations one by one and with 0 when none does.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

wrong = False
for text, function, number in (
    ("sqrt(x * x)", lambda x: jnp.sqrt(x * x), 3e38),
    ("sqrt(x * x)", lambda x: jnp.sqrt(x * x), 1e-30),
    ("x + 0.0", lambda x: x + np.float32(0.0), -0.0),
    ("x - (-0.0)", lambda x: x - np.float32(-0.0), -0.0),
):
    x = np.array([number], np.float32)
    bits = [int(np.asarray(each(jnp.asarray(x))).view(np.uint32)[0]) for each in (function, jax.jit(function))]
    wrong = wrong or bits[0] != bits[1]
    one_by_one, compiled = (np.array([each], np.uint32).view(np.float32)[0] for each in bits)
    print(f"{text} of {number}: one by one {one_by_one} ({bits[0]:#010x}), under jit {compiled} ({bits[1]:#010x})")
sys.exit(wrong)
