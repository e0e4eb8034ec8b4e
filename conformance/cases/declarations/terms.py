"""Terms: what a backend says of itself that decides how its answers are judged."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from conformance.cases.declarations.number_model import STANDARD, Declared, NumberModel, number_model

SYSTEMS: Final = ("jax", "mlx", "mpi", "stablehlo", "tinygrad", "torch")
"""The systems whose documented divergences an implementation may follow: the first words of their sources."""


def check_follows(names: Collection[str]) -> None:
    """Raise ``ValueError`` for a name that is no system with sources."""
    for name in names:
        if name not in SYSTEMS:
            raise ValueError(f"unknown source {name!r} to follow; known are {', '.join(SYSTEMS)}")


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The guarantees a backend gives, the sources whose divergences from this specification it follows, its numbers."""

    guarantees: frozenset[str] = frozenset()
    follows: frozenset[str] = frozenset()
    numbers: NumberModel = STANDARD


def terms(guarantees: Collection[str] = (), follows: Collection[str] = (), declared: Declared | None = None) -> Terms:
    """Return the terms of a backend that gives ``guarantees``, ``follows`` sources and has ``declared`` its numbers.

    Raise ``NumberModelError`` for a number model that is none.
    """
    return Terms(guarantees=frozenset(guarantees), follows=frozenset(follows), numbers=number_model(declared or {}))
