"""HLO's scatter, on arrays that have an axis of ranks before their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Computation, Instruction
from conformance.backends.jax.tpu.folds import fold, folded_together
from conformance.cases.tensor.dtypes import Array


def scatter(node: Instruction, operands: list[Array], combined: Computation) -> Array | tuple[Array, ...]:
    """Return operands in which slices are combined with updates, each where its indices say, one after the other.

    Several operands have their updates at the same places, and a tuple is returned. An update that is not inside all of
    it is left out. Raise ``Unsupported`` for batches.
    """
    count = len(operands) // 2
    found, indices, updates = [np.array(x) for x in operands[:count]], operands[count], operands[count + 1 :]
    numbers = node.message.message(48)
    window, inserted, to = (numbers.numbers(field) for field in (1, 2, 3))
    axis = numbers.number(4)
    if numbers.numbers(5):
        raise Unsupported("a scatter in batches")
    make = _together(combined, count)
    extents = found[0].shape[1:]
    kept = [a for a in range(len(extents)) if a not in inserted]
    batch = [a for a in range(updates[0].ndim - 1) if a not in window]
    for rank in range(len(indices)):
        vectors = np.moveaxis(indices[rank], axis, -1) if axis < indices[rank].ndim else indices[rank][..., None]
        for place in np.ndindex(vectors.shape[:-1]):
            cut: list[int | slice] = [slice(None)] * (updates[0].ndim - 1)
            for at, each in zip(place, batch, strict=True):
                cut[each] = at
            new = [np.asarray(update[rank][tuple(cut)]) for update in updates]
            begins, sizes = [0] * len(extents), [1] * len(extents)
            for size, each in zip(new[0].shape, kept, strict=True):
                sizes[each] = size
            for number, each in enumerate(to):
                begins[each] = int(vectors[(*place, number)])
            if all(b >= 0 and b + n <= extent for b, n, extent in zip(begins, sizes, extents, strict=True)):
                where = tuple(slice(b, b + n) for b, n in zip(begins, sizes, strict=True))
                old = [each[rank][where] for each in found]
                with np.errstate(all="ignore"):
                    made = make([*old, *(each.reshape(old[0].shape) for each in new)])
                for x, value in zip(found, made, strict=True):
                    x[rank][where] = value
    return found[0] if count == 1 else tuple(found)


def _together(combined: Computation, count: int) -> Callable[[list[Array]], list[Array]]:
    """Return what a computation makes of so many old values and as many new ones."""
    if count > 1:
        return partial(folded_together, combined)
    make = fold(combined)
    return lambda given: [make(*given)]
