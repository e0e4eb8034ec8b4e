"""The cases that a certificate must have, in order: they follow from the seed, the claims and the profile."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final, NamedTuple

import msgspec

from conformance.backends.base import Claims
from conformance.backends.claim_limits import outside
from conformance.certificate.profiles import Profile, draws
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, suites, trial
from conformance.runner.draws import numbered
from conformance.runner.records.origin import DECK, Origin, of_deck, origin_of
from conformance.vectors.deck import deck

_OF_DECK: Final = re.compile(re.escape(DECK) + r"(\w+)/(\d{1,9})")


class OfDeck(NamedTuple):
    """The case of the deck with a number, which a suite drew."""

    suite: str
    number: int

    def __str__(self) -> str:
        """Return it as a record has it."""
        return of_deck(f"{self.suite}/{self.number}")


@dataclass(frozen=True, slots=True)
class ListPlace:
    """One entry of the list: which draw it is, or which case of the deck."""

    index: int
    origin: Origin | OfDeck

    @property
    def of(self) -> tuple[str, str]:
        """Return the suite and the operation whose draws it is among; of the deck the suite alone."""
        return self.origin.suite, "" if isinstance(self.origin, OfDeck) else self.origin.op


@dataclass(frozen=True)
class ListedCase:
    """An entry of the list with its case; ``one`` is ``None`` for a draw that is no case of its dialect."""

    place: ListPlace
    case: Any
    one: Trial | None


def places(profile: Profile, claims: Claims, seed: int) -> tuple[ListPlace, ...]:
    """Return every entry: suites take turns, so that what comes next says nothing of which suite drew it.

    The cases of the deck are strewn among them in an order and at places that follow from the seed.
    """
    parts = draws(profile, claims)
    most = max((part.examples for part in parts), default=0)
    drawn = [
        Origin(part.suite, part.op, seed, number, claimed=True)
        for number in range(most)
        for part in parts
        if number < part.examples
    ]
    frozen = of_profile(profile, claims) if profile.deck else []
    chance = Random(f"{seed}, deck")  # noqa: S311 - it must be the same for the same seed
    chance.shuffle(frozen)
    count = len(drawn) + len(frozen)
    at = dict(zip(sorted(chance.sample(range(count), len(frozen))), frozen, strict=True))
    rest = iter(drawn)
    return tuple(ListPlace(index, at[index] if index in at else next(rest)) for index in range(count))


def of_profile(profile: Profile, claims: Claims) -> list[OfDeck]:
    """Return the cases of the deck that the suites of a profile made of its operations alone, within the claims."""
    known = deck()
    return [
        OfDeck(one.suite, number)
        for number, one in enumerate(known.cases)
        if one.suite in profile.suites
        and one.facts.keys() <= set(profile.operations)
        and outside(claims, known.features(one)) is None
    ]


def place_of(index: int, origin: str) -> ListPlace | None:
    """Return the entry of which a record names the origin; ``None`` where it names none."""
    found = _OF_DECK.fullmatch(origin)
    if found is None:
        drawn = origin_of(origin)
        return None if drawn is None else ListPlace(index, drawn)
    of = OfDeck(found[1], int(found[2]))
    return ListPlace(index, of) if of.number < len(deck().cases) else None


def case_at(place: ListPlace, claims: Claims) -> Any:
    """Return the case of an entry."""
    origin = place.origin
    if isinstance(origin, OfDeck):
        return deck().cases[origin.number].case
    limits = claims.get(origin.op, {})
    case, _ = numbered(suites()[origin.suite].domains[origin.op], origin.seed, origin.number, limits)
    return case


def listed(place: ListPlace, claims: Claims) -> ListedCase:
    """Return an entry with its case and what that means."""
    case = case_at(place, claims)
    return ListedCase(place, case, trial(case, place.origin.suite))


def whole_list(order: Iterable[ListPlace], claims: Claims) -> Iterator[ListedCase]:
    """Yield entries in their order, each with its case; one whose case was listed before is left out."""
    seen: set[str] = set()
    for place in order:
        case = case_at(place, claims)
        name = name_of(case)
        if name not in seen:
            seen.add(name)
            yield ListedCase(place, case, trial(case, place.origin.suite, name))


def case_digest(case: Any) -> str:
    """Return the whole SHA-256 of a case of any dialect, in hex."""
    return hashlib.sha256(msgspec.json.encode((type(case).__name__, case), order="deterministic")).hexdigest()
