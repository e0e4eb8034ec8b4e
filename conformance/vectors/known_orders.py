"""The best order of the deck for the claims of backends that are published, made once: to read it takes a millisecond.

For other claims it is made as a run begins, in half a second where all of the deck lies within them, and in less where
little does. An order that is of another deck is none.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from conformance.backends.base import Claims
from conformance.backends.claim_limits import plain_claims
from conformance.vectors.deck_error import DeckError

FILE: Final = Path(__file__).with_name("orders.json.gz")
"""The orders that ship."""


class KnownOrders(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Orders of the deck with that digest, as numbers of its cases, by the digest of the claims."""

    deck: str
    orders: dict[str, list[int]]

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for an order that is none."""
        for name, order in self.orders.items():
            if len({*order}) != len(order) or min(order, default=0) < 0:
                raise ValueError(f"order {name:.20} has a case twice, or one before the first")


@cache
def known_orders() -> KnownOrders:
    """Return what ships; raise ``DeckError`` where that is not to be read."""
    return read_orders(FILE)


def read_orders(path: Path) -> KnownOrders:
    """Return the orders in a file; raise ``DeckError`` where they are not to be read."""
    try:
        return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=KnownOrders)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DeckError(
            f"orders {path} are not to be read: {type(error).__name__}: {error}; make them again with "
            "python -m conformance.qualification.deck.orders"
        ) from error


def write_orders(path: Path, deck: str, orders: Mapping[str, Sequence[int]]) -> None:
    """Write orders, whole or not at all: the same bytes for the same orders."""
    made = KnownOrders(deck=deck, orders={name: list(orders[name]) for name in sorted(orders)})
    half = path.with_suffix(".half")
    half.write_bytes(gzip.compress(msgspec.json.encode(made), 9, mtime=0))
    half.replace(path)


def claims_digest(claims: Claims) -> str:
    """Return 16 hex digits of claims, the same in whatever order they are written."""
    plain = {
        op: {feature: sorted(words) for feature, words in limits.items()} for op, limits in plain_claims(claims).items()
    }
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:16]


def known_order(deck: str, claims: Claims) -> list[int] | None:
    """Return the order of the deck with that digest for these claims, where it was made."""
    made = known_orders()
    found = made.orders.get(claims_digest(claims)) if made.deck == deck else None
    return None if found is None else list(found)
