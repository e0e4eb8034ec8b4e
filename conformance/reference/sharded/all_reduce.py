"""How ``tinygrad.multi`` folds what devices hold: which algorithm, in which chunks, and in which order.

Every algorithm gives every device the same bits. Which ones depends on the algorithm where an order shows: each of
them is admissible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.reference.graph.elementwise import FOLDS, fold

Algorithm = Literal["naive", "ring", "all_to_all"]

THRESHOLD: Final = 256_000
"""Elements above which a ring pays: measured by the source's authors."""

FACTORS: Final = (32, 16, 8, 4, 2, 1)


def chosen(devices: int, elements: int, ring: int = 1, all_to_all: int = 0) -> Algorithm:
    """Return the algorithm: 0 switches a kind off, 1 leaves the choice to the size, 2 forces it."""
    large = devices > 2 and elements > THRESHOLD
    if all_to_all >= 2 or (large and all_to_all >= 1):
        return "all_to_all"
    return "ring" if ring >= 2 or (large and ring >= 1) else "naive"


def chunks(elements: int, devices: int) -> tuple[tuple[int, int], ...]:
    """Return the half-open ranges that a ring or an all-to-all works on, one a device at most, none of them empty."""
    factor = next(each for each in FACTORS if elements % each == 0)
    base, left = divmod(elements // factor, devices)
    sizes = [(base + 1) * factor] * left + [base * factor] * (devices - left)
    found, begin = [], 0
    for size in (each for each in sizes if each > 0):
        found.append((begin, begin + size))
        begin += size
    return tuple(found)


def order(algorithm: Algorithm, chunk: int, devices: int) -> tuple[int, ...]:
    """Return the devices in the order in which a chunk folds them, from the left: a ring begins with its own."""
    return tuple((chunk + step) % devices if algorithm == "ring" else step for step in range(devices))


def copies(algorithm: Algorithm, elements: int, devices: int) -> int:
    """Return how many copies from a device to another are made."""
    if algorithm == "naive":
        return devices * (devices - 1)
    return 2 * (devices - 1) * len(chunks(elements, devices))


def folded(op: str, parts: Sequence[Array], algorithm: Algorithm) -> Array:
    """Return what every device holds after a fold of parts of one shape by an algorithm."""
    if algorithm == "naive" or not parts[0].size:
        return fold(op, np.stack(list(parts)), (0,))
    flat = [part.reshape(-1) for part in parts]
    out = np.empty_like(flat[0])
    for number, (begin, end) in enumerate(chunks(flat[0].size, len(parts))):
        first, *rest = (flat[device][begin:end] for device in order(algorithm, number, len(parts)))
        for each in rest:
            # A ring's step has what arrives on the right: it is what was folded so far.
            pair = (each, first) if algorithm == "ring" else (first, each)
            with np.errstate(all="ignore"):
                first = np.asarray(FOLDS[op](*pair), first.dtype)
        out[begin:end] = first
    return out.reshape(parts[0].shape)
