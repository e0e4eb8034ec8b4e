"""HLO's movement of elements, on arrays that have an axis of ranks before their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Instruction
from conformance.backends.jax.tpu.tiling import reinterpreted
from conformance.cases.tensor.dtypes import NUMPY, Array

Operands = list[Instruction]


def _broadcast(node: Instruction, operands: list[Array], of: Operands) -> Array:
    """Axis a of the operand becomes the axis that is named a-th."""
    del of
    (x,) = operands
    shape = [1] * len(node.shape.extents)
    for axis, to in enumerate(node.dimensions):
        shape[to] = x.shape[axis + 1]
    order = np.argsort(node.dimensions)
    moved = x.transpose(0, *(int(axis) + 1 for axis in order)).reshape(len(x), *shape)
    return np.broadcast_to(moved, (len(x), *node.shape.extents))


def _reshape(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of
    return operands[0].reshape(len(operands[0]), *node.shape.extents)


def _bitcast(node: Instruction, operands: list[Array], of: Operands) -> Array:
    return reinterpreted(operands[0], of[0].shape, node.shape, NUMPY[node.shape.dtype])


def _transpose(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of
    return operands[0].transpose(0, *(axis + 1 for axis in node.dimensions))


def _slice(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of
    cuts = [slice(d.number(1), d.number(2), d.number(3) or 1) for d in node.message.messages(17)]
    return operands[0][(slice(None), *cuts)]


def _reverse(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of
    return np.flip(operands[0], tuple(axis + 1 for axis in node.dimensions))


def _concatenate(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of
    return np.concatenate(operands, axis=node.dimensions[0] + 1)


def _pad(node: Instruction, operands: list[Array], of: Operands) -> Array:
    """Negative edges cut; interior padding stands between elements."""
    del of
    x, filling = operands
    edges = [(d.number(1), d.number(2), d.number(3)) for d in node.message.message(21).messages(1)]
    sizes = [max(n + (n - 1) * between, 0) for n, (_, _, between) in zip(x.shape[1:], edges, strict=True)]
    room = [low + size + high for size, (low, high, _) in zip(sizes, edges, strict=True)]
    found = np.empty((len(x), *room), x.dtype)
    found[...] = filling.reshape(len(x), *(1,) * len(room))
    source, target = [slice(None)], [slice(None)]
    for n, extent, (low, _, between) in zip(x.shape[1:], room, edges, strict=True):
        step = between + 1
        first = max(-(low // step) if low < 0 else 0, 0)
        first += int(low + first * step < 0)
        last = min(n, -(-(extent - low) // step))
        source.append(slice(first, max(last, first)))
        target.append(slice(low + first * step, low + first * step + max(last - first, 0) * step, step))
    found[tuple(target)] = x[tuple(source)]
    return found


def _starts(x: Array, given: list[Array], sizes: tuple[int, ...], rank: int) -> tuple[slice, ...]:
    """Return where a slice begins on a rank, moved so that all of it is inside."""
    begins = [int(each.reshape(len(each), -1)[rank, 0]) for each in given]
    if len(begins) != len(sizes):
        begins = [int(each) for each in given[0].reshape(len(given[0]), -1)[rank]]
    at = [min(max(begin, 0), extent - size) for begin, extent, size in zip(begins, x.shape[1:], sizes, strict=True)]
    return tuple(slice(begin, begin + size) for begin, size in zip(at, sizes, strict=True))


def _dynamic_slice(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of
    x, *given = operands
    return np.stack([x[rank][_starts(x, given, node.shape.extents, rank)] for rank in range(len(x))])


def _dynamic_update_slice(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del of, node
    x, update, *given = operands
    found = x.copy()
    for rank in range(len(x)):
        found[rank][_starts(x, given, update.shape[1:], rank)] = update[rank]
    return found


def _iota(node: Instruction, world: int) -> Array:
    extents = node.shape.extents
    axis = node.dimensions[0]
    counted = np.arange(extents[axis]).reshape([-1 if a == axis else 1 for a in range(len(extents))])
    return np.broadcast_to(counted, (world, *extents)).astype(NUMPY[node.shape.dtype])


def _gather(node: Instruction, operands: list[Array], of: Operands) -> Array:
    """Return slices of an operand, each from where its indices say, moved so that all of it is inside."""
    del of
    x, indices = operands
    numbers = node.message.message(33)
    offsets, collapsed, starts = (numbers.numbers(field) for field in (1, 2, 3))
    axis, sizes = numbers.number(4), node.message.numbers(34)
    if numbers.numbers(5) or numbers.numbers(6):
        raise Unsupported("a gather in batches")
    found = np.empty((len(x), *node.shape.extents), x.dtype)
    batch = [a for a in range(len(node.shape.extents)) if a not in offsets]
    for rank in range(len(x)):
        vectors = np.moveaxis(indices[rank], axis, -1) if axis < indices[rank].ndim else indices[rank][..., None]
        for place in np.ndindex(vectors.shape[:-1]):
            begins = [0] * (x.ndim - 1)
            for number, to in enumerate(starts):
                begins[to] = min(max(int(vectors[(*place, number)]), 0), x.shape[to + 1] - sizes[to])
            cut = x[rank][tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))]
            target: list[int | slice] = [slice(None)] * len(node.shape.extents)
            for at, each in zip(place, batch, strict=True):
                target[each] = at
            found[rank][tuple(target)] = cut.reshape([n for a, n in enumerate(cut.shape) if a not in collapsed])
    return found


def _same(node: Instruction, operands: list[Array], of: Operands) -> Array:
    del node, of
    return operands[0]


MOVES: Final[dict[str, Callable[[Instruction, list[Array], Operands], Array]]] = {
    "broadcast": _broadcast, "reshape": _reshape, "bitcast": _bitcast, "transpose": _transpose, "slice": _slice,
    "reverse": _reverse, "concatenate": _concatenate, "pad": _pad, "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice, "gather": _gather, "copy": _same,
}  # fmt: skip


def moved(node: Instruction, operands: list[Array], of: Operands, world: int) -> Array | None:
    """Return the value of an instruction that moves elements; ``None`` for another one."""
    if node.opcode == "iota":
        return _iota(node, world)
    make = MOVES.get(node.opcode)
    return None if make is None else np.asarray(make(node, operands, of))
