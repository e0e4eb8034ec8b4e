"""What JAX says it supports: its documentation as data, not what it was seen to do.

Read from the docstrings of ``jax.lax`` (jax 0.10.2) and the source document 001. All dtypes of the specification are
JAX dtypes once 64-bit types are enabled, and no docstring takes one out, so no operation is limited by dtype. Two of
these promises are known to be broken on CPU and stay claimed because nothing a user can read takes them back:
``psum_scatter`` of bool and ``pbroadcast`` at all.
"""

from __future__ import annotations

from typing import Final

from conformance.backends.base import Claims

CLAIMS: Final[Claims] = {
    # psum, pmax and pmin exist; there is no product. Groups need only cover every index once: sizes may differ
    # ("on TPUs all groups must be the same size").
    "all_reduce": {"op": ["sum", "max", "min"]},
    # Groups in any order: the example of the docstring is [[0, 2], [3, 1]]. Unequal sizes are documented as wrong,
    # so they can be written down and must be refused. The same holds for psum_scatter and all_to_all.
    "all_gather": {},
    # "Like psum, but each device retains only part of the result": sums only, and of whatever psum sums.
    "reduce_scatter": {"op": ["sum"]},
    "all_to_all": {},
    # ppermute has no parameter for groups.
    "permute": {"groups": ["none"]},
    # pbroadcast has none either. Its docstring names no platform, where psend's, for one, does.
    "broadcast": {"groups": ["none"]},
}
