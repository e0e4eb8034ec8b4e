"""Terms: what a backend says of itself that decides how its answers are judged."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from conformance.cases.declarations.number_model import STANDARD, Declared, NumberModel, number_model


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
