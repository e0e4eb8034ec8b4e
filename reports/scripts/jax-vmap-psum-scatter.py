"""The batching rule of lax.psum_scatter: extents that do not fit, and a mapped axis behind the scattered one.

It ends with 1 while the rule accepts what shard_map refuses or fails inside, and with 0 when it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax


def said(x, inner, **how):
    """Return what psum_scatter over the first axis of x gives, of slices along an ``inner`` axis where there is one."""

    def one(y):
        return lax.psum_scatter(y, "i", **how)

    function = jax.vmap(one if inner is None else jax.vmap(one, in_axes=inner), axis_name="i")
    try:
        return f"a result of shape {jax.jit(function)(x).shape}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


wrong = False
for what, shape, inner, how, expected in (
    ("untiled, blocks of 3 over an axis of 2", (2, 3), None, {}, "ValueError"),
    ("tiled, blocks of 3 over an axis of 2", (2, 3), None, {"tiled": True}, "ValueError"),
    ("untiled, dimension -1, blocks of 2", (2, 2), None, {"scatter_dimension": -1}, "a result of shape (2,)"),
    ("untiled, slices along axis 0 of (3, 2)", (2, 3, 2), 0, {}, "a result of shape (2, 3)"),
    ("untiled, slices along axis 1 of (2, 3)", (2, 2, 3), 1, {}, "a result of shape (2, 3)"),
):
    found = said(jnp.zeros(shape), inner, **how)
    wrong = wrong or not found.startswith(expected)
    print(f"{what}: expected {expected}, observed {found}")
sys.exit(wrong)
