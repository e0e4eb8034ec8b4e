"""What trees over the terms of a reduction come to: binary trees whose leaves are the terms, each node rounded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import Array

Combine = Callable[[Array, Array], Array]
"""What a node makes of two arrays of values; it may be more values than there are pairs."""

Pairs = tuple[NDArray[Any], NDArray[Any]]
"""The ways to make one node of two earlier ones: the numbers of the left ones, and of the right ones."""

MOST_STATES: Final = 256
"""Sub-multisets of the terms that are gone through, at most: those of eight different terms."""

MOST_IN_ORDER: Final = 16
"""Terms that trees in rank order are gone through for: 680 pairs of runs."""

MOST_VALUES: Final = 1 << 16
"""Values of one node, before equal ones are dropped, past which nothing more is said of the tree."""


def unlike(values: Array) -> Array:
    """Return the different values of an array, by their bits; every NaN is the same one."""
    values, width = one_nan(values), values.dtype.itemsize
    if width > 16 or values.dtype == np.longdouble:
        return np.unique(values)  # whose bytes are partly none of theirs
    if width == 16:
        return np.unique(values.view(np.uint64).reshape(-1, 2), axis=0).reshape(-1).view(values.dtype)
    return np.unique(values.view(f"u{width}")).view(values.dtype)


def one_nan(values: Array) -> Array:
    """Return the values with every NaN the same one, in each part of complex ones."""
    parts = values.view(values.real.dtype) if values.dtype.kind == "c" else values
    with np.errstate(invalid="ignore"):
        strange = np.isnan(parts)
    if not strange.any():
        return values
    parts = parts.copy()
    parts[strange] = np.nan
    return parts.view(values.dtype)


def itself(term: Array) -> Array:
    """Return the one value of a leaf that is a term as it is."""
    return term


def in_rank_order(terms: Array, combine: Combine, leaf: Callable[[Array], Array] = itself) -> Array | None:
    """Return what the trees whose leaves are ``terms`` in order come to; ``None`` where they are too many.

    ``leaf`` gives the values that a term may have as a leaf.
    """
    if len(terms) > MOST_IN_ORDER:
        return None
    return _grown([leaf(terms[i : i + 1]) for i in range(len(terms))], _runs(len(terms)), combine)


def in_any_order(terms: Array, combine: Combine, leaf: Callable[[Array], Array] = itself) -> Array | None:
    """Return what the trees over ``terms`` in any order come to; ``None`` where they are too many.

    Equal terms are the same leaf, so a node is known by how many of each it has below it. ``leaf`` gives the values
    that a term may have as a leaf.
    """
    bits: dict[bytes, list[int]] = {}
    for i in range(len(terms)):
        bits.setdefault(terms[i : i + 1].tobytes(), []).append(i)
    shape = tuple(len(places) for places in bits.values())
    if math.prod(count + 1 for count in shape) > MOST_STATES:
        return None
    return _grown([leaf(terms[places[:1]]) for places in bits.values()], _parts(shape), combine)


def in_known_orders(terms: Array, combine: Combine) -> Array:
    """Return what the trees of common algorithms come to: rings, and heaps that rise to any root.

    They show that a value is reached, without going through every tree: of several results of one pair the first is
    gone on with.
    """
    n = len(terms)

    def first(left: Array, right: Array) -> Array:
        return combine(left, right)[:n]

    turned = terms[(np.arange(n)[:, None] + np.arange(n)) % n]
    rings = [reduce(first, list(order.T)) for order in (turned, turned[:, ::-1])]
    risen: list[Array] = list(turned.T)
    for i in reversed(range(n)):
        for child in (2 * i + 1, 2 * i + 2):
            if child < n:
                risen[i] = first(risen[i], risen[child])
    return np.concatenate([*rings, risen[0]])


@cache
def _runs(n: int) -> tuple[Pairs, ...]:
    """Return how every run of ``n`` leaves is made of two shorter runs, shorter ones first."""
    number = {(i, i + 1): i for i in range(n)}
    made = []
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            stop = start + length
            made.append(_pairs([(number[start, cut], number[cut, stop]) for cut in range(start + 1, stop)]))
            number[start, stop] = len(number)
    return tuple(made)


@cache
def _parts(shape: tuple[int, ...]) -> tuple[Pairs, ...]:
    """Return how every multiset of leaves, at most ``shape`` of each, is made of two smaller ones, smaller first."""
    states = sorted(itertools.product(*(range(count + 1) for count in shape)), key=lambda state: (sum(state), state))
    leaves = [tuple(int(i == j) for j in range(len(shape))) for i in range(len(shape))]
    number = {state: i for i, state in enumerate(leaves)}
    made = []
    for state in states:
        if sum(state) < 2:
            continue
        pairs = []
        for below in itertools.product(*(range(count + 1) for count in state)):
            rest = tuple(count - less for count, less in zip(state, below, strict=True))
            if any(below) and below <= rest:
                pairs.append((number[below], number[rest]))
        made.append(_pairs(pairs))
        number[state] = len(number)
    return tuple(made)


def _pairs(pairs: Sequence[tuple[int, int]]) -> Pairs:
    both = np.array(pairs)
    return both[:, 0], both[:, 1]


def _grown(leaves: Sequence[Array], plan: Sequence[Pairs], combine: Combine) -> Array | None:
    """Return the values of the last node of ``plan``, which numbers its nodes after the leaves."""
    values, sizes = np.concatenate(leaves), [len(leaf) for leaf in leaves]
    for left, right in plan:
        size = np.array(sizes)
        start = np.cumsum(size) - size
        ways = size[left] * size[right]
        if ways.sum() > MOST_VALUES:
            return None
        pair = np.repeat(np.arange(len(left)), ways)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(ways) - ways, ways)
        one, other = divmod(place, size[right][pair])
        found = unlike(combine(values[start[left][pair] + one], values[start[right][pair] + other]))
        values = np.concatenate([values, found])
        sizes.append(len(found))
    return values[len(values) - sizes[-1] :]
