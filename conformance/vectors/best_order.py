"""The cases of a deck within a backend's claims, in the order that is best for them."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.backends.base import Claims
from conformance.backends.claim_limits import outside
from conformance.vectors.deck import Deck, FrozenCase
from conformance.vectors.deck_error import NothingLeftError
from conformance.vectors.goals import Numbering, PartNumbers
from conformance.vectors.known_orders import known_order
from conformance.vectors.order import FEWER, merged, ordered


def within(deck: Deck, claims: Claims) -> list[int]:
    """Return the numbers of the cases that lie within claims, in the order of the deck."""
    return [number for number, one in enumerate(deck.cases) if outside(claims, deck.features(one)) is None]


def best_order(deck: Deck, claims: Claims, suites: Sequence[str] = (), ops: Sequence[str] = ()) -> list[int]:
    """Return the numbers of the cases within claims, each next one adding most a second to those before.

    With ``suites`` or ``ops`` only their cases are there. Raise ``NothingLeftError`` where that leaves none.
    """
    known = known_order(deck.digest, claims)
    if known and max(known) < len(deck.cases) and all(_asked(deck.cases[number], suites, ops) for number in known):
        return known
    return made_order(deck, claims, suites, ops)


def _asked(one: FrozenCase, suites: Sequence[str], ops: Sequence[str]) -> bool:
    return (not suites or one.suite in suites) and (not ops or one.op in ops)


def made_order(deck: Deck, claims: Claims, suites: Sequence[str] = (), ops: Sequence[str] = ()) -> list[int]:
    """Return what ``best_order`` does, made anew."""
    found = [number for number in within(deck, claims) if _asked(deck.cases[number], suites, ops)]
    if not found:
        among = f" of {', '.join((*suites, *ops))}" if suites or ops else ""
        raise NothingLeftError(
            f"no case{among} of the deck lies within the claims ({', '.join(sorted(claims)) or 'of nothing'}): "
            "claim an operation with a dtype and a form that it has, or choose other suites"
        )
    families: dict[str, list[int]] = {}
    for number in found:
        families.setdefault(deck.cases[number].family, []).append(number)
    return merged([_of_family(deck, name, numbers) for name, numbers in families.items()])


def _of_family(deck: Deck, family: str, numbers: Sequence[int]) -> list[int]:
    cases = [deck.cases[number] for number in numbers]
    chosen = order_of([one.parts for one in cases], [one.seconds for one in cases], deck.tables.clauses, family)
    return [numbers[at] for at in chosen]


def order_of(
    parts: Sequence[Sequence[PartNumbers]],
    seconds: Sequence[float],
    clauses: Sequence[str],
    family: str,
    most: int | None = None,
    *,
    begun: int = 0,
) -> list[int]:
    """Return the best order of cases of one family that show these parts, at most so many of them.

    The first ``begun`` were asked before, and are left out.
    """
    words = 1 + max((word for of in parts for _, several in of for word in several), default=0)
    numbering = Numbering(clauses, words)
    rows = numbering.rows(parts)
    return ordered(rows, seconds, numbering.weights(), FEWER.get(family, 0.0), most, begun)
