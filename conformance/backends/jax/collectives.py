"""The operations of the specification in JAX's words: one function each, mapping names and arguments only.

Every function takes the mesh axis or tuple of axes, ``groups`` of positions along them as the program has them, and
the operation's attributes. Nothing is checked or put right here: what JAX makes of a strange argument is the
observation. Functions of ``MAPPED`` take one operand, or the tuple of several or none (JAX maps a collective over
a pytree), and give as many results; functions of ``WHOLE`` take all operands one by one and give one result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import numpy as np
from jax import lax

# ``jax.lax`` does not export pargmax and pargmin (jax 0.10.2); this is the module of the sources ``jax.*``.
from jax._src.lax import parallel

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.cases.program.program import Groups

AxisName = str | tuple[str, ...]
Operation = Callable[..., Any]

REDUCTIONS: Final[dict[str, Operation]] = {"sum": lax.psum, "mean": lax.pmean, "max": lax.pmax, "min": lax.pmin}
POSITIONS: Final[dict[str, Operation]] = {"max": parallel.pargmax, "min": parallel.pargmin}


def all_reduce(
    x: Any,
    *,
    axis_name: AxisName,
    groups: Groups | None,
    op: str,
    local_axes: tuple[int, ...] = (),
    factor: float = 1.0,
) -> Any:
    """Return ``psum``, ``pmean``, ``pmax`` or ``pmin``; raise ``Unsupported`` for any other reduction.

    ``local_axes`` stand behind the names, as JAX has positional axes. ``factor`` is for a reduction it does not have.
    """
    del factor
    if op not in REDUCTIONS:
        raise Unsupported(f"JAX has no all-reduce {op!r}; it has {', '.join(REDUCTIONS)}")
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    axes = (*names, *local_axes) if local_axes else axis_name
    with framework():
        return REDUCTIONS[op](x, axes, axis_index_groups=groups)


def arg_reduce(x: Any, *, axis_name: AxisName, groups: Groups | None, op: str) -> Any:
    """Return ``pargmax`` or ``pargmin``; raise ``Unsupported`` for any other reduction and for groups."""
    if op not in POSITIONS:
        raise Unsupported(f"JAX has no arg-reduce {op!r}; it has {', '.join(POSITIONS)}")
    _no_groups(f"parg{op}", groups)
    with framework():
        return POSITIONS[op](x, axis_name)


def all_gather(x: Any, *, axis_name: AxisName, groups: Groups | None, axis: int, tiled: bool) -> Any:
    """Return ``all_gather``."""
    with framework():
        return lax.all_gather(x, axis_name, axis_index_groups=groups, axis=axis, tiled=tiled)


def reduce_scatter(
    x: Any, *, axis_name: AxisName, groups: Groups | None, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> Any:
    """Return ``psum_scatter``; raise ``Unsupported`` for any reduction but the sum, which has no ``factor``."""
    del factor
    if op != "sum":
        raise Unsupported(f"JAX has no reduce-scatter {op!r}; it has sum")
    with framework():
        return lax.psum_scatter(x, axis_name, scatter_dimension=axis, axis_index_groups=groups, tiled=tiled)


def all_to_all(
    x: Any, *, axis_name: AxisName, groups: Groups | None, split_axis: int, concat_axis: int, tiled: bool
) -> Any:
    """Return ``all_to_all``."""
    with framework():
        return lax.all_to_all(x, axis_name, split_axis, concat_axis, axis_index_groups=groups, tiled=tiled)


def permute(x: Any, *, axis_name: AxisName, groups: Groups | None, pairs: Groups) -> Any:
    """Return ``ppermute``; raise ``Unsupported`` for groups."""
    _no_groups("ppermute", groups)
    with framework():
        return lax.ppermute(x, axis_name, pairs)


def shuffle(x: Any, *, axis_name: AxisName, groups: Groups | None, sources: tuple[int, ...]) -> Any:
    """Return ``pshuffle``; raise ``Unsupported`` for groups."""
    _no_groups("pshuffle", groups)
    with framework():
        return lax.pshuffle(x, axis_name, sources)


def broadcast(x: Any, *, axis_name: AxisName, groups: Groups | None, root: int) -> Any:
    """Return ``pbroadcast``; raise ``Unsupported`` for groups."""
    _no_groups("pbroadcast", groups)
    with framework():
        return lax.pbroadcast(x, axis_name, root)


def send(x: Any, *, axis_name: AxisName, groups: Groups | None, pairs: Groups) -> Any:
    """Return the token of ``psend``; raise ``Unsupported`` for groups."""
    _no_groups("psend", groups)
    with framework():
        return lax.psend(x, axis_name, pairs)


def recv(
    token: Any, *, axis_name: AxisName, groups: Groups | None, pairs: Groups, shape: tuple[int, ...], dtype: str
) -> Any:
    """Return what ``precv`` takes off after ``token``; raise ``Unsupported`` for groups."""
    _no_groups("precv", groups)
    with framework():
        return lax.precv(token, jax.ShapeDtypeStruct(shape, np.dtype(dtype)), axis_name, pairs)


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: AxisName,
    groups: Groups | None,
) -> Any:
    """Return ``ragged_all_to_all``."""
    with framework():
        return lax.ragged_all_to_all(
            operand,
            output,
            input_offsets,
            send_sizes,
            output_offsets,
            recv_sizes,
            axis_name=axis_name,
            axis_index_groups=groups,
        )


def axis_index(*, axis_name: AxisName, groups: Groups | None) -> Any:
    """Return ``axis_index``; raise ``Unsupported`` for groups."""
    _no_groups("axis_index", groups)
    with framework():
        return lax.axis_index(axis_name)


def axis_size(*, axis_name: AxisName, groups: Groups | None) -> Any:
    """Return ``axis_size``; raise ``Unsupported`` for groups."""
    _no_groups("axis_size", groups)
    with framework():
        size = lax.axis_size(axis_name)
    return _carried(size)


def reduce_constant(*, axis_name: AxisName, groups: Groups | None, value: bool | float) -> Any:
    """Return the ``psum`` of a Python number."""
    with framework():
        total = lax.psum(value, axis_name, axis_index_groups=groups)
    return _carried(total)


def _carried(number: Any) -> Any:
    """Return a Python number, which has no dtype, in the one that the specification has for it.

    What int32 does not hold, and anything else, is as it is: JAX makes an array of a result that is none.
    """
    if isinstance(number, float):
        return np.float32(number)
    held = isinstance(number, int) and -(2**31) <= number < 2**31
    return np.int32(number) if held else number


def _no_groups(function: str, groups: Groups | None) -> None:
    if groups is not None:
        raise Unsupported(f"JAX's {function} takes no groups; it spans the whole axis")


def _by_name(*functions: Operation) -> dict[str, Operation]:
    return {function.__name__: function for function in functions}


MAPPED: Final = _by_name(
    all_reduce, arg_reduce, all_gather, reduce_scatter, all_to_all, permute, shuffle, broadcast, send, recv
)
WHOLE: Final = _by_name(ragged_all_to_all, axis_index, axis_size, reduce_constant)
