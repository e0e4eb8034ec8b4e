"""A mapped axis that is named twice: which error says so.

It ends with 1 while it is an assertion and with 0 when it is not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

wrong = False
for name, call in (
    ("all_gather", lambda x: lax.all_gather(x, ("i", "i"))),
    ("all_to_all", lambda x: lax.all_to_all(x, ("i", "i"), 0, 0, tiled=True)),
    ("psum_scatter", lambda x: lax.psum_scatter(x, ("i", "i"), tiled=True)),
):
    try:
        found = repr(jax.vmap(call, axis_name="i")(jnp.zeros((2, 4))).shape)
    except Exception as error:
        found = repr(error)
        wrong = wrong or isinstance(error, AssertionError)
    print(f"{name}: expected an error that names the axis, observed {found}")
sys.exit(wrong)
