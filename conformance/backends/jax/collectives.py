"""The operations of the specification in JAX's words: one function each, mapping names and arguments only.

A function takes one operand, or the tuple of several (JAX maps a collective over a pytree), the mesh axis or
tuple of axes, ``groups`` of positions along them as the program has them, and the operation's attributes. Nothing
is checked or put right here: what JAX makes of a strange argument is the observation.
"""

# mypy: allow-untyped-calls
# JAX annotates only part of its own functions.

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jax import lax

from conformance.backends.base import Unsupported
from conformance.cases.program import Groups

AxisName = str | tuple[str, ...]
Operation = Callable[..., Any]

REDUCTIONS: Final[dict[str, Operation]] = {"sum": lax.psum, "max": lax.pmax, "min": lax.pmin}


def all_reduce(x: Any, axis_name: AxisName, groups: Groups | None, *, op: str) -> Any:
    """Return ``psum``, ``pmax`` or ``pmin``; raise ``Unsupported`` for any other reduction."""
    if op not in REDUCTIONS:
        raise Unsupported(f"JAX has no all-reduce {op!r}; it has {', '.join(REDUCTIONS)}")
    return REDUCTIONS[op](x, axis_name, axis_index_groups=groups)


def all_gather(x: Any, axis_name: AxisName, groups: Groups | None, *, axis: int, tiled: bool) -> Any:
    """Return ``all_gather``."""
    return lax.all_gather(x, axis_name, axis_index_groups=groups, axis=axis, tiled=tiled)


def reduce_scatter(x: Any, axis_name: AxisName, groups: Groups | None, *, op: str, axis: int, tiled: bool) -> Any:
    """Return ``psum_scatter``; raise ``Unsupported`` for any reduction but the sum."""
    if op != "sum":
        raise Unsupported(f"JAX has no reduce-scatter {op!r}; it has sum")
    return lax.psum_scatter(x, axis_name, scatter_dimension=axis, axis_index_groups=groups, tiled=tiled)


def all_to_all(
    x: Any, axis_name: AxisName, groups: Groups | None, *, split_axis: int, concat_axis: int, tiled: bool
) -> Any:
    """Return ``all_to_all``."""
    return lax.all_to_all(x, axis_name, split_axis, concat_axis, axis_index_groups=groups, tiled=tiled)


def permute(x: Any, axis_name: AxisName, groups: Groups | None, *, pairs: Groups) -> Any:
    """Return ``ppermute``; raise ``Unsupported`` for groups."""
    _no_groups("ppermute", groups)
    return lax.ppermute(x, axis_name, pairs)


def broadcast(x: Any, axis_name: AxisName, groups: Groups | None, *, root: int) -> Any:
    """Return ``pbroadcast``; raise ``Unsupported`` for groups."""
    _no_groups("pbroadcast", groups)
    return lax.pbroadcast(x, axis_name, root)


def _no_groups(function: str, groups: Groups | None) -> None:
    if groups is not None:
        raise Unsupported(f"JAX's {function} takes no groups; it spans the whole axis")


OPERATIONS: Final[dict[str, Operation]] = {
    function.__name__: function for function in (all_reduce, all_gather, reduce_scatter, all_to_all, permute, broadcast)
}
