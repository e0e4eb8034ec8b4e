"""Pairwise coverage: which values of two dimensions of the domain met in some case of a run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import Final

from conformance.cases.features import Features

DIMENSIONS: Final = ("op", "dtype", "world", "groups", "layout", "ndim", "size", "values")
"""Dimensions that every case has, whatever its operation: the operation itself, and words of its features."""


class Coverage:
    """The pairs of values that the cases added so far have shown together."""

    def __init__(self) -> None:
        """Start with no case."""
        self._words: dict[str, set[str]] = {dimension: set() for dimension in DIMENSIONS}
        self._pairs: dict[tuple[str, str], set[tuple[str, str]]] = {pair: set() for pair in combinations(DIMENSIONS, 2)}

    def add(self, op: str, facts: Features) -> None:
        """Count one case."""
        words: Mapping[str, frozenset[str]] = {"op": frozenset({op}), **facts}
        for dimension in DIMENSIONS:
            self._words[dimension] |= words.get(dimension, frozenset())
        for (one, other), met in self._pairs.items():
            met.update(product(words.get(one, ()), words.get(other, ())))

    def pairs(self) -> dict[str, tuple[int, int]]:
        """Return, for ``one x other``, how many pairs of values met, and how many there are of values seen at all."""
        return {
            f"{one} x {other}": (len(met), len(self._words[one]) * len(self._words[other]))
            for (one, other), met in self._pairs.items()
        }
