"""``python -m conformance.qualification.deck.orders``: the order of the deck for the claims of every backend here."""

from __future__ import annotations

import sys

from conformance.backends.base import Claims
from conformance.backends.discovery import find, load
from conformance.backends.reference import Reference
from conformance.qualification.deck.profiles import published_claims
from conformance.vectors.best_order import made_order
from conformance.vectors.deck import deck
from conformance.vectors.deck_error import NothingLeftError
from conformance.vectors.known_orders import FILE, claims_digest, write_orders


def main() -> int:
    """Make the order of the deck that ships for each claims of the backends that are installed, and write them."""
    named: dict[str, Claims] = {"reference": Reference().claims, **_native(), **published_claims()}
    orders: dict[str, list[int]] = {}
    for name, claims in named.items():
        try:
            orders.setdefault(claims_digest(claims), made_order(deck(), claims))
        except NothingLeftError as error:
            print(f"{name}: {error}")
    write_orders(FILE, deck().digest, orders)
    print(f"{len(orders)} orders for {', '.join(named)}: {FILE}")
    return 0


def _native() -> dict[str, Claims]:
    """Return the claims of the native backend, of whatever platform it is: those are not among the published ones."""
    try:
        return {"opencl": load(find("opencl")).claims}
    except Exception as error:  # noqa: BLE001 - without a platform there is no native backend
        print(f"opencl: {error}")
        return {}


if __name__ == "__main__":
    sys.exit(main())
