"""HLO's scatter, on arrays that have an axis of ranks before their own."""

from __future__ import annotations

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Computation, Instruction
from conformance.backends.jax.tpu.folds import fold
from conformance.cases.tensor.dtypes import Array


def scatter(node: Instruction, operands: list[Array], combined: Computation) -> Array:
    """Return an operand in which slices are combined with updates, each where its indices say, one after the other.

    An update that is not inside all of it is left out. Raise ``Unsupported`` for several operands, and for batches.
    """
    if len(operands) != 3:
        raise Unsupported("a scatter of several operands")
    x, indices, updates = operands
    numbers = node.message.message(48)
    window, inserted, to = (numbers.numbers(field) for field in (1, 2, 3))
    axis = numbers.number(4)
    if numbers.numbers(5):
        raise Unsupported("a scatter in batches")
    make, found = fold(combined), np.array(x)
    kept = [a for a in range(x.ndim - 1) if a not in inserted]
    batch = [a for a in range(updates.ndim - 1) if a not in window]
    for rank in range(len(x)):
        vectors = np.moveaxis(indices[rank], axis, -1) if axis < indices[rank].ndim else indices[rank][..., None]
        for place in np.ndindex(vectors.shape[:-1]):
            cut: list[int | slice] = [slice(None)] * (updates.ndim - 1)
            for at, each in zip(place, batch, strict=True):
                cut[each] = at
            update = np.asarray(updates[rank][tuple(cut)])
            begins, sizes = [0] * (x.ndim - 1), [1] * (x.ndim - 1)
            for size, each in zip(update.shape, kept, strict=True):
                sizes[each] = size
            for number, each in enumerate(to):
                begins[each] = int(vectors[(*place, number)])
            if all(b >= 0 and b + n <= extent for b, n, extent in zip(begins, sizes, x.shape[1:], strict=True)):
                where = tuple(slice(b, b + n) for b, n in zip(begins, sizes, strict=True))
                old = found[rank][where]
                with np.errstate(all="ignore"):
                    found[rank][where] = make(old, update.reshape(old.shape))
    return found
