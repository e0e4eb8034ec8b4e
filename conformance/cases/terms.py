"""Terms: what a backend says of itself that decides how its answers are judged."""

from __future__ import annotations

from collections.abc import Collection

import msgspec


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The guarantees that a backend gives, and the sources whose divergences from this specification it follows."""

    guarantees: frozenset[str] = frozenset()
    follows: frozenset[str] = frozenset()


def terms(guarantees: Collection[str] = (), follows: Collection[str] = ()) -> Terms:
    """Return the terms of a backend that gives ``guarantees`` and ``follows`` sources."""
    return Terms(guarantees=frozenset(guarantees), follows=frozenset(follows))
