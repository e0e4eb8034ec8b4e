"""HLO's reductions and products, on arrays that have an axis of ranks before their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Computation, Instruction, literal
from conformance.backends.jax.tpu.elementwise import BINARY, elementwise
from conformance.cases.declarations.number_model import SHORT
from conformance.cases.tensor.dtypes import NUMPY, Array


def fold(computation: Computation) -> Callable[[Array, Array], Array]:
    """Return what a computation of two scalars makes of two arrays, element by element.

    It may be one operation, or several: narrow integers and floats are folded as parts of words of 32 bits. Raise
    ``Unsupported``, here or when it is called, for an instruction that is not elementwise.
    """
    root = computation.root
    of = [computation.instructions[each] for each in root.operands]
    if root.opcode in BINARY and [each.opcode for each in of] == ["parameter", "parameter"]:
        make, numbers = BINARY[root.opcode], [each.parameter for each in of]
        return lambda x, y: np.asarray(make(*((x, y)[number] for number in numbers))).astype(x.dtype)
    return partial(_folded, computation)


def _folded(computation: Computation, *given: Array) -> Array:
    return _values(computation, given)[computation.root.id]


def _values(computation: Computation, given: Sequence[Array]) -> dict[int, Array]:
    """Return what each instruction of a computation of scalars gives, element by element of its arguments."""
    values: dict[int, Array] = {}
    for node in computation.instructions.values():
        if node.opcode == "parameter":
            values[node.id] = given[node.parameter]
        elif node.opcode == "constant":
            values[node.id] = literal(node)
        elif node.opcode in ("bitcast", "copy", "reshape") and node.shape.extents == ():
            values[node.id] = values[node.operands[0]].view(NUMPY[node.shape.dtype])
        elif node.opcode != "tuple":
            found = elementwise(node, [values[each] for each in node.operands])
            if found is None:
                raise Unsupported(f"a fold by a computation with an instruction {node.opcode}")
            values[node.id] = found
    return values


def reduced_together(node: Instruction, operands: list[Array], computation: Computation) -> tuple[Array, ...]:
    """Return a reduction of several arrays at once, of which the second half of ``operands`` are first values."""
    count = len(operands) // 2
    terms = [_terms(node, x) for x in operands[:count]]
    found = [
        np.broadcast_to(first.reshape(len(first), *(1,) * (each.ndim - 2)), each.shape[:-1])
        for each, first in zip(terms, operands[count:], strict=True)
    ]
    for number in range(terms[0].shape[-1]):
        found = folded_together(computation, [*found, *(each[..., number] for each in terms)])
    return tuple(np.array(each) for each in found)


def folded_together(computation: Computation, given: Sequence[Array]) -> list[Array]:
    """Return what a computation of scalars that gives several makes of arrays, element by element."""
    values = _values(computation, given)
    return [values[each] for each in computation.root.operands]


def _terms(node: Instruction, x: Array) -> Array:
    """Return an array with the axes that a reduction folds as one, the last."""
    axes = [axis + 1 for axis in node.dimensions]
    kept = [axis for axis in range(1, x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in (0, *kept)]
    return x.transpose(0, *kept, *axes).reshape(*shape, math.prod(x.shape[axis] for axis in axes))


def reduced(node: Instruction, x: Array, first: Array, computation: Computation) -> Array:
    """Return a reduction over the axes that an instruction names, term after term.

    Partial results of 16 bits stay float32. The compiler makes a fold of bfloat16 of one that is asked for in float32
    with conversions around it, as xla_allow_excess_precision lets it: "Allows xla to increase the output precision of
    floating point operations and all floating-point conversions to be simplified". Which digits a chip keeps between is
    not known here.
    """
    make = fold(computation)
    short = x.dtype in (NUMPY[name] for name in SHORT) and computation.root.opcode in BINARY
    terms = _terms(node, x.astype(np.float32) if short else x)
    found = np.broadcast_to(first.reshape(len(x), *(1,) * (terms.ndim - 2)), terms.shape[:-1]).astype(terms.dtype)
    with np.errstate(all="ignore"):
        for number in range(terms.shape[-1]):
            found = make(found, terms[..., number])
        return np.array(found.astype(x.dtype))


def dot(node: Instruction, left: Array, right: Array) -> Array:
    """Return a product: batch axes, then those of the left and of the right that are not contracted."""
    numbers = node.message.message(30)
    lc, rc, lb, rb = (numbers.numbers(field) for field in (1, 2, 3, 4))
    free = [a for a in range(left.ndim - 1) if a not in lc + lb]
    others = [a for a in range(right.ndim - 1) if a not in rc + rb]
    letters = iter(range(1, 52))
    ours, theirs = {}, {}
    for one, other in (*zip(lb, rb, strict=True), *zip(lc, rc, strict=True)):
        ours[one] = theirs[other] = next(letters)
    ours |= {axis: next(letters) for axis in free}
    theirs |= {axis: next(letters) for axis in others}
    result = [0, *(ours[a] for a in lb), *(ours[a] for a in free), *(theirs[a] for a in others)]
    wide = [each.astype(_wide(each)) for each in (left, right)]
    found = np.einsum(
        wide[0], [0, *(ours[a] for a in range(left.ndim - 1))],
        wide[1], [0, *(theirs[a] for a in range(right.ndim - 1))], result,
    )  # fmt: skip
    return np.asarray(found).astype(NUMPY[node.shape.dtype])


def _wide(x: Array) -> type[np.generic]:
    return np.int64 if x.dtype.kind in "iub" else np.float64


def convolution(node: Instruction, left: Array, right: Array) -> Array:
    """Return a convolution; a product of matrices is one without window axes."""
    numbers, window = node.message.message(16), node.message.message(15).messages(1)
    if node.message.number(50) > 1 or node.message.number(58) > 1:
        raise Unsupported("a convolution in groups")
    batch, feature, axes = numbers.number(7), numbers.number(8), numbers.numbers(11)
    taken, given, kernel_axes = numbers.number(3), numbers.number(4), numbers.numbers(6)
    out_batch, out_feature, out_axes = numbers.number(9), numbers.number(10), numbers.numbers(12)
    x = left.astype(_wide(left)).transpose(0, batch + 1, feature + 1, *(axis + 1 for axis in axes))
    w = right.astype(_wide(right)).transpose(0, taken + 1, given + 1, *(axis + 1 for axis in kernel_axes))
    for number, d in enumerate(window):
        x = _spread(x, number + 3, d.number(6) or 1, d.number(3), d.number(4))
        if d.number(7):
            w = np.flip(w, number + 3)
    extents = [node.shape.extents[axis] for axis in out_axes]
    found = np.zeros((len(x), x.shape[1], w.shape[2], *extents), x.dtype)
    for place in np.ndindex(w.shape[3:]):
        cuts = [
            slice(at * (d.number(5) or 1), at * (d.number(5) or 1) + (n - 1) * (d.number(2) or 1) + 1, d.number(2) or 1)
            for at, n, d in zip(place, extents, window, strict=True)
        ]
        part = x[(slice(None), slice(None), slice(None), *cuts)]
        found += np.einsum("rbf...,rfo->rbo...", part, w[(slice(None), slice(None), slice(None), *place)])
    order = [0] * (found.ndim - 1)
    for here, there in enumerate((out_batch, out_feature, *out_axes)):
        order[there] = here + 1
    return found.transpose(0, *order).astype(NUMPY[node.shape.dtype])


def _spread(x: Array, axis: int, dilation: int, low: int, high: int) -> Array:
    """Return ``x`` with zeros between the elements of an axis and around them; negative edges cut."""
    n = x.shape[axis]
    size = (n - 1) * dilation + 1 if n else 0
    shape = list(x.shape)
    shape[axis] = size + max(low, 0) + max(high, 0)
    found = np.zeros(shape, x.dtype)
    at: list[slice] = [slice(None)] * x.ndim
    at[axis] = slice(max(low, 0), max(low, 0) + size, dilation)
    found[tuple(at)] = x
    at[axis] = slice(max(-low, 0), math.prod((shape[axis],)) - max(-high, 0))
    return found[tuple(at)]
