"""The cases that a certificate must have, in order: they follow from the seed, the claims and the profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from conformance.backends.base import Claims
from conformance.certificate.profiles import Profile, draws
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, suites, trial
from conformance.runner.draws import numbered
from conformance.runner.records.origin import Origin


@dataclass(frozen=True)
class Place:
    """One entry of the list: which draw it is."""

    index: int
    origin: Origin


@dataclass(frozen=True)
class Listed:
    """An entry of the list with its case; ``one`` is ``None`` for a draw that is no case of its dialect."""

    place: Place
    case: Any
    one: Trial | None


def places(profile: Profile, claims: Claims, seed: int) -> tuple[Place, ...]:
    """Return every entry: suites take turns, so that what comes next says nothing of which suite drew it."""
    parts = draws(profile, claims)
    most = max((part.examples for part in parts), default=0)
    origins = (
        Origin(part.suite, part.op, seed, number, claimed=True)
        for number in range(most)
        for part in parts
        if number < part.examples
    )
    return tuple(Place(index, origin) for index, origin in enumerate(origins))


def case_at(place: Place, claims: Claims) -> Any:
    """Return the case of an entry."""
    origin = place.origin
    limits = claims.get(origin.op, {})
    case, _ = numbered(suites()[origin.suite].domains[origin.op], origin.seed, origin.number, limits)
    return case


def listed(place: Place, claims: Claims) -> Listed:
    """Return an entry with its case and what that means."""
    case = case_at(place, claims)
    return Listed(place, case, trial(case, place.origin.suite))


def whole_list(profile: Profile, claims: Claims, seed: int) -> Iterator[Listed]:
    """Yield every entry with its case, a case that was listed before left out."""
    seen: set[str] = set()
    for place in places(profile, claims, seed):
        case = case_at(place, claims)
        name = name_of(case)
        if name not in seen:
            seen.add(name)
            yield Listed(place, case, trial(case, place.origin.suite, name))


def case_digest(case: Any) -> str:
    """Return the whole SHA-256 of a case of any dialect, in hex."""
    return hashlib.sha256(msgspec.json.encode((type(case).__name__, case), order="deterministic")).hexdigest()
